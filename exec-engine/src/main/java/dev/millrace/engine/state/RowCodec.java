package dev.millrace.engine.state;

import dev.millrace.batch.Batch;
import dev.millrace.batch.NestedCodec;
import dev.millrace.batch.NestedImages;
import dev.millrace.batch.Vectors;
import dev.millrace.memory.Memory;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Optional;
import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;

/**
 * Rows of some columns as bytes, and back, a column at a time.
 *
 * <pre>
 *   row   null words (a bit per column, set: NULL) | a slot per column | bytes of text and nested values | padding
 *   slot  8 bytes, 16 for NUMERIC, INTERVAL and UUID; of text its offset in the row and its length, 4 bytes each
 * </pre>
 *
 * A row's length is a multiple of eight and all padding is zero, so that equal rows have equal bytes. A canonical codec
 * also gives -0.0 and 0.0, all NaN, and numbers that show different digits, the same bytes, as grouping wants it; the other one
 * keeps values as they are.
 */
public final class RowCodec implements RowReader, AutoCloseable {
    private final DataType[] types;
    private final SlotKind[] kinds;
    private final int[] slots;
    private final int fixedBytes;
    private final boolean canonical;
    private final BufferAllocator allocator;
    private final NestedImages nested;
    private final NestedCodec nestedCodec = new NestedCodec();
    private Optional<ArrowBuf> buffer = Optional.empty();
    private long[] addresses = new long[0];
    private int[] ends = new int[0]; // while encoding: where the bytes of the next text go, from the row's start
    private int[] lengths = new int[0];

    public RowCodec(List<DataType> types, boolean canonical, BufferAllocator allocator) {
        this.types = types.toArray(DataType[]::new);
        this.kinds = types.stream().map(SlotKind::of).toArray(SlotKind[]::new);
        this.slots = new int[this.types.length];
        this.canonical = canonical;
        this.allocator = allocator;
        this.nested = new NestedImages(allocator);
        int at = 8 * ((this.types.length + 63) >>> 6);
        for (int column = 0; column < slots.length; column++) {
            slots[column] = at;
            at += kinds[column] == SlotKind.WIDE ? 16 : 8;
        }
        this.fixedBytes = at;
    }

    /**
     * Encodes some rows of a batch; they are then at {@link #address} until the next call.
     *
     * @param columns the batch's columns, of this codec's types
     * @param rows positions in the batch
     * @param count how many of {@code rows}
     */
    public void encode(Batch batch, int[] columns, int[] rows, int count) {
        nested.clear();
        place(batch, columns, rows, count);
        for (int column = 0; column < columns.length; column++) {
            long validity = batch.validityAddress(columns[column]);
            if (validity != 0) {
                encodeNulls(column, validity, rows, count);
            }
            switch (kinds[column]) {
                case WORD -> encodeWords(column, batch.dataAddress(columns[column]), rows, count);
                case WIDE -> encodeWide(column, batch.dataAddress(columns[column]), rows, count);
                case BYTES ->
                    encodeBytes(
                            column,
                            nested.offsetsAddress(batch, columns[column]),
                            nested.dataAddress(batch, columns[column]),
                            validity != 0,
                            rows,
                            count);
            }
            if (validity != 0) {
                clearNulls(column, count);
            }
        }
    }

    /** Where the i-th row of the last {@link #encode} is. */
    public long address(int i) {
        return addresses[i];
    }

    /** Its bytes. */
    public int length(int i) {
        return lengths[i];
    }

    /** Where a column's slot is in each row. */
    public int slot(int column) {
        return slots[column];
    }

    public DataType type(int column) {
        return types[column];
    }

    @Override
    public int columnCount() {
        return types.length;
    }

    /** Bytes of a row without text: the least length. */
    public int fixedBytes() {
        return fixedBytes;
    }

    /** Writes a row of NULLs, of {@link #fixedBytes}. */
    public void writeNulls(long row) {
        Memory.fill(row, fixedBytes, (byte) 0);
        for (int column = 0; column < types.length; column++) {
            long word = row + 8L * (column >>> 6);
            Memory.putLong(word, Memory.getLong(word) | 1L << column);
        }
    }

    public static boolean isNull(long row, int column) {
        return (Memory.getLong(row + 8L * (column >>> 6)) >>> column & 1) != 0;
    }

