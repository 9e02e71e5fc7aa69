package dev.millrace.server.sketched;

import dev.millrace.batch.ArrowTypes;
import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.batch.NestedCopy;
import dev.millrace.batch.Vectors;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.memory.Memory;
import dev.millrace.storage.retention.SegmentForm;
import dev.millrace.storage.segment.ColumnSegmentWriter;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.VarBinaryVector;

/** Gathers rows to stretches, and writes them. For one thread; holds one stretch. */
final class StretchWriter implements AutoCloseable {
    static final int MOST_ROWS = 1 << 18;
    private static final long MOST_CELLS = 1 << 22;
    private static final long MOST_BYTES = 64 << 20;
    private static final int ROWS_OF_AN_ENTRY = 64; // from which on each entry's arrival is kept
    private static final long SECOND_MICROS = 1_000_000;

    private final SketchedForm form;
    private final long lastArrival;
    private final ColumnSegmentWriter out;
    private final BufferAllocator allocator;
    private final int mostRows;
    private final List<Batch> batches = new ArrayList<>();
    private int rows;
    private long bytes;
    private long mostSeries;

    StretchWriter(SketchedForm form, long lastArrival, ColumnSegmentWriter out, BufferAllocator allocator) {
        this.form = form;
        this.lastArrival = lastArrival;
        this.out = out;
        this.allocator = allocator;
        this.mostRows = (int) Math.min(MOST_ROWS, MOST_CELLS / form.stream().size());
    }

    /** How many series the stretch with the most of them had. */
    long mostSeries() {
        return mostSeries;
    }

    /** Adds rows, which stay the caller's. */
    void append(Batch batch) {
        if (rows > 0 && (rows + batch.rowCount() > mostRows || bytes + batch.sizeInBytes() > MOST_BYTES)) {
            end();
        }
        batches.add(batch.retain());
        rows += batch.rowCount();
        bytes += batch.sizeInBytes();
    }

    /** Ends the stretch. */
    void end() {
        if (rows > 0) {
            StretchColumns columns = StretchColumns.of(form, batches);
            if (columns.schema().isEmpty()) {
                writeExact();
            } else {
                writeSketched(columns);
            }
            out.endBlock();
        }
        close();
    }

    private void writeExact() {
        int[] codes = new int[rows];
        codes[0] = SeriesOrder.EXACT;
        write(codes, new boolean[rows], Map.of(), List.of(), false);
    }

    private void writeSketched(StretchColumns columns) {
        int[] codes = new int[rows];
        int[] series = new int[rows];
        boolean[] isFirst = new boolean[rows];
        List<KeyBytes> keys = new ArrayList<>();
        series(codes, series, isFirst, keys);
        int[] starts = new int[keys.size() + 1];
        for (int of : series) {
            starts[of + 1]++;
        }
        for (int i = 1; i < starts.length; i++) {
            starts[i] += starts[i - 1];
        }
        int[] ordered = new int[rows]; // by series, and in each in their order
        int[] at = starts.clone();
        for (int row = 0; row < rows; row++) {
            ordered[at[series[row]]++] = row;
        }
        SeriesEncoder encoder = new SeriesEncoder(form, columns, batches);
        for (int i = 0; i < keys.size(); i++) {
            Interrupt.checkCurrent();
            encoder.encode(i, keys.get(i), ordered, starts[i], starts[i + 1]);
        }
        mostSeries = Math.max(mostSeries, keys.size());
        List<Integer> absent = new ArrayList<>(columns.features());
        if (columns.isTimed()) {
            absent.add(form.eventTime().orElseThrow());
        }
        write(codes, isFirst, encoder.sketches(), absent, true);
    }

    private void series(int[] codes, int[] series, boolean[] isFirst, List<KeyBytes> keys) {
        SeriesOrder order = new SeriesOrder();
        Map<KeyBytes, Integer> numbers = new HashMap<>();
        KeyBytes key = new KeyBytes();
        int row = 0;
        for (Batch batch : batches) {
            for (int i = 0; i < batch.rowCount(); i++, row++) {
                key.set(batch, form.keys(), i);
                Integer number = numbers.get(key);
                isFirst[row] = number == null;
                if (number == null) {
                    number = numbers.size();
                    KeyBytes kept = key.kept();
                    numbers.put(kept, number);
                    keys.add(kept);
                }
                series[row] = number;
                codes[row] = order.code(number);
            }
        }
    }

