package dev.millrace.sql.bind.change;

import dev.millrace.error.SqlState;
import dev.millrace.sql.algebra.Rex;
import dev.millrace.sql.bind.expression.ExpressionBinder;
import dev.millrace.sql.bind.query.QueryBinder;
import dev.millrace.sql.bind.relation.RelNodes;
import dev.millrace.sql.bind.scope.BoundQuery;
import dev.millrace.sql.bind.scope.Clause;
import dev.millrace.sql.bind.scope.QueryContext;
import dev.millrace.sql.bind.scope.Scope;
import dev.millrace.sql.bind.type.Errors;
import dev.millrace.sql.catalog.ColumnRule;
import dev.millrace.sql.parser.StatementParser;
import dev.millrace.sql.statement.Emit;
import dev.millrace.sql.statement.LiteralRows;
import dev.millrace.sql.statement.LiteralRows.Cell;
import dev.millrace.sql.statement.RowSource;
import dev.millrace.sql.statement.Statement;
import dev.millrace.sql.statement.Statement.OnConflict;
import dev.millrace.sql.syntax.Syntax;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.fun.SqlStdOperatorTable;

/** Binds INSERT. */
final class InsertBinder {
    private final QueryContext context;
    private final Syntax.Insert insert;
    private final ChangeTarget target;
    private final Defaults defaults;

    InsertBinder(QueryContext context, Syntax.Insert insert) {
        this.context = context;
        this.insert = insert;
        this.target = ChangeTarget.writable(context, insert.relation());
        this.defaults = new Defaults(target);
    }

    /** Rows, and the columns that they give, in this order. */
    private record Source(List<Integer> columns, RowSource rows) {}

    /** Binds an INSERT of constants that its relation takes as they are written; empty for another. */
    Optional<Statement> bindConstants() {
        List<Integer> columns = target.columns(insert.columns());
        return literals(columns).map(this::bind);
    }

    Statement bind() {
        List<Integer> columns = insert.parts().isEmpty() ? target.columns(insert.columns()) : columnsInParts();
        return bind(literals(columns).orElseGet(() -> rows(columns)));
    }

    /** The columns, of which one may be named as often as a part of it is given. */
    private List<Integer> columnsInParts() {
        List<Integer> columns = new ArrayList<>();
        Set<Integer> whole = new HashSet<>();
        for (int i = 0; i < insert.columns().size(); i++) {
            SqlIdentifier name = insert.columns().get(i);
            int column = target.column(name);
            boolean isPart = insert.parts().containsKey(i);
            if (whole.contains(column) || !isPart && columns.contains(column)) {
                throw Errors.error(
                        SqlState.DUPLICATE_COLUMN,
                        "column \"" + name.getSimple() + "\" specified more than once",
                        name);
            }
            if (!isPart) {
                whole.add(column);
            }
            columns.add(column);
        }
        return columns;
    }

    private Statement bind(Source source) {
        String name = insert.alias()
                .orElse(insert.relation())
                .names
                .get(insert.alias().orElse(insert.relation()).names.size() - 1);
        OnConflict onConflict = insert.conflict()
                .map(conflict -> new ConflictBinder(context, target)
                        .bind(conflict, name, insert.alias().isPresent(), insert.with()))
                .orElseGet(() -> new ConflictBinder(context, target).byTable());
        return new Statement.Insert(
                target.relation().name(),
                source.columns,
                source.rows,
                onConflict,
                ReturningBinder.bind(
                        context,
                        insert.returning(),
                        List.of(RowsAtHand.Part.of(
                                context, target.relation(), name, insert.alias().isPresent())),
                        insert.with()));
    }

    // ---- literals --------------------------------------------------------------------------------------------------

