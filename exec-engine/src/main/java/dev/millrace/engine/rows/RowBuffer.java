package dev.millrace.engine.rows;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.batch.NestedCopy;
import dev.millrace.batch.Vectors;
import dev.millrace.expressions.function.bytes.Bytes;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.memory.Memory;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.BaseVariableWidthVector;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.FieldVector;

/**
 * Collects chosen rows of batches of one schema into new batches. Memory is taken with the first row, as much as the last
 * batch needed, and more as rows come: a batch of few rows is small.
 */
public final class RowBuffer implements AutoCloseable {
    private static final int TEXT_BYTES_PER_ROW = 16; // to begin with
    private static final int CHECKED_BYTES = 1 << 18; // some tens of microseconds to copy
    private static final int LEAST_ROWS = 8;

    private final Schema schema;
    private final int capacity;
    private final BufferAllocator allocator;
    private final FieldVector[] columns;
    private final long[] textBytes; // used so far, per column
    private final List<BigIntVector> weights = new ArrayList<>(1); // none while all weights are +1
    private int count;
    private int allocated; // rows that there is memory for
    private int lastCount; // of the batch taken last

    /** @param capacity rows of a full batch */
    public RowBuffer(Schema schema, int capacity, BufferAllocator allocator) {
        this.schema = schema;
        this.capacity = capacity;
        this.allocator = allocator;
        this.columns = new FieldVector[schema.size()];
        this.textBytes = new long[schema.size()];
    }

    /** Rows collected. */
    public int count() {
        return count;
    }

    /** How many more rows fit. */
    public int room() {
        return capacity - count;
    }

    /** Appends rows {@code rows[from]} to {@code rows[to - 1]} of a batch, as many as there is {@link #room} for at most. */
    public void append(Batch batch, int[] rows, int from, int to) {
        assert to - from <= room() : (to - from) + " rows, room for " + room();
        if (from == to) {
            return;
        }
        reserve(to - from);
        for (int column = 0; column < columns.length; column++) {
            appendColumn(batch, column, rows, from, to);
        }
        appendWeights(batch, rows, from, to);
        count += to - from;
    }

    private void reserve(int rows) {
        int needed = count == 0 ? Math.max(rows, lastCount) : count + rows;
        if (count > 0 && needed <= allocated) {
            return;
        }
        allocated = Math.min(capacity, Math.max(LEAST_ROWS, roundUp(needed)));
        for (int column = 0; column < columns.length; column++) {
            if (count == 0) {
                columns[column] = allocate(schema.field(column), 0);
                textBytes[column] = 0;
            } else if (!schema.type(column).isNested()) { // Arrow grows nested vectors as they are copied to
                columns[column] = larger(columns[column], schema.field(column), textBytes[column]);
            }
        }
        if (!weights.isEmpty()) {
            BigIntVector vector = Vectors.allocateWeights(allocated, allocator);
            try (BigIntVector smaller = weights.set(0, vector)) {
                Memory.copy(smaller.getDataBufferAddress(), vector.getDataBufferAddress(), 8L * count);
            }
        }
    }

    private static int roundUp(int rows) {
        return rows <= 1 ? 1 : Integer.highestOneBit(rows - 1) << 1;
    }

    private FieldVector allocate(Field field, long usedBytes) {
        return Vectors.allocate(
                field, allocated, Math.max(2 * usedBytes, (long) TEXT_BYTES_PER_ROW * allocated), allocator);
    }

    private FieldVector larger(FieldVector vector, Field field, long usedBytes) {
        FieldVector larger = allocate(field, usedBytes);
        int width = field.type().fixedWidth();
        int bitmapBytes = (count + 7) >>> 3;
        Memory.copy(vector.getValidityBufferAddress(), larger.getValidityBufferAddress(), bitmapBytes);
        long dataBytes = width == 0 ? bitmapBytes : (long) width * count;
        if (larger instanceof BaseVariableWidthVector) {
            Memory.copy(vector.getOffsetBufferAddress(), larger.getOffsetBufferAddress(), 4L * (count + 1));
            dataBytes = usedBytes;
        }
        Memory.copy(vector.getDataBufferAddress(), larger.getDataBufferAddress(), dataBytes);
        vector.close();
        return larger;
    }

    private void appendColumn(Batch batch, int column, int[] rows, int from, int to) {
        FieldVector target = columns[column];
        DataType type = schema.type(column);
        if (type.isNested()) {
            Interrupt interrupt = Interrupt.current();
            for (int i = from; i < to; i++) {
                interrupt.check(); // each may be long
                NestedCopy.copy(batch.column(column), rows[i], target, count + i - from);
            }
            return;
        }
        copyValidity(batch.validityAddress(column), target.getValidityBufferAddress(), rows, from, to);
        long data = batch.dataAddress(column);
        switch (type.fixedWidth()) {
            case 0 -> copyBits(data, target.getDataBufferAddress(), rows, from, to);
            case 2 -> {
                long at = target.getDataBufferAddress() + 2L * count;
                for (int i = from; i < to; i++, at += 2) {
                    Memory.putShort(at, Memory.getShort(data + 2L * rows[i]));
                }
            }
            case 4 -> {
                long at = target.getDataBufferAddress() + 4L * count;
                for (int i = from; i < to; i++, at += 4) {
                    Memory.putInt(at, Memory.getInt(data + 4L * rows[i]));
                }
            }
            case 8 -> {
                long at = target.getDataBufferAddress() + 8L * count;
                for (int i = from; i < to; i++, at += 8) {
                    Memory.putLong(at, Memory.getLong(data + 8L * rows[i]));
                }
            }
            case 16 -> {
                long at = target.getDataBufferAddress() + 16L * count;
                for (int i = from; i < to; i++, at += 16) {
                    Memory.putLong(at, Memory.getLong(data + 16L * rows[i]));
                    Memory.putLong(at + 8, Memory.getLong(data + 16L * rows[i] + 8));
                }
            }
            default -> copyText(batch, column, rows, from, to);
        }
    }

