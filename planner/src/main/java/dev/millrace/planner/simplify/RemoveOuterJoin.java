package dev.millrace.planner.simplify;

import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.Expression.Call;
import dev.millrace.plan.expression.Expression.Cast;
import dev.millrace.plan.expression.Expression.Column;
import dev.millrace.plan.function.FunctionCatalog;
import dev.millrace.plan.function.Signature;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.plan.node.PlanNode.Calc;
import dev.millrace.plan.node.PlanNode.Join;
import dev.millrace.plan.node.PlanNode.JoinKind;
import dev.millrace.planner.tree.Expressions;
import dev.millrace.planner.tree.Nodes;
import dev.millrace.planner.tree.Rewrite;
import java.util.BitSet;
import java.util.List;
import java.util.Optional;

/**
 * An outer join whose padded rows are dropped above is not one.
 *
 * <pre>
 * Calc(where right.b = 5)    becomes    Calc(where right.b = 5)
 *   Join(LEFT)                            Join(INNER)
 * </pre>
 */
final class RemoveOuterJoin implements Rewrite {
    @Override
    public Optional<PlanNode> apply(PlanNode node) {
        if (!(node instanceof Calc calc) || !(calc.input() instanceof Join join)) {
            return Optional.empty();
        }
        int width = join.left().schema().size();
        BitSet present = new BitSet();
        for (Expression conjunct : Expressions.conjuncts(calc.condition())) {
            addAsked(
                    Expressions.isCall(conjunct, "is_not_null")
                            ? ((Call) conjunct).arguments().get(0)
                            : conjunct,
                    present);
        }
        boolean left = !present.isEmpty() && present.nextSetBit(0) < width;
        boolean right = present.nextSetBit(width) >= 0;
        JoinKind kind = switch (join.kind()) {
            case LEFT -> right ? JoinKind.INNER : JoinKind.LEFT;
            case RIGHT -> left ? JoinKind.INNER : JoinKind.RIGHT;
            case FULL -> left && right ? JoinKind.INNER : left ? JoinKind.LEFT : right ? JoinKind.RIGHT : JoinKind.FULL;
            case INNER, SEMI, ANTI -> join.kind();
        };
        return kind == join.kind()
                ? Optional.empty()
                : Optional.of(Nodes.calc(
                        Nodes.join(
                                join.left(),
                                join.right(),
                                kind,
                                join.leftKeys(),
                                join.rightKeys(),
                                join.residual(),
                                join.time()),
                        calc.condition(),
                        calc.projections()));
    }

    /** Adds the columns of which any being NULL makes an expression NULL. */
    private static void addAsked(Expression expression, BitSet columns) {
        if (expression instanceof Column column) {
            columns.set(column.index());
        } else if (expression instanceof Cast cast) {
            addAsked(cast.input(), columns);
        } else if (expression instanceof Call call && isStrict(call.function())) {
            call.arguments().forEach(argument -> addAsked(argument, columns));
        }
    }

    private static boolean isStrict(String function) {
        List<Signature> overloads = FunctionCatalog.overloads(function);
        return !overloads.isEmpty() && overloads.stream().allMatch(Signature::strict);
    }
}
