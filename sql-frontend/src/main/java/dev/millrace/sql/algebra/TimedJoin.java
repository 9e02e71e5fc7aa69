package dev.millrace.sql.algebra;

import java.util.Optional;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.core.JoinRelType;
import org.apache.calcite.rel.hint.RelHint;
import org.apache.calcite.rel.logical.LogicalAsofJoin;
import org.apache.calcite.rex.RexNode;

/**
 * A join in which time chooses the right row, as a planner sees it.
 *
 * @param condition over left columns, then right columns
 * @param match the comparison of times that chooses; none where a left row meets the right rows there are when it comes
 * @param once whether each left row is joined once, and never again when right rows change (FOR SYSTEM_TIME AS OF)
 * @param versions whether the right side is the scan of a table whose rows have versions; equalities of its whole primary
 *     key are among the conditions
 */
public record TimedJoin(
        RelNode left,
        RelNode right,
        boolean isLeft,
        RexNode condition,
        Optional<RexNode> match,
        boolean once,
        boolean versions) {
    /** What marks the algebra of FOR SYSTEM_TIME AS OF. */
    public static final RelHint ONCE = RelHint.builder("once").build();

    /** What marks it besides where the right side is a table whose rows have versions. */
    public static final RelHint VERSIONS = RelHint.builder("versions").build();

    /** The node as such a join, if it is one. */
    public static Optional<TimedJoin> of(RelNode node) {
        return node instanceof LogicalAsofJoin join
                ? Optional.of(new TimedJoin(
                        join.getLeft(),
                        join.getRight(),
                        join.getJoinType() == JoinRelType.LEFT_ASOF,
                        join.getCondition(),
                        join.getMatchCondition().isAlwaysTrue()
                                ? Optional.empty()
                                : Optional.of(join.getMatchCondition()),
                        join.getHints().contains(ONCE),
                        join.getHints().contains(VERSIONS)))
                : Optional.empty();
    }
}
