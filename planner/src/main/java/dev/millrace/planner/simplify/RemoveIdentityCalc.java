package dev.millrace.planner.simplify;

import dev.millrace.plan.node.PlanNode;
import dev.millrace.plan.node.PlanNode.Calc;
import dev.millrace.planner.tree.Nodes;
import dev.millrace.planner.tree.Rewrite;
import java.util.Optional;

/**
 * A Calc that changes nothing disappears.
 *
 * <pre>
 * Calc($0, $1)    becomes    X
 *   X($0, $1)
 * </pre>
 */
final class RemoveIdentityCalc implements Rewrite {
    @Override
    public Optional<PlanNode> apply(PlanNode node) {
        return node instanceof Calc calc
                        && calc.condition().isEmpty()
                        && calc.projections().equals(Nodes.columns(calc.input()))
                ? Optional.of(calc.input())
                : Optional.empty();
    }
}
