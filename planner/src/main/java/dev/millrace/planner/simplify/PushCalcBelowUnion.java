package dev.millrace.planner.simplify;

import dev.millrace.plan.node.PlanNode;
import dev.millrace.plan.node.PlanNode.Calc;
import dev.millrace.plan.node.PlanNode.Union;
import dev.millrace.planner.tree.Nodes;
import dev.millrace.planner.tree.Rewrite;
import java.util.Optional;

/**
 * Filters and projects each input of a union by itself.
 *
 * <pre>
 * Calc    becomes    Union
 *   Union              Calc
 *     X                  X
 *     Y                Calc
 *                        Y
 * </pre>
 */
final class PushCalcBelowUnion implements Rewrite {
    @Override
    public Optional<PlanNode> apply(PlanNode node) {
        return node instanceof Calc calc && calc.input() instanceof Union union && !Nodes.draws(calc)
                ? Optional.of(Nodes.union(union.inputs().stream()
                        .<PlanNode>map(input -> Nodes.calc(input, calc.condition(), calc.projections()))
                        .toList()))
                : Optional.empty();
    }
}
