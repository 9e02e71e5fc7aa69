package dev.millrace.storage.retention;

import dev.millrace.batch.Batch;
import dev.millrace.storage.segment.ColumnRange;
import dev.millrace.storage.segment.ColumnSegment;
import dev.millrace.storage.segment.ColumnSegmentWriter;
import dev.millrace.storage.segment.RowScan;
import dev.millrace.type.Schema;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Supplier;
import org.apache.arrow.memory.BufferAllocator;

/**
 * Another form than the exact one, which a stream's segments take when they are written again. Rows keep their number, their order, and
 * which entry they are of; what else is kept of them is the form's to say. A segment has it for good: the rows of segments
 * that have the form are only put one behind the other.
 *
 * <p>Files have the columns of {@link #stored}: beside those of exact ones {@code #series} and {@code #sketch}, which are the form's own.
 * Writing is for one thread, reading for any.
 */
public interface SegmentForm {
    /** How many rows are worth being written so at once. */
    long enoughRows();

    /** How far arrivals are apart when rows are written so, however few they are; microseconds. */
    OptionalLong longestMicros();

    /** How far event times that are read may be from those that came; microseconds. */
    long timeErrorMicros();

    /**
     * Writes rows.
     *
     * @param rows of exact segments, all columns, in their order; who asks closes the batches
     * @param lastArrival of the last of them, microseconds since 1970
     * @param out of the columns of {@link #stored}; a block of it is copied as it is when segments are put together
     * @param allocator of what is held while it is written
     */
    void write(Supplier<Optional<Batch>> rows, long lastArrival, ColumnSegmentWriter out, BufferAllocator allocator);

    /**
     * Reads the rows again, in their order.
     *
     * @param file of the columns of {@link #stored}
     * @param columns of exact segments
     * @param ranges of these columns, by what is read; what has no rows in all of them may be passed by
     * @param from the first part of those that together have every row once, from 0 on
     * @param to the part behind the last
     * @param parts at least 1; some may be empty
     */
    RowScan scan(
            ColumnSegment file,
            List<Integer> columns,
            List<ColumnRange> ranges,
            int from,
            int to,
            int parts,
            BufferAllocator allocator);

    /** The columns of files, of those of exact segments. */
    static Schema stored(Schema kept) {
        return RetainedRows.stored(kept);
    }
}
