package dev.millrace.engine.calc;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.operator.Operator;
import dev.millrace.operator.OperatorContext;
import dev.millrace.operator.Output;
import dev.millrace.operator.RowByRow;
import dev.millrace.plan.node.PlanNode;
import java.util.List;

/**
 * A Calc with calls of functions that are dear to call and cheap to call for many rows at once, as those in Python: a chain of operators
 * that {@link CallSteps} makes.
 *
 * <pre>
 *   filter, arguments (CalcOperator) -> results beside them (CallOperator) -> .. -> projections over results (CalcOperator)
 * </pre>
 */
public final class CallingCalc implements Operator, RowByRow {
    private final List<Operator> steps;

    public CallingCalc(PlanNode.Calc node) {
        this.steps = CallSteps.of(node);
    }

    /** Whether a Calc is better done by one of these. */
    public static boolean suits(PlanNode.Calc node) {
        return CallSteps.isIn(node);
    }

    @Override
    public void open(OperatorContext context) {
        steps.forEach(step -> step.open(context));
    }

    @Override
    public void process(int port, Batch batch, Output output) {
        behind(0, output).emit(batch);
    }

    /** What emits to a step; behind the last one is the operator's own output. */
    private Output behind(int step, Output output) {
        if (step == steps.size()) {
            return output;
        }
        Output next = behind(step + 1, output);
        return new Output() {
            @Override
            public void emit(Batch batch) {
                steps.get(step).process(0, batch, next);
            }

            @Override
            public boolean isFull() {
                return output.isFull();
            }
        };
    }

    /** What its steps are done with, on average: so that it is seen to get on whichever of them is at work. */
    @Override
    public long rowsDone() {
        long sum = 0;
        for (Operator step : steps) {
            sum += ((RowByRow) step).rowsDone();
        }
        return sum / steps.size();
    }

    @Override
    public void close() {
        Closing.all(steps);
    }
}
