package dev.millrace.connectors.parquet;

import dev.millrace.batch.Batch;
import dev.millrace.batch.text.VectorText;
import dev.millrace.memory.Memory;
import dev.millrace.text.TextBuffer;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import org.apache.parquet.column.ColumnWriter;
import org.apache.parquet.io.api.Binary;
import org.apache.parquet.schema.LogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.TimeUnit;
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName;
import org.apache.parquet.schema.Type;
import org.apache.parquet.schema.Types;

/**
 * A column of ours as one of Parquet's, each with NULLs. Types that Parquet has no like of (intervals, arrays, rows) are their texts.
 */
final class ParquetColumn {
    private static final int NUMERIC_BYTES = 16;
    private static final int MOST_DIGITS = 38;

    private final Field field;
    private final int place;
    private final Type type;

    /** @param place in the batch */
    ParquetColumn(Field field, int place) {
        this.field = field;
        this.place = place;
        this.type = type(field);
    }

    Type type() {
        return type;
    }

    private static Type type(Field field) {
        DataType type = field.type();
        return switch (type.kind()) {
            case BOOLEAN -> Types.optional(PrimitiveTypeName.BOOLEAN).named(field.name());
            case SMALLINT -> annotated(PrimitiveTypeName.INT32, LogicalTypeAnnotation.intType(16, true), field);
            case INTEGER -> annotated(PrimitiveTypeName.INT32, LogicalTypeAnnotation.intType(32, true), field);
            case BIGINT -> annotated(PrimitiveTypeName.INT64, LogicalTypeAnnotation.intType(64, true), field);
            case REAL -> Types.optional(PrimitiveTypeName.FLOAT).named(field.name());
            case DOUBLE -> Types.optional(PrimitiveTypeName.DOUBLE).named(field.name());
            case NUMERIC ->
                Types.optional(PrimitiveTypeName.FIXED_LEN_BYTE_ARRAY)
                        .length(NUMERIC_BYTES)
                        .as(LogicalTypeAnnotation.decimalType(
                                type.scale(), type.precision() == 0 ? MOST_DIGITS : type.precision()))
                        .named(field.name());
            case DATE -> annotated(PrimitiveTypeName.INT32, LogicalTypeAnnotation.dateType(), field);
            case TIME ->
                annotated(PrimitiveTypeName.INT64, LogicalTypeAnnotation.timeType(false, TimeUnit.MICROS), field);
            case TIMESTAMP ->
                annotated(PrimitiveTypeName.INT64, LogicalTypeAnnotation.timestampType(false, TimeUnit.MICROS), field);
            case TIMESTAMPTZ ->
                annotated(PrimitiveTypeName.INT64, LogicalTypeAnnotation.timestampType(true, TimeUnit.MICROS), field);
            case UUID ->
                Types.optional(PrimitiveTypeName.FIXED_LEN_BYTE_ARRAY)
                        .length(16)
                        .as(LogicalTypeAnnotation.uuidType())
                        .named(field.name());
            case BYTEA -> Types.optional(PrimitiveTypeName.BINARY).named(field.name());
            case JSONB -> annotated(PrimitiveTypeName.BINARY, LogicalTypeAnnotation.jsonType(), field);
            case BIGNUM, TEXT, VARCHAR, CHAR, INTERVAL, ARRAY, ROW, NULL ->
                annotated(PrimitiveTypeName.BINARY, LogicalTypeAnnotation.stringType(), field);
        };
    }

    private static Type annotated(PrimitiveTypeName name, LogicalTypeAnnotation annotation, Field field) {
        return Types.optional(name).as(annotation).named(field.name());
    }

    /** Writes the value of a row. */
    void write(Batch batch, int row, ColumnWriter to, TextBuffer scratch) {
        if (batch.column(place).isNull(row)) {
            to.writeNull(0, 0);
            return;
        }
        long data = batch.dataAddress(place);
        switch (field.type().kind()) {
            case BOOLEAN -> to.write((Memory.getByte(data + (row >> 3)) >> (row & 7) & 1) == 1, 0, 1);
            case SMALLINT -> to.write((int) Memory.getShort(data + 2L * row), 0, 1);
            case INTEGER, DATE -> to.write(Memory.getInt(data + 4L * row), 0, 1);
            case BIGINT, TIME, TIMESTAMP, TIMESTAMPTZ -> to.write(Memory.getLong(data + 8L * row), 0, 1);
            case REAL -> to.write(Float.intBitsToFloat(Memory.getInt(data + 4L * row)), 0, 1);
            case DOUBLE -> to.write(Double.longBitsToDouble(Memory.getLong(data + 8L * row)), 0, 1);
            case NUMERIC -> to.write(Binary.fromConstantByteArray(reversed(data + (long) NUMERIC_BYTES * row)), 0, 1);
            case UUID -> to.write(Binary.fromConstantByteArray(bytes(data + 16L * row, 16)), 0, 1);
            case TEXT, VARCHAR, CHAR, JSONB, BYTEA -> {
                long offsets = batch.offsetsAddress(place);
                int from = Memory.getInt(offsets + 4L * row);
                int length = Memory.getInt(offsets + 4L * row + 4) - from;
                to.write(Binary.fromConstantByteArray(bytes(data + from, length)), 0, 1);
            }
            case BIGNUM, INTERVAL, ARRAY, ROW, NULL -> {
                scratch.clear();
                VectorText.value(scratch, field.type(), batch.column(place), row);
                to.write(Binary.fromConstantByteArray(scratch.toBytes()), 0, 1);
            }
        }
    }

    private static byte[] bytes(long address, int length) {
        byte[] bytes = new byte[length];
        Memory.copyOut(address, bytes, 0, length);
        return bytes;
    }

    /** A number as Parquet has it, the greatest byte first. */
    private static byte[] reversed(long address) {
        byte[] bytes = bytes(address, NUMERIC_BYTES);
        for (int i = 0; i < NUMERIC_BYTES / 2; i++) {
            byte swapped = bytes[i];
            bytes[i] = bytes[NUMERIC_BYTES - 1 - i];
            bytes[NUMERIC_BYTES - 1 - i] = swapped;
        }
        return bytes;
    }
}
