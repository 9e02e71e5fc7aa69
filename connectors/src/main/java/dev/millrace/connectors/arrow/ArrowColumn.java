package dev.millrace.connectors.arrow;

import dev.millrace.batch.ArrowTypes;
import dev.millrace.batch.Vectors;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.json.JsonNormalizer;
import dev.millrace.memory.Memory;
import dev.millrace.text.TextBuffer;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import java.util.Optional;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.BaseIntVector;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.FixedWidthVector;
import org.apache.arrow.vector.Float4Vector;
import org.apache.arrow.vector.LargeVarCharVector;
import org.apache.arrow.vector.TimeStampVector;
import org.apache.arrow.vector.VarCharVector;
import org.apache.arrow.vector.types.TimeUnit;
import org.apache.arrow.vector.types.pojo.ArrowType;

/** What an Arrow column is to us: taken as it is where the types agree, else widened value by value. */
final class ArrowColumn {
    private ArrowColumn() {}

    /** Our type of an Arrow field; empty when there is none. */
    static Optional<DataType> typeOf(org.apache.arrow.vector.types.pojo.Field field) {
        if (field.getDictionary() != null) {
            return Optional.empty();
        }
        ArrowType type = field.getType();
        if (type instanceof ArrowType.Bool) {
            return Optional.of(DataType.BOOLEAN);
        }
        if (type instanceof ArrowType.Int integer) {
            int bits = integer.getIsSigned() ? integer.getBitWidth() : 2 * integer.getBitWidth();
            return bits <= 16
                    ? Optional.of(DataType.SMALLINT)
                    : bits <= 32
                            ? Optional.of(DataType.INTEGER)
                            : bits <= 64 ? Optional.of(DataType.BIGINT) : Optional.empty();
        }
        if (type instanceof ArrowType.FloatingPoint floating) {
            return switch (floating.getPrecision()) {
                case HALF -> Optional.empty();
                case SINGLE -> Optional.of(DataType.REAL);
                case DOUBLE -> Optional.of(DataType.DOUBLE);
            };
        }
        if (type instanceof ArrowType.Decimal decimal) {
            boolean ours = decimal.getBitWidth() == 128
                    && decimal.getPrecision() >= 1
                    && decimal.getPrecision() <= DataType.MAX_NUMERIC_PRECISION
                    && decimal.getScale() >= 0
                    && decimal.getScale() <= decimal.getPrecision();
            return ours ? Optional.of(DataType.numeric(decimal.getPrecision(), decimal.getScale())) : Optional.empty();
        }
        if (type instanceof ArrowType.Utf8 || type instanceof ArrowType.LargeUtf8) {
            return Optional.of(DataType.TEXT);
        }
        if (type instanceof ArrowType.Timestamp timestamp) {
            return Optional.of(timestamp.getTimezone() == null ? DataType.TIMESTAMP : DataType.TIMESTAMPTZ);
        }
        for (DataType same :
                new DataType[] {DataType.BYTEA, DataType.DATE, DataType.TIME, DataType.INTERVAL, DataType.UUID}) {
            if (ArrowTypes.arrowType(same).equals(type)) {
                return Optional.of(same);
            }
        }
        return Optional.empty();
    }

    /** Whether a column of the type can be had from the field. */
    static boolean canRead(DataType type, org.apache.arrow.vector.types.pojo.Field field) {
        Optional<DataType> found = typeOf(field);
        if (found.isEmpty()) {
            return isNestedOfOurs(type, field);
        }
        DataType from = found.get();
        if (type.kind() == DataType.Kind.BIGNUM) {
            return ArrowNumbers.canRead(from);
        }
        boolean wider = from.isInteger() && type.isInteger() && from.fixedWidth() <= type.fixedWidth();
        boolean text = from.isText() && type.isText() && type.precision() == 0;
        boolean toDouble = type.equals(DataType.DOUBLE) && (from.equals(DataType.REAL));
        return from.equals(type) || wider || text || toDouble || (from.isTimestamp() && type.isTimestamp());
    }

    private static boolean isNestedOfOurs(DataType type, org.apache.arrow.vector.types.pojo.Field field) {
        boolean nested = type.isNested();
        return nested && ArrowTypes.arrowType(type).equals(field.getType());
    }

