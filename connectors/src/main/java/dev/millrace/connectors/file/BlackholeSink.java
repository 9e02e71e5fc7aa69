package dev.millrace.connectors.file;

import dev.millrace.batch.Batch;
import dev.millrace.connector.Sink;
import dev.millrace.memory.Memory;
import dev.millrace.type.DataType;
import java.util.concurrent.atomic.LongAdder;
import org.apache.arrow.vector.FieldVector;

/**
 * Counts rows and sums a hash of every value, column by column: the same rows give the same checksum in any order and
 * however they are cut into batches, and a retraction takes away what its row added. {@link #rows()} and
 * {@link #checksum()} may be read by any thread; they show what was committed.
 */
public final class BlackholeSink implements Sink {
    private static final long MIX = 0x9e3779b97f4a7c15L; // 2^64 / golden ratio, odd
    private static final long STEP = 0xbf58476d1ce4e5b8L; // even, so that every multiplier stays odd

    private final LongAdder rows = new LongAdder();
    private final LongAdder checksum = new LongAdder();
    private volatile long committedRows; // written by the thread that commits, read by any
    private volatile long committedChecksum; // the same

    /** Rows of committed epochs: added less retracted. */
    public long rows() {
        return committedRows;
    }

    /** Of all values of committed epochs. */
    public long checksum() {
        return committedChecksum;
    }

    @Override
    public boolean isConcurrent() {
        return true;
    }

    @Override
    public boolean isImmediate() {
        return true;
    }

    @Override
    public void write(Batch batch) {
        long weights = batch.weightsAddress();
        int count = batch.rowCount();
        long weight = count;
        if (weights != 0) {
            weight = 0;
            for (int row = 0; row < count; row++) {
                weight += Memory.getLong(weights + 8L * row);
            }
        }
        rows.add(weight);
        long sum = 0;
        for (int column = 0; column < batch.columnCount(); column++) {
            sum += sum(batch, column, weights) * (2L * column + 1);
        }
        checksum.add(sum);
    }

    private static long sum(Batch batch, int column, long weights) {
        DataType type = batch.schema().type(column);
        boolean plain = weights == 0 && !batch.hasNulls(column);
        int width = type.fixedWidth();
        if (plain && width == 8) {
            return sumLongs(batch.dataAddress(column), batch.rowCount());
        }
        if (plain && type.isBytes()) {
            return sumBytes(batch.dataAddress(column), batch.offsetsAddress(column), batch.rowCount());
        }
        long sum = 0;
        for (int row = 0; row < batch.rowCount(); row++) {
            long weight = weights == 0 ? 1 : Memory.getLong(weights + 8L * row);
            sum += weight * hash(type, batch.column(column), row);
        }
        return sum;
    }

    private static long sumLongs(long data, int rows) {
        long sum = 0;
        for (int row = 0; row < rows; row++) {
            sum += hash(Memory.getLong(data + 8L * row));
        }
        return sum;
    }

    private static long sumBytes(long data, long offsets, int rows) {
        long sum = 0;
        int from = Memory.getInt(offsets);
        for (int row = 0; row < rows; row++) {
            int to = Memory.getInt(offsets + 4L * row + 4);
            sum += hash(data + from, to - from);
            from = to;
        }
        return sum;
    }

    private static long hash(DataType type, FieldVector vector, int row) {
        if (type.kind() == DataType.Kind.NULL || vector.isNull(row)) {
            return MIX;
        }
        return switch (type.fixedWidth()) {
            case 0 -> hash(Memory.getBit(vector.getDataBufferAddress(), row) ? 2 : 1);
            case 2 -> hash(Memory.getShort(vector.getDataBufferAddress() + 2L * row));
            case 4 -> hash(Memory.getInt(vector.getDataBufferAddress() + 4L * row));
            case 8 -> hash(Memory.getLong(vector.getDataBufferAddress() + 8L * row));
            case 16 -> hash(vector.getDataBufferAddress() + 16L * row, 16);
            default -> {
                if (type.isNested()) {
                    yield hash(vector.hashCode(row));
                }
                long offsets = vector.getOffsetBufferAddress() + 4L * row;
                int from = Memory.getInt(offsets);
                yield hash(vector.getDataBufferAddress() + from, Memory.getInt(offsets + 4) - from);
            }
        };
    }

    private static long hash(long value) {
        long mixed = (value ^ value >>> 32) * MIX;
        return mixed ^ mixed >>> 29;
    }

    /** Words times odd multipliers, summed, so that no step waits for the one before. */
    private static long hash(long address, int length) {
        long sum = length * MIX;
        long multiplier = MIX;
        int at = 0;
        for (; at + 8 <= length; at += 8) {
            sum += Memory.getLong(address + at) * multiplier;
            multiplier += STEP;
        }
        if (at < length) {
            sum += tail(address + at, length - at) * multiplier;
        }
        return hash(sum);
    }

    private static long tail(long address, int length) {
        if (length >= 4) {
            long first = Memory.getInt(address) & 0xffff_ffffL;
            return first | (long) Memory.getInt(address + length - 4) << 32;
        }
        long word = 0;
        for (int i = 0; i < length; i++) {
            word |= (Memory.getByte(address + i) & 0xffL) << 8 * i;
        }
        return word;
    }

    @Override
    public void commit(long epoch) {
        committedRows = rows.sum();
        committedChecksum = checksum.sum();
    }

    @Override
    public void close() {}
}