    private void copyText(Batch batch, int column, int[] rows, int from, int to) {
        BaseVariableWidthVector target = (BaseVariableWidthVector) columns[column];
        long offsets = batch.offsetsAddress(column);
        long data = batch.dataAddress(column);
        long validity = batch.validityAddress(column);
        long needed = textBytes[column];
        for (int i = from; i < to; i++) {
            long start = offsets + 4L * rows[i];
            needed += Memory.getInt(start + 4) - Memory.getInt(start);
        }
        Vectors.growData(target, textBytes[column], needed);
        long to0 = target.getDataBufferAddress();
        long ends = target.getOffsetBufferAddress() + 4L * (count + 1);
        long end = textBytes[column];
        long unchecked = 0;
        for (int i = from; i < to; i++, ends += 4) {
            if (validity == 0 || Memory.getBit(validity, rows[i])) {
                int start = Memory.getInt(offsets + 4L * rows[i]);
                int length = Memory.getInt(offsets + 4L * rows[i] + 4) - start;
                Bytes.copy(data + start, to0 + end, length);
                end += length;
                unchecked += length;
                if (unchecked >= CHECKED_BYTES) {
                    unchecked = 0;
                    Interrupt.checkCurrent();
                }
            }
            Memory.putInt(ends, (int) end);
        }
        textBytes[column] = end;
    }

    /** Without a branch on what the bits are: those of data are random. */
    private void copyBits(long source, long target, int[] rows, int from, int to) {
        int at = count;
        int gathered = Memory.getByte(target + (at >>> 3)) & (1 << (at & 7)) - 1;
        for (int i = from; i < to; i++) {
            int row = rows[i];
            int bit = Memory.getByte(source + (row >>> 3)) >>> (row & 7) & 1;
            gathered |= bit << (at & 7);
            at++;
            if ((at & 7) == 0) {
                Memory.putByte(target + (at >>> 3) - 1, (byte) gathered);
                gathered = 0;
            }
        }
        if ((at & 7) != 0) {
            Memory.putByte(target + (at >>> 3), (byte) gathered);
        }
    }

    private void copyValidity(long source, long target, int[] rows, int from, int to) {
        if (source != 0) {
            copyBits(source, target, rows, from, to);
            return;
        }
        int bit = count;
        int end = count + to - from;
        for (; bit < end && (bit & 7) != 0; bit++) {
            Memory.setBit(target, bit);
        }
        int bytes = Math.max(0, end - bit) >>> 3;
        Memory.fill(target + (bit >>> 3), bytes, (byte) -1);
        for (bit += bytes << 3; bit < end; bit++) {
            Memory.setBit(target, bit);
        }
    }

    private void appendWeights(Batch batch, int[] rows, int from, int to) {
        long source = batch.weightsAddress();
        if (source == 0 && weights.isEmpty()) {
            return;
        }
        if (weights.isEmpty()) {
            BigIntVector vector = Vectors.allocateWeights(allocated, allocator);
            weights.add(vector);
            for (int row = 0; row < count; row++) {
                Memory.putLong(vector.getDataBufferAddress() + 8L * row, 1);
            }
        }
        long at = weights.get(0).getDataBufferAddress() + 8L * count;
        for (int i = from; i < to; i++, at += 8) {
            Memory.putLong(at, source == 0 ? 1 : Memory.getLong(source + 8L * rows[i]));
        }
    }

    /** The rows collected, which are the caller's now; the buffer is empty again. Only if there are some. */
    public Batch take() {
        assert count > 0 : "no rows";
        int rows = count;
        lastCount = count;
        FieldVector[] taken = columns.clone();
        for (FieldVector column : taken) {
            Vectors.finish(column, rows);
        }
        Arrays.fill(columns, null);
        count = 0;
        if (weights.isEmpty()) {
            return Batch.of(schema, taken, rows);
        }
        BigIntVector vector = weights.remove(0);
        Vectors.finish(vector, rows);
        return Batch.weighted(schema, taken, rows, vector);
    }

    @Override
    public void close() {
        List<FieldVector> left = new ArrayList<>(weights);
        for (FieldVector column : columns) {
            if (column != null) {
                left.add(column);
            }
        }
        Arrays.fill(columns, null);
        weights.clear();
        count = 0;
        Closing.all(left);
    }
}
