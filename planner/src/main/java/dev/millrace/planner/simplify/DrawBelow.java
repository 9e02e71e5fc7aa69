package dev.millrace.planner.simplify;

import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.plan.node.PlanNode.Calc;
import dev.millrace.planner.tree.Expressions;
import dev.millrace.planner.tree.Nodes;
import dev.millrace.planner.tree.Rewrite;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * A random value that is read in several places of a row is drawn once, below.
 *
 * <pre>
 * Calc($0, random#1 where random#1 > 0.5)    becomes    Calc($0, $1 where $1 > 0.5)
 *   X                                                     Calc($0, random#1)
 *                                                           X
 * </pre>
 */
final class DrawBelow implements Rewrite {
    @Override
    public Optional<PlanNode> apply(PlanNode node) {
        if (!(node instanceof Calc calc) || !Nodes.draws(calc)) {
            return Optional.empty();
        }
        Set<Expression> seen = new LinkedHashSet<>();
        Set<Expression> again = new LinkedHashSet<>();
        Nodes.expressions(calc)
                .forEach(part -> Expressions.any(part, each -> {
                    if (Expressions.isDraw(each) && !seen.add(each)) {
                        again.add(each);
                    }
                    return false;
                }));
        if (again.isEmpty()) {
            return Optional.empty();
        }
        List<Expression> columns = new ArrayList<>(Nodes.columns(calc.input()));
        List<Expression> drawn = List.copyOf(again);
        int width = columns.size();
        columns.addAll(drawn);
        PlanNode below = Nodes.project(calc.input(), columns);
        return Optional.of(Nodes.calc(
                below,
                calc.condition().map(part -> placed(part, drawn, below, width)),
                calc.projections().stream()
                        .map(part -> placed(part, drawn, below, width))
                        .toList()));
    }

    private static Expression placed(Expression expression, List<Expression> drawn, PlanNode below, int width) {
        return Expressions.transform(
                expression, part -> drawn.contains(part) ? Nodes.column(below, width + drawn.indexOf(part)) : part);
    }
}
