package dev.millrace.testing.harness;

import dev.millrace.batch.Batch;
import dev.millrace.operator.KeyGroups;
import dev.millrace.operator.OperatorContext;
import dev.millrace.operator.OperatorMetrics;
import dev.millrace.testing.rows.TestBatches;
import dev.millrace.testing.rows.ZSet;
import dev.millrace.time.Clock;
import org.apache.arrow.memory.BufferAllocator;

/** What the harness lends to one instance of an operator. */
record HarnessContext(
        BufferAllocator allocator, Clock clock, KeyGroups keyGroups, int batchRows, OperatorMetrics metrics, ZSet late)
        implements OperatorContext {
    @Override
    public void lateRows(Batch batch, int[] rows, int count, long watermarkMicros) {
        for (int i = 0; i < count; i++) {
            late.add(TestBatches.row(batch, rows[i]), TestBatches.weight(batch, rows[i]));
        }
    }
}
