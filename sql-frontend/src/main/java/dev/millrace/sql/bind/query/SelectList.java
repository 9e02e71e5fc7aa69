package dev.millrace.sql.bind.query;

import dev.millrace.error.SqlState;
import dev.millrace.sql.bind.expression.ExpressionBinder;
import dev.millrace.sql.bind.expression.FunctionNames;
import dev.millrace.sql.bind.expression.OuterAggregates;
import dev.millrace.sql.bind.scope.Aliases;
import dev.millrace.sql.bind.scope.QueryContext;
import dev.millrace.sql.bind.scope.Scope;
import dev.millrace.sql.bind.scope.Scope.Column;
import dev.millrace.sql.bind.type.Coercions;
import dev.millrace.sql.bind.type.Errors;
import dev.millrace.sql.syntax.FromClauses;
import dev.millrace.type.DataType;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.BiConsumer;
import java.util.stream.IntStream;
import org.apache.calcite.rex.RexInputRef;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexOver;
import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.SqlLiteral;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.SqlNodeList;
import org.apache.calcite.sql.SqlNumericLiteral;
import org.apache.calcite.sql.SqlSelect;
import org.apache.calcite.sql.fun.SqlStdOperatorTable;
import org.apache.calcite.sql.parser.SqlParserPos;

/** The output columns of one SELECT, and what of them GROUP BY, DISTINCT ON and ORDER BY mean by a name or a number. */
final class SelectList {
    private final QueryContext context;
    private final SqlSelect select;
    private final Scope scope;
    private final Aliases aliases;
    private final BiConsumer<RexNode, SqlIdentifier> onColumn;
    private final List<Item> items = new ArrayList<>();

    /** An output column: what was written, what it is called, and what it is. */
    record Item(SqlNode syntax, String name, RexNode value) {}

    /** @param onColumn is told of each input column that a star stands for, and of the star */
    SelectList(
            QueryContext context,
            SqlSelect select,
            Scope scope,
            Aliases aliases,
            BiConsumer<RexNode, SqlIdentifier> onColumn) {
        this.context = context;
        this.select = select;
        this.scope = scope;
        this.aliases = aliases;
        this.onColumn = onColumn;
    }

    int size() {
        return items.size();
    }

    Item get(int place) {
        return items.get(place);
    }

    List<Item> items() {
        return items;
    }

    List<RexNode> values() {
        return items.stream().map(Item::value).toList();
    }

    /** Puts other values in the places of these. */
    void replaceValues(Rewrite rewrite) {
        for (int place = 0; place < items.size(); place++) {
            Item item = items.get(place);
            items.set(place, new Item(item.syntax, item.name, rewrite.of(place, item.value)));
        }
    }

    /** What becomes of the value of an output column. */
    interface Rewrite {
        RexNode of(int place, RexNode value);
    }

    /** Binds the items, with one for each column that a star stands for. */
    void bind(ExpressionBinder binder) {
        for (SqlNode node : selected()) {
            if (node instanceof SqlIdentifier star && star.isStar()) {
                if (scope.columns().isEmpty()) {
                    throw Errors.error(SqlState.SYNTAX_ERROR, "SELECT * with no tables specified is not valid", node);
                }
                for (Column column : scope.star(star)) {
                    RexNode reference = new RexInputRef(column.index(), column.type());
                    onColumn.accept(reference, star);
                    items.add(new Item(node, column.name(), reference));
                }
            } else {
                SqlNode value = node.getKind() == SqlKind.AS ? ((SqlCall) node).operand(0) : node;
                String name = OutputNames.of(node);
                new StarColumns(scope)
                        .expand(node)
                        .or(() -> fields(node, binder))
                        .orElseGet(() -> List.of(new StarColumns.Expanded(value, name)))
                        .forEach(item -> {
                            SqlNode full = aliases.inPlace(item.value(), items.size());
                            items.add(new Item(full, item.name(), binder.bind(full)));
                        });
            }
        }
    }

    /** The fields of {@code (row).*}. */
    private static Optional<List<StarColumns.Expanded>> fields(SqlNode node, ExpressionBinder binder) {
        if (node.getKind() != SqlKind.DOT
                || !(((SqlCall) node).operand(1) instanceof SqlIdentifier star)
                || !star.isStar()) {
            return Optional.empty();
        }
        SqlNode row = ((SqlCall) node).operand(0);
        DataType type = Coercions.type(binder.bind(row));
        if (type.kind() != DataType.Kind.ROW) {
            throw Errors.error(SqlState.WRONG_OBJECT_TYPE, "type " + Coercions.name(type) + " is not composite", row);
        }
        SqlParserPos position = node.getParserPosition();
        return Optional.of(type.fields().stream()
                .map(field -> new StarColumns.Expanded(
                        SqlStdOperatorTable.DOT.createCall(position, row, new SqlIdentifier(field.name(), position)),
                        field.name()))
                .toList());
    }

