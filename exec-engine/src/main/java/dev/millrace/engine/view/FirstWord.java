package dev.millrace.engine.view;

import dev.millrace.engine.state.RowCodec;
import dev.millrace.memory.Memory;
import dev.millrace.number.BignumBytes;
import dev.millrace.plan.expression.OrderKey;
import dev.millrace.type.DataType;

/**
 * What a row has in the first column of an order as an unsigned word: of two rows with different words the one with the less
 * comes first. Most comparisons of an index end here, without a look at the row.
 */
final class FirstWord {
    private static final long SIGN = Long.MIN_VALUE;
    private static final long DAY_NANOS = 86_400_000_000_000L;

    private final DataType.Kind kind;
    private final int column;
    private final int place;
    private final boolean descending;
    private final long ofNull;

    FirstWord(OrderKey key, RowCodec codec) {
        this.kind = codec.type(key.column()).kind();
        this.column = key.column();
        this.place = codec.slot(key.column());
        this.descending = key.descending();
        this.ofNull = key.nullsFirst() ? 0 : -1;
    }

    long of(long row) {
        if (RowCodec.isNull(row, column)) {
            return ofNull;
        }
        long word = ascending(row, row + place);
        return descending ? ~word : word;
    }

    private long ascending(long row, long slot) {
        return switch (kind) {
            case BOOLEAN, SMALLINT, INTEGER, BIGINT, DATE, TIME, TIMESTAMP, TIMESTAMPTZ -> Memory.getLong(slot) ^ SIGN;
            case REAL, DOUBLE -> ofDouble(Memory.getDouble(slot));
            case NUMERIC -> saturated(Memory.getLong(slot), Memory.getLong(slot + 8)) ^ SIGN;
            case INTERVAL ->
                30L * Memory.getInt(slot) + Memory.getInt(slot + 4) + Math.floorDiv(Memory.getLong(slot + 8), DAY_NANOS)
                        ^ SIGN;
            case UUID -> Long.reverseBytes(Memory.getLong(slot));
            case BIGNUM -> ofBytes(row + Memory.getInt(slot), BignumBytes.keyLength(Memory.getInt(slot + 4)));
            case TEXT, VARCHAR, CHAR, JSONB, BYTEA -> ofBytes(row + Memory.getInt(slot), Memory.getInt(slot + 4));
            case ARRAY, ROW, NULL -> 0;
        };
    }

    private static long ofDouble(double value) {
        long bits = value == 0 ? 0 : Double.doubleToLongBits(value); // of all NaN the same, which are the greatest
        return bits ^ (bits >> 63 | SIGN);
    }

    /** Of a number of 128 bits one of 64, which is not greater for a less one. */
    private static long saturated(long low, long high) {
        return high == low >> 63 ? low : high < 0 ? Long.MIN_VALUE : Long.MAX_VALUE;
    }

    /** The first eight bytes; what is shorter ties with what goes on with zeros. */
    private static long ofBytes(long address, int length) {
        long word = 0;
        for (int i = 0; i < 8; i++) {
            word = word << 8 | (i < length ? Memory.getByte(address + i) & 0xff : 0);
        }
        return word;
    }
}
