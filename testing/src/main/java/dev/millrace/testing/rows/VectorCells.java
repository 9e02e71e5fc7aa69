package dev.millrace.testing.rows;

import dev.millrace.memory.Memory;
import dev.millrace.number.Bignum;
import dev.millrace.type.DataType;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.BitVector;
import org.apache.arrow.vector.DateDayVector;
import org.apache.arrow.vector.DecimalVector;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.FixedSizeBinaryVector;
import org.apache.arrow.vector.Float4Vector;
import org.apache.arrow.vector.Float8Vector;
import org.apache.arrow.vector.IntVector;
import org.apache.arrow.vector.IntervalMonthDayNanoVector;
import org.apache.arrow.vector.SmallIntVector;
import org.apache.arrow.vector.TimeMicroVector;
import org.apache.arrow.vector.TimeStampVector;
import org.apache.arrow.vector.VarBinaryVector;
import org.apache.arrow.vector.VarCharVector;
import org.apache.arrow.vector.complex.ListVector;
import org.apache.arrow.vector.complex.StructVector;
import org.apache.arrow.vector.holders.NullableIntervalMonthDayNanoHolder;
import org.jspecify.annotations.Nullable;

/** One value into a vector and out of it. */
final class VectorCells {
    private VectorCells() {}

    /** Writes a value, or garbage marked as NULL: whoever looks under a NULL shall notice. */
    static void put(FieldVector vector, DataType type, int index, @Nullable Object given) {
        Object value = canonical(type, given);
        switch (type.kind()) {
            case BOOLEAN -> ((BitVector) vector).setSafe(index, value == null || (Boolean) value ? 1 : 0);
            case SMALLINT -> ((SmallIntVector) vector).setSafe(index, (int) number(value, -12345));
            case INTEGER -> ((IntVector) vector).setSafe(index, (int) number(value, -1234567));
            case BIGINT -> ((BigIntVector) vector).setSafe(index, number(value, -123456789012L));
            case REAL -> ((Float4Vector) vector).setSafe(index, value == null ? -6e6f : ((Double) value).floatValue());
            case DOUBLE -> ((Float8Vector) vector).setSafe(index, value == null ? Double.NaN : (Double) value);
            case NUMERIC ->
                ((DecimalVector) vector)
                        .setSafe(index, value == null ? BigDecimal.valueOf(-7, type.scale()) : (BigDecimal) value);
            case BIGNUM ->
                ((VarBinaryVector) vector)
                        .setSafe(index, value == null ? new byte[] {-1, -1, -1} : ((Bignum) value).toBytes());
            case TEXT, VARCHAR, CHAR, JSONB ->
                ((VarCharVector) vector)
                        .setSafe(index, (value == null ? "garbage" : (String) value).getBytes(StandardCharsets.UTF_8));
            case BYTEA -> ((VarBinaryVector) vector).setSafe(index, bytes(value));
            case DATE -> ((DateDayVector) vector).setSafe(index, (int) number(value, 77777));
            case TIME -> ((TimeMicroVector) vector).setSafe(index, number(value, 77777));
            case TIMESTAMP, TIMESTAMPTZ -> ((TimeStampVector) vector).setSafe(index, number(value, 77777));
            case INTERVAL -> {
                Row.Interval interval = value == null ? new Row.Interval(9, 9, 9) : (Row.Interval) value;
                ((IntervalMonthDayNanoVector) vector)
                        .setSafe(index, interval.months(), interval.days(), interval.micros() * 1_000);
            }
            case UUID -> {
                UUID uuid = value == null ? new UUID(-7, -7) : (UUID) value;
                ((FixedSizeBinaryVector) vector)
                        .setSafe(
                                index,
                                ByteBuffer.allocate(16)
                                        .putLong(uuid.getMostSignificantBits())
                                        .putLong(uuid.getLeastSignificantBits())
                                        .array());
            }
            case ARRAY -> {
                ListVector list = (ListVector) vector;
                List<?> elements = value == null ? List.of() : (List<?>) value;
                int at = list.startNewValue(index);
                for (Object element : elements) {
                    put(list.getDataVector(), type.element(), at++, element);
                }
                list.endValue(index, elements.size());
            }
            case ROW -> {
                StructVector struct = (StructVector) vector;
                for (int field = 0; field < type.fields().size(); field++) {
                    Object child = value == null ? null : ((List<?>) value).get(field);
                    put(
                            (FieldVector) struct.getChildByOrdinal(field),
                            type.fields().get(field).type(),
                            index,
                            child);
                }
                struct.setIndexDefined(index);
            }
            case NULL -> {}
        }
        if (value == null) {
            vector.setNull(index);
        }
    }

    private static long number(@Nullable Object value, long garbage) {
        return value == null ? garbage : (Long) value;
    }

