package dev.millrace.engine.forget;

import dev.millrace.batch.Batch;
import dev.millrace.operator.KeyGroups;
import dev.millrace.operator.OperatorContext;
import dev.millrace.operator.OperatorMetrics;
import dev.millrace.time.Clock;
import org.apache.arrow.memory.BufferAllocator;

/** The context of the operator that wraps another, whose counters are its own. */
record InnerContext(OperatorContext outer, OperatorMetrics metrics) implements OperatorContext {
    @Override
    public BufferAllocator allocator() {
        return outer.allocator();
    }

    @Override
    public Clock clock() {
        return outer.clock();
    }

    @Override
    public long epochMicros(long epoch) {
        return outer.epochMicros(epoch);
    }

    @Override
    public KeyGroups keyGroups() {
        return outer.keyGroups();
    }

    @Override
    public int batchRows() {
        return outer.batchRows();
    }

    @Override
    public void lateRows(Batch batch, int[] rows, int count, long watermarkMicros) {
        outer.lateRows(batch, rows, count, watermarkMicros);
    }
}
