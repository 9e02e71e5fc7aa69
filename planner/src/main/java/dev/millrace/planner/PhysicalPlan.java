package dev.millrace.planner;

import dev.millrace.plan.node.PlanNode;
import dev.millrace.planner.explain.Fingerprint;
import dev.millrace.planner.fact.RelationFacts;
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
 * @param eventTime of a standing query whose rows are only added, a column that a watermark speaks of, for queries that
 *     read it
 * @param joins of a standing query that joins relations of which something is known, what was expected of it
 * @param asksBounds whether the query asks how far off values may be
 * @param fingerprint what this plan has in common with those that differ in literals only
 */
public record PhysicalPlan(
        PlanNode root,
        boolean appendOnly,
        Emit emit,
        Optional<List<Integer>> uniqueKey,
        Optional<RelationFacts.EventTime> eventTime,
        Optional<JoinChoice> joins,
        boolean asksBounds,
        Fingerprint fingerprint) {
    public PhysicalPlan {
        Objects.requireNonNull(root);
        Objects.requireNonNull(emit);
        uniqueKey = uniqueKey.map(List::copyOf);
        Objects.requireNonNull(joins);
        Objects.requireNonNull(fingerprint);
    }

    /** The same plan, with what was expected of its joins. */
    PhysicalPlan with(JoinChoice choice) {
        return new PhysicalPlan(
                root, appendOnly, emit, uniqueKey, eventTime, Optional.of(choice), asksBounds, fingerprint);
    }
}
