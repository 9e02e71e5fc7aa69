package dev.millrace.sql.bind.query;

import dev.millrace.error.SqlState;
import dev.millrace.sql.algebra.Rex;
import dev.millrace.sql.bind.expression.AggregateBinder.SortSyntax;
import dev.millrace.sql.bind.expression.ExpressionBinder;
import dev.millrace.sql.bind.expression.FunctionNames;
import dev.millrace.sql.bind.expression.OuterAggregates;
import dev.millrace.sql.bind.expression.SetFunctions;
import dev.millrace.sql.bind.relation.Numbering;
import dev.millrace.sql.bind.relation.RelNodes;
import dev.millrace.sql.bind.scope.AggregateCalls;
import dev.millrace.sql.bind.scope.Aliases;
import dev.millrace.sql.bind.scope.Clause;
import dev.millrace.sql.bind.scope.ComparableQueries;
import dev.millrace.sql.bind.scope.From;
import dev.millrace.sql.bind.scope.QueryContext;
import dev.millrace.sql.bind.scope.Scope;
import dev.millrace.sql.bind.scope.Scope.Column;
import dev.millrace.sql.bind.type.Coercions;
import dev.millrace.sql.bind.type.Errors;
import dev.millrace.sql.syntax.FromClauses;
import dev.millrace.type.DataType;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import org.apache.calcite.rel.RelCollations;
import org.apache.calcite.rel.RelFieldCollation;
import org.apache.calcite.rel.RelFieldCollation.Direction;
import org.apache.calcite.rel.RelFieldCollation.NullDirection;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.core.CorrelationId;
import org.apache.calcite.rel.logical.LogicalValues;
import org.apache.calcite.rex.RexInputRef;
import org.apache.calcite.rex.RexLiteral;
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
import org.apache.calcite.sql.SqlWindow;

/**
 * Binds one SELECT with the ORDER BY and LIMIT that follow it:
 *
 * <pre>
 * FROM -> filter (WHERE) -> aggregate -> filter (HAVING) -> project -> distinct -> sort -> project (drops sort keys)
 * </pre>
 *
 * <p>Long because a SELECT's clauses bind each other.
 */
final class SelectBinder {
    private final QueryContext context;
    private final SqlSelect select;
    private final OrderLimit order;
    private final List<Item> items = new ArrayList<>();
    private final Scope scope;
    private final AggregateCalls calls;
    private final Aliases aliases;
    private final Map<Integer, SqlIdentifier> columnsSeen = new HashMap<>();
    private boolean groupedFromWithin;
    private RelNode rel;

    /** An output column: what was written, what it is called, and what it is. */
    private record Item(SqlNode syntax, String name, RexNode value) {}

    /** The ORDER BY, OFFSET and LIMIT around a query. */
    record OrderLimit(List<SqlNode> order, Optional<RexNode> offset, Optional<RexNode> fetch, boolean withTies) {
        static final OrderLimit NONE = new OrderLimit(List.of(), Optional.empty(), Optional.empty(), false);

        boolean isEmpty() {
            return order.isEmpty() && offset.isEmpty() && fetch.isEmpty();
        }
    }

    SelectBinder(QueryContext context, QueryBinder queries, Optional<Scope> outer, SqlSelect select, OrderLimit order) {
        this.context = context;
        this.select = select;
        this.order = order;
        boolean noFrom = select.getFrom() == null
                || select.getFrom() instanceof SqlIdentifier name && name.names.equals(List.of(FromClauses.ONE_ROW));
        From from = noFrom
                ? new From(LogicalValues.createOneRow(context.cluster()), List.of())
                : new FromBinder(context, queries, outer, OuterRows.namesIn(select, order.order))
                        .bind(select.getFrom());
        this.rel = from.rel();
        this.scope = new Scope(outer, from.columns(), rel.getRowType(), context, queries.commonTables());
        this.aliases = new Aliases(select.getSelectList().getList(), scope);
        this.calls = new AggregateCalls(rel.getRowType().getFieldCount());
    }

