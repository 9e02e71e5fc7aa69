package dev.millrace.connector;

import dev.millrace.batch.Batch;
import java.util.Optional;

/**
 * Where a query's output goes. Called by one thread at a time, unless it {@link #isConcurrent}: any number of
 * {@code write}s, then {@code commit} for their epoch, for epochs that only grow; {@code close} last, without a final
 * commit when the query failed.
 */
public interface Sink extends AutoCloseable {
    /**
     * Rows of the epoch under way, possibly weighted (a negative weight retracts). Does not take the batch over: it is
     * valid until the call returns. May block for as long as the outside does; only this query waits. A thread that is
     * interrupted here should give up and fail: the query is gone.
     */
    void write(Batch batch);

    /**
     * Whether several threads may {@code write} at once, so that a parallel query need not bring its rows to one. Still no
     * row of an epoch is written before the one before is committed, and {@code commit} and {@code close} are alone.
     */
    default boolean isConcurrent() {
        return false;
    }

    /**
     * Whether no call ever waits for the outside, so that workers make them. The calls to other sinks are made by threads
     * that may wait, one at a time for each sink; their rows wait in a queue of bounded size.
     */
    default boolean isImmediate() {
        return false;
    }

    /** All rows of the epoch were written: make them visible outside, all or none where the outside can. */
    void commit(long epoch);

    /**
     * Looks whether the outside can be reached and has what the options say. CREATE calls it before the first row, and a restart does not, as
     * the outside may be away then and come back. Waits some seconds at most.
     *
     * @throws dev.millrace.error.MillraceException with one clear line when it cannot
     */
    default void check() {}

    /** How it is with its outside; empty of a sink that has nothing to say. Any thread, also when closed; some microseconds. */
    default Optional<SinkStatus> status() {
        return Optional.empty();
    }

    @Override
    void close();
}
