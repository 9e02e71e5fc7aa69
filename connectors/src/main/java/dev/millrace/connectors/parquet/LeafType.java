package dev.millrace.connectors.parquet;

import dev.millrace.connectors.column.ValueTarget;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.memory.Memory;
import dev.millrace.type.DataType;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.Optional;
import org.apache.parquet.format.ConvertedType;
import org.apache.parquet.format.LogicalType;
import org.apache.parquet.format.SchemaElement;
import org.apache.parquet.format.TimeUnit;
import org.apache.parquet.format.Type;

/**
 * What the values of a leaf mean, and how one of them becomes a value of a column.
 *
 * @param type what they are to us; empty if nothing
 * @param scale of decimals
 */
record LeafType(Type physical, int width, Meaning meaning, Optional<DataType> type, int scale) {
    private static final int LEAST_JULIAN_DAY = 2_440_588; // 1970-01-01
    private static final long MICROS_PER_DAY = 86_400_000_000L;
    private static final int INT96_BYTES = 12;
    private static final int MOST_WIDTH = 1 << 20;

    /** What is done with a value. */
    enum Meaning {
        BOOLEAN,
        INTEGER,
        UNSIGNED8,
        UNSIGNED16,
        UNSIGNED32,
        UNSIGNED64,
        DATE,
        TIME_MILLIS,
        TIME_MICROS,
        TIME_NANOS,
        TIMESTAMP_MILLIS,
        TIMESTAMP_MICROS,
        TIMESTAMP_NANOS,
        TIMESTAMP_INT96,
        DECIMAL,
        DECIMAL_BYTES,
        FLOAT,
        DOUBLE,
        HALF,
        TEXT,
        JSON,
        BYTES,
        INTERVAL
    }

    private static LeafType of(Type physical, int width, Meaning meaning, DataType type) {
        return new LeafType(physical, width, meaning, Optional.of(type), 0);
    }

    /** Of a leaf of a schema. */
    static LeafType of(SchemaElement element) throws ParquetDamage {
        Type physical = element.getType();
        Optional<LogicalType> logical = Optional.ofNullable(element.getLogicalType());
        Optional<ConvertedType> converted = Optional.ofNullable(element.getConverted_type());
        int width = switch (physical) {
            case INT32, FLOAT -> 4;
            case INT64, DOUBLE -> 8;
            case INT96 -> INT96_BYTES;
            case FIXED_LEN_BYTE_ARRAY -> element.getType_length();
            case BOOLEAN, BYTE_ARRAY -> 0;
        };
        ParquetDamage.check(
                physical != Type.FIXED_LEN_BYTE_ARRAY || width > 0 && width <= MOST_WIDTH,
                "values of " + width + " bytes");
        boolean isDecimal = logical.isPresent() && logical.get().isSetDECIMAL()
                || converted.equals(Optional.of(ConvertedType.DECIMAL));
        if (isDecimal) {
            return decimal(element, physical, width, logical);
        }
        return switch (physical) {
            case BOOLEAN -> of(physical, width, Meaning.BOOLEAN, DataType.BOOLEAN);
            case INT32 -> ofInt32(logical, converted);
            case INT64 -> ofInt64(logical, converted);
            case INT96 -> of(physical, width, Meaning.TIMESTAMP_INT96, DataType.TIMESTAMP);
            case FLOAT -> of(physical, width, Meaning.FLOAT, DataType.REAL);
            case DOUBLE -> of(physical, width, Meaning.DOUBLE, DataType.DOUBLE);
            case BYTE_ARRAY -> ofBytes(logical, converted);
            case FIXED_LEN_BYTE_ARRAY -> ofFixed(width, logical, converted);
        };
    }

    private static LeafType decimal(SchemaElement element, Type physical, int width, Optional<LogicalType> logical)
            throws ParquetDamage {
        boolean isLogical = logical.isPresent() && logical.get().isSetDECIMAL();
        int scale = isLogical ? logical.get().getDECIMAL().getScale() : element.getScale();
        int precision = isLogical ? logical.get().getDECIMAL().getPrecision() : element.getPrecision();
        ParquetDamage.check(
                scale >= 0 && scale <= precision,
                "a decimal of " + precision + " digits, " + scale + " of them behind the point");
        boolean isNumber = physical == Type.INT32 || physical == Type.INT64;
        boolean isBytes = physical == Type.BYTE_ARRAY || physical == Type.FIXED_LEN_BYTE_ARRAY;
        ParquetDamage.check(isNumber || isBytes, "a decimal of type " + physical);
        Optional<DataType> type = precision >= 1 && precision <= DataType.MAX_NUMERIC_PRECISION
                ? Optional.of(DataType.numeric(precision, scale))
                : Optional.empty();
        return new LeafType(physical, width, isNumber ? Meaning.DECIMAL : Meaning.DECIMAL_BYTES, type, scale);
    }

