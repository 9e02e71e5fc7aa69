package dev.millrace.engine.state;

import dev.millrace.number.BignumBytes;
import dev.millrace.type.DataType;

/** How a value lies in an entry: eight bytes, sixteen, or a {@link ByteSlots} slot of sixteen that may point elsewhere. */
public enum SlotKind {
    WORD(8),
    WIDE(16),
    BYTES(16);

    private final int bytes;

    SlotKind(int bytes) {
        this.bytes = bytes;
    }

    public int bytes() {
        return bytes;
    }

    public static SlotKind of(DataType type) {
        return switch (type.kind()) {
            case BOOLEAN, SMALLINT, INTEGER, BIGINT, REAL, DOUBLE, DATE, TIME, TIMESTAMP, TIMESTAMPTZ -> WORD;
            case NUMERIC, INTERVAL, UUID -> WIDE;
            case BIGNUM, TEXT, VARCHAR, CHAR, JSONB, BYTEA, ARRAY, ROW, NULL -> BYTES;
        };
    }

    /** How many of a value's bytes tell whether it is equal to others: of a number without the digits that are but shown. */
    public static int keyLength(DataType type, int length) {
        return type.kind() == DataType.Kind.BIGNUM ? BignumBytes.keyLength(length) : length;
    }
}