    private Optional<Source> literals(List<Integer> columns) {
        if (insert.literals().isEmpty() || insert.overriding() != Syntax.Overriding.NOTHING) {
            return Optional.empty();
        }
        LiteralRows rows = insert.literals().get();
        int width = rows.width();
        if (width > columns.size()
                || width < columns.size() && !insert.columns().isEmpty()) {
            return Optional.empty(); // an error that the other way words
        }
        List<Integer> given = columns.subList(0, width);
        List<Integer> byDefault = defaults.expressed(given);
        Optional<List<Cell>> more = defaults.cells(byDefault);
        if (more.isEmpty()) {
            return Optional.empty();
        }
        given.forEach(column -> target.requireGivable(column, insert.overriding(), insert.relation()));
        List<Integer> used = new ArrayList<>(given);
        used.addAll(byDefault);
        List<DataType> types =
                used.stream().map(column -> target.field(column).type()).toList();
        Optional<LiteralRows> literals = new LiteralBinder(context.parameters())
                .bind(rows.with(more.get()), target.relation().schema(), types);
        literals.ifPresent(found -> requireNotNullColumns(used));
        return literals.map(found -> new Source(used, found));
    }

    // ---- queries ---------------------------------------------------------------------------------------------------

    private Source rows(List<Integer> columns) {
        context.allowRecursion();
        SqlNode query = insert.source().get();
        List<Integer> given = columns;
        if (query.getKind() == SqlKind.VALUES && hasDefault((SqlCall) query)) {
            if (!insert.parts().isEmpty()) {
                throw Errors.notAvailableYet("DEFAULT beside parts of arrays", query)
                        .withHint("leave the column out, or give the whole array");
            }
            SqlCall values = (SqlCall) query;
            requireWidth(widthOf(values), columns, query);
            given = new ArrayList<>();
            query = withoutDefaults(values, columns, given);
        }
        QueryBinder queries = new QueryBinder(context, Optional.empty()).with(insert.with());
        BoundQuery source = queries.bind(query, types(given));
        int width = source.rel().getRowType().getFieldCount();
        if (given == columns) {
            requireWidth(width, columns, query);
            given = columns.subList(0, width);
        }
        List<Integer> used = new ArrayList<>();
        List<RexNode> values = new ArrayList<>();
        ElementBinder elements = new ElementBinder(
                context, new ExpressionBinder(context, Scope.empty(Optional.empty(), context), Clause.plain("INSERT")));
        for (int i = 0; i < given.size(); i++) {
            int column = given.get(i);
            SqlNode part = insert.parts().get(i);
            if (part != null) {
                target.requireGivable(column, insert.overriding(), query);
                int place = used.indexOf(column);
                RexNode whole = place < 0 ? Rex.nullOf(target.field(column).type()) : values.get(place);
                RexNode value = elements.assign(
                        whole,
                        part,
                        new ElementBinder.Value(
                                RelNodes.references(source.rel()).get(i), query));
                if (place < 0) {
                    used.add(column);
                    values.add(value);
                } else {
                    values.set(place, value);
                }
                continue;
            }
            if (insert.overriding() == Syntax.Overriding.USER_VALUE
                    && target.rule(column).filter(ColumnRule::isIdentity).isPresent()) {
                continue;
            }
            target.requireGivable(column, insert.overriding(), query);
            used.add(column);
            values.add(target.assign(context, RelNodes.references(source.rel()).get(i), column, query));
        }
        for (int column : defaults.expressed(used)) {
            used.add(column);
            values.add(defaults.value(context, column));
        }
        requireNotNullColumns(used);
        if (values.isEmpty()) {
            values.add(Rex.builder().makeLiteral(true)); // for the number of the rows
        }
        return new Source(used, bound(source, values, used));
    }

    /** What constants among the rows are taken for. */
    private List<DataType> types(List<Integer> given) {
        List<DataType> types = new ArrayList<>();
        for (int i = 0; i < given.size(); i++) {
            DataType whole = target.field(given.get(i)).type();
            SqlNode part = insert.parts().get(i);
            types.add(part == null ? whole : ElementBinder.typeOf(whole, part));
        }
        return types;
    }

