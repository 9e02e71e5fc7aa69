package dev.millrace.testing.rows;

import dev.millrace.batch.ArrowTypes;
import dev.millrace.batch.Batch;
import dev.millrace.batch.Vectors;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.FieldVector;

/** Rows of Java objects to batches and back. The forms of values are those of {@link Row}. */
public final class TestBatches {
    private TestBatches() {}

    /** An append-only batch; the caller owns it. What lies under a NULL is garbage on purpose. */
    public static Batch of(Schema schema, BufferAllocator allocator, Row... rows) {
        return of(schema, allocator, List.of(rows));
    }

    /** An append-only batch; the caller owns it. */
    public static Batch of(Schema schema, BufferAllocator allocator, List<Row> rows) {
        return Batch.of(schema, columns(schema, allocator, rows), rows.size());
    }

    /** A weighted batch; the caller owns it. */
    public static Batch weighted(Schema schema, BufferAllocator allocator, List<Row> rows, long[] weights) {
        if (weights.length != rows.size()) {
            throw new IllegalArgumentException(weights.length + " weights for " + rows.size() + " rows");
        }
        FieldVector[] columns = columns(schema, allocator, rows);
        BigIntVector vector = Vectors.allocateWeights(rows.size(), allocator);
        for (int row = 0; row < weights.length; row++) {
            vector.set(row, weights[row]);
        }
        Vectors.finish(vector, rows.size());
        return Batch.weighted(schema, columns, rows.size(), vector);
    }

    private static FieldVector[] columns(Schema schema, BufferAllocator allocator, List<Row> rows) {
        FieldVector[] columns = new FieldVector[schema.size()];
        for (int column = 0; column < columns.length; column++) {
            Field field = schema.field(column);
            FieldVector vector = ArrowTypes.arrowField(field).createVector(allocator);
            vector.setInitialCapacity(Math.max(1, rows.size())); // Arrow's own is room for thousands
            vector.allocateNew();
            for (int row = 0; row < rows.size(); row++) {
                Object value = rows.get(row).get(column);
                if (value == null && !field.nullable()) {
                    throw new IllegalArgumentException("NULL in column " + field);
                }
                VectorCells.put(vector, field.type(), row, value);
            }
            vector.setValueCount(rows.size());
            columns[column] = vector;
        }
        return columns;
    }

    /** The rows of a batch in order, without their weights. Does not take the batch over. */
    public static List<Row> rows(Batch batch) {
        List<Row> rows = new ArrayList<>(batch.rowCount());
        for (int row = 0; row < batch.rowCount(); row++) {
            rows.add(row(batch, row));
        }
        return rows;
    }

    /** One row of a batch. */
    public static Row row(Batch batch, int row) {
        List<Object> values = new ArrayList<>(batch.columnCount());
        for (int column = 0; column < batch.columnCount(); column++) {
            values.add(VectorCells.get(batch.column(column), batch.schema().type(column), row));
        }
        return new Row(values);
    }

    /** The weight of a row of a batch: 1 where it has none. */
    public static long weight(Batch batch, int row) {
        return batch.weights().map(weights -> weights.get(row)).orElse(1L);
    }

    /** A row with its values in the canonical forms of {@link Row}, as if it had been in a batch of this schema. */
    public static Row canonical(Schema schema, Row row) {
        List<Object> values = new ArrayList<>(schema.size());
        for (int column = 0; column < schema.size(); column++) {
            values.add(VectorCells.canonical(schema.type(column), row.get(column)));
        }
        return new Row(values);
    }
}
