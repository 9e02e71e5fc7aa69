package dev.millrace.planner.simplify;

import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.Expression.Call;
import dev.millrace.plan.expression.Expression.Column;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.plan.node.PlanNode.Calc;
import dev.millrace.plan.node.PlanNode.Join;
import dev.millrace.plan.node.PlanNode.JoinKind;
import dev.millrace.planner.tree.Expressions;
import dev.millrace.planner.tree.Nodes;
import dev.millrace.planner.tree.Rewrite;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Rows of a left join that are kept only without a partner: what NOT EXISTS comes as.
 *
 * <pre>
 * Calc($0 where right.b IS NULL)    becomes    Calc($0)
 *   Join(LEFT)                                   Join(ANTI)
 * </pre>
 *
 * Only when {@code right.b} is never NULL in the right rows themselves, and nothing else of the right side is read.
 */
final class UseAntiJoin implements Rewrite {
    @Override
    public Optional<PlanNode> apply(PlanNode node) {
        if (!(node instanceof Calc calc)
                || !(calc.input() instanceof Join join)
                || join.kind() != JoinKind.LEFT
                || join.time().isPresent()) {
            return Optional.empty();
        }
        int width = join.left().schema().size();
        List<Expression> rest = new ArrayList<>(Expressions.conjuncts(calc.condition()));
        boolean unmatched = rest.removeIf(conjunct -> isMissing(conjunct, join, width));
        boolean readsLeftOnly = Expressions.and(rest).stream().allMatch(part -> ofLeft(part, width))
                && calc.projections().stream().allMatch(part -> ofLeft(part, width));
        return unmatched && readsLeftOnly
                ? Optional.of(Nodes.calc(
                        Nodes.join(
                                join.left(),
                                join.right(),
                                JoinKind.ANTI,
                                join.leftKeys(),
                                join.rightKeys(),
                                join.residual(),
                                join.time()),
                        Expressions.and(rest),
                        calc.projections()))
                : Optional.empty();
    }

    private static boolean isMissing(Expression conjunct, Join join, int width) {
        return conjunct instanceof Call call
                && call.function().equals("is_null")
                && call.arguments().get(0) instanceof Column column
                && column.index() >= width
                && !join.right().schema().field(column.index() - width).nullable();
    }

    private static boolean ofLeft(Expression expression, int width) {
        return Expressions.readsOnly(expression, column -> column < width);
    }
}
