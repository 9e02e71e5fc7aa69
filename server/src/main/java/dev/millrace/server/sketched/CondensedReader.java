package dev.millrace.server.sketched;

import dev.millrace.batch.Batch;
import dev.millrace.condense.ErrorColumns;
import dev.millrace.connector.ColumnPredicate;
import dev.millrace.connector.ScanCounts;
import dev.millrace.connector.ScanRequest;
import dev.millrace.connector.SourceReader;
import dev.millrace.sketch.Sketch;
import dev.millrace.sketch.condense.CondensedRows;
import dev.millrace.sketch.condense.SketchBounds;
import dev.millrace.storage.retention.SegmentStore;
import dev.millrace.storage.segment.ColumnRange;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.arrow.memory.BufferAllocator;

/**
 * What a sketched stream keeps, with rows that are alike as one where sketches have all columns that are asked for, and row by row where they do not. One
 * thread; {@link #counts} on any. Errors are those of {@link SketchPieces}.
 */
public final class CondensedReader implements SourceReader {
    private final SketchPieces pieces;
    private final SketchBounds bounds;
    private final CondensedRows condensed;
    private volatile ScanCounts counts = new ScanCounts(0, 0, 0, 0); // written by the reader's thread
    private boolean finished;

    private CondensedReader(SketchPieces pieces, SketchBounds bounds, CondensedRows condensed) {
        this.pieces = pieces;
        this.bounds = bounds;
        this.condensed = condensed;
    }

    /**
     * Begins to read.
     *
     * @param request with a condensation, whose time is the event time or none
     * @param ranges of the stream's columns, by which segments and blocks may be passed by
     * @param upTo rows of later entries are left out
     * @param batchRows how many rows a batch of condensed ones has at most
     */
    public static CondensedReader open(
            SegmentStore store,
            SketchedForm form,
            ScanRequest request,
            List<ColumnRange> ranges,
            long upTo,
            int batchRows,
            BufferAllocator allocator) {
        Schema stream = form.stream();
        List<CondensedRows.Column> columns = new ArrayList<>();
        for (int column : request.columns()) {
            columns.add(column(form, column));
        }
        CondensedRows condensed = new CondensedRows(
                ErrorColumns.select(stream, request.columns()),
                columns,
                request.condensation().orElseThrow(),
                batchRows,
                allocator);
        Optional<Integer> time = form.eventTime().filter(request.columns()::contains);
        List<ColumnPredicate> known = request.predicates().stream()
                .filter(predicate -> !form.keys().contains(predicate.column()))
                .filter(predicate -> time.isPresent() || !form.eventTime().equals(Optional.of(predicate.column())))
                .toList();
        SketchBounds bounds = new SketchBounds(known, stream, time.orElse(-1));
        return new CondensedReader(
                SketchPieces.open(store, form, request.columns(), ranges, bounds, upTo, allocator), bounds, condensed);
    }

    private static CondensedRows.Column column(SketchedForm form, int column) {
        Schema stream = form.stream();
        if (ErrorColumns.isOne(stream, column)) {
            int subject = ErrorColumns.subject(stream, column);
            return form.eventTime().equals(Optional.of(subject))
                    ? new CondensedRows.Column.OfTimeError()
                    : new CondensedRows.Column.OfError(stream.field(subject).name());
        }
        int key = form.keys().indexOf(column);
        if (key >= 0) {
            return new CondensedRows.Column.OfKey(key);
        }
        return form.eventTime().equals(Optional.of(column))
                ? new CondensedRows.Column.OfTime()
                : new CondensedRows.Column.OfFeature(stream.field(column).name());
    }

    @Override
    public Optional<Batch> poll() {
        while (!condensed.isFull()) {
            Optional<SketchPieces.Piece> piece = pieces.next();
            if (piece.isEmpty()) {
                Optional<Batch> last = condensed.take();
                finished = last.isEmpty();
                return last;
            }
            if (piece.get() instanceof SketchPieces.Piece.Rows rows) {
                return Optional.of(rows.rows());
            }
            if (piece.get() instanceof SketchPieces.Piece.Sketches sketches) {
                counts = counts.plus(new ScanCounts(0, 0, 0, 0, 0, 0, sketches.passedBy()));
                sketches.series().forEach(this::add);
            }
        }
        return condensed.take();
    }

    private void add(SketchPieces.Series series) {
        long skipped = 0;
        for (Sketch sketch : series.sketches()) {
            if (bounds.mayMeet(sketch)) {
                condensed.add(sketch, series.keys(), series.row());
            } else {
                skipped++;
            }
        }
        counts = counts.plus(new ScanCounts(0, 0, 0, 0, series.sketches().size() - skipped, 0, skipped));
    }

    @Override
    public Optional<ScanCounts> counts() {
        return Optional.of(counts.plus(pieces.counts()));
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
        try (condensed) {
            pieces.close();
        }
    }
}
