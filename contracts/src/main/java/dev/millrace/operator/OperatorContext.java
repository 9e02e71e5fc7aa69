package dev.millrace.operator;

import dev.millrace.batch.Batch;
import dev.millrace.error.MillraceException;
import dev.millrace.time.Clock;
import org.apache.arrow.memory.BufferAllocator;

/** What the host lends to an operator for its life. */
public interface OperatorContext {
    /** The operator's own child allocator; the host closes it after the operator, and no byte may be left in it. */
    BufferAllocator allocator();

    Clock clock();

    /**
     * The time of an epoch that is ending, in microseconds since 1970: one and the same for all operators that are told of
     * it, and not less than that of the epoch before.
     */
    default long epochMicros(long epoch) {
        return clock().epochMicros();
    }

    /** The key groups this instance owns. */
    KeyGroups keyGroups();

    /** Rows an output batch should have at most. */
    int batchRows();

    OperatorMetrics metrics();

    /**
     * Whether the host keeps note of rows that cannot be computed, because they may be taken back later, or be left out by who says so: then
     * such a row is no end of the query.
     */
    default boolean keepsFailedRows() {
        return false;
    }

    /** Whether rows that fail only come, and are not taken back: then it helps to say which they were. */
    default boolean failsForGood() {
        return false;
    }

    /**
     * A row that cannot be computed, and counts as not there, where the host {@linkplain #keepsFailedRows keeps note} of it.
     *
     * @param failure the same for equal rows
     * @param weight of the row: a negative one takes the failure back
     */
    default void failedRow(MillraceException failure, long weight) {
        throw failure;
    }

    /**
     * Reports rows that came too late, once each, before they are dropped. Does not take the batch over.
     *
     * @param rows positions in the batch
     * @param count how many of {@code rows} are used
     * @param watermarkMicros the watermark they were behind
     */
    void lateRows(Batch batch, int[] rows, int count, long watermarkMicros);
}
