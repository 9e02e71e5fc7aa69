package dev.millrace.server.pgwire.value;

import dev.millrace.type.DataType;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** PostgreSQL's ids, sizes and modifiers of types, as its catalog and RowDescription messages give them. */
public enum PgType {
    BOOL(16, 1000, 1, "bool"),
    BYTEA(17, 1001, -1, "bytea"),
    INT8(20, 1016, 8, "int8"),
    INT2(21, 1005, 2, "int2"),
    INT4(23, 1007, 4, "int4"),
    TEXT(25, 1009, -1, "text"),
    FLOAT4(700, 1021, 4, "float4"),
    FLOAT8(701, 1022, 8, "float8"),
    UNKNOWN(705, 0, -2, "unknown"),
    BPCHAR(1042, 1014, -1, "bpchar"),
    VARCHAR(1043, 1015, -1, "varchar"),
    DATE(1082, 1182, 4, "date"),
    TIME(1083, 1183, 8, "time"),
    TIMESTAMP(1114, 1115, 8, "timestamp"),
    TIMESTAMPTZ(1184, 1185, 8, "timestamptz"),
    INTERVAL(1186, 1187, 16, "interval"),
    NUMERIC(1700, 1231, -1, "numeric"),
    RECORD(2249, 2287, -1, "record"),
    UUID(2950, 2951, 16, "uuid"),
    JSONB(3802, 3807, -1, "jsonb");

    /** What a length modifier counts beside the length itself. */
    private static final int SCALE_BITS = 0x7ff; // it may be negative

    private static final int HEADER_BYTES = 4;

    private static final int NO_MODIFIER = -1;
    private static final int ALL_FIELDS = 0x7FFF; // of an interval
    private static final int ALL_DIGITS = 0xFFFF;
    private static final int[] INTERVAL_FIELDS = {1 << 2, 1 << 1, 1 << 3, 1 << 10, 1 << 11, 1 << 12
    }; // from years to seconds
    private static final Map<Integer, PgType> BY_OID =
            Stream.of(values()).collect(Collectors.toUnmodifiableMap(type -> type.oid, type -> type));

    private final int oid;
    private final int arrayOid;
    private final int size;
    private final String typeName;

    PgType(int oid, int arrayOid, int size, String typeName) {
        this.oid = oid;
        this.arrayOid = arrayOid;
        this.size = size;
        this.typeName = typeName;
    }

    public int oid() {
        return oid;
    }

    /** Of the type's arrays; 0 when there are none. */
    public int arrayOid() {
        return arrayOid;
    }

    /** Bytes of a value; -1 when that varies. */
    public int size() {
        return size;
    }

    /** As {@code pg_type.typname} has it. */
    public String typeName() {
        return typeName;
    }

    /** As the SQL standard names it: {@code character varying}. */
    public String sqlName() {
        return switch (this) {
            case BOOL -> "boolean";
            case INT2 -> "smallint";
            case INT4 -> "integer";
            case INT8 -> "bigint";
            case FLOAT4 -> "real";
            case FLOAT8 -> "double precision";
            case BPCHAR -> "character";
            case VARCHAR -> "character varying";
            case TIME -> "time without time zone";
            case TIMESTAMP -> "timestamp without time zone";
            case TIMESTAMPTZ -> "timestamp with time zone";
            default -> typeName;
        };
    }

    /** {@code pg_type.typcategory}. */
    public String category() {
        return switch (this) {
            case BOOL -> "B";
            case INT2, INT4, INT8, FLOAT4, FLOAT8, NUMERIC -> "N";
            case TEXT, VARCHAR, BPCHAR -> "S";
            case DATE, TIME, TIMESTAMP, TIMESTAMPTZ -> "D";
            case INTERVAL -> "T";
            case UNKNOWN -> "X";
            case RECORD -> "P";
            case BYTEA, UUID, JSONB -> "U";
        };
    }

    /** The type of values; of an array, of its elements. */
    public static PgType of(DataType type) {
        return switch (type.kind()) {
            case BOOLEAN -> BOOL;
            case SMALLINT -> INT2;
            case INTEGER -> INT4;
            case BIGINT -> INT8;
            case REAL -> FLOAT4;
            case DOUBLE -> FLOAT8;
            case NUMERIC, BIGNUM -> NUMERIC;
            case TEXT, NULL -> TEXT;
            case VARCHAR -> VARCHAR;
            case CHAR -> BPCHAR;
            case BYTEA -> BYTEA;
            case DATE -> DATE;
            case TIME -> TIME;
            case TIMESTAMP -> TIMESTAMP;
            case TIMESTAMPTZ -> TIMESTAMPTZ;
            case INTERVAL -> INTERVAL;
            case UUID -> UUID;
            case JSONB -> JSONB;
            case ROW -> RECORD;
            case ARRAY -> of(type.element());
        };
    }

