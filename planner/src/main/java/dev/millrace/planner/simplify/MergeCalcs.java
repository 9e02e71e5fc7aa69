package dev.millrace.planner.simplify;

import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.plan.node.PlanNode.Calc;
import dev.millrace.planner.tree.Expressions;
import dev.millrace.planner.tree.Nodes;
import dev.millrace.planner.tree.Rewrite;
import java.util.List;
import java.util.Optional;

/**
 * Two Calcs become one. Generated code computes equal parts of expressions once, so nothing is computed twice.
 *
 * <pre>
 * Calc($0 where $1 > 5)          becomes    Calc($2 + 1 where $3 = 0 and $2 * 2 > 5)
 *   Calc($2 + 1, $2 * 2 where $3 = 0)         X
 *     X
 * </pre>
 *
 * Not when the lower one computes something volatile, nor when the result would be huge.
 */
final class MergeCalcs implements Rewrite {
    /** Towers of views that use each column twice double the text with every storey. */
    private static final int MOST_PARTS = 2_000;

    @Override
    public Optional<PlanNode> apply(PlanNode node) {
        if (!(node instanceof Calc upper)
                || !(upper.input() instanceof Calc lower)
                || lower.projections().stream().anyMatch(Expressions::isVolatile)) {
            return Optional.empty();
        }
        List<Expression> projections = Expressions.substitute(upper.projections(), lower.projections());
        Optional<Expression> condition =
                upper.condition().map(part -> Expressions.substitute(part, lower.projections()));
        int parts = condition.map(Expressions::size).orElse(0)
                + projections.stream().mapToInt(Expressions::size).sum();
        return parts > MOST_PARTS
                ? Optional.empty()
                : Optional.of(Nodes.calc(lower.input(), Expressions.and(lower.condition(), condition), projections));
    }
}
