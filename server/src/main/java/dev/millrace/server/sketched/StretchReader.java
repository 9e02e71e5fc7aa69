package dev.millrace.server.sketched;

import dev.millrace.batch.ArrowTypes;
import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.batch.NestedCopy;
import dev.millrace.error.MillraceException;
import dev.millrace.memory.Memory;
import dev.millrace.sketch.Sketch;
import dev.millrace.sketch.materialise.Materialisation;
import dev.millrace.sketch.materialise.SketchErrors;
import dev.millrace.sketch.schema.SketchSchema;
import dev.millrace.sketch.segment.SegmentFilter;
import dev.millrace.storage.segment.ColumnSegment;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.VarBinaryVector;

/**
 * Puts the rows of one stretch together again, block by block. For one thread; holds the sketches that are under way.
 *
 * <p>Blocks come with {@code #series}, {@code #sketch}, and then the columns that are asked for.
 */
final class StretchReader implements AutoCloseable {
    static final int FIRST_ASKED = 2;

    private final SketchedForm form;
    private final ColumnSegment file;
    private final List<Integer> columns;
    private final Schema schema; // of these
    private final Optional<Materialisation> chosen; // if a column says which rows are
    private final BufferAllocator allocator;
    private final SeriesOrder order = new SeriesOrder();
    private final List<SketchVectors> current = new ArrayList<>(); // by series
    private final FieldVector[] keys; // by column asked for, of each series one; null for others
    private final int[] storedAs; // by column asked for, its place among what is stored; -1 for what is computed
    private Optional<SketchSchema> sketched = Optional.empty(); // known with the first sketch
    private boolean isExact;
    private boolean isBegun;

    StretchReader(
            SketchedForm form,
            ColumnSegment file,
            List<Integer> columns,
            Schema schema,
            Optional<Materialisation> chosen,
            BufferAllocator allocator) {
        this.form = form;
        this.file = file;
        this.columns = columns;
        this.schema = schema;
        this.chosen = chosen;
        this.allocator = allocator;
        this.keys = new FieldVector[columns.size()];
        this.storedAs = new int[columns.size()];
        int next = FIRST_ASKED;
        for (int i = 0; i < storedAs.length; i++) {
            storedAs[i] = form.isComputed(columns.get(i)) ? -1 : next++;
        }
    }

    /** The rows of the next block, the caller's. */
    Batch read(int block, Batch stored) {
        int[] sourceOf = new int[stored.rowCount()];
        int[] rowOf = new int[stored.rowCount()];
        int[] seriesOf = new int[stored.rowCount()];
        List<SketchVectors> used = new ArrayList<>();
        List<SketchVectors> ended = new ArrayList<>();
        try {
            advance(block, stored, used, ended, seriesOf, sourceOf, rowOf);
            return isExact ? exact(stored) : together(stored, used, seriesOf, sourceOf, rowOf);
        } finally {
            Closing.all(ended);
        }
    }

    /** Passes by a block. @param stored its first two columns */
    void skip(int block, Batch stored) {
        List<SketchVectors> ended = new ArrayList<>();
        int[] unused = new int[stored.rowCount()];
        try {
            advance(block, stored, new ArrayList<>(), ended, unused, unused.clone(), unused.clone());
        } finally {
            Closing.all(ended);
        }
    }

    private void advance(
            int block,
            Batch stored,
            List<SketchVectors> used,
            List<SketchVectors> ended,
            int[] seriesOf,
            int[] sourceOf,
            int[] rowOf) {
        long codes = stored.dataAddress(0);
        if (!isBegun) {
            isBegun = true;
            isExact = Memory.getInt(codes) == SeriesOrder.EXACT;
        }
        if (isExact) {
            return;
        }
        boolean areAll = !stored.hasNulls(1); // then there is no bitmap
        long isSketch = areAll ? 0 : stored.validityAddress(1);
        for (int row = 0; row < stored.rowCount(); row++) {
            int before = order.series();
            int series = order.series(Memory.getInt(codes + 4L * row));
            if (series < 0) {
                throw damaged(block, "row " + row + " is of no series");
            }
            if (areAll || Memory.getBit(isSketch, row)) {
                SketchVectors next = open(block, (VarBinaryVector) stored.column(1), row, series);
                if (series == current.size()) {
                    current.add(next);
                } else {
                    SketchVectors last = current.set(series, next);
                    ended.add(last);
                    if (!last.isEnded()) {
                        throw damaged(block, "row " + row + " begins a sketch within another one");
                    }
                }
            } else if (series == before) {
                throw damaged(block, "row " + row + " has no sketch");
            }
            if (series == before) {
                addKey(stored, row, series);
            }
            SketchVectors source = current.get(series);
            int place = source.next();
            if (place < 0) {
                throw damaged(block, "row " + row + " is behind the end of its sketch");
            }
            int slot = source.slotIn(block);
            if (slot < 0) {
                slot = used.size();
                source.place(block, slot);
                used.add(source);
            }
            seriesOf[row] = series;
            sourceOf[row] = slot;
            rowOf[row] = place;
        }
    }

