package dev.millrace.planner.window;

import dev.millrace.plan.node.PlanNode;
import dev.millrace.planner.fact.Inference;
import dev.millrace.planner.simplify.Simplification;
import dev.millrace.planner.tree.Rewrite;
import dev.millrace.planner.tree.Rewriter;
import java.util.ArrayList;
import java.util.List;

/** The rewrites that let windows speak once, at their close. */
public final class WindowRecognition {
    private WindowRecognition() {}

    /** @param onClose whether the user asks for EMIT ON WINDOW CLOSE */
    public static PlanNode apply(PlanNode plan, Inference inference, boolean onClose) {
        List<Rewrite> rewrites = new ArrayList<>(Simplification.merging());
        rewrites.addAll(List.of(
                new RecognizeWindowAggregate(inference),
                new RecognizeSessionAggregate(inference),
                new RecognizeAttachedAggregate(inference),
                new RecognizeWindowTopN(inference),
                new JoinWithOwnExtreme(inference),
                new RecognizeWindowJoin(inference),
                new RecognizeIntervalJoin(inference, true, onClose),
                new RecognizeLifetimeJoin(inference, true)));
        return Rewriter.rewrite(plan, rewrites);
    }
}
