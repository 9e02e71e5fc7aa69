package dev.millrace.planner.window;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.plan.match.RowPattern;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.plan.node.Subplans;
import dev.millrace.planner.fact.Inference;

/**
 * Refuses row patterns that a standing query cannot keep: a match found in rows that may be taken back, or in an order
 * that is never complete, could not be emitted once.
 */
public final class MatchCheck {
    private final Inference inference;

    public MatchCheck(Inference inference) {
        this.inference = inference;
    }

    /** Fails with 0A000 if a pattern of the plan cannot be matched. */
    public void check(PlanNode plan) {
        if (inference.finite()) {
            return;
        }
        for (PlanNode node : Subplans.of(plan)) {
            if (node instanceof PlanNode.Match match) {
                check(match);
            }
        }
    }

    private void check(PlanNode.Match match) {
        if (!inference.of(match.input()).appendOnly()) {
            throw refusal(
                    "MATCH_RECOGNIZE in a standing query needs rows that do not change, but those of its input may be"
                            + " taken back",
                    "match over an append-only stream, or SELECT from the changing relation with MATCH_RECOGNIZE");
        }
        if (match.order().isEmpty()
                || match.order().get(0).descending()
                || !inference.closes(match.input(), match.order().get(0).column())) {
            throw refusal(
                    "MATCH_RECOGNIZE in a standing query needs ORDER BY the event time first, ascending: the column that"
                            + " the stream's WATERMARK is for",
                    "declare WATERMARK FOR the time column of the stream and order by it");
        }
        if (anchored(match.spec().pattern())) {
            throw refusal(
                    "the anchors ^ and $ of MATCH_RECOGNIZE are not available in a standing query: its partitions never"
                            + " end",
                    "leave them out, or SELECT with MATCH_RECOGNIZE from a table or a view");
        }
    }

    private static boolean anchored(RowPattern pattern) {
        if (pattern instanceof RowPattern.Concatenation all) {
            return all.parts().stream().anyMatch(MatchCheck::anchored);
        } else if (pattern instanceof RowPattern.Alternation any) {
            return any.choices().stream().anyMatch(MatchCheck::anchored);
        } else if (pattern instanceof RowPattern.Permutation permuted) {
            return permuted.parts().stream().anyMatch(MatchCheck::anchored);
        } else if (pattern instanceof RowPattern.Repetition repeated) {
            return anchored(repeated.body());
        } else if (pattern instanceof RowPattern.Exclusion excluded) {
            return anchored(excluded.body());
        }
        return pattern instanceof RowPattern.PartitionStart || pattern instanceof RowPattern.PartitionEnd;
    }

    private static MillraceException refusal(String what, String instead) {
        return MillraceException.user(SqlState.FEATURE_NOT_SUPPORTED, what).withHint(instead);
    }
}
