package dev.millrace.connector;

import dev.millrace.batch.Batch;
import dev.millrace.condense.Condensation;
import java.util.List;
import java.util.Optional;

/**
 * One ordered sequence of batches. Called by one thread at a time, never concurrently, but not always by the same
 * thread.
 *
 * <pre>
 *   poll() -> batch           more may be at hand: poll again; no rows when reading on took long and found none
 *   poll() -> empty, !isFinished()   nothing at hand: poll again after retryAfterMicros() or on SourceContext.wakeUp
 *   poll() -> empty,  isFinished()   the end, for ever
 * </pre>
 */
public interface SourceReader extends AutoCloseable {
    /**
     * The next rows, append-only, of the columns asked for; with weights only where a {@link Condensation} allows. Never blocks for longer than it takes to make one batch
     * (some milliseconds). The caller owns the batch.
     *
     * @throws dev.millrace.error.MillraceException when reading failed or {@code on_error = 'fail'} met a bad record
     */
    Optional<Batch> poll();

    /** After an empty poll: whether there will never be more. */
    boolean isFinished();

    /** After an empty poll: how long not to bother again, in microseconds. */
    long retryAfterMicros();

    /**
     * After a poll: which part of the source it was of. Between two batches of one part comes none of another, but for
     * sources that never end, whose parts come again as they grow.
     */
    default Part part() {
        return Part.WHOLE;
    }

    /** What part is done, 0 to 1, or -1 when unknown (unbounded): for progress bars. */
    default double progress() {
        return -1;
    }

    /**
     * Between two polls: what the next would give, for {@link Source#reopen}; empty if this reader cannot be begun but at the
     * first row. Costs some microseconds.
     */
    default Optional<SourcePosition> position() {
        return Optional.empty();
    }

    /**
     * Whether what it gives is of the past, while others are waited for that give what comes: a query that reads it works when others have
     * nothing to do. Any thread; cheap.
     */
    default boolean readsPast() {
        return false;
    }

    /** What was read and passed by so far; empty for a source that is not made of such parts. Any thread. */
    default Optional<ScanCounts> counts() {
        return Optional.empty();
    }

    /** How it is with each split that it reads; none of a source that is not made of splits. Any thread; some microseconds. */
    default List<SplitStatus> splits() {
        return List.of();
    }

    @Override
    void close();
}
