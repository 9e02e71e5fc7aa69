package dev.millrace.planner;

import dev.millrace.plan.node.PlanNode;
import dev.millrace.planner.explain.Fingerprint;
import dev.millrace.sql.statement.Emit;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * A planned query.
 *
 * @param root its schema bears the user's column names
 * @param appendOnly whether no row of the answer is ever retracted
 * @param emit when a standing query shows its rows; never {@link Emit.Unspecified}
 * @param uniqueKey columns no two rows of the answer agree in, where some are known; no columns when there is at most
 *     one row
 * @param fingerprint what this plan has in common with those that differ in literals only
 */
public record PhysicalPlan(
        PlanNode root, boolean appendOnly, Emit emit, Optional<List<Integer>> uniqueKey, Fingerprint fingerprint) {
    public PhysicalPlan {
        Objects.requireNonNull(root);
        Objects.requireNonNull(emit);
        uniqueKey = uniqueKey.map(List::copyOf);
        Objects.requireNonNull(fingerprint);
    }
}