    private static byte[] bytes(@Nullable Object value) {
        if (value == null) {
            return new byte[] {-1, -1, -1};
        }
        List<?> list = (List<?>) value;
        byte[] bytes = new byte[list.size()];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (Byte) list.get(i);
        }
        return bytes;
    }

    /** Reads a value in canonical form; null for NULL. */
    static @Nullable Object get(FieldVector vector, DataType type, int index) {
        if (vector.isNull(index)) {
            return null;
        }
        return switch (type.kind()) {
            case BOOLEAN -> ((BitVector) vector).get(index) != 0;
            case SMALLINT -> (long) ((SmallIntVector) vector).get(index);
            case INTEGER -> (long) ((IntVector) vector).get(index);
            case BIGINT -> ((BigIntVector) vector).get(index);
            case REAL -> 0.0 + ((Float4Vector) vector).get(index);
            case DOUBLE -> 0.0 + ((Float8Vector) vector).get(index);
            case NUMERIC -> ((DecimalVector) vector).getObject(index);
            case BIGNUM -> bignum((VarBinaryVector) vector, index);
            case TEXT, VARCHAR, CHAR, JSONB -> new String(((VarCharVector) vector).get(index), StandardCharsets.UTF_8);
            case BYTEA -> byteList(((VarBinaryVector) vector).get(index));
            case DATE -> (long) ((DateDayVector) vector).get(index);
            case TIME -> ((TimeMicroVector) vector).get(index);
            case TIMESTAMP, TIMESTAMPTZ -> ((TimeStampVector) vector).get(index);
            case INTERVAL -> {
                NullableIntervalMonthDayNanoHolder holder = new NullableIntervalMonthDayNanoHolder();
                ((IntervalMonthDayNanoVector) vector).get(index, holder);
                yield new Row.Interval(holder.months, holder.days, holder.nanoseconds / 1_000);
            }
            case UUID -> {
                ByteBuffer bytes = ByteBuffer.wrap(((FixedSizeBinaryVector) vector).get(index));
                yield new UUID(bytes.getLong(), bytes.getLong());
            }
            case ARRAY -> {
                ListVector list = (ListVector) vector;
                List<Object> elements = new ArrayList<>();
                for (int at = list.getElementStartIndex(index); at < list.getElementEndIndex(index); at++) {
                    elements.add(get(list.getDataVector(), type.element(), at));
                }
                yield elements;
            }
            case ROW -> {
                List<Object> children = new ArrayList<>();
                for (int field = 0; field < type.fields().size(); field++) {
                    FieldVector child = (FieldVector) ((StructVector) vector).getChildByOrdinal(field);
                    children.add(get(child, type.fields().get(field).type(), index));
                }
                yield children;
            }
            case NULL -> null;
        };
    }

    private static Bignum bignum(VarBinaryVector vector, int index) {
        long offsets = vector.getOffsetBufferAddress() + 4L * index;
        int start = Memory.getInt(offsets);
        return Bignum.at(vector.getDataBufferAddress() + start, Memory.getInt(offsets + 4) - start)
                .trimmed();
    }

    /** The canonical form of whatever a test found convenient to write. */
    static @Nullable Object canonical(DataType type, @Nullable Object value) {
        if (value == null) {
            return null;
        }
        return switch (type.kind()) {
            case SMALLINT, INTEGER, BIGINT -> ((Number) value).longValue();
            case REAL -> 0.0 + ((Number) value).floatValue();
            case DOUBLE -> 0.0 + ((Number) value).doubleValue();
            case NUMERIC -> decimal(value).setScale(type.scale(), RoundingMode.UNNECESSARY);
            case BIGNUM -> (value instanceof Bignum number ? number : Bignum.of(decimal(value))).trimmed();
            case BYTEA -> value instanceof byte[] bytes ? byteList(bytes) : value;
            case DATE -> value instanceof LocalDate date ? date.toEpochDay() : ((Number) value).longValue();
            case TIME -> value instanceof LocalTime time ? time.toNanoOfDay() / 1_000 : ((Number) value).longValue();
            case TIMESTAMP, TIMESTAMPTZ -> {
                if (value instanceof LocalDateTime time) {
                    yield ChronoUnit.MICROS.between(Instant.EPOCH, time.toInstant(ZoneOffset.UTC));
                }
                yield value instanceof Instant time
                        ? ChronoUnit.MICROS.between(Instant.EPOCH, time)
                        : ((Number) value).longValue();
            }
            case ARRAY -> {
                List<Object> elements = new ArrayList<>();
                ((List<?>) value).forEach(element -> elements.add(canonical(type.element(), element)));
                yield elements;
            }
            case ROW -> {
                List<Object> children = new ArrayList<>();
                for (int field = 0; field < type.fields().size(); field++) {
                    children.add(canonical(type.fields().get(field).type(), ((List<?>) value).get(field)));
                }
                yield children;
            }
            case BOOLEAN, TEXT, VARCHAR, CHAR, JSONB, INTERVAL, UUID, NULL -> value;
        };
    }

    private static BigDecimal decimal(Object value) {
        if (value instanceof BigDecimal decimal) {
            return decimal;
        }
        return value instanceof BigInteger integer ? new BigDecimal(integer) : new BigDecimal(value.toString());
    }

    private static List<Byte> byteList(byte[] bytes) {
        List<Byte> list = new ArrayList<>(bytes.length);
        for (byte b : bytes) {
            list.add(b);
        }
        return list;
    }
}
