package dev.millrace.engine.runtime;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import java.util.ArrayDeque;
import java.util.List;

/**
 * The newest epochs of a query's output, as many as fit, so that a subscriber that comes again goes on where it was. Begins
 * with the first subscriber. Guarded by itself: added to by committing threads, read while the epochs are at rest.
 */
final class ChangeHistory implements AutoCloseable {
    private static final long MOST_BYTES = 16L << 20;
    private static final int MOST_EPOCHS = 100_000;

    private final ArrayDeque<EpochChanges> epochs = new ArrayDeque<>();
    private boolean begun;
    private long completeAfterMicros; // every epoch that is later is here
    private long bytes;

    /** Keeps epochs from now on. */
    synchronized void begin(long lastMicros) {
        if (!begun) {
            begun = true;
            completeAfterMicros = lastMicros;
        }
    }

    synchronized boolean hasBegun() {
        return begun;
    }

    /** Adds an epoch if it changed something; the batches stay the caller's. */
    synchronized void add(long epoch, long micros, List<Batch> rows) {
        if (!begun || rows.isEmpty()) {
            return;
        }
        rows.forEach(Batch::retain);
        epochs.add(new EpochChanges(epoch, micros, rows, false));
        bytes += bytes(rows);
        while (!epochs.isEmpty() && (bytes > MOST_BYTES || epochs.size() > MOST_EPOCHS)) {
            EpochChanges oldest = epochs.remove();
            bytes -= bytes(oldest.batches());
            completeAfterMicros = oldest.epochMicros();
            oldest.close();
        }
    }

    private static long bytes(List<Batch> rows) {
        long sum = 0;
        for (Batch batch : rows) {
            sum += batch.sizeInBytes();
        }
        return sum;
    }

    /**
     * Gives a subscriber all that was committed after a time, oldest first.
     *
     * @throws MillraceException 72000 if not all of it is here any more
     */
    synchronized void replay(String query, long afterMicros, LocalSubscription subscription) {
        if (!begun || afterMicros < completeAfterMicros) {
            throw MillraceException.user(
                            SqlState.SNAPSHOT_TOO_OLD, "what \"" + query + "\" changed since then is no longer kept")
                    .withHint("the newest " + (MOST_BYTES >> 20) + " MB of changes are, from the first subscription on;"
                            + " begin again WITH (SNAPSHOT)");
        }
        for (EpochChanges epoch : epochs) {
            if (epoch.epochMicros() > afterMicros) {
                subscription.deliver(epoch.epoch(), epoch.epochMicros(), epoch.batches(), false);
            }
        }
    }

    @Override
    public synchronized void close() {
        begun = false;
        Closing.all(epochs);
        epochs.clear();
        bytes = 0;
    }
}
