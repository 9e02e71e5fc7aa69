package dev.millrace.testing.harness;

import dev.millrace.batch.Batch;
import dev.millrace.operator.Output;
import dev.millrace.testing.rows.ZSet;

/** Takes rows and sums them up; never full. One thread. */
public final class CollectedOutput implements Output {
    private final ZSet rows = new ZSet();

    @Override
    public void emit(Batch batch) {
        try (batch) {
            rows.add(batch);
        }
    }

    @Override
    public boolean isFull() {
        return false;
    }

    /** The sum of what came. */
    public ZSet rows() {
        return rows;
    }
}
