package dev.millrace.testing.harness;

import dev.millrace.batch.Batch;
import dev.millrace.operator.Output;

/** Takes what is not to be looked at, and frees it at once; never full. Any thread. */
public final class DiscardingOutput implements Output {
    @Override
    public void emit(Batch batch) {
        batch.close();
    }

    @Override
    public boolean isFull() {
        return false;
    }
}