    private RowSource bound(BoundQuery source, List<RexNode> values, List<Integer> used) {
        List<String> names = new ArrayList<>();
        for (int i = 0; i < values.size(); i++) {
            names.add(i < used.size() ? target.field(used.get(i)).name() : "row");
        }
        RelNode rel = new QueryBinder.Pending(source.rel(), values, names, Optional.empty())
                .bound()
                .rel();
        return QueryBinder.query(context, rel, names, new Emit.Unspecified());
    }

    private void requireWidth(int width, List<Integer> columns, SqlNode query) {
        if (width > columns.size()) {
            throw Errors.error(SqlState.SYNTAX_ERROR, "INSERT has more expressions than target columns", query);
        }
        if (width < columns.size() && !insert.columns().isEmpty()) {
            throw Errors.error(SqlState.SYNTAX_ERROR, "INSERT has more target columns than expressions", query);
        }
    }

    // ---- DEFAULT in VALUES -----------------------------------------------------------------------------------------

    private static boolean hasDefault(SqlCall values) {
        return values.getOperandList().stream()
                .anyMatch(row -> ((SqlCall) row).getOperandList().stream().anyMatch(Defaults::isDefault));
    }

    private static int widthOf(SqlCall values) {
        int width = ((SqlCall) values.operand(0)).operandCount();
        for (SqlNode row : values.getOperandList()) {
            if (((SqlCall) row).operandCount() != width) {
                throw Errors.error(SqlState.SYNTAX_ERROR, "VALUES lists must all be the same length", row);
            }
        }
        return width;
    }

    /**
     * The rows with expressions in the places of DEFAULT, and without the columns that no row gives.
     *
     * @param given becomes the columns that are left
     */
    private SqlNode withoutDefaults(SqlCall values, List<Integer> columns, List<Integer> given) {
        List<List<SqlNode>> rows = new ArrayList<>();
        values.getOperandList().forEach(row -> rows.add(new ArrayList<>()));
        for (int i = 0; i < widthOf(values); i++) {
            int place = i;
            boolean wholly = values.getOperandList().stream()
                    .allMatch(row -> Defaults.isDefault(((SqlCall) row).operand(place)));
            if (wholly) {
                continue;
            }
            int column = columns.get(i);
            given.add(column);
            for (int row = 0; row < rows.size(); row++) {
                SqlNode item = ((SqlCall) values.operand(row)).operand(i);
                rows.get(row).add(Defaults.isDefault(item) ? instead(column, item) : item);
            }
        }
        List<SqlNode> calls = new ArrayList<>();
        for (int row = 0; row < rows.size(); row++) {
            if (given.isEmpty()) {
                rows.get(row).add(StatementParser.parseExpression("TRUE"));
            }
            calls.add(SqlStdOperatorTable.ROW.createCall(values.operand(row).getParserPosition(), rows.get(row)));
        }
        return SqlStdOperatorTable.VALUES.createCall(values.getParserPosition(), calls);
    }

    /** What is in the place of DEFAULT where other rows give a value. */
    private SqlNode instead(int column, SqlNode where) {
        Optional<ColumnRule> rule = target.rule(column);
        if (rule.filter(ColumnRule::isMade).isEmpty()) {
            return defaults.syntax(column);
        }
        return context.catalog()
                .nextValue(target.relation().name(), target.field(column).name())
                .map(value -> StatementParser.parseExpression("'" + value + "'"))
                .orElseThrow(() ->
                        Errors.notAvailableYet("DEFAULT beside a value", where).withHint("leave the column out"));
    }

    // ---- what may be given -----------------------------------------------------------------------------------------

    private void requireNotNullColumns(List<Integer> given) {
        SqlIdentifier where = insert.relation();
        for (int column = 0; column < target.size(); column++) {
            Field field = target.field(column);
            boolean missing = !given.contains(column) && target.rule(column).isEmpty();
            if (!field.nullable() && missing) {
                throw Errors.error(
                        SqlState.NOT_NULL_VIOLATION,
                        "null value in column \"" + field.name() + "\" of relation \""
                                + target.relation().name() + "\" violates not-null constraint",
                        where);
            }
        }
    }
}
