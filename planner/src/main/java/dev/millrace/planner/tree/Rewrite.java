package dev.millrace.planner.tree;

import dev.millrace.plan.node.PlanNode;
import java.util.Optional;

/** One local change of a plan that keeps its answer. Pure; the node's inputs have been rewritten already. */
@FunctionalInterface
public interface Rewrite {
    /** What to put in the place of {@code node}, or empty when the rewrite does not fire. */
    Optional<PlanNode> apply(PlanNode node);
}
