package dev.millrace.engine.calc;

import dev.millrace.batch.Batch;
import dev.millrace.operator.KeyGroups;
import dev.millrace.operator.OperatorContext;
import dev.millrace.operator.OperatorMetrics;
import dev.millrace.testing.time.TestClock;
import dev.millrace.time.Clock;
import org.apache.arrow.memory.BufferAllocator;

/** A context for an operator without state. */
public record TestContext(BufferAllocator allocator) implements OperatorContext {
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
