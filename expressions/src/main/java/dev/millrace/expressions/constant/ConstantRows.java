package dev.millrace.expressions.constant;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.batch.NestedCodec;
import dev.millrace.batch.Vectors;
import dev.millrace.expressions.kernel.LiteralImage;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.memory.Memory;
import dev.millrace.number.Bignum;
import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.Expression.Literal;
import dev.millrace.plan.expression.IntervalValue;
import dev.millrace.plan.node.PlanNode.Values;
import dev.millrace.type.DataType.Kind;
import dev.millrace.type.Field;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;

/** The rows of {@link Values} as batches, which the caller owns: literals and NULLs. Stateless. */
public final class ConstantRows {
    private ConstantRows() {}

    public static List<Batch> of(Values values, int batchRows, BufferAllocator allocator) {
        List<Batch> batches = new ArrayList<>();
        try {
            for (int from = 0; from < values.rows().size(); from += batchRows) {
                Interrupt.checkCurrent();
                int to = Math.min(values.rows().size(), from + batchRows);
                batches.add(batch(values, values.rows().subList(from, to), allocator));
            }
            return batches;
        } catch (RuntimeException | Error e) {
            Closing.all(batches);
            throw e;
        }
    }

    private static Batch batch(Values values, List<List<Expression>> rows, BufferAllocator allocator) {
        List<FieldVector> columns = new ArrayList<>();
        try {
            for (int column = 0; column < values.schema().size(); column++) {
                Interrupt.checkCurrent();
                columns.add(column(values.schema().field(column), column, rows, allocator));
            }
            return Batch.of(values.schema(), columns.toArray(FieldVector[]::new), rows.size());
        } catch (RuntimeException | Error e) {
            Closing.all(columns);
            throw e;
        }
    }

    private static FieldVector column(Field field, int column, List<List<Expression>> rows, BufferAllocator allocator) {
        Kind kind = field.type().kind();
        if (kind == Kind.ARRAY || kind == Kind.ROW) {
            return nested(field, column, rows, allocator);
        }
        byte[][] bytes = new byte[rows.size()][];
        long textBytes = 0;
        for (int row = 0; row < bytes.length; row++) {
            bytes[row] = bytesOf(rows.get(row).get(column));
            textBytes += bytes[row].length;
        }
        FieldVector vector = Vectors.allocate(field, rows.size(), textBytes, allocator);
        boolean hasBytes = field.type().isBytes();
        int end = 0;
        for (int row = 0; row < bytes.length; row++) {
            if (rows.get(row).get(column) instanceof Literal literal) {
                Memory.setBit(vector.getValidityBufferAddress(), row);
                if (hasBytes) {
                    Memory.copyIn(bytes[row], 0, vector.getDataBufferAddress() + end, bytes[row].length);
                    end += bytes[row].length;
                } else {
                    put(literal, vector.getDataBufferAddress(), row);
                }
            }
            if (hasBytes) {
                Memory.putInt(vector.getOffsetBufferAddress() + 4L * row + 4, end);
            }
        }
        Vectors.finish(vector, rows.size());
        return vector;
    }

    private static FieldVector nested(Field field, int column, List<List<Expression>> rows, BufferAllocator allocator) {
        FieldVector vector = Vectors.allocate(field, rows.size(), 0, allocator);
        try {
            NestedCodec codec = new NestedCodec();
            for (int row = 0; row < rows.size(); row++) {
                if (rows.get(row).get(column) instanceof Literal literal) {
                    ByteBuffer image = ByteBuffer.wrap(LiteralImage.of(literal)).order(ByteOrder.LITTLE_ENDIAN);
                    codec.decode(image, vector, field.type(), row);
                } else {
                    NestedCodec.setNull(vector, row);
                }
            }
            vector.setValueCount(rows.size());
            return vector;
        } catch (RuntimeException | Error e) {
            vector.close();
            throw e;
        }
    }

    private static byte[] bytesOf(Expression expression) {
        if (expression instanceof Literal literal && literal.value() instanceof String text) {
            return text.getBytes(StandardCharsets.UTF_8);
        }
        if (expression instanceof Literal literal && literal.value() instanceof Bignum number) {
            return number.toBytes();
        }
        if (expression instanceof Literal literal && literal.value() instanceof List<?> list) {
            byte[] bytes = new byte[list.size()];
            for (int i = 0; i < bytes.length; i++) {
                bytes[i] = (Byte) list.get(i);
            }
            return bytes;
        }
        return new byte[0];
    }

    private static void put(Literal literal, long data, int row) {
        Object value = literal.value();
        switch (literal.type().kind()) {
            case BOOLEAN -> {
                if ((Boolean) value) {
                    Memory.setBit(data, row);
                } else {
                    Memory.clearBit(data, row);
                }
            }
            case SMALLINT -> Memory.putShort(data + 2L * row, ((Long) value).shortValue());
            case INTEGER, DATE -> Memory.putInt(data + 4L * row, ((Long) value).intValue());
            case BIGINT, TIME, TIMESTAMP, TIMESTAMPTZ -> Memory.putLong(data + 8L * row, (Long) value);
            case REAL -> Memory.putFloat(data + 4L * row, ((Double) value).floatValue());
            case DOUBLE -> Memory.putDouble(data + 8L * row, (Double) value);
            case NUMERIC -> {
                BigInteger unscaled = ((BigDecimal) value).unscaledValue();
                Memory.putLong(data + 16L * row, unscaled.longValue());
                Memory.putLong(data + 16L * row + 8, unscaled.shiftRight(64).longValue());
            }
            case INTERVAL -> {
                IntervalValue interval = (IntervalValue) value;
                Memory.putInt(data + 16L * row, interval.months());
                Memory.putInt(data + 16L * row + 4, interval.days());
                Memory.putLong(data + 16L * row + 8, 1_000 * interval.micros());
            }
            case UUID -> {
                UUID uuid = (UUID) value;
                Memory.putLong(data + 16L * row, Long.reverseBytes(uuid.getMostSignificantBits()));
                Memory.putLong(data + 16L * row + 8, Long.reverseBytes(uuid.getLeastSignificantBits()));
            }
            case BIGNUM, TEXT, VARCHAR, CHAR, JSONB, BYTEA, ARRAY, ROW, NULL ->
                throw new IllegalArgumentException("no constant rows of type " + literal.type());
        }
    }
}
