package dev.millrace.storage.column;

import dev.millrace.type.DataType;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/**
 * Values as bytes that sort, unsigned and shorter first, as SQL sorts the values: NaN is above all numbers, zeros of both signs are equal,
 * texts go by their bytes.
 */
public final class SortKey {
    private SortKey() {}

    /** Whether values of a type have one: not CHAR, JSONB, INTERVAL and nested types, whose order is another, and not BIGNUM. */
    public static boolean isKnown(DataType type) {
        return switch (type.kind()) {
            case BOOLEAN, SMALLINT, INTEGER, BIGINT, REAL, DOUBLE, NUMERIC, TEXT, VARCHAR, BYTEA, DATE, TIME -> true;
            case TIMESTAMP, TIMESTAMPTZ, UUID -> true;
            case BIGNUM, CHAR, JSONB, INTERVAL, ARRAY, ROW, NULL -> false;
        };
    }

    /**
     * The key of a value; empty if its type has none, or it is of another class than this.
     *
     * @param value as plans have literals: Boolean; Long in the type's unit; Double; BigDecimal of the type's scale; String; List of
     *     Byte; UUID
     */
    public static Optional<byte[]> of(Object value, DataType type) {
        return switch (type.kind()) {
            case BOOLEAN -> value instanceof Boolean bool ? Optional.of(ofLong(bool ? 1 : 0)) : Optional.empty();
            case SMALLINT, INTEGER, BIGINT, DATE, TIME, TIMESTAMP, TIMESTAMPTZ ->
                value instanceof Long whole ? Optional.of(ofLong(whole)) : Optional.empty();
            case REAL -> value instanceof Double real ? Optional.of(ofDouble(real.floatValue())) : Optional.empty();
            case DOUBLE -> value instanceof Double real ? Optional.of(ofDouble(real)) : Optional.empty();
            case NUMERIC ->
                value instanceof BigDecimal decimal && decimal.scale() == type.scale()
                        ? ofUnscaled(decimal.unscaledValue())
                        : Optional.empty();
            case TEXT, VARCHAR ->
                value instanceof String text ? Optional.of(text.getBytes(StandardCharsets.UTF_8)) : Optional.empty();
            case BYTEA -> value instanceof List<?> bytes ? ofBytes(bytes) : Optional.empty();
            case UUID ->
                value instanceof UUID uuid
                        ? Optional.of(ByteBuffer.allocate(16)
                                .putLong(uuid.getMostSignificantBits())
                                .putLong(uuid.getLeastSignificantBits())
                                .array())
                        : Optional.empty();
            case BIGNUM, CHAR, JSONB, INTERVAL, ARRAY, ROW, NULL -> Optional.empty();
        };
    }

    private static Optional<byte[]> ofUnscaled(BigInteger unscaled) {
        return unscaled.bitLength() > 127
                ? Optional.empty()
                : Optional.of(
                        ofWide(unscaled.longValue(), unscaled.shiftRight(64).longValue()));
    }

    private static Optional<byte[]> ofBytes(List<?> bytes) {
        byte[] key = new byte[bytes.size()];
        for (int i = 0; i < key.length; i++) {
            if (!(bytes.get(i) instanceof Byte each)) {
                return Optional.empty();
            }
            key[i] = each;
        }
        return Optional.of(key);
    }

    /** Of a signed integer. */
    public static byte[] ofLong(long value) {
        return ByteBuffer.allocate(8).putLong(value ^ Long.MIN_VALUE).array();
    }

    /** The integer of such a key. */
    public static long toLong(byte[] key) {
        return ByteBuffer.wrap(key).getLong() ^ Long.MIN_VALUE;
    }

    static byte[] ofDouble(double value) {
        long bits = Double.doubleToLongBits(value == 0 ? 0 : value); // one NaN, and it is above infinity
        return ofLong(bits < 0 ? bits ^ Long.MAX_VALUE : bits);
    }

    static byte[] ofWide(long low, long high) {
        return ByteBuffer.allocate(16)
                .putLong(high ^ Long.MIN_VALUE)
                .putLong(low)
                .array();
    }
}
