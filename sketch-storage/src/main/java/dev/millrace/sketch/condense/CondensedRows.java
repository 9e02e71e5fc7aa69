package dev.millrace.sketch.condense;

import dev.millrace.batch.ArrowTypes;
import dev.millrace.batch.Batch;
import dev.millrace.batch.Vectors;
import dev.millrace.condense.Condensation;
import dev.millrace.memory.Memory;
import dev.millrace.sketch.Sketch;
import dev.millrace.sketch.materialise.ArrowOutput;
import dev.millrace.sketch.materialise.SketchErrors;
import dev.millrace.sketch.time.Times;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.FieldVector;

/**
 * Gathers rows of sketches into batches with weights: rows that are alike between two times come once. What they are alike in
 * are the columns of the batches. What is gathered is some arrays on the heap, as large as the largest batch, or as one sketch. Not
 * thread-safe.
 *
 * <pre>{@code
 * rows.add(sketch, keys, 0);          // as often as there are sketches
 * while (rows.isFull()) { hand on rows.take(); }
 * ...
 * rows.take();                        // the last ones, too
 * }</pre>
 */
public final class CondensedRows implements AutoCloseable {
    /** What a column of the batches is made of. */
    public sealed interface Column {
        /** The feature of this name, which each sketch has, of the column's type. */
        record OfFeature(String name) implements Column {}

        /** The time, in microseconds: of rows that are alike that of one of them. */
        record OfTime() implements Column {}

        /** How far values of the feature of this name may be off. */
        record OfError(String name) implements Column {}

        /** How far the times may be off, in microseconds. */
        record OfTimeError() implements Column {}

        /** What comes with each sketch: a column of a batch. */
        record OfKey(int index) implements Column {}
    }

    private final Schema schema;
    private final List<Column> columns;
    private final Condensation condensation;
    private final int batchRows;
    private final BufferAllocator allocator;
    private final int timeColumn; // -1 without
    private final int[] featureColumns; // which columns are features
    private final int[] errorColumns; // which columns are errors
    private final long[] errors; // of the sketch at hand, by column, as bits
    private final AlikeRows alike = new AlikeRows();
    private final GatheredColumn[] gathered; // by column; of a key which of the keys at hand it is
    private final List<Optional<FieldVector>> keys =
            new ArrayList<>(); // by column, what came since all rows were taken
    private int keyRows;
    private long[] weights = {};
    private int size;
    private int taken;

    /**
     * @param schema of the batches
     * @param columns what each of its columns is made of
     * @param batchRows how many rows a batch has at most
     * @throws IllegalArgumentException if times are among the columns, and the condensation says nothing of them
     */
    public CondensedRows(
            Schema schema, List<Column> columns, Condensation condensation, int batchRows, BufferAllocator allocator) {
        this.schema = schema;
        this.columns = List.copyOf(columns);
        this.condensation = condensation;
        this.batchRows = batchRows;
        this.allocator = allocator;
        this.timeColumn = columns.indexOf(new Column.OfTime());
        if (timeColumn >= 0 && condensation.time().isEmpty()) {
            throw new IllegalArgumentException("times are wanted, and not between which they lie");
        }
        featureColumns = IntStream.range(0, columns.size())
                .filter(column -> columns.get(column) instanceof Column.OfFeature)
                .toArray();
        errorColumns = IntStream.range(0, columns.size())
                .filter(column -> columns.get(column) instanceof Column.OfError
                        || columns.get(column) instanceof Column.OfTimeError)
                .toArray();
        errors = new long[columns.size()];
        gathered = new GatheredColumn[columns.size()];
        Arrays.setAll(gathered, column -> new GatheredColumn(schema.field(column)));
        columns.forEach(column -> keys.add(Optional.empty()));
    }

    /**
     * Takes in the rows of a sketch.
     *
     * @param row where its keys are in {@code ofKeys}, which stays the caller's
     */
    public void add(Sketch sketch, Batch ofKeys, int row) {
        keep(ofKeys, row);
        int[] features = new int[featureColumns.length];
        for (int f = 0; f < features.length; f++) {
            Column.OfFeature column = (Column.OfFeature) columns.get(featureColumns[f]);
            features[f] = sketch.schema().indexOf(column.name());
            gathered[featureColumns[f]].begin(sketch.column(features[f]));
        }
        for (int column : errorColumns) {
            int of = columns.get(column) instanceof Column.OfError error
                    ? sketch.schema().indexOf(error.name())
                    : -1;
            errors[column] = Double.doubleToRawLongBits(SketchErrors.of(sketch, of));
        }
        if (timeColumn < 0) {
            alike.each(sketch, features, 0, sketch.rows(), (ranks, weight) -> put(ranks, weight, 0));
        } else {
            bySlices(sketch, features);
        }
    }

