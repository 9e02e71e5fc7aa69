package dev.millrace.server.sketched;

import dev.millrace.batch.ArrowTypes;
import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.batch.NestedCopy;
import dev.millrace.error.MillraceException;
import dev.millrace.memory.Memory;
import dev.millrace.sketch.Sketch;
import dev.millrace.sketch.form.SymbolFilter;
import dev.millrace.sketch.materialise.Materialisation;
import dev.millrace.sketch.schema.SketchSchema;
import dev.millrace.sketch.segment.SegmentFilter;
import dev.millrace.sketch.time.Times;
import dev.millrace.storage.segment.ColumnRange;
import dev.millrace.storage.segment.ColumnSegment;
import dev.millrace.type.Field;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.VarBinaryVector;
import org.jspecify.annotations.Nullable;

/** The stretches of a sketched segment as sketches, or as rows where they do not have all columns that are asked for. For one thread. */
final class SegmentPieces implements AutoCloseable {
    private final SketchedForm form;
    private final ColumnSegment file;
    private final List<Integer> columns;
    private final List<ColumnRange> ranges;
    private final Wanted wanted;
    private final boolean areRows; // also where the sketches have all columns
    private final Optional<Materialisation> chosen; // if a column says which rows are
    private final BufferAllocator allocator;
    private final List<Integer> starts;
    private final int sketchColumn; // of the file
    private int stretch;
    private @Nullable SketchedRowScan rows; // of a stretch that is given as rows
    private int passedBy; // sketches of the stretch

    /** @param held what the piece needs as long as it is used */
    record Found(SketchPieces.Piece piece, @Nullable AutoCloseable held) {}

    SegmentPieces(
            SketchedForm form,
            ColumnSegment file,
            List<Integer> columns,
            List<ColumnRange> ranges,
            SegmentFilter filter,
            boolean areRows,
            Optional<Materialisation> chosen,
            BufferAllocator allocator) {
        this.areRows = areRows;
        this.chosen = chosen;
        this.form = form;
        this.file = file;
        this.columns = columns;
        this.ranges = ranges;
        this.wanted = new Wanted(filter);
        this.allocator = allocator;
        int series = form.stream().size() + 2;
        this.starts = Stretches.starts(file, series);
        this.sketchColumn = series + 1;
    }

    /** The filter, where what a stretch keeps is given as sketches: its first one has the features of all. */
    private final class Wanted implements SegmentFilter {
        private final SegmentFilter filter;
        private Optional<SketchSchema> first = Optional.empty();
        private boolean areAllSketched;

        Wanted(SegmentFilter filter) {
            this.filter = filter;
        }

        private void begin() {
            first = Optional.empty();
            areAllSketched = false;
        }

        @Override
        public boolean mayMeet(SketchSchema schema, Times times) {
            if (first.isEmpty()) {
                first = Optional.of(schema);
                areAllSketched = columns.stream()
                        .map(column -> form.isError(column) ? form.subject(column) : column)
                        .allMatch(column ->
                                form.keys().contains(column) || form.placeIn(schema, column) >= SketchVectors.TIME);
            }
            return !areAllSketched || filter.mayMeet(schema, times);
        }

        @Override
        public SymbolFilter ofFeature(SketchSchema schema, int feature) {
            return areAllSketched ? filter.ofFeature(schema, feature) : SymbolFilter.ANY;
        }
    }

    Optional<Found> next() {
        while (true) {
            if (rows != null) {
                Optional<Batch> batch = rows.next();
                if (batch.isPresent()) {
                    return Optional.of(new Found(new SketchPieces.Piece.Rows(batch.get()), null));
                }
                close();
            }
            if (stretch == starts.size() - 1) {
                return Optional.empty();
            }
            int of = stretch++;
            if (areRows) {
                rows = rowsOf(of);
                continue;
            }
            Optional<Found> found = sketches(of);
            if (found.isPresent()) {
                return found;
            }
        }
    }

    private SketchedRowScan rowsOf(int of) {
        return new SketchedRowScan(form, file, columns, ranges, chosen, of, of + 1, starts.size() - 1, allocator);
    }

