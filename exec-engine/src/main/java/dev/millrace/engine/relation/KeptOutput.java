package dev.millrace.engine.relation;

import dev.millrace.batch.Batch;
import dev.millrace.connector.Source;
import java.util.List;

/**
 * Keeps the rows that a standing query gives, of which none is ever taken back, for queries that come to an end. It has them up to a
 * checkpoint when the query goes on from that: what came behind it comes again, in other epochs.
 */
public interface KeptOutput {
    /** What queries that come to an end read of it. */
    Source past();

    /** Whether it has rows of an earlier run: then a query without the state of that run would give it some of them twice. Before the first epoch. */
    boolean isBegun();

    /**
     * The rows of an epoch, which everybody may see from now on. By one thread at a time, in the order of epochs; holds up whoever shows epochs.
     *
     * @param epoch its number, greater than all before
     * @param micros its time, microseconds since 1970
     * @param rows at least one batch, each perhaps with weights, which are greater than zero; they stay the caller's
     * @throws dev.millrace.error.MillraceException if they cannot be kept; then the query fails
     */
    void append(long epoch, long micros, List<Batch> rows);
}