    /** The values as a vector of our own, which the caller owns; {@code from} may be emptied. */
    static FieldVector take(Field field, FieldVector from, int rows, BufferAllocator allocator) {
        boolean same = ArrowTypes.arrowType(field.type()).equals(from.getField().getType())
                || (from.getField().getType() instanceof ArrowType.Timestamp timestamp
                        && timestamp.getUnit() == TimeUnit.MICROSECOND);
        if (field.type().kind() == DataType.Kind.JSONB) {
            return normalized(field, from, rows, allocator);
        }
        if (field.type().kind() == DataType.Kind.BIGNUM) {
            return ArrowNumbers.take(field, typeOf(from.getField()).orElseThrow(), from, rows, allocator);
        }
        FieldVector target = same ? transferred(field, from, allocator) : widened(field, from, rows, allocator);
        try {
            ArrowValues.check(field, target, rows);
            return target;
        } catch (RuntimeException | Error e) {
            target.close();
            throw e;
        }
    }

    private static FieldVector transferred(Field field, FieldVector from, BufferAllocator allocator) {
        FieldVector target = ArrowTypes.arrowField(field).createVector(allocator);
        try {
            from.makeTransferPair(target).transfer();
            return target;
        } catch (RuntimeException | Error e) {
            target.close();
            throw e;
        }
    }

    /** Texts as jsonb keeps them. */
    private static FieldVector normalized(Field field, FieldVector from, int rows, BufferAllocator allocator) {
        VarCharVector target = (VarCharVector) ArrowTypes.arrowField(field).createVector(allocator);
        try (TextBuffer text = new TextBuffer(allocator, 64);
                TextBuffer normal = new TextBuffer(allocator, 64)) {
            target.allocateNew(rows);
            JsonNormalizer normalizer = new JsonNormalizer();
            for (int row = 0; row < rows; row++) {
                if (from.isNull(row)) {
                    target.setNull(row);
                    continue;
                }
                text.clear();
                text.append(
                        from instanceof LargeVarCharVector large ? large.get(row) : ((VarCharVector) from).get(row));
                normal.clear();
                try {
                    normalizer.normalize(normal, text.address(), (int) text.length());
                } catch (MillraceException e) {
                    throw e.in("row " + (row + 1) + ", column " + field.name());
                }
                target.setSafe(row, normal.toBytes());
            }
            target.setValueCount(rows);
            return target;
        } catch (RuntimeException | Error e) {
            target.close();
            throw e;
        }
    }

    private static FieldVector widened(Field field, FieldVector from, int rows, BufferAllocator allocator) {
        boolean text = field.type().isText();
        long bytes = text ? from.getDataBuffer().writerIndex() : 0;
        FieldVector target = Vectors.allocate(field, rows, bytes, allocator);
        try {
            Vectors.setAllValid(target, rows);
            long data = target.getDataBufferAddress();
            int used = 0;
            for (int row = 0; row < rows; row++) {
                if (from.isNull(row)) {
                    Memory.clearBit(target.getValidityBufferAddress(), row);
                } else if (from instanceof BaseIntVector integers && target instanceof FixedWidthVector) {
                    putInteger(field.type(), data, row, integers.getValueAsLong(row));
                } else if (from instanceof Float4Vector floats) {
                    Memory.putDouble(data + 8L * row, floats.get(row));
                } else if (from instanceof TimeStampVector times) {
                    Memory.putLong(data + 8L * row, micros(times, row));
                } else if (from instanceof LargeVarCharVector large) {
                    byte[] value = large.get(row);
                    Memory.copyIn(value, 0, data + used, value.length);
                    used += value.length;
                }
                if (text) {
                    Memory.putInt(target.getOffsetBufferAddress() + 4L * row + 4, used);
                }
            }
            Vectors.finish(target, rows);
            return target;
        } catch (RuntimeException | Error e) {
            target.close();
            throw e;
        }
    }

    private static void putInteger(DataType type, long data, int row, long value) {
        switch (type.fixedWidth()) {
            case 2 -> Memory.putShort(data + 2L * row, (short) value);
            case 4 -> Memory.putInt(data + 4L * row, (int) value);
            default -> Memory.putLong(data + 8L * row, value);
        }
    }

    private static long micros(TimeStampVector times, int row) {
        long value = times.get(row);
        try {
            return switch (((ArrowType.Timestamp) times.getField().getType()).getUnit()) {
                case SECOND -> Math.multiplyExact(value, 1_000_000L);
                case MILLISECOND -> Math.multiplyExact(value, 1_000L);
                case MICROSECOND -> value;
                case NANOSECOND -> Math.floorDiv(value, 1_000L);
            };
        } catch (ArithmeticException e) {
            throw MillraceException.user(
                    SqlState.DATETIME_FIELD_OVERFLOW,
                    "timestamp out of range in column \"" + times.getField().getName() + "\"");
        }
    }
}
