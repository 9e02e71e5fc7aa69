package dev.millrace.server.copy;

import dev.millrace.batch.ArrowTypes;
import dev.millrace.batch.Batch;
import dev.millrace.batch.NestedCopy;
import dev.millrace.batch.Vectors;
import dev.millrace.batch.text.IpcColumns;
import dev.millrace.connectors.arrow.ArrowContents;
import dev.millrace.connectors.arrow.ArrowValues;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.memory.Memory;
import dev.millrace.text.TextBuffer;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.BaseFixedWidthVector;
import org.apache.arrow.vector.BaseVariableWidthVector;
import org.apache.arrow.vector.BitVector;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.LargeVarCharVector;
import org.apache.arrow.vector.TimeStampVector;
import org.apache.arrow.vector.VarCharVector;
import org.apache.arrow.vector.ViewVarCharVector;
import org.apache.arrow.vector.types.TimeUnit;
import org.apache.arrow.vector.types.pojo.ArrowType;

/**
 * Makes a batch of Arrow columns that a program made by itself, of any allocator, by their names. A column of the Arrow type
 * that {@link DataType} tabulates is copied as memory; one of another type value by value, as if its text were inserted.
 */
public final class ArrowColumns {
    private static final int MOST_SCALE = 1000;

    private final Schema schema;
    private final List<? extends FieldVector> columns;
    private final int rows;
    private final BufferAllocator allocator;

    private ArrowColumns(Schema schema, List<? extends FieldVector> columns, int rows, BufferAllocator allocator) {
        this.schema = schema;
        this.columns = columns;
        this.rows = rows;
        this.allocator = allocator;
    }

    /**
     * Copies columns; those of the schema that are missing are NULL. The caller owns the result, and still its columns.
     *
     * @throws MillraceException for a column that the schema does not have, a value that does not fit, a NULL where none may be
     */
    public static Batch copy(Schema schema, List<? extends FieldVector> columns, int rows, BufferAllocator allocator) {
        for (FieldVector column : columns) {
            if (!schema.names().contains(column.getName())) {
                throw MillraceException.user(
                        SqlState.UNDEFINED_COLUMN,
                        "column \"" + column.getName() + "\" does not exist; there are "
                                + String.join(", ", schema.names()));
            }
        }
        return new ArrowColumns(schema, columns, rows, allocator).copyAll();
    }

    private Batch copyAll() {
        FieldVector[] copies = new FieldVector[schema.size()];
        try {
            for (int column = 0; column < copies.length; column++) {
                Field field = schema.field(column);
                Optional<? extends FieldVector> from = columns.stream()
                        .filter(candidate -> candidate.getName().equals(field.name()))
                        .findFirst();
                from.ifPresent(given -> ArrowContents.check(given, rows));
                requireNotNull(field, from);
                copies[column] = from.isPresent() ? copy(field, from.get()) : nulls(field);
            }
            return Batch.of(schema, copies, rows);
        } catch (RuntimeException | Error e) {
            Arrays.stream(copies).filter(copy -> copy != null).forEach(FieldVector::close);
            throw e;
        }
    }

    private void requireNotNull(Field field, Optional<? extends FieldVector> column) {
        boolean hasNull = column.map(given -> given.getNullCount() > 0).orElse(rows > 0);
        if (!field.nullable() && hasNull) {
            throw MillraceException.user(
                    SqlState.NOT_NULL_VIOLATION,
                    "null value in column \"" + field.name() + "\" violates not-null constraint");
        }
    }

    private FieldVector nulls(Field field) {
        FieldVector vector = ArrowTypes.arrowField(field).createVector(allocator);
        try {
            for (int row = 0; row < rows; row++) {
                vector.setNull(row);
            }
            vector.setValueCount(rows);
            return vector;
        } catch (RuntimeException | Error e) {
            vector.close();
            throw e;
        }
    }

    private FieldVector copy(Field field, FieldVector from) {
        DataType type = field.type();
        if (type.isNested()) {
            return copyNested(field, from);
        }
        boolean same = from.getField().getType().equals(ArrowTypes.arrowType(type));
        boolean bounded = type.kind() == DataType.Kind.VARCHAR
                || type.kind() == DataType.Kind.CHAR
                || type.kind() == DataType.Kind.JSONB;
        if (same && !bounded && from instanceof BaseFixedWidthVector fixed) {
            return copyFixed(field, fixed);
        } else if (same && !bounded && from instanceof BaseVariableWidthVector variable) {
            return copyVariable(field, variable);
        }
        return copyValues(field, from);
    }

    private FieldVector copyNested(Field field, FieldVector from) {
        FieldVector copy = ArrowTypes.arrowField(field).createVector(allocator);
        try {
            if (!sameShape(copy.getField(), from.getField())) {
                throw MillraceException.user(
                        SqlState.DATATYPE_MISMATCH,
                        "column \"" + field.name() + "\" of type " + field.type() + " takes " + copy.getField()
                                + ", not " + from.getField());
            }
            for (int row = 0; row < rows; row++) {
                NestedCopy.copy(from, row, copy, row);
            }
            copy.setValueCount(rows);
            ArrowValues.check(field, copy, rows);
            return copy;
        } catch (RuntimeException | Error e) {
            copy.close();
            throw e;
        }
    }

    private static boolean sameShape(
            org.apache.arrow.vector.types.pojo.Field one, org.apache.arrow.vector.types.pojo.Field other) {
        boolean same = one.getType().equals(other.getType())
                && one.getChildren().size() == other.getChildren().size();
        for (int i = 0; same && i < one.getChildren().size(); i++) {
            same = sameShape(one.getChildren().get(i), other.getChildren().get(i));
        }
        return same;
    }

