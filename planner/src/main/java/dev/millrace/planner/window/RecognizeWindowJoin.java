package dev.millrace.planner.window;

import dev.millrace.plan.node.JoinTime.WindowEnds;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.plan.node.PlanNode.Join;
import dev.millrace.plan.node.WindowSpec;
import dev.millrace.planner.fact.Facts;
import dev.millrace.planner.fact.Inference;
import dev.millrace.planner.fact.WindowColumns;
import dev.millrace.planner.tree.Nodes;
import dev.millrace.planner.tree.Rewrite;
import java.util.Optional;

/**
 * A join of rows of equal windows forgets them when the window closes.
 *
 * <pre>
 * Join(keys id = id, window_end = window_end)    becomes    Join(.., in windows that end with window_end)
 * </pre>
 *
 * Equal starts do as well where both sides have one kind of window that its start identifies.
 */
final class RecognizeWindowJoin implements Rewrite {
    private final Inference inference;

    RecognizeWindowJoin(Inference inference) {
        this.inference = inference;
    }

    @Override
    public Optional<PlanNode> apply(PlanNode node) {
        if (!(node instanceof Join join) || join.time().isPresent()) {
            return Optional.empty();
        }
        Facts left = inference.of(join.left());
        Facts right = inference.of(join.right());
        if (!left.appendOnly() || !right.appendOnly()) {
            return Optional.empty();
        }
        for (int key = 0; key < join.leftKeys().size(); key++) {
            int leftKey = join.leftKeys().get(key);
            int rightKey = join.rightKeys().get(key);
            Optional<WindowColumns> ofLeft = left.windowsOf(leftKey);
            Optional<WindowColumns> ofRight = right.windowsOf(rightKey);
            if (ofLeft.isPresent()
                    && ofRight.isPresent()
                    && endTogether(ofLeft.get(), leftKey, ofRight.get(), rightKey)) {
                return Optional.of(Nodes.join(
                        join.left(),
                        join.right(),
                        join.kind(),
                        join.leftKeys(),
                        join.rightKeys(),
                        join.residual(),
                        Optional.of(new WindowEnds(
                                ofLeft.get().end().getAsInt(),
                                ofRight.get().end().getAsInt()))));
            }
        }
        return Optional.empty();
    }

    private static boolean endTogether(WindowColumns left, int leftKey, WindowColumns right, int rightKey) {
        if (left.end().isEmpty() || right.end().isEmpty()) {
            return false;
        }
        boolean equalEnds = left.end().getAsInt() == leftKey && right.end().getAsInt() == rightKey;
        boolean equalStarts = left.end().getAsInt() != leftKey && right.end().getAsInt() != rightKey;
        boolean startIdentifies = left.window().shape() instanceof WindowSpec.Tumble
                || left.window().shape() instanceof WindowSpec.Hop;
        return equalEnds || equalStarts && startIdentifies && left.window().equals(right.window());
    }
}
