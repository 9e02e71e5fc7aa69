package dev.millrace.planner.window;

import dev.millrace.plan.expression.AggregateCall;
import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.Expression.Column;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.plan.node.PlanNode.Aggregate;
import dev.millrace.plan.node.PlanNode.Phase;
import dev.millrace.plan.node.WindowSpec;
import dev.millrace.planner.condense.CondenseScans;
import dev.millrace.planner.fact.Inference;
import dev.millrace.planner.tree.Expressions;
import dev.millrace.planner.tree.Nodes;
import dev.millrace.planner.tree.Rewrite;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Grouping by a window becomes an aggregation by slices that emits at the window's close.
 *
 * <pre>
 * Aggregate(keys k, window_start; sum(v))    becomes    Calc(k, window_start, sum)
 *   WindowAssign(ts)                                      WindowAggregate(keys k; sum(v), ts)
 *     X                                                     Calc(k, v, ts)
 *                                                             X
 * </pre>
 *
 * Keys and conditions that depend on the window alone are computed after it. Not when rows may be retracted, when no
 * watermark speaks of {@code ts}, when rows may come as one that are alike, when the window is not identified by the keys, or when an argument depends on the
 * window. Sessions are {@link RecognizeSessionAggregate}'s.
 */
final class RecognizeWindowAggregate implements Rewrite {
    private final Inference inference;

    RecognizeWindowAggregate(Inference inference) {
        this.inference = inference;
    }

    @Override
    public Optional<PlanNode> apply(PlanNode node) {
        return node instanceof Aggregate aggregate
                ? WindowGrouping.of(aggregate).filter(this::fires).map(RecognizeWindowAggregate::rewritten)
                : Optional.empty();
    }

    private boolean fires(WindowGrouping grouping) {
        WindowSpec window = grouping.assign().window();
        PlanNode rows = grouping.assign().input();
        boolean identified = grouping.groupsBy(grouping.end())
                || grouping.groupsBy(grouping.start()) && !(window.shape() instanceof WindowSpec.Cumulate);
        return !(window instanceof WindowSpec.Session)
                && identified
                && inference.of(rows).appendOnly()
                && !CondenseScans.isCondensed(rows)
                && inference.closes(rows, grouping.assign().timeColumn())
                && grouping.keys().stream().allMatch(key -> grouping.ofRows(key) || grouping.ofWindow(key))
                && grouping.view().conditions().stream().allMatch(grouping::ofWindow)
                && grouping.callsReadRowsOnly();
    }

    private static PlanNode rewritten(WindowGrouping grouping) {
        return aggregated(grouping, grouping.aggregate().calls(), Optional.empty());
    }

    /**
     * @param calls over the columns of the grouping's view
     * @param lastOne what the value of the last call must fulfil, over itself as column 0; that call is then left out
     */
    static PlanNode aggregated(WindowGrouping grouping, List<AggregateCall> calls, Optional<Expression> lastOne) {
        CalcView view = grouping.view();
        PreProjection needed = new PreProjection();
        List<Expression> rowKeys = grouping.rowKeys();
        List<Integer> keys = rowKeys.stream().map(needed::place).toList();
        List<AggregateCall> placed = calls.stream()
                .map(call -> PreProjection.renumber(
                        call, column -> needed.place(view.columns().get(column))))
                .toList();
        int time = needed.place(
                Nodes.column(grouping.assign().input(), grouping.assign().timeColumn()));
        PlanNode windows = Nodes.windowAggregate(
                needed.over(grouping.assign().input(), Optional.empty()),
                time,
                grouping.assign().window(),
                keys,
                placed,
                Phase.SINGLE);
        return restored(grouping, windows, lastOne);
    }

    /** The columns of the aggregation that was, from those of the window aggregation. */
    private static PlanNode restored(WindowGrouping grouping, PlanNode windows, Optional<Expression> lastOne) {
        List<Expression> rowKeys = grouping.rowKeys();
        int callCount = grouping.aggregate().calls().size();
        int windowStart = windows.schema().size() - 2;
        List<Expression> columns = new ArrayList<>();
        for (Expression key : grouping.keys()) {
            int position = rowKeys.indexOf(key);
            columns.add(position >= 0 ? Nodes.column(windows, position) : overWindow(key, grouping, windowStart));
        }
        for (int call = 0; call < callCount; call++) {
            columns.add(Nodes.column(windows, rowKeys.size() + call));
        }
        List<Expression> conditions = new ArrayList<>();
        grouping.conditions(grouping::ofWindow)
                .forEach(condition -> conditions.add(overWindow(condition, grouping, windowStart)));
        lastOne.ifPresent(
                condition -> conditions.add(Expressions.renumber(condition, column -> rowKeys.size() + callCount)));
        return Nodes.calc(windows, Expressions.and(conditions), columns);
    }

    private static Expression overWindow(Expression expression, WindowGrouping grouping, int windowStart) {
        return Expressions.transform(
                expression,
                part -> part instanceof Column column
                        ? new Column(windowStart + column.index() - grouping.start(), column.type(), false)
                        : part);
    }
}
