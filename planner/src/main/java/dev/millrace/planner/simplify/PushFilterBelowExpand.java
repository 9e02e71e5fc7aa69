package dev.millrace.planner.simplify;

import dev.millrace.plan.node.PlanNode;
import dev.millrace.plan.node.PlanNode.Calc;
import dev.millrace.plan.node.PlanNode.Expand;
import dev.millrace.planner.tree.Expressions;
import dev.millrace.planner.tree.Nodes;
import dev.millrace.planner.tree.Rewrite;
import java.util.List;
import java.util.Optional;

/**
 * Filters rows before others are made of them.
 *
 * <pre>
 * Calc(where id = 2 and tag = 'a')    becomes    Calc(where tag = 'a')
 *   Expand unnest(tags)                            Expand unnest(tags)
 *     X                                              Calc(where id = 2)
 *                                                      X
 * </pre>
 */
final class PushFilterBelowExpand implements Rewrite {
    @Override
    public Optional<PlanNode> apply(PlanNode node) {
        if (!(node instanceof Calc calc) || !(calc.input() instanceof Expand expand)) {
            return Optional.empty();
        }
        int width = expand.kept().size();
        SplitFilter split = SplitFilter.of(calc, column -> column < width);
        return split.moving().map(moving -> {
            PlanNode filtered = Nodes.filter(expand.input(), Expressions.renumber(moving, expand.kept()::get));
            return Nodes.calc(Nodes.withInputs(expand, List.of(filtered)), split.staying(), calc.projections());
        });
    }
}
