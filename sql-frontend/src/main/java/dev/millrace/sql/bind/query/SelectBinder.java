package dev.millrace.sql.bind.query;

import dev.millrace.error.SqlState;
import dev.millrace.sql.algebra.Rex;
import dev.millrace.sql.bind.expression.AggregateBinder.SortSyntax;
import dev.millrace.sql.bind.expression.ExpressionBinder;
import dev.millrace.sql.bind.expression.OuterAggregates;
import dev.millrace.sql.bind.relation.RelNodes;
import dev.millrace.sql.bind.scope.AggregateCalls;
import dev.millrace.sql.bind.scope.Aliases;
import dev.millrace.sql.bind.scope.Clause;
import dev.millrace.sql.bind.scope.From;
import dev.millrace.sql.bind.scope.QueryContext;
import dev.millrace.sql.bind.scope.Scope;
import dev.millrace.sql.bind.type.Errors;
import dev.millrace.sql.syntax.FromClauses;
import dev.millrace.type.DataType;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.logical.LogicalValues;
import org.apache.calcite.rex.RexInputRef;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.SqlNodeList;
import org.apache.calcite.sql.SqlSelect;
import org.apache.calcite.sql.SqlWindow;

/**
 * Binds one SELECT with the ORDER BY and LIMIT that follow it:
 *
 * <pre>
 * FROM -> filter (WHERE) -> aggregate -> filter (HAVING) -> project -> distinct -> sort -> project (drops sort keys)
 * </pre>
 */
final class SelectBinder {
    private final QueryContext context;
    private final SqlSelect select;
    private final OrderLimit order;
    private final SelectList list;
    private final Scope scope;
    private final AggregateCalls calls;
    private final Aliases aliases;
    private final Map<Integer, SqlIdentifier> columnsSeen = new HashMap<>();
    private boolean groupedFromWithin;
    private RelNode rel;

    SelectBinder(QueryContext context, QueryBinder queries, Optional<Scope> outer, SqlSelect select, OrderLimit order) {
        this.context = context;
        this.select = select;
        this.order = order;
        boolean noFrom = select.getFrom() == null
                || select.getFrom() instanceof SqlIdentifier name && name.names.equals(List.of(FromClauses.ONE_ROW));
        From from = noFrom
                ? new From(LogicalValues.createOneRow(context.cluster()), List.of())
                : new FromBinder(context, queries, outer, OuterRows.namesIn(select, order.order()))
                        .bind(select.getFrom());
        this.rel = from.rel();
        this.scope = new Scope(outer, from.columns(), rel.getRowType(), context, queries.commonTables());
        this.aliases = new Aliases(select.getSelectList().getList(), scope);
        this.list = new SelectList(context, select, scope, aliases, this::sawColumn);
        this.calls = new AggregateCalls(rel.getRowType().getFieldCount());
    }

    /** @param expected types for columns whose type is open, where the place gives them */
    QueryBinder.Pending bind(List<DataType> expected, boolean keepUnknown) {
        where();
        boolean grouped = isGrouped();
        if (grouped) {
            scope.setGrouped();
        }
        list.bind(expressions("SELECT", true));
        List<SelectOutput.Sorted> sorted = sortKeys();
        List<RexNode> distinctOn = distinctOn();
        Optional<RexNode> qualify = qualify();
        if (!grouped) {
            rejectGrouping();
        } else {
            Groups groups = new GroupBinder(
                            context,
                            expressions("GROUP BY", false),
                            list::alias,
                            list::ordinal,
                            list::place,
                            list.values())
                    .bind(list.groupItems());
            Optional<RexNode> having = Optional.ofNullable(select.getHaving())
                    .map(node -> expressions("HAVING", true).bindCondition(aliases.inPlace(node)));
            List<RexNode> read = new ArrayList<>(list.values());
            sorted.forEach(key -> read.add(key.value()));
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
            list.replaceValues(grouping::rewriteColumn);
            sorted.replaceAll(key -> key.withValue(grouping.rewriteColumn(key.item(), key.value())));
            distinctOn.replaceAll(grouping::rewrite);
            qualify = qualify.map(grouping::rewrite);
            return output().pending(sorted, distinctOn, qualify, expected, keepUnknown, grouping.correlation());
        }
        return output().pending(sorted, distinctOn, qualify, expected, keepUnknown, scope.correlation());
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
                || order.order().stream().anyMatch(item -> OuterAggregates.anyOwn(item, context, scope));
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

    // ---- ORDER BY --------------------------------------------------------------------------------------------------

    private List<SelectOutput.Sorted> sortKeys() {
        List<SelectOutput.Sorted> keys = new ArrayList<>();
        for (SqlNode node : order.order()) {
            SortSyntax syntax = SortSyntax.of(node);
            if (SelectList.isAllColumns(syntax.value())) {
                for (int i = 0; i < list.size(); i++) {
                    keys.add(new SelectOutput.Sorted(i, list.get(i).value(), syntax));
                }
                continue;
            }
            int item = list.ordinal(syntax.value(), "ORDER BY").orElse(-1);
            if (item < 0 && syntax.value() instanceof SqlIdentifier name && name.isSimple()) {
                item = list.named(name);
            }
            RexNode value = item >= 0
                    ? list.get(item).value()
                    : context.coercions().decided(expressions("ORDER BY", true).bind(aliases.inPlace(syntax.value())));
            keys.add(new SelectOutput.Sorted(item, value, syntax));
        }
        return keys;
    }

    private List<RexNode> distinctOn() {
        List<RexNode> keys = new ArrayList<>();
        for (SqlNode node : list.distinctOnCall().map(SqlCall::getOperandList).orElse(List.of())) {
            int item = list.ordinal(node, "SELECT DISTINCT ON").orElse(-1);
            if (item < 0 && node instanceof SqlIdentifier name && name.isSimple()) {
                item = list.named(name);
            }
            keys.add(
                    item >= 0
                            ? list.get(item).value()
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

    private SelectOutput output() {
        return new SelectOutput(context, select, order, list, rel);
    }

    /** The items of a list, none for no list. */
    static List<SqlNode> items(SqlNodeList list) {
        return list == null ? List.of() : list.getList();
    }
}
