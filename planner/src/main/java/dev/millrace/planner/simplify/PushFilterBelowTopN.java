package dev.millrace.planner.simplify;

import dev.millrace.plan.node.PlanNode;
import dev.millrace.plan.node.PlanNode.Calc;
import dev.millrace.plan.node.PlanNode.TopN;
import dev.millrace.planner.tree.Nodes;
import dev.millrace.planner.tree.Rewrite;
import java.util.List;
import java.util.Optional;

/**
 * A condition on the partition keeps or drops whole partitions, so it may come first.
 *
 * <pre>
 * Calc(where $0 = 5)          becomes    TopN(partition $0)
 *   TopN(partition $0)                     Calc(where $0 = 5)
 *     X                                      X
 * </pre>
 */
final class PushFilterBelowTopN implements Rewrite {
    @Override
    public Optional<PlanNode> apply(PlanNode node) {
        if (!(node instanceof Calc calc)
                || !(calc.input() instanceof TopN topN)
                || topN.partition().isEmpty()) {
            return Optional.empty();
        }
        SplitFilter split = SplitFilter.of(calc, topN.partition()::contains);
        return split.moving()
                .map(moving -> Nodes.calc(
                        Nodes.withInputs(topN, List.of(Nodes.filter(topN.input(), moving))),
                        split.staying(),
                        calc.projections()));
    }
}
