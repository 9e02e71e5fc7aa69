package dev.millrace.planner.simplify;

import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.Expression.Call;
import dev.millrace.plan.expression.Expression.Literal;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.plan.node.PlanNode.Join;
import dev.millrace.plan.node.PlanNode.JoinKind;
import dev.millrace.planner.tree.Expressions;
import dev.millrace.planner.tree.Nodes;
import dev.millrace.planner.tree.Rewrite;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A condition of an inner join that divides values of both sides is evaluated above it: a pair for which it fails is a row
 * then, which may be taken back, and its failure with it. {@link PushFilterIntoJoin} leaves it there.
 *
 * <pre>
 * Join(INNER, 12 / (a - b) > 1)    becomes    Calc(where 12 / (a - b) > 1)
 *   X(a)                                        Join(INNER)
 *   Y(b)                                          X(a)
 *                                                 Y(b)
 * </pre>
 */
final class DivideAboveJoin implements Rewrite {
    @Override
    public Optional<PlanNode> apply(PlanNode node) {
        if (!(node instanceof Join join) || join.residual().isEmpty() || !mayLift(join)) {
            return Optional.empty();
        }
        List<Expression> above = new ArrayList<>();
        List<Expression> within = new ArrayList<>();
        for (Expression conjunct : Expressions.conjuncts(join.residual())) {
            (dividesAcross(join, conjunct) ? above : within).add(conjunct);
        }
        if (above.isEmpty()) {
            return Optional.empty();
        }
        PlanNode rest = Nodes.join(
                join.left(),
                join.right(),
                join.kind(),
                join.leftKeys(),
                join.rightKeys(),
                Expressions.and(within),
                join.time());
        return Optional.of(Nodes.filter(rest, Expressions.and(above).orElseThrow()));
    }

    private static boolean mayLift(Join join) {
        return join.kind() == JoinKind.INNER && join.time().isEmpty();
    }

    /** Whether a condition of this join belongs above it. */
    static boolean isForAbove(Join join, Expression conjunct) {
        return mayLift(join) && dividesAcross(join, conjunct);
    }

    /** Whether it divides, by what may be zero, something of one side and of the other. */
    private static boolean dividesAcross(Join join, Expression expression) {
        if (expression instanceof Expression.Case) {
            return false; // which may be there to see to it
        }
        int width = join.left().schema().size();
        boolean here = expression instanceof Call call
                && (call.function().equals("divide") || call.function().equals("mod"))
                && !(call.arguments().get(1) instanceof Literal)
                && !Expressions.readsOnly(call, column -> column < width)
                && !Expressions.readsOnly(call, column -> column >= width);
        return here || Expressions.operands(expression).stream().anyMatch(operand -> dividesAcross(join, operand));
    }
}
