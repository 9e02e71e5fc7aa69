package dev.millrace.testing.harness;

import dev.millrace.batch.Batch;
import dev.millrace.error.MillraceException;
import dev.millrace.operator.KeyGroups;
import dev.millrace.operator.OperatorContext;
import dev.millrace.operator.OperatorMetrics;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.TestBatches;
import dev.millrace.testing.rows.ZSet;
import dev.millrace.time.Clock;
import java.util.Optional;
import org.apache.arrow.memory.BufferAllocator;

/**
 * What the harness lends to one instance of an operator.
 *
 * @param failed where rows that fail are noted, by what is said of them; else they are failures of the operator
 */
record HarnessContext(
        BufferAllocator allocator,
        Clock clock,
        KeyGroups keyGroups,
        int batchRows,
        OperatorMetrics metrics,
        ZSet late,
        Optional<ZSet> failed)
        implements OperatorContext {
    @Override
    public boolean keepsFailedRows() {
        return failed.isPresent();
    }

    @Override
    public void failedRow(MillraceException failure, long weight) {
        failed.orElseThrow(() -> failure).add(Row.of(failure.getMessage()), weight);
    }

    @Override
    public void lateRows(Batch batch, int[] rows, int count, long watermarkMicros) {
        for (int i = 0; i < count; i++) {
            late.add(TestBatches.row(batch, rows[i]), TestBatches.weight(batch, rows[i]));
        }
    }
}
