package dev.millrace.planner.over;

import dev.millrace.plan.expression.OverCall;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.plan.node.PlanNode.Over;
import dev.millrace.planner.tree.Nodes;
import dev.millrace.planner.tree.Rewrite;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Functions of one partition and order share a node.
 *
 * <pre>
 * Over(p, o; rank)       becomes    Over(p, o; sum, rank)
 *   Over(p, o; sum)                   X
 *     X
 * </pre>
 */
final class MergeOvers implements Rewrite {
    @Override
    public Optional<PlanNode> apply(PlanNode node) {
        if (!(node instanceof Over upper) || !(upper.input() instanceof Over lower)) {
            return Optional.empty();
        }
        int width = lower.input().schema().size();
        boolean same = upper.partition().equals(lower.partition())
                && upper.order().equals(lower.order())
                && upper.closing().equals(lower.closing());
        if (!same || upper.calls().stream().anyMatch(call -> reads(call, width))) {
            return Optional.empty();
        }
        List<OverCall> calls = new ArrayList<>(lower.calls());
        calls.addAll(upper.calls());
        return Optional.of(Nodes.over(lower.input(), lower.partition(), lower.order(), calls, lower.closing()));
    }

    /** Whether a call reads a column from {@code first} on. */
    private static boolean reads(OverCall call, int first) {
        return call.arguments().stream().anyMatch(column -> column >= first)
                || call.frame().isColumn(call.frame().start())
                        && call.frame().start().offset() >= first
                || call.frame().isColumn(call.frame().end())
                        && call.frame().end().offset() >= first
                || call.aggregate()
                        .filter(aggregate -> aggregate.arguments().stream().anyMatch(column -> column >= first)
                                || aggregate.filter().orElse(-1) >= first)
                        .isPresent();
    }
}
