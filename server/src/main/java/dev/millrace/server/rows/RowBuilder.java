package dev.millrace.server.rows;

import dev.millrace.batch.ArrowTypes;
import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.type.DataType;
import dev.millrace.type.Schema;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.BitVector;
import org.apache.arrow.vector.DateDayVector;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.Float4Vector;
import org.apache.arrow.vector.Float8Vector;
import org.apache.arrow.vector.IntVector;
import org.apache.arrow.vector.SmallIntVector;
import org.apache.arrow.vector.TimeStampVector;
import org.apache.arrow.vector.VarCharVector;
import org.apache.arrow.vector.complex.ListVector;

/**
 * A batch from Java values: BOOLEAN Boolean, integers, REAL, and DATE in days, Number, DOUBLE Double, TEXT String, TIMESTAMP(TZ) Long in
 * microseconds, an array List; NULL is an empty Optional, and a full one stands for what is in it.
 */
public final class RowBuilder implements AutoCloseable {
    private final Schema schema;
    private final FieldVector[] columns;
    private int rows;
    private boolean built;

    public RowBuilder(Schema schema, BufferAllocator allocator) {
        this.schema = schema;
        this.columns = schema.fields().stream()
                .map(field -> ArrowTypes.arrowField(field).createVector(allocator))
                .toArray(FieldVector[]::new);
    }

    /** Adds a row: a value per column. */
    public RowBuilder row(Object... values) {
        assert values.length == columns.length : values.length + " values for " + schema;
        for (int column = 0; column < columns.length; column++) {
            Object value = values[column] instanceof Optional<?> optional && optional.isPresent()
                    ? optional.get()
                    : values[column];
            if (value instanceof Optional) {
                columns[column].setNull(rows);
            } else {
                put(columns[column], schema.type(column), value);
            }
        }
        rows++;
        return this;
    }

    private void put(FieldVector vector, DataType type, Object value) {
        switch (type.kind()) {
            case BOOLEAN -> ((BitVector) vector).setSafe(rows, (Boolean) value ? 1 : 0);
            case SMALLINT -> ((SmallIntVector) vector).setSafe(rows, ((Number) value).shortValue());
            case DATE -> ((DateDayVector) vector).setSafe(rows, ((Number) value).intValue());
            case REAL -> ((Float4Vector) vector).setSafe(rows, ((Number) value).floatValue());
            case INTEGER -> ((IntVector) vector).setSafe(rows, ((Number) value).intValue());
            case BIGINT -> ((BigIntVector) vector).setSafe(rows, ((Number) value).longValue());
            case DOUBLE -> ((Float8Vector) vector).setSafe(rows, ((Number) value).doubleValue());
            case TEXT -> ((VarCharVector) vector).setSafe(rows, ((String) value).getBytes(StandardCharsets.UTF_8));
            case TIMESTAMP, TIMESTAMPTZ -> ((TimeStampVector) vector).setSafe(rows, (Long) value);
            case ARRAY -> putArray((ListVector) vector, type.element(), (List<?>) value);
            default -> throw new IllegalArgumentException("no system relation has a column of type " + type);
        }
    }

    private void putArray(ListVector vector, DataType element, List<?> values) {
        FieldVector elements = vector.getDataVector();
        int start = vector.startNewValue(rows);
        int outer = rows;
        for (int i = 0; i < values.size(); i++) {
            rows = start + i; // elements are the rows of the child
            put(elements, element, values.get(i));
        }
        rows = outer;
        vector.endValue(rows, values.size());
    }

    public int rowCount() {
        return rows;
    }

    /** The rows so far; the caller owns the batch, and the builder is used up. */
    public Batch build() {
        built = true;
        for (FieldVector column : columns) {
            column.setValueCount(rows);
        }
        return Batch.of(schema, columns, rows);
    }

    /** Frees what was not built. */
    @Override
    public void close() {
        if (!built) {
            Closing.all(Arrays.asList(columns));
        }
    }
}