    private FieldVector copyFixed(Field field, BaseFixedWidthVector from) {
        FieldVector copy = Vectors.allocate(field, rows, 0, allocator);
        try {
            copyValidity(from, copy);
            long bytes = from instanceof BitVector ? (rows + 7L) >>> 3 : (long) rows * from.getTypeWidth();
            if (rows > 0) {
                Memory.copy(from.getDataBufferAddress(), copy.getDataBufferAddress(), bytes);
            }
            Vectors.finish(copy, rows);
            ArrowValues.check(field, copy, rows);
            return copy;
        } catch (RuntimeException | Error e) {
            copy.close();
            throw e;
        }
    }

    private FieldVector copyVariable(Field field, BaseVariableWidthVector from) {
        long offsets = rows == 0 ? 0 : from.getOffsetBufferAddress();
        int start = rows == 0 ? 0 : Memory.getInt(offsets); // not negative, nor beyond the last: see ArrowContents
        int bytes = rows == 0 ? 0 : Memory.getInt(offsets + 4L * rows) - start;
        BaseVariableWidthVector copy = (BaseVariableWidthVector) Vectors.allocate(field, rows, bytes, allocator);
        try {
            copyValidity(from, copy);
            long ours = copy.getOffsetBufferAddress();
            for (int row = 1; row <= rows; row++) {
                Memory.putInt(ours + 4L * row, Memory.getInt(offsets + 4L * row) - start);
            }
            if (bytes > 0) {
                Memory.copy(from.getDataBufferAddress() + start, copy.getDataBufferAddress(), bytes);
            }
            Vectors.finish(copy, rows);
            ArrowValues.check(field, copy, rows);
            return copy;
        } catch (RuntimeException | Error e) {
            copy.close();
            throw e;
        }
    }

    private void copyValidity(FieldVector from, FieldVector copy) {
        if (rows == 0) {
            return;
        }
        if (from.getNullCount() == 0) {
            Vectors.setAllValid(copy, rows);
        } else {
            Memory.copy(from.getValidityBufferAddress(), copy.getValidityBufferAddress(), (rows + 7) >>> 3);
        }
    }

    // ---- other types, by their texts -------------------------------------------------------------------------------

    private FieldVector copyValues(Field field, FieldVector from) {
        try (ColumnWriter writer = new ColumnWriter(field, Math.max(1, rows), allocator);
                TextBuffer text = new TextBuffer(allocator, 1 << 10)) {
            for (int row = 0; row < rows; row++) {
                if (from.isNull(row)) {
                    writer.putNull(row);
                    continue;
                }
                try {
                    putText(writer, field, from, row, text);
                } catch (MillraceException e) {
                    throw at(field, row, e);
                } catch (DateTimeException | ArithmeticException e) {
                    throw at(
                            field,
                            row,
                            MillraceException.user(
                                    SqlState.DATETIME_FIELD_OVERFLOW, "date/time field value out of range"));
                }
            }
            return writer.finish(rows);
        }
    }

    private static void putText(ColumnWriter writer, Field field, FieldVector from, int row, TextBuffer text) {
        if (from instanceof VarCharVector texts) { // as they are: a String would hide what is no UTF-8
            int start = texts.getStartOffset(row);
            writer.putText(row, texts.getDataBufferAddress() + start, texts.getEndOffset(row) - start);
            return;
        }
        byte[] bytes;
        if (from instanceof LargeVarCharVector texts) {
            bytes = texts.get(row);
        } else if (from instanceof ViewVarCharVector texts) {
            bytes = texts.get(row);
        } else {
            bytes = text(field, from, row).getBytes(StandardCharsets.UTF_8);
        }
        text.clear();
        text.append(bytes);
        writer.putText(row, text.address(), bytes.length);
    }

    private static MillraceException at(Field field, int row, MillraceException error) {
        return error.in("row " + (row + 1) + ", column " + field.name());
    }

    /** The text of a value of whatever Arrow type, as a literal would have it. */
    private static String text(Field field, FieldVector from, int row) {
        ArrowType type = from.getField().getType();
        if (type instanceof ArrowType.Timestamp timestamp && from instanceof TimeStampVector times) {
            return time(times.get(row), timestamp);
        }
        Object value = from.getObject(row);
        if (value instanceof BigDecimal decimal) {
            if (Math.abs((long) decimal.scale()) > MOST_SCALE) { // its text might be gigabytes
                throw MillraceException.user(SqlState.NUMERIC_VALUE_OUT_OF_RANGE, "numeric field overflow");
            }
            return decimal.toPlainString();
        }
        boolean readable = type instanceof ArrowType.Int
                || type instanceof ArrowType.FloatingPoint
                || type instanceof ArrowType.Bool
                || type instanceof ArrowType.Date
                || type instanceof ArrowType.Time;
        if (!readable) {
            throw MillraceException.user(
                    SqlState.DATATYPE_MISMATCH,
                    "column \"" + field.name() + "\" of type " + field.type() + " takes Arrow's "
                            + IpcColumns.schema(Schema.of(field))
                                    .getFields()
                                    .get(0)
                                    .getType() + ", not " + type);
        }
        return value.toString();
    }

    private static String time(long value, ArrowType.Timestamp type) {
        ChronoUnit unit = type.getUnit() == TimeUnit.SECOND
                ? ChronoUnit.SECONDS
                : type.getUnit() == TimeUnit.MILLISECOND
                        ? ChronoUnit.MILLIS
                        : type.getUnit() == TimeUnit.MICROSECOND ? ChronoUnit.MICROS : ChronoUnit.NANOS;
        Instant instant = Instant.EPOCH.plus(value, unit);
        String local = instant.atOffset(ZoneOffset.UTC).toLocalDateTime().toString();
        return type.getTimezone() == null ? local : local + "Z";
    }
}
