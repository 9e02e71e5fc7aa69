package dev.millrace.engine.subscription;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import java.util.List;

/**
 * What one epoch changed in a query's answer.
 *
 * @param epoch its number; numbers grow, with gaps
 * @param epochMicros when it was committed, by the engine's clock; grows from epoch to epoch of one query
 * @param batches weighted rows, to be closed by whoever holds this; empty if nothing changed
 * @param snapshot whether this is the whole answer up to the epoch rather than its changes
 * @param droppedRows how many rows before it a slow subscriber did not get
 */
public record EpochChanges(long epoch, long epochMicros, List<Batch> batches, boolean snapshot, long droppedRows)
        implements AutoCloseable {
    public EpochChanges {
        batches = List.copyOf(batches);
    }

    /** One before which nothing was dropped. */
    public EpochChanges(long epoch, long epochMicros, List<Batch> batches, boolean snapshot) {
        this(epoch, epochMicros, batches, snapshot, 0);
    }

    @Override
    public void close() {
        Closing.all(batches);
    }
}
