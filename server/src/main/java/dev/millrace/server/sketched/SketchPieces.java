package dev.millrace.server.sketched;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.condense.ErrorColumns;
import dev.millrace.connector.ScanCounts;
import dev.millrace.sketch.Sketch;
import dev.millrace.sketch.materialise.Materialisation;
import dev.millrace.sketch.segment.SegmentFilter;
import dev.millrace.storage.retention.SegmentStore;
import dev.millrace.storage.retention.StoreScan;
import dev.millrace.storage.segment.ColumnRange;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;
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
    private final Optional<Materialisation> chosen; // if a column says which rows are
    private boolean areRows;
    private @Nullable SegmentPieces segment; // that is under way
    private @Nullable AutoCloseable given; // with the piece before

    /** What there is next. */
    public sealed interface Piece {
        /**
         * Rows of the columns that were asked for.
         *
         * @param rows the caller's
         */
        record Rows(Batch rows) implements Piece {}

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
            StoreScan scan,
            SketchedForm form,
            List<Integer> columns,
            SegmentFilter filter,
            Optional<Materialisation> chosen,
            BufferAllocator allocator) {
        this.chosen = chosen;
        this.scan = scan;
        this.form = form;
        this.columns = List.copyOf(columns);
        this.filter = filter;
        this.allocator = allocator;
    }

    /**
     * Begins to read.
     *
     * @param columns of the stream, those that are needed, and {@link ErrorColumns} of it
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
        return ofFiles(store, form, ofFiles(form, columns), ranges, filter, Optional.empty(), upTo, allocator);
    }

    private static List<Integer> ofFiles(SketchedForm form, List<Integer> columns) {
        Schema stream = form.stream();
        return columns.stream()
                .map(column -> ErrorColumns.isOne(stream, column)
                        ? form.errorOf(ErrorColumns.subject(stream, column))
                        : column)
                .toList();
    }

    private static SketchPieces ofFiles(
            SegmentStore store,
            SketchedForm form,
            List<Integer> columns,
            List<ColumnRange> ranges,
            SegmentFilter filter,
            Optional<Materialisation> chosen,
            long upTo,
            BufferAllocator allocator) {
        List<Integer> stored =
                columns.stream().filter(column -> !form.isComputed(column)).toList();
        StoreScan scan = store.scans(stored, ranges, upTo, 1, allocator).get(0);
        return new SketchPieces(scan, form, columns, filter, chosen, allocator);
    }

    /**
     * Begins to read, row by row, with the entry of each and when that arrived behind what was asked for.
     *
     * @param columns of the stream, and {@link ErrorColumns} of it
     * @param ranges of columns of the stream, the entry and the arrival
     * @param chosen if it is there, a column behind all others says which rows are among these
     */
    static SketchPieces rowsWithEntries(
            SegmentStore store,
            SketchedForm form,
            List<Integer> columns,
            List<ColumnRange> ranges,
            Optional<Materialisation> chosen,
            long upTo,
            BufferAllocator allocator) {
        List<Integer> all = new ArrayList<>(ofFiles(form, columns));
        all.add(form.stream().size());
        all.add(form.stream().size() + 1);
        chosen.ifPresent(some -> all.add(form.chosen()));
        return ofFiles(store, form, all, ranges, SegmentFilter.ANY, chosen, upTo, allocator)
                .asRows();
    }

    /** Gives rows from now on, also of sketches that have all columns. */
    SketchPieces asRows() {
        areRows = true;
        return this;
    }

    StoreScan scan() {
        return scan;
    }

    /** The next piece; empty at the end. */
    public Optional<Piece> next() {
        letGo();
        while (true) {
            if (segment == null) {
                segment = scan.nextFormed()
                        .map(file -> new SegmentPieces(
                                form, file.segment(), columns, file.ranges(), filter, areRows, chosen, allocator))
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
            return scan.next().map(rows -> new Piece.Rows(withComputed(rows)));
        }
    }

    /** Exact rows, with what is computed beside them. */
    private Batch withComputed(Batch rows) {
        if (rows.columnCount() == columns.size()) {
            return rows;
        }
        List<AutoCloseable> owned = new ArrayList<>();
        owned.add(rows);
        try {
            FieldVector[] vectors = new FieldVector[columns.size()];
            List<Field> fields = new ArrayList<>();
            int stored = 0;
            for (int i = 0; i < vectors.length; i++) {
                if (form.isComputed(columns.get(i))) {
                    vectors[i] = form.ofExact(columns.get(i), rows.rowCount(), allocator);
                    owned.add(vectors[i]);
                    fields.add(form.computed(columns.get(i)));
                } else {
                    fields.add(rows.schema().field(stored));
                    vectors[i] = rows.column(stored++);
                }
            }
            return Batch.view(new Schema(fields), vectors, rows.rowCount(), Optional.empty(), owned);
        } catch (RuntimeException | Error e) {
            Closing.all(owned);
            throw e;
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