    private void place(Batch batch, int[] columns, int[] rows, int count) {
        if (addresses.length < count) {
            addresses = new long[count];
            lengths = new int[count];
            ends = new int[count];
        }
        for (int i = 0; i < count; i++) {
            ends[i] = fixedBytes;
            lengths[i] = fixedBytes;
        }
        for (int column = 0; column < columns.length; column++) {
            if (kinds[column] == SlotKind.BYTES) {
                long offsets = nested.offsetsAddress(batch, columns[column]);
                long validity = batch.validityAddress(columns[column]);
                for (int i = 0; i < count; i++) {
                    if (validity == 0 || Memory.getBit(validity, rows[i])) {
                        lengths[i] += length(column, offsets, rows[i]);
                    }
                }
            }
        }
        long total = 0;
        for (int i = 0; i < count; i++) {
            lengths[i] = (lengths[i] + 7) & -8;
            addresses[i] = total;
            total += lengths[i];
        }
        long base = room(total);
        int nullBytes = types.length == 0 ? 0 : slots[0];
        for (int i = 0; i < count; i++) {
            addresses[i] += base;
            for (int at = 0; at < nullBytes; at += 8) {
                Memory.putLong(addresses[i] + at, 0);
            }
            if (lengths[i] > fixedBytes) {
                Memory.putLong(addresses[i] + lengths[i] - 8, 0); // the padding
            }
        }
    }

    private long room(long bytes) {
        if (buffer.isEmpty() || buffer.get().capacity() < bytes) {
            close();
            buffer = Optional.of(allocator.buffer(Math.max(bytes, 4096)));
        }
        return buffer.get().memoryAddress();
    }

    private void encodeNulls(int column, long validity, int[] rows, int count) {
        int at = 8 * (column >>> 6);
        long bit = 1L << column;
        for (int i = 0; i < count; i++) {
            if (!Memory.getBit(validity, rows[i])) {
                long word = addresses[i] + at;
                Memory.putLong(word, Memory.getLong(word) | bit);
            }
        }
    }

    /** Zeroes the slots of NULLs, under which a vector may hold anything. */
    private void clearNulls(int column, int count) {
        for (int i = 0; i < count; i++) {
            if (isNull(addresses[i], column)) {
                Memory.putLong(addresses[i] + slots[column], 0);
                if (kinds[column] == SlotKind.WIDE) {
                    Memory.putLong(addresses[i] + slots[column] + 8, 0);
                }
            }
        }
    }

    private void encodeWords(int column, long data, int[] rows, int count) {
        int slot = slots[column];
        switch (types[column].kind()) {
            case BIGINT, TIME, TIMESTAMP, TIMESTAMPTZ -> {
                for (int i = 0; i < count; i++) {
                    Memory.putLong(addresses[i] + slot, Memory.getLong(data + 8L * rows[i]));
                }
            }
            case INTEGER, DATE -> {
                for (int i = 0; i < count; i++) {
                    Memory.putLong(addresses[i] + slot, Memory.getInt(data + 4L * rows[i]));
                }
            }
            case DOUBLE -> {
                for (int i = 0; i < count; i++) {
                    double value = Memory.getDouble(data + 8L * rows[i]);
                    Memory.putLong(
                            addresses[i] + slot,
                            canonical ? Hashing.canonical(value) : Double.doubleToRawLongBits(value));
                }
            }
            case REAL -> {
                for (int i = 0; i < count; i++) {
                    float value = Memory.getFloat(data + 4L * rows[i]);
                    Memory.putLong(
                            addresses[i] + slot,
                            canonical ? Hashing.canonical(value) : Double.doubleToRawLongBits(value));
                }
            }
            default -> {
                for (int i = 0; i < count; i++) {
                    Memory.putLong(addresses[i] + slot, Hashing.word(types[column], data, rows[i]));
                }
            }
        }
    }

    private void encodeWide(int column, long data, int[] rows, int count) {
        int slot = slots[column];
        for (int i = 0; i < count; i++) {
            Memory.putLong(addresses[i] + slot, Memory.getLong(data + 16L * rows[i]));
            Memory.putLong(addresses[i] + slot + 8, Memory.getLong(data + 16L * rows[i] + 8));
        }
    }