    /** Whether a node of GROUP BY or ORDER BY is ALL. */
    static boolean isAllColumns(SqlNode node) {
        return node instanceof SqlIdentifier name && name.names.equals(List.of(FromClauses.ALL_COLUMNS));
    }

    /** The items of GROUP BY; of ALL the numbers of all columns that are no aggregates. */
    SqlNodeList groupItems() {
        SqlNodeList group = select.getGroup();
        if (group == null || group.size() != 1 || !isAllColumns(group.get(0))) {
            return group;
        }
        List<SqlNode> numbers = new ArrayList<>();
        for (int i = 0; i < items.size(); i++) {
            if (!OuterAggregates.anyOwn(items.get(i).syntax, context, scope)
                    && !RexOver.containsOver(items.get(i).value)) {
                numbers.add(SqlLiteral.createExactNumeric(Integer.toString(i + 1), group.getParserPosition()));
            }
        }
        return new SqlNodeList(numbers, group.getParserPosition());
    }

    /** The first item is no column but the list of DISTINCT ON, which the grammar reads as a call. */
    Optional<SqlCall> distinctOnCall() {
        return select.getSelectList().get(0) instanceof SqlCall call
                        && FunctionNames.of(call).filter("distinct on"::equals).isPresent()
                ? Optional.of(call)
                : Optional.empty();
    }

    private List<SqlNode> selected() {
        List<SqlNode> all = select.getSelectList().getList();
        return distinctOnCall().isPresent() ? all.subList(1, all.size()) : all;
    }

    /** The output column that a bare name means in GROUP BY and ORDER BY. */
    Optional<SqlNode> alias(SqlIdentifier name) {
        List<SqlNode> found = new ArrayList<>();
        for (SqlNode node : select.getSelectList()) {
            if (node.getKind() == SqlKind.AS
                    && name.isSimple()
                    && ((SqlIdentifier) ((SqlCall) node).operand(1)).getSimple().equals(name.getSimple())) {
                found.add(((SqlCall) node).operand(0));
            }
        }
        return found.size() == 1 ? Optional.of(found.get(0)) : Optional.empty();
    }

    /** The output column of a number in GROUP BY and ORDER BY; empty for what is no number. */
    Optional<Integer> ordinal(SqlNode node, String clause) {
        if (!(node instanceof SqlNumericLiteral literal) || !literal.isInteger()) {
            return Optional.empty();
        }
        int position = literal.bigDecimalValue()
                .min(BigDecimal.valueOf(Integer.MAX_VALUE))
                .intValue();
        if (position < 1 || position > items.size()) {
            throw Errors.error(
                    SqlState.INVALID_COLUMN_REFERENCE,
                    clause + " position " + position + " is not in select list",
                    node);
        }
        return Optional.of(position - 1);
    }

    Optional<SqlNode> ordinal(SqlNode node) {
        return ordinal(node, "GROUP BY")
                .map(position -> items.get(position).syntax instanceof SqlIdentifier star && star.isStar()
                        ? starColumn(position)
                        : items.get(position).syntax);
    }

    /** The output column that a node of GROUP BY is by its number or name. */
    Optional<Integer> place(SqlNode node) {
        Optional<Integer> number = ordinal(node, "GROUP BY");
        Optional<SqlNode> named = node instanceof SqlIdentifier name ? alias(name) : Optional.empty();
        return number.or(() -> named.flatMap(syntax -> IntStream.range(0, items.size())
                .filter(place -> items.get(place).syntax == syntax)
                .boxed()
                .findFirst()));
    }

    private SqlNode starColumn(int position) {
        return new SqlIdentifier(
                items.get(position).name, items.get(position).syntax.getParserPosition());
    }

    /** The place of the item of this name in SELECT's output, -1 if there is none. */
    int named(SqlIdentifier name) {
        int found = -1;
        for (int i = 0; i < items.size(); i++) {
            if (items.get(i).name.equals(name.getSimple())) {
                if (found >= 0 && !items.get(found).value.equals(items.get(i).value)) {
                    throw Errors.error(
                            SqlState.AMBIGUOUS_COLUMN, "ORDER BY \"" + name.getSimple() + "\" is ambiguous", name);
                }
                found = found < 0 ? i : found;
            }
        }
        return found;
    }
}
