package dev.millrace.planner.over;

import dev.millrace.plan.node.PlanNode;
import dev.millrace.planner.fact.Inference;
import dev.millrace.planner.tree.Rewriter;

/** The rewrites of this package in their order. */
public final class OverRecognition {
    private OverRecognition() {}

    /** @param closing whether rows are to wait for the watermark where they can (EMIT ON WINDOW CLOSE) */
    public static PlanNode apply(PlanNode plan, Inference inference, boolean closing) {
        PlanNode numbered = Rewriter.rewrite(plan, new SessionsByOver(), new NumberAllRows(), new MergeOvers());
        return closing ? Rewriter.rewrite(numbered, new CloseByWatermark(inference)) : numbered;
    }
}
