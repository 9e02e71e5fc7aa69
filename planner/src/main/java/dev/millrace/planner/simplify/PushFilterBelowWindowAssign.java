package dev.millrace.planner.simplify;

import dev.millrace.plan.node.PlanNode;
import dev.millrace.plan.node.PlanNode.Calc;
import dev.millrace.plan.node.PlanNode.Distribution;
import dev.millrace.plan.node.PlanNode.Exchange;
import dev.millrace.plan.node.PlanNode.WindowAssign;
import dev.millrace.plan.node.WindowSpec;
import dev.millrace.planner.tree.Nodes;
import dev.millrace.planner.tree.Rewrite;
import java.util.List;
import java.util.Optional;

/**
 * Filters rows before they are repeated for each window.
 *
 * <pre>
 * Calc(where price > 5 and window_start > t)    becomes    Calc(where window_start > t)
 *   WindowAssign                                             WindowAssign
 *     X                                                        Calc(where price > 5)
 *                                                                X
 * </pre>
 *
 * Below sessions only conditions on the partition: any other row may hold a session together.
 */
final class PushFilterBelowWindowAssign implements Rewrite {
    @Override
    public Optional<PlanNode> apply(PlanNode node) {
        if (!(node instanceof Calc calc) || !(calc.input() instanceof WindowAssign assign)) {
            return Optional.empty();
        }
        int width = assign.input().schema().size();
        if (assign.window() instanceof WindowSpec.Session) {
            Exchange sessions = (Exchange) assign.input();
            if (!(sessions.distribution() instanceof Distribution.Hash partition)) {
                return Optional.empty();
            }
            SplitFilter split = SplitFilter.of(calc, partition.columns()::contains);
            return split.moving().map(moving -> {
                PlanNode filtered = new Exchange(Nodes.filter(sessions.input(), moving), partition);
                return Nodes.calc(Nodes.withInputs(assign, List.of(filtered)), split.staying(), calc.projections());
            });
        }
        SplitFilter split = SplitFilter.of(calc, column -> column < width);
        return split.moving()
                .map(moving -> Nodes.calc(
                        Nodes.withInputs(assign, List.of(Nodes.filter(assign.input(), moving))),
                        split.staying(),
                        calc.projections()));
    }
}
