package dev.millrace.expressions.user;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.json.JsonNormalizer;
import dev.millrace.memory.Memory;
import dev.millrace.nested.ImageWriter;
import dev.millrace.nested.Images;
import dev.millrace.number.Bignum;
import dev.millrace.text.TextBuffer;
import dev.millrace.text.TimeRange;
import dev.millrace.type.DataType;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Between images and the Java values that {@link dev.millrace.udf} tabulates. */
final class JavaValues {
    private static final long DAY_MICROS = 86_400_000_000L;
    private static final Instant LEAST = instant(Long.MIN_VALUE);

    private JavaValues() {}

    /** The value of an element or field; null for NULL. */
    static @Nullable Object read(DataType type, long element) {
        if (type.kind() == DataType.Kind.NULL || Images.isNull(element)) {
            return null;
        }
        long at = element + 1;
        return switch (type.kind()) {
            case BOOLEAN -> Memory.getByte(at) != 0;
            case SMALLINT -> Memory.getShort(at);
            case INTEGER -> Memory.getInt(at);
            case BIGINT -> Memory.getLong(at);
            case REAL -> Memory.getFloat(at);
            case DOUBLE -> Memory.getDouble(at);
            case NUMERIC -> {
                BigInteger high = BigInteger.valueOf(Memory.getLong(at + 8)).shiftLeft(64);
                BigInteger low = new BigInteger(Long.toUnsignedString(Memory.getLong(at)));
                yield new BigDecimal(high.add(low), type.scale());
            }
            case BIGNUM -> decimal(Bignum.at(at + 4, Memory.getInt(at)));
            case TEXT, VARCHAR, CHAR, JSONB -> new String(bytes(at), StandardCharsets.UTF_8);
            case BYTEA -> bytes(at);
            case DATE -> date(Memory.getInt(at));
            case TIME -> {
                long micros = Memory.getLong(at);
                yield micros == 86_400_000_000L
                        ? LocalTime.MAX
                        : LocalTime.ofNanoOfDay(1000 * micros); // Java has no 24:00
            }
            case TIMESTAMP -> timestamp(Memory.getLong(at));
            case TIMESTAMPTZ -> instant(Memory.getLong(at));
            case INTERVAL ->
                Duration.ofDays(30L * Memory.getInt(at) + Memory.getInt(at + 4)).plusNanos(Memory.getLong(at + 8));
            case UUID -> new UUID(Long.reverseBytes(Memory.getLong(at)), Long.reverseBytes(Memory.getLong(at + 8)));
            case ARRAY -> {
                List<Object> values = new ArrayList<>();
                long place = Images.elements(at);
                for (int left = Images.count(at); left > 0; left--) {
                    values.add(read(type.element(), place));
                    place = Images.behind(type.element(), place);
                }
                yield values;
            }
            case ROW -> row(type, at);
            case NULL -> null;
        };
    }

    /** What values of a type are in Java. */
    static Class<?> javaType(DataType type) {
        return switch (type.kind()) {
            case BOOLEAN -> Boolean.class;
            case SMALLINT -> Short.class;
            case INTEGER -> Integer.class;
            case BIGINT -> Long.class;
            case REAL -> Float.class;
            case DOUBLE -> Double.class;
            case NUMERIC, BIGNUM -> BigDecimal.class;
            case TEXT, VARCHAR, CHAR, JSONB -> String.class;
            case BYTEA -> byte[].class;
            case DATE -> LocalDate.class;
            case TIME -> LocalTime.class;
            case TIMESTAMP -> LocalDateTime.class;
            case TIMESTAMPTZ -> Instant.class;
            case INTERVAL -> Duration.class;
            case UUID -> UUID.class;
            case ARRAY, ROW -> List.class;
            case NULL -> Object.class;
        };
    }

    /** The fields of a row, also of one that is a function's arguments. */
    static void fields(DataType row, long image, Object[] into) {
        long at = image;
        for (int i = 0; i < into.length; i++) {
            DataType field = row.fields().get(i).type();
            into[i] = read(field, at);
            at = Images.behind(field, at);
        }
    }

    private static List<Object> row(DataType type, long image) {
        Object[] values = new Object[type.fields().size()];
        fields(type, image, values);
        return new ArrayList<>(Arrays.asList(values));
    }

    private static byte[] bytes(long at) {
        byte[] bytes = new byte[Memory.getInt(at)];
        Memory.copyOut(at + 4, bytes, 0, bytes.length);
        return bytes;
    }

    private static BigDecimal decimal(Bignum number) {
        if (!number.isFinite()) {
            throw MillraceException.user(
                    SqlState.NUMERIC_VALUE_OUT_OF_RANGE,
                    number + " is no BigDecimal, which functions in Java are given");
        }
        return number.value();
    }

    /** Infinite values are the ends of Java's types, as in PostgreSQL's driver. */
    private static LocalDate date(int day) {
        return TimeRange.isDay(day) ? LocalDate.ofEpochDay(day) : day > 0 ? LocalDate.MAX : LocalDate.MIN;
    }

    private static int day(LocalDate date) {
        return date.equals(LocalDate.MAX)
                ? Integer.MAX_VALUE
                : date.equals(LocalDate.MIN) ? Integer.MIN_VALUE : Math.toIntExact(date.toEpochDay());
    }

