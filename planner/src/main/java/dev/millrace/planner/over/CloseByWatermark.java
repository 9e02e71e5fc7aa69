package dev.millrace.planner.over;

import dev.millrace.plan.expression.OverCall;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.plan.node.PlanNode.Over;
import dev.millrace.planner.fact.Facts;
import dev.millrace.planner.fact.Inference;
import dev.millrace.planner.tree.Nodes;
import dev.millrace.planner.tree.Rewrite;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * Rows that are only added, in the order of their event time, under functions that look back only: a row's results are
 * final when the watermark has passed it.
 *
 * <pre>
 * Over(order ts; sum(v) rows 10 preceding)    becomes    Over(order ts; ..., once the watermark has passed)
 *   Watermark(ts)                                          Watermark(ts)
 * </pre>
 */
final class CloseByWatermark implements Rewrite {
    private final Inference inference;

    CloseByWatermark(Inference inference) {
        this.inference = inference;
    }

    @Override
    public Optional<PlanNode> apply(PlanNode node) {
        if (!(node instanceof Over over)
                || over.closing().isPresent()
                || over.order().isEmpty()
                || over.order().get(0).descending()
                || over.calls().stream().anyMatch(OverCall::looksAhead)) {
            return Optional.empty();
        }
        int time = over.order().get(0).column();
        Facts input = inference.of(over.input());
        return input.appendOnly() && input.eventTimes().contains(time)
                ? Optional.of(
                        Nodes.over(over.input(), over.partition(), over.order(), over.calls(), OptionalInt.of(time)))
                : Optional.empty();
    }
}
