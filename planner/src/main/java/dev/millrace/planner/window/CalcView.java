package dev.millrace.planner.window;

import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.planner.tree.Expressions;
import dev.millrace.planner.tree.Nodes;
import java.util.List;

/** A node without the Calc at its top: {@code columns} over the rows of {@code base} that pass {@code conditions}. */
record CalcView(PlanNode base, List<Expression> columns, List<Expression> conditions) {

    static CalcView of(PlanNode node) {
        return node instanceof PlanNode.Calc calc
                ? new CalcView(calc.input(), calc.projections(), Expressions.conjuncts(calc.condition()))
                : new CalcView(node, Nodes.columns(node), List.of());
    }

    /** The base's rows that pass, all columns. */
    PlanNode filteredBase() {
        return Expressions.and(conditions)
                .<PlanNode>map(condition -> Nodes.filter(base, condition))
                .orElse(base);
    }
}
