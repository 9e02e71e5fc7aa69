package dev.millrace.planner.simplify;

import dev.millrace.plan.node.PlanNode;
import dev.millrace.plan.node.PlanNode.Aggregate;
import dev.millrace.plan.node.PlanNode.Calc;
import dev.millrace.planner.tree.Expressions;
import dev.millrace.planner.tree.Nodes;
import dev.millrace.planner.tree.Rewrite;
import java.util.List;
import java.util.Optional;

/**
 * A condition on keys need not wait for the groups.
 *
 * <pre>
 * Calc(where $0 > 5 and $1 > 2)     becomes    Calc(where $1 > 2)
 *   Aggregate(keys $3; count)                    Aggregate(keys $3; count)
 *     X                                            Calc(where $3 > 5)
 *                                                    X
 * </pre>
 *
 * Not without keys: the one group is there even when no row is.
 */
final class PushFilterBelowAggregate implements Rewrite {
    @Override
    public Optional<PlanNode> apply(PlanNode node) {
        if (!(node instanceof Calc calc)
                || !(calc.input() instanceof Aggregate aggregate)
                || aggregate.keys().isEmpty()) {
            return Optional.empty();
        }
        List<Integer> keys = aggregate.keys();
        SplitFilter split = SplitFilter.of(calc, column -> column < keys.size());
        return split.moving().map(moving -> {
            PlanNode filtered = Nodes.filter(aggregate.input(), Expressions.renumber(moving, keys::get));
            return Nodes.calc(Nodes.withInputs(aggregate, List.of(filtered)), split.staying(), calc.projections());
        });
    }
}
