package dev.millrace.server.sketched;

import dev.millrace.batch.Batch;
import dev.millrace.condense.Condensing;
import dev.millrace.condense.ErrorColumns;
import dev.millrace.error.MillraceException;
import dev.millrace.sketch.Sketch;
import dev.millrace.sketch.materialise.SketchErrors;
import dev.millrace.sketch.schema.SketchSchema;
import dev.millrace.storage.retention.SegmentForm;
import dev.millrace.storage.segment.ColumnRange;
import dev.millrace.storage.segment.ColumnSegment;
import dev.millrace.storage.segment.ColumnSegmentWriter;
import dev.millrace.storage.segment.RowScan;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.Supplier;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;

/**
 * A stream's old rows as sketches, as the package describes them. Any thread; {@link #write} is called by one at a time.
 *
 * <p>It remembers the ranges of series between writing, so that errors that are shares of a range are those of the range seen so far since the
 * database was opened; of some ten thousand series, those written last.
 */
public final class SketchedForm implements SegmentForm {
    private static final long ENOUGH_ROWS = 1 << 16;
    private static final long ROWS_OF_A_SERIES = 1024;
    private static final int STORED_BESIDE = 4; // #entry, #arrival, #series, #sketch

    private final SketchClause clause;
    private final Schema stream;
    private final List<Integer> keys;
    private final Optional<Integer> eventTime;
    private final SeriesStates states = new SeriesStates();
    private volatile long enoughRows = ENOUGH_ROWS; // written by who writes

    private SketchedForm(SketchClause clause, Schema stream, List<Integer> keys, Optional<Integer> eventTime) {
        this.clause = clause;
        this.stream = stream;
        this.keys = keys;
        this.eventTime = eventTime;
    }

    /**
     * Of a stream.
     *
     * @param eventTime the column that is its event time
     * @throws MillraceException 42703, 42701 or 22023 if the clause does not fit to the columns
     */
    public static SketchedForm of(SketchClause clause, Schema stream, Optional<Integer> eventTime) {
        return new SketchedForm(clause, stream, clause.keyOf(stream, eventTime), eventTime);
    }

    /** The columns of the stream. */
    Schema stream() {
        return stream;
    }

    /** Places of the columns that make a series. */
    public List<Integer> keys() {
        return keys;
    }

    /** Place of the event time. */
    public Optional<Integer> eventTime() {
        return eventTime;
    }

    /** Which feature of sketches a column is; {@link SketchVectors#TIME} if it is their time, less if they do not have it. */
    int placeIn(SketchSchema sketches, int column) {
        if (column >= stream.size()) {
            return SketchVectors.TIME - 1;
        }
        Field field = stream.field(column);
        if (eventTime.equals(Optional.of(column)) && sketches.timeName().equals(field.name())) {
            return SketchVectors.TIME;
        }
        for (int f = 0; f < sketches.size(); f++) {
            if (sketches.feature(f).name().equals(field.name())
                    && sketches.feature(f).type().equals(field.type())) {
                return f;
            }
        }
        return SketchVectors.TIME - 1;
    }

    /** What readers of its sketches say beyond values. */
    public Condensing condensing() {
        Set<Integer> inexact = new HashSet<>();
        for (int column = 0; column < stream.size(); column++) {
            if (!keys.contains(column) && clause.mayBeOff(stream.field(column))) {
                inexact.add(column);
            }
        }
        eventTime.filter(column -> clause.timeErrorMicros() > 0).ifPresent(inexact::add);
        return new Condensing(eventTime.map(OptionalInt::of).orElse(OptionalInt.empty()), inexact);
    }

    /** The number, behind all columns that are stored, by which scans are asked how far values of a column may be off. */
    int errorOf(int column) {
        return stream.size() + STORED_BESIDE + column;
    }

    /** The number, behind those, by which scans are asked which rows are among those of a materialisation. */
    int chosen() {
        return errorOf(stream.size());
    }

    /** Whether a column is not of the file, but said of it: {@link #errorOf} or {@link #chosen}. */
    boolean isComputed(int column) {
        return column >= stream.size() + STORED_BESIDE;
    }

    /** Whether scans are asked how far values of a column may be off; then {@link #subject} is the column. */
    boolean isError(int column) {
        return isComputed(column) && column < chosen();
    }

    int subject(int errorColumn) {
        return errorColumn - stream.size() - STORED_BESIDE;
    }

    /** The fields of what is asked of a file, whatever it is. */
    Schema schema(Schema stored, List<Integer> columns) {
        return new Schema(columns.stream()
                .map(column -> isComputed(column) ? computed(column) : stored.field(column))
                .toList());
    }

    /** The field of a column that is not of the file. */
    Field computed(int column) {
        return isError(column)
                ? ErrorColumns.field(stream, ErrorColumns.of(stream, subject(column)))
                : ChosenRows.FIELD;
    }

    /** A column that is not of the file, of rows that are in no sketch; the caller's. */
    FieldVector ofExact(int column, int rows, BufferAllocator allocator) {
        return isError(column)
                ? SketchErrors.vector(computed(column), 0, rows, allocator)
                : ChosenRows.all(rows, allocator);
    }

    /** How far values of a column may be off in a sketch. */
    double error(Sketch sketch, int column) {
        int place = placeIn(sketch.schema(), column);
        return place < SketchVectors.TIME ? 0 : SketchErrors.of(sketch, place);
    }

    SketchClause clause() {
        return clause;
    }

    SeriesStates states() {
        return states;
    }

    @Override
    public long enoughRows() {
        return enoughRows;
    }

    @Override
    public OptionalLong longestMicros() {
        return clause.segmentMicros();
    }

    @Override
    public long timeErrorMicros() {
        return clause.timeErrorMicros();
    }

    @Override
    public void write(
            Supplier<Optional<Batch>> rows, long lastArrival, ColumnSegmentWriter out, BufferAllocator allocator) {
        try (StretchWriter writer = new StretchWriter(this, lastArrival, out, allocator)) {
            for (Optional<Batch> next = rows.get(); next.isPresent(); next = rows.get()) {
                try (Batch batch = next.get()) {
                    writer.append(batch);
                }
            }
            writer.end();
            enoughRows =
                    Math.max(ENOUGH_ROWS, Math.min(StretchWriter.MOST_ROWS, ROWS_OF_A_SERIES * writer.mostSeries()));
        }
    }

    @Override
    public RowScan scan(
            ColumnSegment file,
            List<Integer> columns,
            List<ColumnRange> ranges,
            int from,
            int to,
            int parts,
            BufferAllocator allocator) {
        return new SketchedRowScan(this, file, columns, ranges, Optional.empty(), from, to, parts, allocator);
    }
}