    /** @param expected types for columns whose type is open, where the place gives them */
    QueryBinder.Pending bind(List<DataType> expected, boolean keepUnknown) {
        where();
        boolean grouped = isGrouped();
        if (grouped) {
            scope.setGrouped();
        }
        bindItems();
        List<Sorted> sorted = sortKeys();
        List<RexNode> distinctOn = distinctOn();
        Optional<RexNode> qualify = qualify();
        if (!grouped) {
            rejectGrouping();
        } else {
            Groups groups = new GroupBinder(
                            context,
                            expressions("GROUP BY", false),
                            this::alias,
                            this::ordinal,
                            this::place,
                            items.stream().map(Item::value).toList())
                    .bind(groupItems());
            Optional<RexNode> having = Optional.ofNullable(select.getHaving())
                    .map(node -> expressions("HAVING", true).bindCondition(aliases.inPlace(node)));
            List<RexNode> read = new ArrayList<>(items.stream().map(Item::value).toList());
            sorted.forEach(key -> read.add(key.value));
            read.addAll(distinctOn);
            having.ifPresent(read::add);
            qualify.ifPresent(read::add);
            Groups all = new DeterminedColumns(rel, scope).add(groups, read);
            Grouping grouping = new Grouping(context, rel, scope, all, calls, columnsSeen);
            rel = grouping.aggregate();
            if (having.isPresent()) {
                RexNode condition = grouping.rewrite(having.get());
                rel = RelNodes.filter(rel, condition, grouping.correlation());
            }
            for (int place = 0; place < items.size(); place++) {
                Item item = items.get(place);
                items.set(place, new Item(item.syntax, item.name, grouping.rewriteColumn(place, item.value)));
            }
            sorted.replaceAll(key -> key.withValue(grouping.rewriteColumn(key.item, key.value)));
            distinctOn.replaceAll(grouping::rewrite);
            qualify = qualify.map(grouping::rewrite);
            return output(sorted, distinctOn, qualify, expected, keepUnknown, grouping.correlation());
        }
        return output(sorted, distinctOn, qualify, expected, keepUnknown, scope.correlation());
    }

    /** Whether an aggregate found in a sub-query is this query's. */
    boolean owns(OuterAggregates.Found found) {
        return found.isOf(scope);
    }

    /** The query has groups, as an aggregate in a sub-query is its own. */
    SelectBinder groupedFromWithin() {
        groupedFromWithin = true;
        return this;
    }

    private void where() {
        if (select.getWhere() != null) {
            SqlNode where = select.getWhere();
            ExpressionBinder binder = new ExpressionBinder(context, scope, Clause.plain("WHERE"));
            List<RexNode> conditions = new ArrayList<>(); // over COLUMNS(..) one for each of them
            new StarColumns(scope)
                    .expand(where)
                    .orElseGet(() -> List.of(new StarColumns.Expanded(where, "")))
                    .forEach(one -> conditions.add(binder.bindCondition(aliases.inPlace(one.value()))));
            RexNode condition = conditions.size() == 1 ? conditions.get(0) : Rex.combine("and", conditions);
            rel = RelNodes.filter(rel, condition, scope.correlation());
        }
    }

    private void rejectGrouping() {
        calls.calls().stream()
                .flatMap(call -> call.grouping().stream())
                .findFirst()
                .ifPresent(where -> {
                    throw Errors.error(
                            SqlState.GROUPING_ERROR,
                            "arguments to GROUPING must be grouping expressions of the associated query level",
                            where);
                });
    }

    private boolean isGrouped() {
        return groupedFromWithin
                || select.getGroup() != null
                || select.getHaving() != null
                || OuterAggregates.anyOwn(select.getSelectList(), context, scope)
                || select.getQualify() != null && OuterAggregates.anyOwn(select.getQualify(), context, scope)
                || order.order.stream().anyMatch(item -> OuterAggregates.anyOwn(item, context, scope));
    }

    private ExpressionBinder expressions(String clause, boolean aggregates) {
        List<SqlWindow> windows = new ArrayList<>();
        if (select.getWindowList() != null) {
            select.getWindowList().forEach(window -> windows.add((SqlWindow) window));
        }
        boolean over = clause.equals("SELECT") || clause.equals("ORDER BY") || clause.equals("QUALIFY");
        return new ExpressionBinder(
                context,
                scope,
                new Clause(
                        clause,
                        aggregates ? Optional.of(calls) : Optional.empty(),
                        over,
                        aggregates ? Optional.of(this::sawColumn) : Optional.empty(),
                        windows));
    }

    private void sawColumn(RexNode column, SqlIdentifier name) {
        if (column instanceof RexInputRef reference) {
            columnsSeen.putIfAbsent(reference.getIndex(), name);
        }
    }

    // ---- the select list -------------------------------------------------------------------------------------------

