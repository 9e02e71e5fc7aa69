package dev.millrace.planner.simplify;

import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.Expression.Literal;
import dev.millrace.plan.expression.Expression.Null;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.plan.node.PlanNode.Calc;
import dev.millrace.plan.node.PlanNode.Values;
import dev.millrace.planner.tree.Expressions;
import dev.millrace.planner.tree.Rewrite;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Few constant rows are computed while planning: {@code SELECT 1 + 1} needs no generated code.
 *
 * <pre>
 * Calc($0 + 1 where $0 < 5)    becomes    Values((2), (3))
 *   Values((1), (2), (7))
 * </pre>
 */
final class ComputeValues implements Rewrite {
    private static final int MOST_ROWS = 100;

    private final FoldConstants constants;

    ComputeValues(FoldConstants constants) {
        this.constants = constants;
    }

    @Override
    public Optional<PlanNode> apply(PlanNode node) {
        if (!(node instanceof Calc calc)
                || !(calc.input() instanceof Values values)
                || values.rows().size() > MOST_ROWS) {
            return Optional.empty();
        }
        List<List<Expression>> rows = new ArrayList<>();
        for (List<Expression> row : values.rows()) {
            Optional<Expression> condition =
                    calc.condition().map(part -> constants.fold(Expressions.substitute(part, row)));
            if (condition.isPresent() && !isConstant(condition.get())) {
                return Optional.empty();
            }
            if (condition.isEmpty() || Expressions.isLiteral(condition.get(), true)) {
                List<Expression> computed = Expressions.substitute(calc.projections(), row).stream()
                        .map(constants::fold)
                        .toList();
                if (!computed.stream().allMatch(ComputeValues::isConstant)) {
                    return Optional.empty();
                }
                rows.add(computed);
            }
        }
        return Optional.of(new Values(rows, calc.schema()));
    }

    private static boolean isConstant(Expression expression) {
        return expression instanceof Literal || expression instanceof Null;
    }
}
