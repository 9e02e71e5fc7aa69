package dev.millrace.engine.relation;

import dev.millrace.batch.Batch;
import dev.millrace.engine.epoch.Accepted;
import dev.millrace.type.Schema;
import java.util.List;
import java.util.Optional;

/** A relation whose rows come from {@code INSERT}, {@code COPY} and their kin. Safe on any thread. */
public interface WritableRelation {
    String name();

    Schema schema();

    /**
     * Accepts all rows of some batches as part of one epoch, or none. Takes the batches over, also when it throws. Waits while
     * a query that reads the relation has too much queued.
     *
     * <p>The columns must be the relation's, in its order. Rows of a table may carry weights: an update is the old row
     * with -1 and the new one with +1 in one call, so that nobody sees the one without the other. A stream takes no
     * weights.
     *
     * @return the epoch the rows belong to: they are visible once {@code Engine.awaitEpoch} of it returns
     * @throws dev.millrace.error.MillraceException if the relation was dropped, memory ran out, or they have to be written
     *     down and the disk takes nothing
     */
    Accepted accept(List<Batch> batches);

    /**
     * The same where nobody has to be waited for, and without telling readers on this thread: for threads that may not wait. Takes the
     * batches over only where they were accepted.
     *
     * @return empty if it has to wait or does not succeed for whatever reason; nothing was accepted then, and {@link #accept} says why
     */
    Optional<Accepted> acceptAtOnce(List<Batch> batches);

    /** Whether {@link #accept} would not wait for a query now; also when the relation was dropped, which it says. */
    boolean hasRoom();

    /** The same as {@link #accept}; returns the epoch alone. */
    default long append(List<Batch> batches) {
        return accept(batches).epoch();
    }

    /** One batch: see {@link #append(List)}. */
    default long append(Batch batch) {
        return append(List.of(batch));
    }
}
