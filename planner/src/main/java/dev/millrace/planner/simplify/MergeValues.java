package dev.millrace.planner.simplify;

import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.plan.node.PlanNode.Union;
import dev.millrace.plan.node.PlanNode.Values;
import dev.millrace.planner.tree.Nodes;
import dev.millrace.planner.tree.Rewrite;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Constant rows that stand side by side are rows of one node. {@code VALUES} with computed values comes as one for each row.
 *
 * <pre>
 * Union              becomes    Union
 *   Values((1))                   Values((1), (2))
 *   Values((2))                   X
 *   X
 * </pre>
 */
final class MergeValues implements Rewrite {
    @Override
    public Optional<PlanNode> apply(PlanNode node) {
        if (!(node instanceof Union union)) {
            return Optional.empty();
        }
        List<PlanNode> inputs = new ArrayList<>();
        List<List<Expression>> rows = new ArrayList<>();
        for (PlanNode input : union.inputs()) {
            if (input instanceof Values values) {
                rows.addAll(values.rows());
                continue;
            }
            add(rows, union, inputs);
            inputs.add(input);
        }
        add(rows, union, inputs);
        if (inputs.size() == union.inputs().size()) {
            return Optional.empty();
        }
        if (inputs.isEmpty()) {
            return Optional.of(new Values(List.of(), union.schema()));
        }
        return Optional.of(inputs.size() == 1 ? inputs.get(0) : Nodes.union(inputs));
    }

    private static void add(List<List<Expression>> rows, Union union, List<PlanNode> inputs) {
        if (!rows.isEmpty()) {
            inputs.add(new Values(rows, union.schema()));
            rows.clear();
        }
    }
}
