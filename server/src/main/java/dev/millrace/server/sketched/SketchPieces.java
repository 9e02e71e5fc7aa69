package dev.millrace.server.sketched;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.connector.ScanCounts;
import dev.millrace.sketch.Sketch;
import dev.millrace.sketch.segment.SegmentFilter;
import dev.millrace.storage.retention.SegmentStore;
import dev.millrace.storage.retention.StoreScan;
import dev.millrace.storage.segment.ColumnRange;
import java.util.List;
import java.util.Optional;
import org.apache.arrow.memory.BufferAllocator;
import org.jspecify.annotations.Nullable;

/**
 * What a sketched stream keeps, sketch by sketch where all columns that are asked for are keys, the event time or in the sketches, and else as
 * rows, in the order of the log. For one thread; pins what it has not read yet.
 *
 * <p>Errors are those of {@link StoreScan}.
 */
public final class SketchPieces implements AutoCloseable {
    private final StoreScan scan;
    private final SketchedForm form;
    private final List<Integer> columns;
    private final SegmentFilter filter;
    private final BufferAllocator allocator;
    private @Nullable SegmentPieces segment; // that is under way
    private @Nullable AutoCloseable given; // with the piece before

    /** What there is next. */
    public sealed interface Piece {
        /**
         * Rows of the columns that were asked for.
         *
         * @param rows the caller's
         * @param errors of each column, how far a number in them may be off, for times in microseconds; 0 where it is exact
         */
        record Rows(Batch rows, double[] errors) implements Piece {}

        /**
         * Rows that are sketches.
         *
         * @param rows how many in all
         * @param series all that have rows, each once
         * @param passedBy how many sketches are left out, as they were not wanted
         */
        record Sketches(int rows, List<Series> series, int passedBy) implements Piece {}
    }

    /**
     * The rows of one key.
     *
     * @param keys the columns of {@link SketchedForm#keys} in their order; valid until the next piece is asked for
     * @param row of these that is the key
     * @param sketches of its rows, one behind the other; their features have the names and types of the stream's columns. Times are those of the event time
     *     if they are called like that column; else they say nothing
     */
    public record Series(Batch keys, int row, List<Sketch> sketches) {}

    private SketchPieces(
            StoreScan scan, SketchedForm form, List<Integer> columns, SegmentFilter filter, BufferAllocator allocator) {
        this.scan = scan;
        this.form = form;
        this.columns = List.copyOf(columns);
        this.filter = filter;
        this.allocator = allocator;
    }

    /**
     * Begins to read.
     *
     * @param columns of the stream, those that are needed
     * @param ranges of these columns: what has no rows in all of them may be passed by
     * @param filter of sketches; rows that are given as rows are not filtered
     * @param upTo rows of later entries are left out
     * @param allocator of batches, and of what is read at a time
     */
    public static SketchPieces open(
            SegmentStore store,
            SketchedForm form,
            List<Integer> columns,
            List<ColumnRange> ranges,
            SegmentFilter filter,
            long upTo,
            BufferAllocator allocator) {
        StoreScan scan = store.scans(columns, ranges, upTo, 1, allocator).get(0);
        return new SketchPieces(scan, form, columns, filter, allocator);
    }

    /** The next piece; empty at the end. */
    public Optional<Piece> next() {
        letGo();
        while (true) {
            if (segment == null) {
                segment = scan.nextFormed()
                        .map(file -> new SegmentPieces(form, file.segment(), columns, file.ranges(), filter, allocator))
                        .orElse(null);
            }
            if (segment != null) {
                Optional<SegmentPieces.Found> found = segment.next();
                if (found.isPresent()) {
                    given = found.get().held();
                    return Optional.of(found.get().piece());
                }
                segment.close();
                segment = null;
                scan.endFormed();
                continue;
            }
            return scan.next().map(rows -> new Piece.Rows(rows, new double[columns.size()]));
        }
    }

    /** What was read, and passed by, of files and their blocks. */
    ScanCounts counts() {
        return new ScanCounts(scan.segmentsRead(), scan.segmentsSkipped(), scan.blocksRead(), scan.blocksSkipped());
    }

    private void letGo() {
        if (given != null) {
            Closing.all(List.of(given));
            given = null;
        }
    }

    @Override
    public void close() {
        letGo();
        if (segment != null) {
            segment.close();
            segment = null;
        }
        scan.close();
    }
}