    /** Of rows in the order of time those of a slice are looked up, of others neighbours of one slice are taken together. */
    private void bySlices(Sketch sketch, int[] features) {
        Times times = sketch.times();
        boolean ordered = times.ordered();
        long perSecond = sketch.schema().ticksPerSecond();
        int from = 0;
        while (from < times.rows()) {
            long time = ArrowOutput.micros(times.at(from), perSecond);
            long end = condensation.end(time);
            int to = ordered ? firstBehind(times, perSecond, from, end) : from + 1;
            while (!ordered
                    && to < times.rows()
                    && condensation.end(ArrowOutput.micros(times.at(to), perSecond)) == end) {
                to++;
            }
            alike.each(sketch, features, from, to, (ranks, weight) -> put(ranks, weight, time));
            from = to;
        }
    }

    /** The first row, of ordered ones, whose slice is another; a slice that ends with the last time there is has that time in it. */
    private int firstBehind(Times times, long perSecond, int from, long end) {
        int low = from + 1;
        int high = times.rows();
        if (condensation.end(ArrowOutput.micros(times.at(high - 1), perSecond)) == end) {
            return high; // mostly a sketch lies within one slice
        }
        while (low < high) {
            int middle = low + high >>> 1;
            long micros = ArrowOutput.micros(times.at(middle), perSecond);
            if (condensation.end(micros) == end) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }

    private void put(int[] ranks, int weight, long time) {
        if (size == weights.length) {
            int room = Math.max(1024, 2 * size);
            weights = Arrays.copyOf(weights, room);
            for (GatheredColumn column : gathered) {
                column.makeRoom(room);
            }
        }
        for (int f = 0; f < featureColumns.length; f++) {
            gathered[featureColumns[f]].putRank(size, ranks[f]);
        }
        if (timeColumn >= 0) {
            gathered[timeColumn].putValue(size, time);
        }
        for (int column : errorColumns) {
            gathered[column].putValue(size, errors[column]);
        }
        for (int column = 0; column < gathered.length; column++) {
            if (columns.get(column) instanceof Column.OfKey) {
                gathered[column].putValue(size, keyRows - 1);
            }
        }
        weights[size++] = weight;
    }

    private void keep(Batch ofKeys, int row) {
        for (int column = 0; column < gathered.length; column++) {
            if (columns.get(column) instanceof Column.OfKey key) {
                if (keys.get(column).isEmpty()) {
                    keys.set(column, Optional.of(growing(column, 64)));
                }
                keys.get(column).get().copyFromSafe(row, keyRows, ofKeys.column(key.index()));
            }
        }
        keyRows++;
    }

    /** Whether there are rows for a whole batch. */
    public boolean isFull() {
        return size - taken >= batchRows;
    }

    /** The next rows, the caller's; empty if there are none. */
    public Optional<Batch> take() {
        if (taken == size) {
            return Optional.empty();
        }
        int to = Math.min(size, taken + batchRows);
        FieldVector[] vectors = new FieldVector[gathered.length + 1];
        boolean done = false;
        try {
            for (int column = 0; column < gathered.length; column++) {
                vectors[column] = columns.get(column) instanceof Column.OfKey
                        ? keys(column, taken, to)
                        : gathered[column].vector(taken, to, allocator);
            }
            BigIntVector counts = Vectors.allocateWeights(to - taken, allocator);
            vectors[gathered.length] = counts;
            for (int row = taken; row < to; row++) {
                Memory.putLong(counts.getDataBufferAddress() + 8L * (row - taken), weights[row]);
            }
            Vectors.finish(counts, to - taken);
            Batch batch = Batch.weighted(schema, Arrays.copyOf(vectors, gathered.length), to - taken, counts);
            done = true;
            taken = to;
            if (taken == size) {
                clear();
            }
            return Optional.of(batch);
        } finally {
            for (int i = 0; !done && i < vectors.length; i++) {
                if (vectors[i] != null) {
                    vectors[i].close();
                }
            }
        }
    }

    /** A vector that Arrow writes to, and makes larger: keys are of any type. */
    private FieldVector growing(int column, int rows) {
        FieldVector vector = ArrowTypes.arrowField(schema.field(column)).createVector(allocator);
        vector.setInitialCapacity(rows);
        vector.allocateNew();
        return vector;
    }

    private FieldVector keys(int column, int from, int to) {
        FieldVector source = keys.get(column).orElseThrow();
        FieldVector vector = growing(column, to - from);
        try {
            for (int row = from; row < to; row++) {
                vector.copyFromSafe(gathered[column].value(row), row - from, source);
            }
            vector.setValueCount(to - from);
            return vector;
        } catch (RuntimeException | Error e) {
            vector.close();
            throw e;
        }
    }

    private void clear() {
        size = 0;
        taken = 0;
        keyRows = 0;
        for (GatheredColumn column : gathered) {
            column.clear();
        }
        close();
    }

    @Override
    public void close() {
        for (int column = 0; column < keys.size(); column++) {
            keys.get(column).ifPresent(FieldVector::close);
            keys.set(column, Optional.empty());
        }
    }
}