    /** A stretch by its sketches; empty if its rows are given, one batch after the other. */
    private Optional<Found> sketches(int of) {
        List<List<Sketch>> series = new ArrayList<>();
        Deque<AutoCloseable> owned = new ArrayDeque<>();
        int count = 0;
        passedBy = 0;
        wanted.begin();
        try {
            FieldVector[] keys = new FieldVector[form.keys().size()];
            for (int i = 0; i < keys.length; i++) {
                Field field = form.stream().field(form.keys().get(i));
                keys[i] = ArrowTypes.arrowField(field).createVector(allocator);
                owned.add(keys[i]);
            }
            for (int block = starts.get(of); block < starts.get(of + 1); block++) {
                count += file.blockRows(block);
                List<Integer> firstRows = gather(block, series);
                if (!firstRows.isEmpty() && keys.length > 0) {
                    keep(block, firstRows, keys, series.size() - firstRows.size());
                }
            }
            if (!wanted.areAllSketched) {
                rows = rowsOf(of);
                Closing.all(owned);
                return Optional.empty();
            }
            List<SketchPieces.Series> found = new ArrayList<>();
            Batch keyRows = Batch.view(
                    form.stream().select(form.keys()), keys, series.size(), Optional.empty(), List.copyOf(owned));
            for (int i = 0; i < series.size(); i++) {
                found.add(new SketchPieces.Series(keyRows, i, List.copyOf(series.get(i))));
            }
            return Optional.of(new Found(new SketchPieces.Piece.Sketches(count, found, passedBy), keyRows));
        } catch (RuntimeException | Error e) {
            Closing.all(owned);
            throw e;
        }
    }

    /** Adds the sketches that begin in a block; returns the rows where the new series among them begin. */
    private List<Integer> gather(int block, List<List<Sketch>> series) {
        List<Integer> firstRows = new ArrayList<>();
        boolean isRead = file.forEachPresent(block, sketchColumn, allocator, (row, address, length) -> {
            byte[] stored = new byte[length];
            Memory.copyOut(address, stored, 0, length);
            if (add(block, row, stored, series)) {
                firstRows.add(row);
            }
        });
        return isRead ? firstRows : gatherAll(block, series);
    }

    /** The same where many rows begin one. */
    private List<Integer> gatherAll(int block, List<List<Sketch>> series) {
        List<Integer> firstRows = new ArrayList<>();
        try (Batch batch = read(block, List.of(sketchColumn))) {
            VarBinaryVector sketches = (VarBinaryVector) batch.column(0);
            for (int row = 0; row < batch.rowCount(); row++) {
                if (!sketches.isNull(row) && add(block, row, sketches.get(row), series)) {
                    firstRows.add(row);
                }
            }
        }
        return firstRows;
    }

    /** Adds a sketch; returns whether its series is new. */
    private boolean add(int block, int row, byte[] stored, List<List<Sketch>> series) {
        NumberedSketch read;
        try {
            read = NumberedSketch.read(stored, wanted);
        } catch (MillraceException e) {
            throw file.damaged(block, sketchColumn, "row " + row + ": " + e.getMessage());
        }
        if (read.series() < 0 || read.series() > series.size()) {
            throw file.damaged(block, sketchColumn, "row " + row + " has a sketch of series " + read.series());
        }
        boolean isNew = read.series() == series.size();
        if (isNew) {
            series.add(new ArrayList<>());
        }
        read.sketch().ifPresentOrElse(series.get(read.series())::add, () -> passedBy++);
        return isNew;
    }

    /** The keys of series that begin in some rows of a block, behind those that are known. */
    private void keep(int block, List<Integer> rows, FieldVector[] keys, int known) {
        try (Batch batch = read(block, form.keys())) {
            for (int i = 0; i < rows.size(); i++) {
                for (int key = 0; key < keys.length; key++) {
                    NestedCopy.copy(batch.column(key), rows.get(i), keys[key], known + i);
                    keys[key].setValueCount(known + i + 1);
                }
            }
        }
    }

    private Batch read(int block, List<Integer> stored) {
        return file.scan(stored, List.of(), block, block + 1, file.blockCount(), allocator)
                .next()
                .orElseThrow();
    }

    @Override
    public void close() {
        if (rows != null) {
            rows.close();
            rows = null;
        }
    }
}
