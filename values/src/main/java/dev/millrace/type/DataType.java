package dev.millrace.type;

import java.util.List;
import java.util.stream.Collectors;

/**
 * A SQL type of the dialect, with its parameters. Values and their Arrow vectors:
 *
 * <pre>
 * kind         Arrow vector              unit and range
 * BOOLEAN      BitVector                 one bit
 * SMALLINT     SmallIntVector            16 bit signed
 * INTEGER      IntVector                 32 bit signed
 * BIGINT       BigIntVector              64 bit signed
 * REAL         Float4Vector              IEEE 754
 * DOUBLE       Float8Vector              IEEE 754
 * NUMERIC      DecimalVector             128 bit little endian unscaled value, precision 1..38, scale 0..precision
 * BIGNUM       VarBinaryVector           NUMERIC without digits declared, or with others than NUMERIC has here, as
 *                                        dev.millrace.number.BignumBytes
 * TEXT         VarCharVector             UTF-8, no NUL byte; also VARCHAR(n) and CHAR(n)
 * BYTEA        VarBinaryVector           bytes
 * DATE         DateDayVector             days since 1970-01-01
 * TIME         TimeMicroVector           microseconds since midnight
 * TIMESTAMP    TimeStampMicroVector      microseconds since 1970-01-01 00:00 without zone
 * TIMESTAMPTZ  TimeStampMicroTZVector    microseconds since 1970-01-01 00:00 UTC
 * INTERVAL     IntervalMonthDayNanoVector months, days, nanoseconds (always a multiple of 1000)
 * UUID         FixedSizeBinaryVector(16) big endian
 * JSONB        VarCharVector             JSON text in the normal form of dev.millrace.json
 * ARRAY        ListVector                one child
 * ROW          StructVector              one child per field
 * NULL         NullVector                the type of a bare NULL; never in a finished plan
 * </pre>
 *
 * @param kind which type
 * @param precision NUMERIC: digits; BIGNUM: the same, 0 when undeclared; VARCHAR and CHAR: length in characters, 0 when unlimited; else 0
 * @param scale NUMERIC: digits after the point; BIGNUM: the same, or before it when negative; else 0
 * @param fields ARRAY: one field, the element; ROW: its fields; else empty
 */
public record DataType(Kind kind, int precision, int scale, List<Field> fields) {

    /** The kinds of types. */
    public enum Kind {
        BOOLEAN,
        SMALLINT,
        INTEGER,
        BIGINT,
        REAL,
        DOUBLE,
        NUMERIC,
        TEXT,
        VARCHAR,
        CHAR,
        BYTEA,
        DATE,
        TIME,
        TIMESTAMP,
        TIMESTAMPTZ,
        INTERVAL,
        UUID,
        JSONB,
        ARRAY,
        ROW,
        NULL,
        /** Behind all others, as hashes of plans have the numbers of kinds. */
        BIGNUM
    }

    /** The most digits a NUMERIC has. */
    public static final int MAX_NUMERIC_PRECISION = 38;

    public static final DataType BOOLEAN = of(Kind.BOOLEAN);
    public static final DataType SMALLINT = of(Kind.SMALLINT);
    public static final DataType INTEGER = of(Kind.INTEGER);
    public static final DataType BIGINT = of(Kind.BIGINT);
    public static final DataType REAL = of(Kind.REAL);
    public static final DataType DOUBLE = of(Kind.DOUBLE);
    public static final DataType BIGNUM = of(Kind.BIGNUM);
    public static final DataType TEXT = of(Kind.TEXT);
    public static final DataType BYTEA = of(Kind.BYTEA);
    public static final DataType DATE = of(Kind.DATE);
    public static final DataType TIME = of(Kind.TIME);
    public static final DataType TIMESTAMP = of(Kind.TIMESTAMP);
    public static final DataType TIMESTAMPTZ = of(Kind.TIMESTAMPTZ);
    public static final DataType INTERVAL = of(Kind.INTERVAL);
    public static final DataType UUID = of(Kind.UUID);
    public static final DataType JSONB = of(Kind.JSONB);
    public static final DataType NULL = of(Kind.NULL);

    public DataType {
        fields = List.copyOf(fields);
        if (kind == Kind.NUMERIC
                && (precision < 1 || precision > MAX_NUMERIC_PRECISION || scale < 0 || scale > precision)) {
            throw new IllegalArgumentException("numeric(" + precision + "," + scale + ") is out of range");
        }
        if (kind == Kind.ARRAY && fields.size() != 1) {
            throw new IllegalArgumentException("an array type has one element type, not " + fields.size());
        }
    }

    private static DataType of(Kind kind) {
        return new DataType(kind, 0, 0, List.of());
    }

