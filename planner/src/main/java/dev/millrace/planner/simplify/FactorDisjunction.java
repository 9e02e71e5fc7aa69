package dev.millrace.planner.simplify;

import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.Expression.Call;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.plan.node.PlanNode.Calc;
import dev.millrace.plan.node.PlanNode.Join;
import dev.millrace.planner.tree.Expressions;
import dev.millrace.planner.tree.Nodes;
import dev.millrace.planner.tree.Rewrite;
import dev.millrace.type.DataType;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What all alternatives of a condition ask for is asked for once, and may then be a join's key or move further down.
 *
 * <pre>
 * Calc(where a = b and c or a = b and d)    becomes    Calc(where a = b and (c or d))
 * </pre>
 */
final class FactorDisjunction implements Rewrite {
    @Override
    public Optional<PlanNode> apply(PlanNode node) {
        if (node instanceof Calc calc) {
            return factored(calc.condition())
                    .map(condition -> Nodes.calc(calc.input(), Optional.of(condition), calc.projections()));
        }
        if (node instanceof Join join) {
            return factored(join.residual()).map(residual -> Nodes.withResidual(join, Optional.of(residual)));
        }
        return Optional.empty();
    }

    /** The condition with what its alternatives share in front; empty when they share nothing. */
    private static Optional<Expression> factored(Optional<Expression> condition) {
        List<Expression> result = new ArrayList<>();
        boolean changed = false;
        for (Expression conjunct : Expressions.conjuncts(condition)) {
            List<Expression> common = Expressions.isCall(conjunct, "or") ? common((Call) conjunct) : List.of();
            if (common.isEmpty()) {
                result.add(conjunct);
                continue;
            }
            changed = true;
            common.stream().filter(part -> !result.contains(part)).forEach(result::add);
            rest((Call) conjunct, common).ifPresent(result::add);
        }
        return changed ? Expressions.and(result) : Optional.empty();
    }

    private static List<Expression> common(Call or) {
        List<Expression> common =
                new ArrayList<>(Expressions.conjuncts(or.arguments().get(0)));
        or.arguments().forEach(alternative -> common.retainAll(Expressions.conjuncts(alternative)));
        return common;
    }

    /** The alternatives without what they share; empty when one of them asks for nothing else. */
    private static Optional<Expression> rest(Call or, List<Expression> common) {
        List<Expression> alternatives = new ArrayList<>();
        for (Expression alternative : or.arguments()) {
            List<Expression> own = new ArrayList<>(Expressions.conjuncts(alternative));
            own.removeAll(common);
            if (own.isEmpty()) {
                return Optional.empty();
            }
            alternatives.add(Expressions.and(own).orElseThrow());
        }
        boolean nullable = alternatives.stream().anyMatch(Expression::nullable);
        return Optional.of(new Call("or", alternatives, DataType.BOOLEAN, nullable));
    }
}