    private static LeafType ofInt32(Optional<LogicalType> logical, Optional<ConvertedType> converted) {
        Type physical = Type.INT32;
        boolean isDate = logical.isPresent() && logical.get().isSetDATE();
        if (isDate || converted.equals(Optional.of(ConvertedType.DATE))) {
            return of(physical, 4, Meaning.DATE, DataType.DATE);
        }
        boolean isTime = logical.isPresent() && logical.get().isSetTIME();
        if (isTime || converted.equals(Optional.of(ConvertedType.TIME_MILLIS))) {
            return of(physical, 4, Meaning.TIME_MILLIS, DataType.TIME);
        }
        int bits = bits(logical, converted, 32);
        if (isUnsigned(logical, converted)) {
            return bits <= 8
                    ? of(physical, 4, Meaning.UNSIGNED8, DataType.SMALLINT)
                    : bits <= 16
                            ? of(physical, 4, Meaning.UNSIGNED16, DataType.INTEGER)
                            : of(physical, 4, Meaning.UNSIGNED32, DataType.BIGINT);
        }
        return of(physical, 4, Meaning.INTEGER, bits <= 16 ? DataType.SMALLINT : DataType.INTEGER);
    }

    private static LeafType ofInt64(Optional<LogicalType> logical, Optional<ConvertedType> converted) {
        Type physical = Type.INT64;
        if (logical.isPresent() && logical.get().isSetTIMESTAMP()) {
            boolean isUtc = logical.get().getTIMESTAMP().isIsAdjustedToUTC();
            TimeUnit unit = logical.get().getTIMESTAMP().getUnit();
            Meaning meaning = unit.isSetMILLIS()
                    ? Meaning.TIMESTAMP_MILLIS
                    : unit.isSetMICROS() ? Meaning.TIMESTAMP_MICROS : Meaning.TIMESTAMP_NANOS;
            return of(physical, 8, meaning, isUtc ? DataType.TIMESTAMPTZ : DataType.TIMESTAMP);
        }
        if (logical.isPresent() && logical.get().isSetTIME()) {
            TimeUnit unit = logical.get().getTIME().getUnit();
            return of(physical, 8, unit.isSetNANOS() ? Meaning.TIME_NANOS : Meaning.TIME_MICROS, DataType.TIME);
        }
        if (converted.isPresent() && logical.isEmpty()) {
            switch (converted.get()) {
                case TIMESTAMP_MILLIS -> {
                    return of(physical, 8, Meaning.TIMESTAMP_MILLIS, DataType.TIMESTAMPTZ);
                }
                case TIMESTAMP_MICROS -> {
                    return of(physical, 8, Meaning.TIMESTAMP_MICROS, DataType.TIMESTAMPTZ);
                }
                case TIME_MICROS -> {
                    return of(physical, 8, Meaning.TIME_MICROS, DataType.TIME);
                }
                default -> {
                    // whole numbers
                }
            }
        }
        return isUnsigned(logical, converted)
                ? of(physical, 8, Meaning.UNSIGNED64, DataType.numeric(20, 0))
                : of(physical, 8, Meaning.INTEGER, DataType.BIGINT);
    }

    private static LeafType ofBytes(Optional<LogicalType> logical, Optional<ConvertedType> converted) {
        Type physical = Type.BYTE_ARRAY;
        boolean isText = logical.isPresent()
                        && (logical.get().isSetSTRING() || logical.get().isSetENUM())
                || converted.equals(Optional.of(ConvertedType.UTF8))
                || converted.equals(Optional.of(ConvertedType.ENUM));
        boolean isJson =
                logical.isPresent() && logical.get().isSetJSON() || converted.equals(Optional.of(ConvertedType.JSON));
        if (isText) {
            return of(physical, 0, Meaning.TEXT, DataType.TEXT);
        }
        return isJson ? of(physical, 0, Meaning.JSON, DataType.JSONB) : of(physical, 0, Meaning.BYTES, DataType.BYTEA);
    }

    private static LeafType ofFixed(int width, Optional<LogicalType> logical, Optional<ConvertedType> converted) {
        Type physical = Type.FIXED_LEN_BYTE_ARRAY;
        if (width == 16 && logical.isPresent() && logical.get().isSetUUID()) {
            return of(physical, width, Meaning.BYTES, DataType.UUID);
        }
        if (width == 2 && logical.isPresent() && logical.get().isSetFLOAT16()) {
            return of(physical, width, Meaning.HALF, DataType.REAL);
        }
        return width == 12 && converted.equals(Optional.of(ConvertedType.INTERVAL))
                ? of(physical, width, Meaning.INTERVAL, DataType.INTERVAL)
                : of(physical, width, Meaning.BYTES, DataType.BYTEA);
    }

    private static boolean isUnsigned(Optional<LogicalType> logical, Optional<ConvertedType> converted) {
        if (logical.isPresent() && logical.get().isSetINTEGER()) {
            return !logical.get().getINTEGER().isIsSigned();
        }
        return converted.isPresent() && converted.get().name().startsWith("UINT_");
    }

    private static int bits(Optional<LogicalType> logical, Optional<ConvertedType> converted, int otherwise) {
        if (logical.isPresent() && logical.get().isSetINTEGER()) {
            return logical.get().getINTEGER().getBitWidth();
        }
        if (converted.isEmpty()) {
            return otherwise;
        }
        return switch (converted.get()) {
            case INT_8, UINT_8 -> 8;
            case INT_16, UINT_16 -> 16;
            default -> otherwise;
        };
    }

