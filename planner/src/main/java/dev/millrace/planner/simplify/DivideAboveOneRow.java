package dev.millrace.planner.simplify;

import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.Expression.Call;
import dev.millrace.plan.expression.Expression.Literal;
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
 * What a scalar sub-query divides is divided above the join that reads it: where the other side has no rows there is nothing
 * to divide, and so no division by zero.
 *
 * <pre>
 * Join(INNER, a > q)            becomes    Calc(a, $0 / $1 as q where a > $0 / $1)
 *   X(a)                                     Join(INNER)
 *   Calc($0 / $1 as q)                         X(a)
 *     Aggregate(; sum, count)                  Aggregate(; sum, count)
 * </pre>
 *
 * No more than this: a join by a value that cannot fail finds its rows by their keys or in order.
 */
final class DivideAboveOneRow implements Rewrite {
    @Override
    public Optional<PlanNode> apply(PlanNode node) {
        if (!(node instanceof Join join)
                || join.kind() != JoinKind.INNER
                || !join.leftKeys().isEmpty()
                || join.time().isPresent()) {
            return Optional.empty();
        }
        boolean left = divides(join.left());
        boolean right = divides(join.right());
        if (!left && !right) {
            return Optional.empty();
        }
        PlanNode leftInput = left ? ((Calc) join.left()).input() : join.left();
        PlanNode rightInput = right ? ((Calc) join.right()).input() : join.right();
        List<Expression> columns =
                new ArrayList<>(left ? ((Calc) join.left()).projections() : Nodes.columns(join.left()));
        int width = leftInput.schema().size();
        (right ? ((Calc) join.right()).projections() : Nodes.columns(join.right()))
                .forEach(value -> columns.add(Expressions.renumber(value, column -> column + width)));
        Optional<Expression> condition = join.residual().map(part -> Expressions.substitute(part, columns));
        PlanNode pairs = Nodes.join(
                leftInput, rightInput, JoinKind.INNER, List.of(), List.of(), Optional.empty(), Optional.empty());
        return Optional.of(Nodes.calc(pairs, condition, columns));
    }

    private static boolean divides(PlanNode side) {
        return side instanceof Calc calc
                && isOneRow(calc)
                && calc.projections().stream().anyMatch(DivideAboveOneRow::divides);
    }

    /** Whether there is always exactly one row. */
    static boolean isOneRow(PlanNode node) {
        return node instanceof Calc calc
                ? calc.condition().isEmpty() && isOneRow(calc.input())
                : node instanceof PlanNode.Aggregate aggregate
                        && aggregate.keys().isEmpty();
    }

    /** Whether this divides by what may be zero, whatever the row. */
    static boolean divides(Expression expression) {
        if (expression instanceof Expression.Case) {
            return false; // which may be there to see to it
        }
        boolean here = expression instanceof Call call
                && (call.function().equals("divide") || call.function().equals("mod"))
                && !(call.arguments().get(1) instanceof Literal);
        return here || Expressions.operands(expression).stream().anyMatch(DivideAboveOneRow::divides);
    }
}