    private static LocalDateTime timestamp(long micros) {
        return TimeRange.isFinite(micros)
                ? LocalDateTime.ofInstant(instant(micros), ZoneOffset.UTC)
                : micros > 0 ? LocalDateTime.MAX : LocalDateTime.MIN;
    }

    private static long micros(LocalDateTime time) {
        return time.equals(LocalDateTime.MAX)
                ? Long.MAX_VALUE
                : time.equals(LocalDateTime.MIN) ? Long.MIN_VALUE : micros(time.toInstant(ZoneOffset.UTC));
    }

    private static Instant instant(long micros) {
        return Instant.EPOCH.plus(micros, ChronoUnit.MICROS);
    }

    /** Appends a value as an element. Numbers of another Java type than tabulated are converted if they fit. */
    static void write(TextBuffer out, DataType type, @Nullable Object value) {
        if (value == null) {
            ImageWriter.nothing(out);
            return;
        }
        ImageWriter.some(out);
        try {
            writeValue(out, type, value);
        } catch (ClassCastException e) {
            throw MillraceException.user(
                    SqlState.DATATYPE_MISMATCH, "a " + value.getClass().getName() + " is no value of type " + type);
        } catch (ArithmeticException e) {
            throw MillraceException.user(
                    SqlState.NUMERIC_VALUE_OUT_OF_RANGE, "value " + value + " is out of range for type " + type);
        }
    }

    private static void writeValue(TextBuffer out, DataType type, Object value) {
        switch (type.kind()) {
            case BOOLEAN -> ImageWriter.bool(out, (Boolean) value);
            case SMALLINT -> {
                short number = (short) whole(value);
                if (number != whole(value)) {
                    throw new ArithmeticException("smallint");
                }
                ImageWriter.int16(out, number);
            }
            case INTEGER -> ImageWriter.int32(out, Math.toIntExact(whole(value)));
            case BIGINT -> ImageWriter.int64(out, whole(value));
            case REAL -> ImageWriter.float4(out, ((Number) value).floatValue());
            case DOUBLE -> ImageWriter.float8(out, ((Number) value).doubleValue());
            case NUMERIC -> {
                BigDecimal exact = value instanceof BigDecimal decimal ? decimal : new BigDecimal(value.toString());
                BigDecimal scaled = exact.setScale(type.scale(), RoundingMode.HALF_UP);
                if (scaled.precision() > type.precision()) {
                    throw new ArithmeticException("numeric");
                }
                BigInteger unscaled = scaled.unscaledValue();
                ImageWriter.numeric(out, unscaled.shiftRight(64).longValue(), unscaled.longValue());
            }
            case BIGNUM -> {
                byte[] number = Bignum.of(
                                value instanceof BigDecimal decimal ? decimal : new BigDecimal(value.toString()))
                        .trimmed()
                        .toBytes();
                ImageWriter.int32(out, number.length);
                out.append(number);
            }
            case TEXT, VARCHAR, CHAR -> text(out, value.toString());
            case JSONB -> text(out, JsonNormalizer.normalize((String) value));
            case BYTEA -> {
                byte[] bytes = (byte[]) value;
                ImageWriter.int32(out, bytes.length);
                out.append(bytes);
            }
            case DATE -> ImageWriter.int32(out, day((LocalDate) value));
            case TIME -> ImageWriter.int64(out, ((LocalTime) value).toNanoOfDay() / 1000);
            case TIMESTAMP -> ImageWriter.int64(out, micros((LocalDateTime) value));
            case TIMESTAMPTZ -> ImageWriter.int64(out, micros((Instant) value));
            case INTERVAL -> {
                long micros = ((Duration) value).toNanos() / 1000;
                ImageWriter.interval(out, 0, Math.toIntExact(micros / DAY_MICROS), micros % DAY_MICROS);
            }
            case UUID -> {
                UUID uuid = (UUID) value;
                ImageWriter.uuid(out, uuid.getMostSignificantBits(), uuid.getLeastSignificantBits());
            }
            case ARRAY -> {
                List<?> values = (List<?>) value;
                ImageWriter.int32(out, values.size());
                values.forEach(element -> write(out, type.element(), element));
            }
            case ROW -> {
                List<?> values = (List<?>) value;
                for (int i = 0; i < type.fields().size(); i++) {
                    write(out, type.fields().get(i).type(), values.get(i));
                }
            }
            case NULL -> throw new IllegalArgumentException("a NULL type has no values");
        }
    }

    private static void text(TextBuffer out, String text) {
        if (text.indexOf('\0') >= 0) {
            throw MillraceException.user(
                    SqlState.CHARACTER_NOT_IN_REPERTOIRE, "invalid byte sequence for encoding \"UTF8\": 0x00");
        }
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        ImageWriter.int32(out, bytes.length);
        out.append(bytes);
    }

    private static long whole(Object value) {
        if (value instanceof BigInteger big) {
            return big.longValueExact();
        }
        return value instanceof BigDecimal decimal ? decimal.longValueExact() : ((Number) value).longValue();
    }

    private static long micros(Instant instant) {
        return instant.equals(LEAST)
                ? Long.MIN_VALUE // whose whole seconds are beyond what 64 bits hold
                : Math.addExact(Math.multiplyExact(instant.getEpochSecond(), 1_000_000L), instant.getNano() / 1000);
    }
}
