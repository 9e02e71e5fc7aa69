package dev.millrace.engine.operators;

import dev.millrace.plan.node.PlanNode;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;

/** What is known of plans that run to their end. */
public final class FiniteRun {
    private FiniteRun() {}

    /** Whether a finite run may emit rows that it takes back later. */
    public static boolean mayRetract(PlanNode plan) {
        return mayRetract(plan, Collections.newSetFromMap(new IdentityHashMap<>()));
    }

    private static boolean mayRetract(PlanNode plan, Set<PlanNode> asked) {
        if (!asked.add(plan)) {
            return false; // or the answer is known already
        }
        if (plan instanceof PlanNode.Aggregate || plan instanceof PlanNode.Sort || plan instanceof PlanNode.Match) {
            return false; // they emit once, at the end
        }
        return plan instanceof PlanNode.Join join
                        && (join.kind() != PlanNode.JoinKind.INNER
                                || join.time().isPresent())
                || plan instanceof PlanNode.TopN top && top.windowEnd().isEmpty()
                || plan instanceof PlanNode.Over
                || plan.inputs().stream().anyMatch(input -> mayRetract(input, asked));
    }
}