    /**
     * @param absent columns that are NULL, as the sketches have them
     * @param isSketched whether keys stand in the first rows of series alone, and arrivals may be rounded
     */
    private void write(
            int[] codes, boolean[] isFirst, Map<Integer, byte[]> sketches, List<Integer> absent, boolean isSketched) {
        Schema stored = SegmentForm.stored(batches.get(0).schema());
        boolean isRounded = isSketched && entries() > rows / ROWS_OF_AN_ENTRY;
        int first = 0;
        for (Batch batch : batches) {
            List<AutoCloseable> owned = new ArrayList<>();
            owned.add(batch.retain());
            try {
                FieldVector[] vectors = new FieldVector[stored.size()];
                int arrival = form.stream().size() + 1;
                for (int column = 0; column < batch.columnCount(); column++) {
                    Field field = stored.field(column);
                    if (absent.contains(column)) {
                        vectors[column] = own(owned, nulls(field, batch.rowCount()));
                    } else if (isSketched && form.keys().contains(column)) {
                        vectors[column] = own(owned, keys(field, batch.column(column), isFirst, first));
                    } else if (isRounded && column == arrival) {
                        vectors[column] = own(owned, rounded(field, batch.dataAddress(column), batch.rowCount()));
                    } else {
                        vectors[column] = batch.column(column);
                    }
                }
                vectors[arrival + 1] = own(owned, codes(stored.field(arrival + 1), codes, first, batch.rowCount()));
                vectors[arrival + 2] =
                        own(owned, sketches(stored.field(arrival + 2), sketches, first, batch.rowCount()));
                try (Batch written = Batch.view(stored, vectors, batch.rowCount(), Optional.empty(), owned)) {
                    owned = List.of();
                    out.append(written);
                }
            } catch (RuntimeException | Error e) {
                Closing.all(owned);
                throw e;
            }
            first += batch.rowCount();
        }
    }

    private static FieldVector own(List<AutoCloseable> owned, FieldVector vector) {
        owned.add(vector);
        return vector;
    }

    private long entries() {
        long entries = 0;
        long last = 0;
        for (Batch batch : batches) {
            long data = batch.dataAddress(form.stream().size());
            for (int row = 0; row < batch.rowCount(); row++) {
                long entry = Memory.getLong(data + 8L * row);
                entries += entry == last ? 0 : 1;
                last = entry;
            }
        }
        return entries;
    }

    private FieldVector nulls(Field field, int count) {
        FieldVector vector = Vectors.allocate(field, count, 0, allocator);
        if (field.type().isText()) {
            Memory.fill(vector.getOffsetBufferAddress(), 4L * (count + 1), (byte) 0);
        } else if (field.type().kind() != DataType.Kind.BOOLEAN) {
            Memory.fill(vector.getDataBufferAddress(), (long) field.type().fixedWidth() * count, (byte) 0);
        }
        Vectors.finish(vector, count);
        return vector;
    }

    private FieldVector keys(Field field, FieldVector from, boolean[] isFirst, int first) {
        FieldVector vector = ArrowTypes.arrowField(field).createVector(allocator);
        try {
            int count = from.getValueCount();
            vector.setInitialCapacity(count);
            vector.allocateNew();
            for (int row = 0; row < count; row++) {
                if (isFirst[first + row]) {
                    NestedCopy.copy(from, row, vector, row);
                }
            }
            vector.setValueCount(count);
            return vector;
        } catch (RuntimeException | Error e) {
            vector.close();
            throw e;
        }
    }

    private FieldVector rounded(Field field, long from, int count) {
        FieldVector vector = Vectors.allocate(field, count, 0, allocator);
        long to = vector.getDataBufferAddress();
        for (int row = 0; row < count; row++) {
            long arrival = Memory.getLong(from + 8L * row);
            long end = arrival - Math.floorMod(arrival, SECOND_MICROS) + (SECOND_MICROS - 1);
            Memory.putLong(to + 8L * row, end < arrival ? lastArrival : Math.min(end, lastArrival));
        }
        Vectors.setAllValid(vector, count);
        Vectors.finish(vector, count);
        return vector;
    }

    private FieldVector codes(Field field, int[] codes, int first, int count) {
        FieldVector vector = Vectors.allocate(field, count, 0, allocator);
        long to = vector.getDataBufferAddress();
        for (int row = 0; row < count; row++) {
            Memory.putInt(to + 4L * row, codes[first + row]);
        }
        Vectors.setAllValid(vector, count);
        Vectors.finish(vector, count);
        return vector;
    }

    private FieldVector sketches(Field field, Map<Integer, byte[]> sketches, int first, int count) {
        VarBinaryVector vector = (VarBinaryVector) ArrowTypes.arrowField(field).createVector(allocator);
        try {
            vector.setInitialCapacity(count);
            vector.allocateNew();
            for (int row = 0; row < count; row++) {
                byte[] sketch = sketches.get(first + row);
                if (sketch != null) {
                    vector.setSafe(row, sketch);
                }
            }
            vector.setValueCount(count);
            return vector;
        } catch (RuntimeException | Error e) {
            vector.close();
            throw e;
        }
    }

    @Override
    public void close() {
        Closing.all(batches);
        batches.clear();
        rows = 0;
        bytes = 0;
    }
}
