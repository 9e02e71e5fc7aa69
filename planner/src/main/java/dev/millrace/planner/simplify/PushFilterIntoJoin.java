package dev.millrace.planner.simplify;

import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.node.JoinTime;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.plan.node.PlanNode.Calc;
import dev.millrace.plan.node.PlanNode.Join;
import dev.millrace.plan.node.PlanNode.JoinKind;
import dev.millrace.planner.tree.Expressions;
import dev.millrace.planner.tree.Nodes;
import dev.millrace.planner.tree.Rewrite;
import java.util.Optional;

/**
 * A condition above a join becomes part of an inner join's condition (see {@link SplitJoinCondition} for what follows),
 * or moves to the side of another join whose rows all survive it. Of an ASOF join that is the left one: which right row is the
 * nearest must not change.
 *
 * <pre>
 * Calc(where left.a = right.a and left.b > 5)    becomes    Join(INNER, left.a = right.a and left.b > 5)
 *   Join(INNER)
 *
 * Calc(where left.b > 5)    becomes    Join(LEFT)
 *   Join(LEFT)                           Calc(where left.b > 5)
 * </pre>
 */
final class PushFilterIntoJoin implements Rewrite {
    @Override
    public Optional<PlanNode> apply(PlanNode node) {
        if (!(node instanceof Calc calc)
                || !(calc.input() instanceof Join join)
                || join.kind() == JoinKind.FULL // not even what reads no column
                || calc.condition().isEmpty()) {
            return Optional.empty();
        }
        int width = join.left().schema().size();
        boolean nearest = join.time().filter(JoinTime.Nearest.class::isInstance).isPresent();
        SplitFilter split = SplitFilter.of(
                calc,
                column -> switch (nearest ? JoinKind.LEFT : join.kind()) {
                    case INNER, SEMI, ANTI -> true;
                    case LEFT -> column < width;
                    case RIGHT -> column >= width;
                    case FULL -> false;
                },
                conjunct -> !isDividedAbove(join, conjunct) && !DivideAboveJoin.isForAbove(join, conjunct));
        return split.moving().map(moving -> {
            PlanNode left = join.left();
            PlanNode right = join.right();
            Optional<Expression> residual = join.residual();
            switch (join.kind()) {
                case INNER -> {
                    if (nearest) {
                        left = Nodes.filter(left, moving);
                    } else {
                        residual = Expressions.and(residual, split.moving());
                    }
                }
                case LEFT, SEMI, ANTI -> left = Nodes.filter(left, moving);
                case RIGHT -> right = Nodes.filter(right, Expressions.renumber(moving, column -> column - width));
                case FULL -> throw new AssertionError("nothing moves below a full join");
            }
            PlanNode joined =
                    Nodes.join(left, right, join.kind(), join.leftKeys(), join.rightKeys(), residual, join.time());
            return Nodes.calc(joined, split.staying(), calc.projections());
        });
    }

    /** What divides the one row of a sub-query stays above the join: see {@link DivideAboveOneRow}. */
    private static boolean isDividedAbove(Join join, Expression conjunct) {
        int width = join.left().schema().size();
        boolean ofLeft = DivideAboveOneRow.isOneRow(join.left());
        boolean ofRight = DivideAboveOneRow.isOneRow(join.right());
        return (ofLeft || ofRight)
                && DivideAboveOneRow.divides(conjunct)
                && !Expressions.readsOnly(conjunct, column -> column < width ? !ofLeft : !ofRight);
    }
}
