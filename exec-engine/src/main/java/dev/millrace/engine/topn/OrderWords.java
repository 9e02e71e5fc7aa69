package dev.millrace.engine.topn;

import dev.millrace.batch.Batch;
import dev.millrace.engine.state.ByteSlots;
import dev.millrace.engine.state.SlotKind;
import dev.millrace.memory.Memory;
import dev.millrace.plan.expression.OrderKey;
import dev.millrace.type.DataType;

/**
 * The first key of an order as a word per row: of two rows the one with the smaller word comes first. Equal words decide
 * nothing: texts and large numbers have but their beginnings in them, and further keys may follow.
 */
final class OrderWords {
    private final OrderKey key;
    private final DataType type;
    private long[] words = new long[0];

    OrderWords(OrderKey key, DataType type) {
        this.key = key;
        this.type = type;
    }

    /** Whether values of a type have words that tell most of them apart. */
    static boolean suits(DataType type) {
        return switch (type.kind()) {
            case BOOLEAN, SMALLINT, INTEGER, BIGINT, REAL, DOUBLE, DATE, TIME, TIMESTAMP, TIMESTAMPTZ, NUMERIC -> true;
            case BIGNUM, TEXT, VARCHAR, CHAR, BYTEA, JSONB -> true;
            case INTERVAL, UUID, ARRAY, ROW, NULL -> false;
        };
    }

    /** The words of a batch's rows, good until the next call. */
    long[] of(Batch batch) {
        int count = batch.rowCount();
        if (words.length < count) {
            words = new long[count];
        }
        long data = batch.dataAddress(key.column());
        fill(batch, data, count);
        if (key.descending()) {
            for (int row = 0; row < count; row++) {
                words[row] = ~words[row];
            }
        }
        long validity = batch.validityAddress(key.column());
        if (validity != 0) {
            for (int row = 0; row < count; row++) {
                if (!Memory.getBit(validity, row)) {
                    words[row] = key.nullsFirst() ? Long.MIN_VALUE : Long.MAX_VALUE;
                }
            }
        }
        return words;
    }

    private void fill(Batch batch, long data, int count) {
        switch (type.kind()) {
            case BIGINT, TIME, TIMESTAMP, TIMESTAMPTZ -> {
                for (int row = 0; row < count; row++) {
                    words[row] = Memory.getLong(data + 8L * row);
                }
            }
            case INTEGER, DATE -> {
                for (int row = 0; row < count; row++) {
                    words[row] = Memory.getInt(data + 4L * row);
                }
            }
            case SMALLINT -> {
                for (int row = 0; row < count; row++) {
                    words[row] = Memory.getShort(data + 2L * row);
                }
            }
            case BOOLEAN -> {
                for (int row = 0; row < count; row++) {
                    words[row] = Memory.getBit(data, row) ? 1 : 0;
                }
            }
            case REAL -> {
                for (int row = 0; row < count; row++) {
                    words[row] = ordered(Memory.getFloat(data + 4L * row));
                }
            }
            case DOUBLE -> {
                for (int row = 0; row < count; row++) {
                    words[row] = ordered(Memory.getDouble(data + 8L * row));
                }
            }
            case NUMERIC -> {
                for (int row = 0; row < count; row++) {
                    long low = Memory.getLong(data + 16L * row);
                    long high = Memory.getLong(data + 16L * row + 8);
                    words[row] = high == low >> 63 ? low : high < 0 ? Long.MIN_VALUE : Long.MAX_VALUE;
                }
            }
            case BIGNUM, TEXT, VARCHAR, CHAR, BYTEA, JSONB -> {
                long offsets = batch.offsetsAddress(key.column());
                for (int row = 0; row < count; row++) {
                    int start = Memory.getInt(offsets + 4L * row);
                    int length = SlotKind.keyLength(type, Memory.getInt(offsets + 4L * row + 4) - start);
                    words[row] = Long.reverseBytes(ByteSlots.low(data + start, length)) ^ Long.MIN_VALUE;
                }
            }
            case INTERVAL, UUID, ARRAY, ROW, NULL -> throw new IllegalArgumentException(type + " has no order words");
        }
    }

    /** Zeros are equal, NaN is greatest. */
    private static long ordered(double value) {
        long bits =
                Double.isNaN(value) ? Double.doubleToRawLongBits(Double.NaN) : Double.doubleToRawLongBits(value + 0.0);
        return bits ^ (bits >> 63 & Long.MAX_VALUE);
    }
}
