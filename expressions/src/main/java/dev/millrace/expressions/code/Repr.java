package dev.millrace.expressions.code;

import dev.millrace.type.DataType;
import java.util.List;

/** How generated code holds a value: the Java types of its parts. */
enum Repr {
    BOOLEAN("boolean"),
    /** SMALLINT, INTEGER and DATE. */
    INT("int"),
    /** BIGINT, TIME and timestamps. */
    LONG("long"),
    FLOAT("float"),
    DOUBLE("double"),
    /** NUMERIC whose unscaled value fits 64 bits: a precision of at most 18, or cast from an integer. */
    NARROW("long"),
    /** NUMERIC as the high and low half of 128 bits. */
    WIDE("long", "long"),
    /** Text, bytea and numbers of any size, and arrays and rows as images ({@link dev.millrace.nested}), as address and length. */
    BYTES("long", "int"),
    /** Months, days, microseconds. */
    INTERVAL("int", "int", "long"),
    /** High and low half, big endian. */
    UUID("long", "long"),
    /** The type of a bare NULL: there are no parts. */
    NOTHING;

    /** The largest precision of a NUMERIC that is always NARROW. */
    static final int NARROW_PRECISION = 18;

    private final List<String> javaTypes;

    Repr(String... javaTypes) {
        this.javaTypes = List.of(javaTypes);
    }

    List<String> javaTypes() {
        return javaTypes;
    }

    static Repr of(DataType type) {
        return switch (type.kind()) {
            case BOOLEAN -> BOOLEAN;
            case SMALLINT, INTEGER, DATE -> INT;
            case BIGINT, TIME, TIMESTAMP, TIMESTAMPTZ -> LONG;
            case REAL -> FLOAT;
            case DOUBLE -> DOUBLE;
            case NUMERIC -> type.precision() <= NARROW_PRECISION ? NARROW : WIDE;
            case BIGNUM, TEXT, VARCHAR, CHAR, JSONB, BYTEA, ARRAY, ROW -> BYTES;
            case INTERVAL -> INTERVAL;
            case UUID -> UUID;
            case NULL -> NOTHING;
        };
    }

    /** The Java constant that a part holds where the value is NULL. */
    static String zero(String javaType) {
        return javaType.equals("boolean") ? "false" : "0";
    }
}
