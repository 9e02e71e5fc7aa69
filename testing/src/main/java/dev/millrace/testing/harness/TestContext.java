package dev.millrace.testing.harness;

import dev.millrace.batch.Batch;
import dev.millrace.operator.KeyGroups;
import dev.millrace.operator.OperatorContext;
import dev.millrace.operator.OperatorMetrics;
import dev.millrace.testing.time.TestClock;
import dev.millrace.time.Clock;
import org.apache.arrow.memory.BufferAllocator;

/** What a test lends to an operator that it drives itself, and that has no late rows. */
public record TestContext(BufferAllocator allocator, KeyGroups keyGroups, int batchRows, OperatorMetrics metrics)
        implements OperatorContext {
    /** A context of all key groups. */
    public TestContext(BufferAllocator allocator) {
        this(allocator, KeyGroups.ALL, 4096, new OperatorMetrics());
    }

    @Override
    public Clock clock() {
        return new TestClock(0);
    }

    @Override
    public void lateRows(Batch batch, int[] rows, int count, long watermarkMicros) {
        throw new AssertionError("no row is late here");
    }
}
