package dev.millrace.planner.window;

import dev.millrace.plan.expression.AggregateCall;
import dev.millrace.plan.expression.AggregateCall.Function;
import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.Expression.Column;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.plan.node.PlanNode.Aggregate;
import dev.millrace.plan.node.PlanNode.Distribution;
import dev.millrace.plan.node.PlanNode.Exchange;
import dev.millrace.plan.node.PlanNode.WindowAssign;
import dev.millrace.plan.node.WindowSpec;
import dev.millrace.planner.fact.Inference;
import dev.millrace.planner.tree.Expressions;
import dev.millrace.planner.tree.Nodes;
import dev.millrace.planner.tree.Rewrite;
import dev.millrace.type.DataType;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * Grouping by a session and its partition becomes an aggregation that emits at the session's close.
 *
 * <pre>
 * Aggregate(keys k, window_end; sum(v))    becomes    Calc(k, window_end, sum where count > 0)
 *   Calc(where c)                                       WindowAggregate(SESSION, keys k; sum(v) FILTER c, count FILTER c)
 *     WindowAssign(SESSION)                               X
 *       Exchange(Hash(k))
 *         X
 * </pre>
 *
 * A condition below the grouping must not keep rows from holding a session together, so it becomes a FILTER. All other
 * uses of sessions are left to {@code SessionsByOver}, which does not wait for their close.
 */
final class RecognizeSessionAggregate implements Rewrite {
    private final Inference inference;

    RecognizeSessionAggregate(Inference inference) {
        this.inference = inference;
    }

    @Override
    public Optional<PlanNode> apply(PlanNode node) {
        if (!(node instanceof Aggregate aggregate)) {
            return Optional.empty();
        }
        return WindowGrouping.of(aggregate)
                .filter(grouping -> grouping.assign().window() instanceof WindowSpec.Session)
                .filter(grouping ->
                        closes(grouping, partition((Exchange) grouping.assign().input())))
                .map(RecognizeSessionAggregate::rewritten);
    }

    private static List<Integer> partition(Exchange sessions) {
        return sessions.distribution() instanceof Distribution.Hash hash ? hash.columns() : List.of();
    }

    private static PlanNode rewritten(WindowGrouping grouping) {
        Exchange sessions = (Exchange) grouping.assign().input();
        WindowGrouping ofRows = withoutExchange(grouping, sessions);
        Optional<Expression> filter = Expressions.and(grouping.conditions(condition -> !grouping.ofWindow(condition)));
        return filter.isEmpty()
                ? RecognizeWindowAggregate.aggregated(ofRows, ofRows.aggregate().calls(), Optional.empty())
                : filtered(ofRows, filter.get());
    }

    private boolean closes(WindowGrouping grouping, List<Integer> partition) {
        PlanNode rows = grouping.assign().input();
        if (!inference.of(rows).appendOnly()
                || !inference.closes(rows, grouping.assign().timeColumn())) {
            return false;
        }
        boolean separable = grouping.view().conditions().stream()
                .allMatch(condition -> grouping.ofRows(condition) || grouping.ofWindow(condition));
        boolean grouped = grouping.groupsBy(grouping.start()) || grouping.groupsBy(grouping.end());
        boolean samePartition = partition.stream()
                        .allMatch(column -> grouping.rowKeys().stream()
                                .anyMatch(key -> key instanceof Column of && of.index() == column))
                && grouping.rowKeys().size() == partition.size();
        return separable && grouped && samePartition && grouping.callsReadRowsOnly();
    }

    private static WindowGrouping withoutExchange(WindowGrouping grouping, Exchange sessions) {
        WindowAssign assign = (WindowAssign) Nodes.withInputs(grouping.assign(), List.of(sessions.input()));
        CalcView view =
                new CalcView(assign, grouping.view().columns(), grouping.view().conditions());
        return new WindowGrouping(
                grouping.aggregate(), assign, view, grouping.keys(), grouping.start(), grouping.end());
    }

    private static PlanNode filtered(WindowGrouping grouping, Expression filter) {
        List<Expression> columns = new ArrayList<>(grouping.view().columns());
        List<AggregateCall> calls = new ArrayList<>();
        for (AggregateCall call : grouping.aggregate().calls()) {
            Optional<Expression> own = call.filter().isPresent()
                    ? Optional.of(columns.get(call.filter().getAsInt()))
                    : Optional.empty();
            columns.add(Expressions.and(Optional.of(filter), own).orElseThrow());
            calls.add(new AggregateCall(
                    call.function(),
                    call.arguments(),
                    call.distinct(),
                    OptionalInt.of(columns.size() - 1),
                    call.ordering(),
                    call.parameters(),
                    call.type()));
        }
        columns.add(filter);
        calls.add(new AggregateCall(
                Function.COUNT,
                List.of(),
                false,
                OptionalInt.of(columns.size() - 1),
                List.of(),
                List.of(),
                DataType.BIGINT));
        CalcView view = new CalcView(grouping.assign(), columns, grouping.conditions(grouping::ofWindow));
        WindowGrouping extended = new WindowGrouping(
                grouping.aggregate(), grouping.assign(), view, grouping.keys(), grouping.start(), grouping.end());
        Expression some = Expressions.test("gt", new Column(0, DataType.BIGINT, false), Expressions.literal(0L));
        return RecognizeWindowAggregate.aggregated(extended, calls, Optional.of(some));
    }
}
