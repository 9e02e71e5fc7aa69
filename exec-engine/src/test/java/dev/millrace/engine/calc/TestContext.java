package dev.millrace.engine.calc;

import dev.millrace.batch.Batch;
import dev.millrace.engine.code.CodeSize;
import dev.millrace.operator.KeyGroups;
import dev.millrace.operator.OperatorContext;
import dev.millrace.operator.OperatorMetrics;
import dev.millrace.operator.Output;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.TestBatches;
import dev.millrace.testing.time.TestClock;
import dev.millrace.time.Clock;
import java.util.ArrayList;
import java.util.List;
import org.apache.arrow.memory.BufferAllocator;

/** A context for an operator without state. */
public record TestContext(BufferAllocator allocator) implements OperatorContext {
    /** What an operator without state makes of rows of its input. */
    List<Row> evaluate(PlanNode.Calc calc, List<Row> rows) {
        return evaluate(calc, rows, CodeSize.USUAL);
    }

    /** The same by methods and classes of some size. */
    List<Row> evaluate(PlanNode.Calc calc, List<Row> rows, CodeSize size) {
        List<Row> results = new ArrayList<>();
        Output output = new Output() {
            @Override
            public void emit(Batch batch) {
                try (batch) {
                    results.addAll(TestBatches.rows(batch));
                }
            }

            @Override
            public boolean isFull() {
                return false;
            }
        };
        try (CalcOperator operator = new CalcOperator(calc, size)) {
            operator.open(this);
            operator.process(0, TestBatches.of(calc.input().schema(), allocator, rows), output);
        }
        return results;
    }

    @Override
    public Clock clock() {
        return new TestClock(0);
    }

    @Override
    public KeyGroups keyGroups() {
        return KeyGroups.ALL;
    }

    @Override
    public int batchRows() {
        return 4096;
    }

    @Override
    public OperatorMetrics metrics() {
        return new OperatorMetrics();
    }

    @Override
    public void lateRows(Batch batch, int[] rows, int count, long watermarkMicros) {
        throw new AssertionError("no row is late here");
    }
}
