package dev.millrace.planner.over;

import dev.millrace.plan.expression.OrderKey;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.planner.fact.Facts;
import dev.millrace.planner.fact.Inference;
import dev.millrace.planner.tree.Nodes;
import java.util.List;
import java.util.OptionalInt;

/**
 * EMIT ON WINDOW CLOSE of rows that no window closes: each comes once, in the order of time, when the watermark has passed it.
 *
 * <pre>
 * Calc(ts, v)        becomes    Over(order ts; nothing, once the watermark has passed)
 *   Watermark(ts)                 Calc(ts, v)
 *                                   Watermark(ts)
 * </pre>
 */
public final class HoldUntilWatermark {
    private HoldUntilWatermark() {}

    /** The plan itself where its rows may change, or have no event time among their columns. */
    public static PlanNode apply(PlanNode plan, Inference inference) {
        Facts facts = inference.of(plan);
        OptionalInt time =
                facts.eventTimes().stream().mapToInt(column -> column).min();
        return facts.appendOnly() && time.isPresent()
                ? Nodes.over(plan, List.of(), List.of(new OrderKey(time.getAsInt(), false, false)), List.of(), time)
                : plan;
    }
}