    private void encodeBytes(int column, long offsets, long data, boolean nulls, int[] rows, int count) {
        int slot = slots[column];
        for (int i = 0; i < count; i++) {
            long row = addresses[i];
            if (nulls && isNull(row, column)) {
                continue;
            }
            int start = Memory.getInt(offsets + 4L * rows[i]);
            int length = length(column, offsets, rows[i]);
            Memory.putInt(row + slot, ends[i]);
            Memory.putInt(row + slot + 4, length);
            Memory.copy(data + start, row + ends[i], length);
            ends[i] += length;
        }
    }

    private int length(int column, long offsets, int row) {
        int length = Memory.getInt(offsets + 4L * row + 4) - Memory.getInt(offsets + 4L * row);
        return canonical ? SlotKind.keyLength(types[column], length) : length;
    }

    @Override
    public void decode(
            Schema fields, int first, long[] rows, int count, List<FieldVector> vectors, BufferAllocator target) {
        for (int column = 0; column < types.length; column++) {
            vectors.add(decode(column, fields.field(first + column), rows, count, target));
        }
    }

    /** The values of a column of encoded rows, as a vector. */
    public FieldVector decode(int column, Field field, long[] rows, int count, BufferAllocator target) {
        if (kinds[column] == SlotKind.BYTES) {
            return types[column].isNested()
                    ? decodeNested(column, field, rows, count, target)
                    : decodeText(column, field, rows, count, target);
        }
        FieldVector vector = Vectors.allocate(field, count, 0, target);
        long data = vector.getDataBufferAddress();
        int slot = slots[column];
        decodeNulls(column, vector, rows, count);
        if (kinds[column] == SlotKind.WIDE) {
            for (int i = 0; i < count; i++) {
                Memory.putLong(data + 16L * i, Memory.getLong(rows[i] + slot));
                Memory.putLong(data + 16L * i + 8, Memory.getLong(rows[i] + slot + 8));
            }
        } else {
            WordValues.copyOut(types[column], rows, slot, count, data);
        }
        Vectors.finish(vector, count);
        return vector;
    }

    private void decodeNulls(int column, FieldVector vector, long[] rows, int count) {
        long validity = vector.getValidityBufferAddress();
        Vectors.setBits(validity, count);
        if (!vector.getField().isNullable()) {
            return;
        }
        for (int i = 0; i < count; i++) {
            if (isNull(rows[i], column)) {
                Memory.clearBit(validity, i);
            }
        }
    }

    private FieldVector decodeText(int column, Field field, long[] rows, int count, BufferAllocator target) {
        int slot = slots[column];
        long bytes = 0;
        for (int i = 0; i < count; i++) {
            bytes += Memory.getInt(rows[i] + slot + 4);
        }
        FieldVector vector = Vectors.allocate(field, count, bytes, target);
        long data = vector.getDataBufferAddress();
        long offsets = vector.getOffsetBufferAddress();
        decodeNulls(column, vector, rows, count);
        int at = 0;
        for (int i = 0; i < count; i++) {
            int length = Memory.getInt(rows[i] + slot + 4);
            Memory.copy(rows[i] + Memory.getInt(rows[i] + slot), data + at, length);
            at += length;
            Memory.putInt(offsets + 4L * i + 4, at);
        }
        Vectors.finish(vector, count);
        return vector;
    }

    private FieldVector decodeNested(int column, Field field, long[] rows, int count, BufferAllocator target) {
        int slot = slots[column];
        FieldVector vector = Vectors.allocate(field, count, 0, target);
        try {
            for (int i = 0; i < count; i++) {
                if (isNull(rows[i], column)) {
                    NestedCodec.setNull(vector, i);
                } else {
                    byte[] bytes = new byte[Memory.getInt(rows[i] + slot + 4)];
                    Memory.copyOut(rows[i] + Memory.getInt(rows[i] + slot), bytes, 0, bytes.length);
                    nestedCodec.decode(ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN), vector, types[column], i);
                }
            }
            vector.setValueCount(count);
            return vector;
        } catch (RuntimeException | Error e) {
            vector.close();
            throw e;
        }
    }

    /** Frees the scratch memory; the codec can be used again. */
    @Override
    public void close() {
        nested.close();
        Optional<ArrowBuf> old = buffer;
        buffer = Optional.empty();
        old.ifPresent(ArrowBuf::close);
    }
}