    private SketchVectors open(int block, VarBinaryVector sketches, int row, int series) {
        try {
            NumberedSketch read = NumberedSketch.read(sketches.get(row), SegmentFilter.ANY);
            if (read.series() != series) {
                throw damaged(block, "row " + row + " has the sketch of series " + read.series() + ", not " + series);
            }
            Sketch sketch = read.sketch().orElseThrow();
            SketchSchema known = sketched.orElse(sketch.schema());
            if (!known.equals(sketch.schema())) {
                throw damaged(block, "row " + row + " has a sketch of other features than those before");
            }
            sketched = Optional.of(known);
            return new SketchVectors(sketch, allocator);
        } catch (MillraceException e) {
            throw damaged(block, "row " + row + ": " + e.getMessage());
        }
    }

    private MillraceException damaged(int block, String what) {
        return file.damaged(block, form.stream().size() + 3, what);
    }

    private void addKey(Batch stored, int row, int series) {
        for (int i = 0; i < keys.length && stored.columnCount() > FIRST_ASKED; i++) {
            if (form.keys().contains(columns.get(i))) {
                if (keys[i] == null) {
                    keys[i] = ArrowTypes.arrowField(schema.field(i)).createVector(allocator);
                }
                NestedCopy.copy(stored.column(storedAs[i]), row, keys[i], series);
                keys[i].setValueCount(series + 1);
            }
        }
    }

    private Batch exact(Batch stored) {
        FieldVector[] vectors = new FieldVector[columns.size()];
        List<AutoCloseable> owned = new ArrayList<>();
        owned.add(stored.retain());
        try {
            for (int i = 0; i < vectors.length; i++) {
                if (storedAs[i] < 0) {
                    vectors[i] = form.ofExact(columns.get(i), stored.rowCount(), allocator);
                    owned.add(vectors[i]);
                } else {
                    vectors[i] = stored.column(storedAs[i]);
                }
            }
            return Batch.view(schema, vectors, stored.rowCount(), Optional.empty(), owned);
        } catch (RuntimeException | Error e) {
            Closing.all(owned);
            throw e;
        }
    }

    private Batch together(Batch stored, List<SketchVectors> used, int[] seriesOf, int[] sourceOf, int[] rowOf) {
        int count = stored.rowCount();
        FieldVector[] vectors = new FieldVector[columns.size()];
        List<AutoCloseable> owned = new ArrayList<>();
        owned.add(stored.retain());
        try {
            int[] theOne = {};
            for (int i = 0; i < vectors.length; i++) {
                Field field = schema.field(i);
                int feature = form.placeIn(sketched.orElseThrow(), columns.get(i));
                if (storedAs[i] < 0) {
                    vectors[i] = form.isError(columns.get(i))
                            ? errors(field, form.subject(columns.get(i)), used, sourceOf, count)
                            : ChosenRows.of(chosen.orElseThrow(), used, sourceOf, rowOf, count, allocator);
                    owned.add(vectors[i]);
                } else if (keys[i] != null) {
                    theOne = theOne.length == 0 ? new int[count] : theOne;
                    vectors[i] = GatheredValues.of(field, List.of(keys[i]), theOne, seriesOf, count, allocator);
                    owned.add(vectors[i]);
                } else if (feature >= SketchVectors.TIME) {
                    List<FieldVector> from = new ArrayList<>(used.size());
                    used.forEach(source -> from.add(source.column(feature, field)));
                    vectors[i] = GatheredValues.of(field, from, sourceOf, rowOf, count, allocator);
                    owned.add(vectors[i]);
                } else {
                    vectors[i] = stored.column(storedAs[i]);
                }
            }
            return Batch.view(schema, vectors, count, Optional.empty(), owned);
        } catch (RuntimeException | Error e) {
            Closing.all(owned);
            throw e;
        }
    }

    /** Of each row that of the sketch which has it. */
    private FieldVector errors(Field field, int subject, List<SketchVectors> used, int[] sourceOf, int count) {
        double[] bySource = used.stream()
                .mapToDouble(source -> form.error(source.sketch(), subject))
                .toArray();
        FieldVector vector = SketchErrors.vector(field, 0, count, allocator);
        long data = vector.getDataBufferAddress();
        for (int row = 0; row < count; row++) {
            Memory.putDouble(data + 8L * row, bySource[sourceOf[row]]);
        }
        return vector;
    }

    @Override
    public void close() {
        Closing.all(current);
        current.clear();
        Arrays.stream(keys).filter(key -> key != null).forEach(FieldVector::close);
        Arrays.fill(keys, null);
    }
}