    private void bindItems() {
        ExpressionBinder binder = expressions("SELECT", true);
        for (SqlNode node : selected()) {
            if (node instanceof SqlIdentifier star && star.isStar()) {
                if (scope.columns().isEmpty()) {
                    throw Errors.error(SqlState.SYNTAX_ERROR, "SELECT * with no tables specified is not valid", node);
                }
                for (Column column : scope.star(star)) {
                    RexNode reference = new RexInputRef(column.index(), column.type());
                    columnsSeen.putIfAbsent(column.index(), star);
                    items.add(new Item(node, column.name(), reference));
                }
            } else {
                SqlNode value = node.getKind() == SqlKind.AS ? ((SqlCall) node).operand(0) : node;
                String name = OutputNames.of(node);
                new StarColumns(scope)
                        .expand(node)
                        .orElseGet(() -> List.of(new StarColumns.Expanded(value, name)))
                        .forEach(item -> {
                            SqlNode full = aliases.inPlace(item.value(), items.size());
                            items.add(new Item(full, item.name(), binder.bind(full)));
                        });
            }
        }
    }

    private boolean isAllColumns(SqlNode node) {
        return node instanceof SqlIdentifier name && name.names.equals(List.of(FromClauses.ALL_COLUMNS));
    }

    /** The items of GROUP BY; of ALL the numbers of all columns that are no aggregates. */
    private SqlNodeList groupItems() {
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
    private Optional<SqlCall> distinctOnCall() {
        return select.getSelectList().get(0) instanceof SqlCall call
                        && FunctionNames.of(call).filter("distinct on"::equals).isPresent()
                ? Optional.of(call)
                : Optional.empty();
    }

    private List<SqlNode> selected() {
        List<SqlNode> all = select.getSelectList().getList();
        return distinctOnCall().isPresent() ? all.subList(1, all.size()) : all;
    }

    private List<RexNode> distinctOn() {
        List<RexNode> keys = new ArrayList<>();
        for (SqlNode node : distinctOnCall().map(SqlCall::getOperandList).orElse(List.of())) {
            int item = ordinal(node, "SELECT DISTINCT ON").orElse(-1);
            if (item < 0 && node instanceof SqlIdentifier name && name.isSimple()) {
                item = itemNamed(name);
            }
            keys.add(
                    item >= 0
                            ? items.get(item).value
                            : context.coercions()
                                    .decided(expressions("DISTINCT ON", true).bind(node)));
        }
        return keys;
    }

    /** The condition of QUALIFY, in which names of output columns stand for what they are. */
    private Optional<RexNode> qualify() {
        if (select.getQualify() == null) {
            return Optional.empty();
        }
        return Optional.of(expressions("QUALIFY", true).bindCondition(aliases.inPlace(select.getQualify())));
    }

    /** The output column that a bare name means in GROUP BY and ORDER BY. */
    private Optional<SqlNode> alias(SqlIdentifier name) {
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
    private Optional<Integer> ordinal(SqlNode node, String clause) {
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

    private Optional<SqlNode> ordinal(SqlNode node) {
        return ordinal(node, "GROUP BY")
                .map(position -> items.get(position).syntax instanceof SqlIdentifier star && star.isStar()
                        ? starColumn(position)
                        : items.get(position).syntax);
    }

    /** The output column that a node of GROUP BY is by its number or name. */
    private Optional<Integer> place(SqlNode node) {
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

    // ---- ORDER BY --------------------------------------------------------------------------------------------------

    /** A sort key: an output column's place, or -1 and a value of its own. */
    private record Sorted(int item, RexNode value, SortSyntax syntax) {
        Sorted withValue(RexNode rewritten) {
            return new Sorted(item, rewritten, syntax);
        }
    }

    private List<Sorted> sortKeys() {
        List<Sorted> keys = new ArrayList<>();
        for (SqlNode node : order.order) {
            SortSyntax syntax = SortSyntax.of(node);
            if (isAllColumns(syntax.value())) {
                for (int i = 0; i < items.size(); i++) {
                    keys.add(new Sorted(i, items.get(i).value, syntax));
                }
                continue;
            }
            int item = ordinal(syntax.value(), "ORDER BY").orElse(-1);
            if (item < 0 && syntax.value() instanceof SqlIdentifier name && name.isSimple()) {
                item = itemNamed(name);
            }
            RexNode value = item >= 0
                    ? items.get(item).value
                    : context.coercions().decided(expressions("ORDER BY", true).bind(aliases.inPlace(syntax.value())));
            keys.add(new Sorted(item, value, syntax));
        }
        return keys;
    }

    private int itemNamed(SqlIdentifier name) {
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

    // ---- output ----------------------------------------------------------------------------------------------------

    private QueryBinder.Pending output(
            List<Sorted> sorted,
            List<RexNode> distinctOn,
            Optional<RexNode> qualify,
            List<DataType> expected,
            boolean keepUnknown,
            Optional<CorrelationId> correlation) {
        boolean plain = !select.isDistinct() && order.isEmpty() && distinctOn.isEmpty() && qualify.isEmpty();
        boolean decide = !keepUnknown || !plain;
        List<RexNode> values = new ArrayList<>();
        List<String> names = new ArrayList<>();
        for (Item item : items) {
            RexNode value = item.value;
            if (Coercions.isUnknown(value)) {
                value = values.size() < expected.size()
                        ? context.coercions()
                                .convert(value, expected.get(values.size()), Coercions.Strength.ASSIGNMENT, item.syntax)
                        : decide ? context.coercions().decided(value) : value;
            }
            values.add(value);
            names.add(item.name);
        }
        if (plain && values.stream().anyMatch(SetFunctions::isIn)) {
            List<RexNode> decided =
                    values.stream().map(context.coercions()::decided).toList();
            RelNode unfolded = SetFunctions.project(rel, decided, names, correlation);
            return new QueryBinder.Pending(unfolded, RelNodes.references(unfolded), names, Optional.empty());
        }
        if (plain) {
            return new QueryBinder.Pending(rel, values, names, correlation);
        }
        List<RelFieldCollation> collation = new ArrayList<>();
        List<RexNode> withKeys = new ArrayList<>(values);
        List<String> withKeyNames = new ArrayList<>(names);
        for (Sorted key : sorted) {
            int column = key.item >= 0 ? key.item : ComparableQueries.indexOf(withKeys, key.value);
            if (column < 0) {
                if (select.isDistinct()) {
                    throw Errors.error(
                            SqlState.INVALID_COLUMN_REFERENCE,
                            "for SELECT DISTINCT, ORDER BY expressions must appear in select list",
                            key.syntax.value());
                }
                column = withKeys.size();
                withKeys.add(key.value);
                withKeyNames.add("sort_key");
            }
            collation.add(collation(column, key.syntax));
        }
        List<Integer> on = new ArrayList<>();
        for (RexNode key : distinctOn) {
            int column = ComparableQueries.indexOf(withKeys, key);
            if (column < 0) {
                column = withKeys.size();
                withKeys.add(key);
                withKeyNames.add("distinct_key");
            }
            on.add(column);
        }
        int width = withKeys.size();
        qualify.ifPresent(condition -> {
            withKeys.add(condition);
            withKeyNames.add("qualifies");
        });
        RelNode output = SetFunctions.project(rel, withKeys, withKeyNames, correlation);
        if (qualify.isPresent()) {
            output = RelNodes.filter(output, RelNodes.references(output).get(width), Optional.empty());
            output = RelNodes.project(
                    output, RelNodes.references(output).subList(0, width), withKeyNames.subList(0, width));
        }
        if (select.isDistinct()) {
            output = RelNodes.distinct(output);
        }
        if (!on.isEmpty()) {
            checkOrderBegins(on, collation, sorted);
            output = Numbering.firstPer(output, on, collation);
        }
        if (order.withTies) {
            output = Numbering.withTies(output, collation, order.offset, order.fetch);
        }
        if (!order.isEmpty()) {
            output = RelNodes.sort(
                    output,
                    RelCollations.of(collation),
                    order.withTies ? Optional.empty() : order.offset,
                    order.withTies ? Optional.empty() : order.fetch);
        }
        List<RexNode> visible = RelNodes.references(output).subList(0, values.size());
        return new QueryBinder.Pending(output, visible, names, Optional.empty());
    }

    /** What comes first is decided by the order, so the order has to begin with what is to be distinct. */
    private static void checkOrderBegins(List<Integer> on, List<RelFieldCollation> collation, List<Sorted> sorted) {
        long distinct = on.stream().distinct().count();
        for (int key = 0; key < Math.min(distinct, collation.size()); key++) {
            if (!on.contains(collation.get(key).getFieldIndex())) {
                throw Errors.error(
                        SqlState.INVALID_COLUMN_REFERENCE,
                        "SELECT DISTINCT ON expressions must match initial ORDER BY expressions",
                        sorted.get(key).syntax.value());
            }
        }
    }

    static RelFieldCollation collation(int column, SortSyntax syntax) {
        return new RelFieldCollation(
                column,
                syntax.descending() ? Direction.DESCENDING : Direction.ASCENDING,
                syntax.nullsFirst() ? NullDirection.FIRST : NullDirection.LAST);
    }

    /** Whether a LIMIT is certainly negative. */
    static boolean isNegative(RexNode count) {
        return count instanceof RexLiteral literal
                && !literal.isNull()
                && literal.getValueAs(BigDecimal.class).signum() < 0;
    }

    /** The items of a list, none for no list. */
    static List<SqlNode> items(SqlNodeList list) {
        return list == null ? List.of() : list.getList();
    }
}
