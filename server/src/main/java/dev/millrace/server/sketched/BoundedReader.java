package dev.millrace.server.sketched;

import dev.millrace.batch.Batch;
import dev.millrace.connector.ScanCounts;
import dev.millrace.connector.ScanRequest;
import dev.millrace.connector.SourceReader;
import dev.millrace.sketch.segment.SegmentFilter;
import dev.millrace.storage.retention.SegmentStore;
import dev.millrace.storage.segment.ColumnRange;
import java.util.List;
import java.util.Optional;
import org.apache.arrow.memory.BufferAllocator;

/**
 * What a sketched stream keeps, row by row in the order of the log, with how far values may be off beside them. One thread; {@link #counts} on any.
 * Errors are those of {@link SketchPieces}.
 */
public final class BoundedReader implements SourceReader {
    private final SketchPieces pieces;
    private volatile ScanCounts counts = new ScanCounts(0, 0, 0, 0); // written by the reader's thread
    private boolean finished;

    private BoundedReader(SketchPieces pieces) {
        this.pieces = pieces;
    }

    /**
     * Begins to read.
     *
     * @param ranges of the stream's columns, by which segments and blocks may be passed by
     * @param upTo rows of later entries are left out
     */
    public static BoundedReader open(
            SegmentStore store,
            SketchedForm form,
            ScanRequest request,
            List<ColumnRange> ranges,
            long upTo,
            BufferAllocator allocator) {
        return new BoundedReader(
                SketchPieces.open(store, form, request.columns(), ranges, SegmentFilter.ANY, upTo, allocator)
                        .asRows());
    }

    @Override
    public Optional<Batch> poll() {
        Optional<Batch> next =
                finished ? Optional.empty() : pieces.next().map(piece -> ((SketchPieces.Piece.Rows) piece).rows());
        finished = next.isEmpty();
        counts = pieces.counts();
        return next;
    }

    @Override
    public Optional<ScanCounts> counts() {
        return Optional.of(counts);
    }

    @Override
    public boolean isFinished() {
        return finished;
    }

    @Override
    public long retryAfterMicros() {
        return 0;
    }

    @Override
    public void close() {
        pieces.close();
    }
}
