package dev.millrace.server.sketched;

import dev.millrace.batch.Batch;
import dev.millrace.condense.ErrorColumns;
import dev.millrace.sketch.materialise.Materialisation;
import dev.millrace.storage.retention.SegmentStore;
import dev.millrace.storage.segment.ColumnRange;
import java.util.List;
import java.util.Optional;
import org.apache.arrow.memory.BufferAllocator;

/**
 * What a sketched stream keeps, row by row in the order of the log, with how far values may be off, and the entry of each row and when that
 * arrived behind. For one thread; errors are those of {@link SketchPieces}.
 */
public final class BoundedScan implements AutoCloseable {
    private final SketchPieces pieces;

    private BoundedScan(SketchPieces pieces) {
        this.pieces = pieces;
    }

    /**
     * Begins to read.
     *
     * @param columns of the stream, and {@link ErrorColumns} of it
     * @param ranges of columns of the stream, the entry and the arrival, by which segments and blocks may be passed by
     * @param chosen if it is there, a column behind all others says which rows are among these: BOOLEAN, true for those that are in no sketch
     * @param upTo rows of later entries are left out
     */
    public static BoundedScan open(
            SegmentStore store,
            SketchedForm form,
            List<Integer> columns,
            List<ColumnRange> ranges,
            Optional<Materialisation> chosen,
            long upTo,
            BufferAllocator allocator) {
        return new BoundedScan(SketchPieces.rowsWithEntries(store, form, columns, ranges, chosen, upTo, allocator));
    }

    /** The next rows, the caller's; empty at the end. */
    public Optional<Batch> next() {
        return pieces.next().map(piece -> ((SketchPieces.Piece.Rows) piece).rows());
    }

    /** Number of the last entry that was appended before the scan was made. */
    public long lastEntry() {
        return pieces.scan().lastEntry();
    }

    /** Number of the last entry of which rows were dropped before the scan was made; 0 if none are known to be. */
    public long lastDropped() {
        return pieces.scan().lastDropped();
    }

    @Override
    public void close() {
        pieces.close();
    }
}