    /** Whether each value is one of a column's type, as it is. */
    boolean canBe(DataType column) {
        if (type.isEmpty()) {
            return false;
        }
        DataType from = type.get();
        boolean wider = from.isInteger() && column.isInteger() && from.fixedWidth() <= column.fixedWidth();
        boolean isOfText = from.isText() || meaning == Meaning.BYTES && from.equals(DataType.BYTEA);
        boolean text = isOfText && column.isText() && column.precision() == 0;
        boolean real = from.equals(DataType.REAL) && column.equals(DataType.DOUBLE);
        boolean ofAnySize = column.kind() == DataType.Kind.BIGNUM && column.precision() == 0;
        boolean numeric = ofAnySize && (from.isInteger() || from.isExact())
                || column.isExact()
                        && (from.kind() == DataType.Kind.NUMERIC
                                        && column.scale() >= from.scale()
                                        && column.precision() - column.scale() >= from.precision() - from.scale()
                                || from.isInteger() && column.precision() - column.scale() >= 19);
        return from.equals(column) || wider || text || real || numeric || from.isTimestamp() && column.isTimestamp();
    }

    /** Whether values are had as numbers, and not as bytes. */
    boolean isNumber() {
        return physical != Type.BYTE_ARRAY && physical != Type.FIXED_LEN_BYTE_ARRAY && physical != Type.INT96;
    }

    /** Puts a value of {@link #canBe a type}. */
    void put(PageValues value, ValueTarget to) {
        long number = value.number();
        switch (meaning) {
            case BOOLEAN -> to.putBoolean(number != 0);
            case INTEGER -> to.putInteger(number);
            case UNSIGNED8 -> to.putInteger(number & 0xff);
            case UNSIGNED16 -> to.putInteger(number & 0xffff);
            case UNSIGNED32 -> to.putInteger(number & 0xffffffffL);
            case UNSIGNED64 -> to.putDecimal(new BigDecimal(new BigInteger(Long.toUnsignedString(number))));
            case DATE -> to.putDate(number);
            case TIME_MILLIS -> to.putTime(number * 1_000);
            case TIME_MICROS -> to.putTime(number);
            case TIME_NANOS -> to.putTime(Math.floorDiv(number, 1_000));
            case TIMESTAMP_MILLIS -> to.putTimestamp(micros(number));
            case TIMESTAMP_MICROS -> to.putTimestamp(number);
            case TIMESTAMP_NANOS -> to.putTimestamp(Math.floorDiv(number, 1_000));
            case TIMESTAMP_INT96 -> to.putTimestamp(int96(value.address()));
            case DECIMAL -> to.putDecimal(BigDecimal.valueOf(number, scale));
            case DECIMAL_BYTES -> {
                byte[] unscaled = new byte[Math.min(value.length(), 256)];
                Memory.copyOut(value.address(), unscaled, 0, unscaled.length);
                to.putDecimal(unscaled, scale);
            }
            case FLOAT -> to.putFloat(Float.intBitsToFloat((int) number));
            case DOUBLE -> to.putDouble(Double.longBitsToDouble(number));
            case HALF -> to.putFloat(half(Memory.getShort(value.address())));
            case TEXT -> to.putText(value.address(), value.length());
            case JSON -> to.putJson(value.address(), value.length());
            case BYTES -> to.putBytes(value.address(), value.length());
            case INTERVAL ->
                to.putInterval(
                        Memory.getInt(value.address()),
                        Memory.getInt(value.address() + 4),
                        1_000L * (Memory.getInt(value.address() + 8) & 0xffffffffL));
        }
    }

    private static long micros(long millis) {
        try {
            return Math.multiplyExact(millis, 1_000L);
        } catch (ArithmeticException e) {
            throw outOfRange();
        }
    }

    private static MillraceException outOfRange() {
        return MillraceException.user(SqlState.DATETIME_FIELD_OVERFLOW, "timestamp out of range");
    }

    /** Nanoseconds of a day, then the day as a Julian day. */
    private static long int96(long address) {
        long nanos = Memory.getLong(address);
        long day = (Memory.getInt(address + 8) & 0xffffffffL) - LEAST_JULIAN_DAY;
        try {
            return Math.addExact(Math.multiplyExact(day, MICROS_PER_DAY), Math.floorDiv(nanos, 1_000L));
        } catch (ArithmeticException e) {
            throw outOfRange();
        }
    }

    /** A floating-point number of 16 bits. */
    private static float half(short bits) {
        int exponent = bits >>> 10 & 0x1f;
        int fraction = bits & 0x3ff;
        float sign = bits < 0 ? -1 : 1;
        if (exponent == 0) {
            return sign * fraction * 0x1p-24f;
        }
        if (exponent == 31) {
            return fraction == 0 ? sign * Float.POSITIVE_INFINITY : Float.NaN;
        }
        return sign * (1 + fraction * 0x1p-10f) * (float) Math.pow(2, exponent - 15);
    }
}