    /** The id that clients are told. */
    public static int oidOf(DataType type) {
        PgType of = of(type);
        return type.kind() == DataType.Kind.ARRAY ? of.arrayOid : of.oid;
    }

    /** Bytes of a value, as clients are told; -1 when that varies. */
    public static int sizeOf(DataType type) {
        return type.kind() == DataType.Kind.ARRAY ? -1 : of(type).size;
    }

    /** The type modifier: a length, or digits before and after the point. */
    public static int modifierOf(DataType type) {
        return switch (type.kind()) {
            case VARCHAR, CHAR -> type.precision() == 0 ? NO_MODIFIER : type.precision() + HEADER_BYTES;
            case NUMERIC, BIGNUM ->
                type.precision() == 0
                        ? NO_MODIFIER
                        : (type.precision() << 16 | type.scale() & SCALE_BITS) + HEADER_BYTES;
            case ARRAY -> modifierOf(type.element());
            default -> NO_MODIFIER;
        };
    }

    /** The same of a type of times with so many digits of seconds. */
    public static int modifierOf(DataType type, int digits) {
        return of(type) == INTERVAL ? ALL_FIELDS << 16 | digits : digits;
    }

    /** The modifier of an interval with the fields from one to another, 0 for years to 5 for seconds. */
    public static int intervalModifier(int first, int last) {
        int fields = 0;
        for (int field = first; field <= last; field++) {
            fields |= INTERVAL_FIELDS[field];
        }
        return fields << 16 | ALL_DIGITS;
    }

    /**
     * The type that a client declares for a parameter; {@link DataType#NULL} leaves it to be inferred, as for ids that we do
     * not know.
     */
    public static DataType declared(int oid) {
        PgType scalar = BY_OID.get(oid);
        if (scalar != null) {
            return scalar.dataType();
        }
        return Stream.of(values())
                .filter(type -> type.arrayOid == oid && oid != 0)
                .findFirst()
                .map(PgType::arrayType)
                .orElse(DataType.NULL);
    }

    /** What the bytes of a parameter of a declared type hold; {@link DataType#NULL} for ids that we do not know. */
    public static DataType encoded(int oid) {
        PgType scalar = BY_OID.get(oid);
        if (scalar == NUMERIC) {
            return DataType.BIGNUM;
        }
        if (oid == NUMERIC.arrayOid) {
            return DataType.array(encoded(NUMERIC.oid));
        }
        return isText(scalar) ? DataType.TEXT : declared(oid);
    }

    private static boolean isText(@Nullable PgType type) {
        return type == TEXT || type == VARCHAR || type == BPCHAR;
    }

    /** Elements that the place would have to decide are texts, or else so is the array. */
    private static DataType arrayType(PgType element) {
        DataType type = isText(element) ? DataType.TEXT : element.dataType();
        return type.kind() == DataType.Kind.NULL ? DataType.NULL : DataType.array(type);
    }

    private DataType dataType() {
        return switch (this) {
            case BOOL -> DataType.BOOLEAN;
            case INT2 -> DataType.SMALLINT;
            case INT4 -> DataType.INTEGER;
            case INT8 -> DataType.BIGINT;
            case FLOAT4 -> DataType.REAL;
            case FLOAT8 -> DataType.DOUBLE;
            case BYTEA -> DataType.BYTEA;
            case DATE -> DataType.DATE;
            case TIME -> DataType.TIME;
            case TIMESTAMP -> DataType.TIMESTAMP;
            case TIMESTAMPTZ -> DataType.TIMESTAMPTZ;
            case INTERVAL -> DataType.INTERVAL;
            case UUID -> DataType.UUID;
            case JSONB -> DataType.JSONB;
            // Drivers declare these for any text and any number: what the place wants is known better by the place.
            case TEXT, VARCHAR, BPCHAR, UNKNOWN, RECORD, NUMERIC -> DataType.NULL;
        };
    }
}