    public static DataType numeric(int precision, int scale) {
        return new DataType(Kind.NUMERIC, precision, scale, List.of());
    }

    /** A number of at most so many digits, {@code scale} of them after the point, beyond what {@link #numeric} holds. */
    public static DataType bignum(int precision, int scale) {
        return new DataType(Kind.BIGNUM, precision, scale, List.of());
    }

    /** VARCHAR of at most {@code length} characters. */
    public static DataType varchar(int length) {
        return new DataType(Kind.VARCHAR, length, 0, List.of());
    }

    /** CHAR of exactly {@code length} characters, blank padded in its text form. */
    public static DataType character(int length) {
        return new DataType(Kind.CHAR, length, 0, List.of());
    }

    public static DataType array(DataType element) {
        return new DataType(Kind.ARRAY, 0, 0, List.of(new Field("element", element, true)));
    }

    public static DataType row(List<Field> fields) {
        return new DataType(Kind.ROW, 0, 0, fields);
    }

    /** The element type of an ARRAY. */
    public DataType element() {
        return fields.get(0).type();
    }

    /** Whether values are UTF-8 in a VarCharVector: TEXT, VARCHAR, CHAR and JSONB. */
    public boolean isText() {
        return kind == Kind.TEXT || kind == Kind.VARCHAR || kind == Kind.CHAR || kind == Kind.JSONB;
    }

    /** ARRAY or ROW: values that consist of others. */
    public boolean isNested() {
        return kind == Kind.ARRAY || kind == Kind.ROW;
    }

    /** SMALLINT, INTEGER or BIGINT. */
    public boolean isInteger() {
        return kind == Kind.SMALLINT || kind == Kind.INTEGER || kind == Kind.BIGINT;
    }

    /** Integers, NUMERIC, BIGNUM, REAL and DOUBLE. */
    public boolean isNumber() {
        return isInteger() || isExact() || kind == Kind.REAL || kind == Kind.DOUBLE;
    }

    /** NUMERIC or BIGNUM: what SQL calls numeric. */
    public boolean isExact() {
        return kind == Kind.NUMERIC || kind == Kind.BIGNUM;
    }

    /** Whether a cast may give NULL for what is none: JSON's null is NULL in any type but text. */
    public boolean mayBecomeNullAs(DataType type) {
        return kind == Kind.JSONB && !type.isText();
    }

    /** Whether values are bytes of any number in a vector with offsets: text, BYTEA and BIGNUM. */
    public boolean isBytes() {
        return isText() || kind == Kind.BYTEA || kind == Kind.BIGNUM;
    }

    /** TIMESTAMP or TIMESTAMPTZ: what can be an event time. */
    public boolean isTimestamp() {
        return kind == Kind.TIMESTAMP || kind == Kind.TIMESTAMPTZ;
    }

    /** Bytes of one value in the data buffer; 0 for BOOLEAN (bits) and -1 for variable and nested types. */
    public int fixedWidth() {
        return switch (kind) {
            case BOOLEAN -> 0;
            case SMALLINT -> 2;
            case INTEGER, REAL, DATE -> 4;
            case BIGINT, DOUBLE, TIME, TIMESTAMP, TIMESTAMPTZ -> 8;
            case NUMERIC, INTERVAL, UUID -> 16;
            case BIGNUM, TEXT, VARCHAR, CHAR, BYTEA, JSONB, ARRAY, ROW, NULL -> -1;
        };
    }

    /** The type as PostgreSQL's {@code format_type} writes it, such as {@code double precision} or {@code numeric(10,2)}. */
    @Override
    public String toString() {
        return switch (kind) {
            case BOOLEAN -> "boolean";
            case SMALLINT -> "smallint";
            case INTEGER -> "integer";
            case BIGINT -> "bigint";
            case REAL -> "real";
            case DOUBLE -> "double precision";
            case NUMERIC -> "numeric(" + precision + "," + scale + ")";
            case BIGNUM -> precision == 0 ? "numeric" : "numeric(" + precision + "," + scale + ")";
            case TEXT -> "text";
            case VARCHAR -> precision == 0 ? "character varying" : "character varying(" + precision + ")";
            case CHAR -> "character(" + precision + ")";
            case BYTEA -> "bytea";
            case DATE -> "date";
            case TIME -> "time without time zone";
            case TIMESTAMP -> "timestamp without time zone";
            case TIMESTAMPTZ -> "timestamp with time zone";
            case INTERVAL -> "interval";
            case UUID -> "uuid";
            case JSONB -> "jsonb";
            case ARRAY -> element() + "[]";
            case ROW ->
                fields.stream()
                        .map(field -> field.name() + " " + field.type())
                        .collect(Collectors.joining(", ", "row(", ")"));
            case NULL -> "unknown";
        };
    }
}
