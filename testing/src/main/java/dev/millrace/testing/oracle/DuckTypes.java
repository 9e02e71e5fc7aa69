package dev.millrace.testing.oracle;

import dev.millrace.number.Bignum;
import dev.millrace.type.DataType;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.sql.Array;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.duckdb.DuckDBAppender;
import org.jspecify.annotations.Nullable;

/** Our types in DuckDB, and values to and from it. */
final class DuckTypes {
    private DuckTypes() {}

    static String nameOf(DataType type) {
        return switch (type.kind()) {
            case BOOLEAN -> "BOOLEAN";
            case SMALLINT -> "SMALLINT";
            case INTEGER -> "INTEGER";
            case BIGINT -> "BIGINT";
            case REAL -> "FLOAT";
            case DOUBLE -> "DOUBLE";
            case NUMERIC -> "DECIMAL(" + type.precision() + "," + type.scale() + ")";
            case BIGNUM -> "DECIMAL(30,4)"; // of values that it can hold, too
            case TEXT, VARCHAR, CHAR, JSONB -> "VARCHAR";
            case BYTEA -> "BLOB";
            case DATE -> "DATE";
            case TIME -> "TIME";
            case TIMESTAMP -> "TIMESTAMP";
            case TIMESTAMPTZ -> "TIMESTAMPTZ";
            case UUID -> "UUID";
            case ARRAY -> nameOf(type.element()) + "[]";
            case INTERVAL, ROW, NULL -> throw new IllegalArgumentException("the oracle has no columns of " + type);
        };
    }

    static void append(DuckDBAppender appender, DataType type, Object value) throws SQLException {
        if (value == null) {
            appender.appendNull();
            return;
        }
        switch (type.kind()) {
            case BOOLEAN -> appender.append((boolean) (Boolean) value);
            case SMALLINT -> appender.append(((Long) value).shortValue());
            case INTEGER -> appender.append(((Long) value).intValue());
            case BIGINT -> appender.append((long) (Long) value);
            case REAL -> appender.append(((Double) value).floatValue());
            case DOUBLE -> appender.append((double) (Double) value);
            case NUMERIC -> appender.append((BigDecimal) value);
            case BIGNUM -> appender.append(((Bignum) value).value().setScale(4));
            case TEXT, VARCHAR, CHAR, JSONB -> appender.append((String) value);
            case BYTEA -> appender.append(bytes((List<?>) value));
            case DATE -> appender.appendEpochDays(((Long) value).intValue());
            case TIME -> appender.appendDayMicros((Long) value);
            case TIMESTAMP -> appender.appendEpochMicros((Long) value);
            case TIMESTAMPTZ ->
                appender.append(
                        Instant.EPOCH.plus((Long) value, ChronoUnit.MICROS).atOffset(ZoneOffset.UTC));
            case UUID -> appender.append((UUID) value);
            case ARRAY -> appender.append((List<?>) value);
            case INTERVAL, ROW, NULL -> throw new IllegalArgumentException("the oracle has no columns of " + type);
        }
    }

    private static byte[] bytes(List<?> values) {
        byte[] bytes = new byte[values.size()];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (Byte) values.get(i);
        }
        return bytes;
    }

    static @Nullable Object read(ResultSet results, int column, DataType type) throws SQLException {
        Object value = switch (type.kind()) {
            case TIMESTAMP -> results.getObject(column, LocalDateTime.class);
            case BYTEA -> results.getBytes(column);
            default -> results.getObject(column);
        };
        return results.wasNull() ? null : canonical(value, type);
    }

    private static Object canonical(Object value, DataType type) throws SQLException {
        return switch (type.kind()) {
            case SMALLINT, INTEGER, BIGINT -> whole(value);
            case REAL -> 0.0 + ((Number) value).floatValue();
            case DOUBLE -> 0.0 + ((Number) value).doubleValue();
            case NUMERIC -> decimal(value, type.scale());
            case BIGNUM ->
                value instanceof Double || value instanceof Float
                        ? ((Number) value).doubleValue()
                        : Bignum.of(new BigDecimal(value.toString())).trimmed();
            case BYTEA -> {
                List<Byte> bytes = new ArrayList<>();
                for (byte b : (byte[]) value) {
                    bytes.add(b);
                }
                yield bytes;
            }
            case DATE -> value instanceof LocalDate date ? date.toEpochDay() : value;
            case TIME -> value instanceof LocalTime time ? time.toNanoOfDay() / 1_000 : value;
            case TIMESTAMP ->
                ChronoUnit.MICROS.between(Instant.EPOCH, ((LocalDateTime) value).toInstant(ZoneOffset.UTC));
            case TIMESTAMPTZ ->
                value instanceof OffsetDateTime time
                        ? ChronoUnit.MICROS.between(Instant.EPOCH, time.toInstant())
                        : value;
            case ARRAY -> {
                List<Object> elements = new ArrayList<>();
                for (Object element : (Object[]) ((Array) value).getArray()) {
                    elements.add(element == null ? null : canonical(element, type.element()));
                }
                yield elements;
            }
            case TEXT, VARCHAR, CHAR, JSONB -> value.toString();
            case BOOLEAN, INTERVAL, UUID, ROW, NULL -> value;
        };
    }

    /** A whole number stays exact; what is none stays what it is, and so differs visibly. */
    private static Object whole(Object value) {
        if (value instanceof BigInteger || value instanceof BigDecimal) {
            BigDecimal decimal = new BigDecimal(value.toString());
            return decimal.stripTrailingZeros().scale() <= 0 ? decimal.longValueExact() : value;
        }
        boolean isWhole =
                value instanceof Long || value instanceof Integer || value instanceof Short || value instanceof Byte;
        return isWhole ? (Object) ((Number) value).longValue() : value;
    }

    /** Exact numbers get our scale if they fit it; a double stays one and is compared as one. */
    private static Object decimal(Object value, int scale) {
        if (value instanceof Double || value instanceof Float) {
            return ((Number) value).doubleValue();
        }
        BigDecimal decimal = new BigDecimal(value.toString());
        return decimal.stripTrailingZeros().scale() <= scale ? decimal.setScale(scale) : decimal;
    }
}
