package dev.millrace.engine.operators;

import dev.millrace.engine.aggregate.AggregateOperator;
import dev.millrace.engine.aggregate.PartialAggregateOperator;
import dev.millrace.engine.calc.CalcOperator;
import dev.millrace.engine.window.SliceAggregateOperator;
import dev.millrace.engine.window.WindowAssignOperator;
import dev.millrace.error.MillraceException;
import dev.millrace.operator.Operator;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.plan.node.PlanNode.Phase;

/** Makes the operator of a plan node. */
public final class OperatorFactory {
    private OperatorFactory() {}

    /**
     * A new operator, not yet open. Nodes that the runtime itself carries out (scans, values, watermarks, unions,
     * exchanges) have none.
     */
    public static Operator create(PlanNode node) {
        if (node instanceof PlanNode.Calc calc) {
            return new CalcOperator(calc);
        }
        if (node instanceof PlanNode.WindowAssign assign) {
            return new WindowAssignOperator(assign);
        }
        if (node instanceof PlanNode.Aggregate aggregate) {
            return aggregate.phase() == Phase.PARTIAL
                    ? new PartialAggregateOperator(aggregate)
                    : new AggregateOperator(aggregate);
        }
        if (node instanceof PlanNode.WindowAggregate aggregate) {
            return new SliceAggregateOperator(aggregate);
        }
        throw MillraceException.notAvailableYet(node.getClass().getSimpleName());
    }
}
