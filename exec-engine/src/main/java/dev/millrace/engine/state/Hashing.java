package dev.millrace.engine.state;

import dev.millrace.batch.Batch;
import dev.millrace.batch.NestedImages;
import dev.millrace.memory.Memory;
import dev.millrace.type.DataType;
import java.util.Arrays;

/**
 * The hash of a key: {@link #SEED}, one {@link #step} per column, then {@link #finish}. Exchanges, tables and snapshots
 * agree on key groups because all of them hash as it is defined here. NULL equals NULL, -0.0 equals 0.0 and NaN equals
 * NaN; integers of different width hash by value. Text takes two steps, as {@link ByteSlots} packs it; values of 16
 * bytes too.
 */
public final class Hashing {
    public static final long SEED = 0x5851F42D4C957F2DL;

    /** What stands for a NULL. */
    public static final long NULL_BITS = 0x2545F4914F6CDD1DL;

    private static final long CANONICAL_NAN = Double.doubleToLongBits(Double.NaN);

    private Hashing() {}

    public static long step(long hash, long value) {
        long mixed = (hash ^ value) * 0x9E3779B97F4A7C15L;
        return mixed ^ (mixed >>> 32);
    }

    public static long finish(long hash) {
        return hash * 0xD6E8FEB86659FD93L;
    }

    /** The bits that stand for a double: one zero and one NaN. */
    public static long canonical(double value) {
        return Double.isNaN(value) ? CANONICAL_NAN : Double.doubleToRawLongBits(value + 0.0);
    }

    /** A hash of bytes, of any number. */
    public static long bytes(long address, int length) {
        long hash = length;
        int at = 0;
        for (; at + 8 <= length; at += 8) {
            hash = step(hash, Memory.getLong(address + at));
        }
        return at == length ? hash : step(hash, ByteSlots.low(address + at, length - at));
    }

    /**
     * Hashes the key columns of rows 0 to {@code rows - 1}; without columns the hash is 0.
     *
     * @param nested scratch for the images of nested columns, closed by the caller
     */
    public static void hash(Batch batch, int[] columns, int rows, long[] hashes, NestedImages nested) {
        Arrays.fill(hashes, 0, rows, columns.length == 0 ? 0 : SEED);
        for (int column : columns) {
            stepColumn(batch, column, rows, hashes, nested);
        }
        for (int row = 0; row < rows; row++) {
            hashes[row] = finish(hashes[row]);
        }
    }

    private static void stepColumn(Batch batch, int column, int rows, long[] hashes, NestedImages nested) {
        DataType type = batch.schema().type(column);
        long validity = batch.validityAddress(column);
        SlotKind kind = SlotKind.of(type);
        if (kind == SlotKind.BYTES) {
            long offsets = nested.offsetsAddress(batch, column);
            long data = nested.dataAddress(batch, column);
            for (int row = 0; row < rows; row++) {
                if (validity != 0 && !Memory.getBit(validity, row)) {
                    hashes[row] = step(step(hashes[row], NULL_BITS), 0);
                } else {
                    long start = Memory.getInt(offsets + 4L * row);
                    int length = SlotKind.keyLength(type, (int) (Memory.getInt(offsets + 4L * row + 4) - start));
                    long low = ByteSlots.low(data + start, length);
                    hashes[row] = step(step(hashes[row], low), ByteSlots.high(data + start, length));
                }
            }
            return;
        }
        long data = batch.dataAddress(column);
        for (int row = 0; row < rows; row++) {
            boolean isNull = validity != 0 && !Memory.getBit(validity, row);
            if (kind == SlotKind.WIDE) {
                long low = isNull ? NULL_BITS : Memory.getLong(data + 16L * row);
                long high = isNull ? 0 : Memory.getLong(data + 16L * row + 8);
                hashes[row] = step(step(hashes[row], low), high);
            } else {
                hashes[row] = step(hashes[row], isNull ? NULL_BITS : word(type, data, row));
            }
        }
    }

    /** The canonical 64 bits of a value of at most eight bytes. */
    public static long word(DataType type, long data, int row) {
        return switch (type.kind()) {
            case BOOLEAN -> Memory.getBit(data, row) ? 1 : 0;
            case SMALLINT -> Memory.getShort(data + 2L * row);
            case INTEGER, DATE -> Memory.getInt(data + 4L * row);
            case REAL -> canonical(Memory.getFloat(data + 4L * row));
            case DOUBLE -> canonical(Memory.getDouble(data + 8L * row));
            case BIGINT, TIME, TIMESTAMP, TIMESTAMPTZ -> Memory.getLong(data + 8L * row);
            case NUMERIC, BIGNUM, INTERVAL, UUID, TEXT, VARCHAR, CHAR, JSONB, BYTEA, ARRAY, ROW, NULL ->
                throw new IllegalArgumentException(type + " has no 64-bit form");
        };
    }
}
