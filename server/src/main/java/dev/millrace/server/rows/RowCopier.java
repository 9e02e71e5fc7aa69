package dev.millrace.server.rows;

import dev.millrace.batch.ArrowTypes;
import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.batch.NestedCopy;
import dev.millrace.type.Schema;
import java.util.Arrays;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.FieldVector;

/** A weighted batch from rows of other batches, for instance the old and the new rows of an UPDATE. */
public final class RowCopier implements AutoCloseable {
    /** In the place of a column: NULL. */
    public static final int NONE = -1;

    private final Schema schema;
    private final FieldVector[] columns;
    private final BigIntVector weights;
    private int rows;
    private boolean weighted;
    private boolean built;

    public RowCopier(Schema schema, BufferAllocator allocator) {
        this.schema = schema;
        this.columns = schema.fields().stream()
                .map(field -> ArrowTypes.arrowField(field).createVector(allocator))
                .toArray(FieldVector[]::new);
        // not by Vectors.allocate: what that makes does not grow
        this.weights = new BigIntVector("weight", allocator);
    }

    /** One for so many rows, which takes no room for more; more may come. */
    public RowCopier(Schema schema, BufferAllocator allocator, int rows) {
        this(schema, allocator);
        for (FieldVector column : columns) {
            column.setInitialCapacity(rows);
        }
        weights.setInitialCapacity(rows);
    }

    /** Adds {@code row} of {@code from}, of whose columns {@code places} names one (or {@link #NONE}) for each of ours. */
    public void copy(Batch from, int[] places, int row, long weight) {
        for (int column = 0; column < columns.length; column++) {
            if (places[column] == NONE) {
                columns[column].setNull(rows);
            } else {
                NestedCopy.copy(from.column(places[column]), row, columns[column], rows);
            }
        }
        weights.setSafe(rows, weight);
        weighted |= weight != 1;
        rows++;
    }

    /** Adds all rows of {@code from}, as {@link #copy} does. */
    public void copyAll(Batch from, int[] places) {
        for (int row = 0; row < from.rowCount(); row++) {
            copy(from, places, row, 1);
        }
    }

    public int rowCount() {
        return rows;
    }

    /** Column {@code column} so far, to check what was copied. */
    public boolean isNull(int column, int row) {
        return columns[column].isNull(row);
    }

    /** The rows so far, without weights if all are 1; the caller owns the batch, and the copier is used up. */
    public Batch build() {
        built = true;
        for (FieldVector column : columns) {
            column.setValueCount(rows);
        }
        weights.setValueCount(rows);
        if (weighted) {
            return Batch.weighted(schema, columns, rows, weights);
        }
        weights.close();
        return Batch.of(schema, columns, rows);
    }

    /** Frees what was not built. */
    @Override
    public void close() {
        if (!built) {
            Closing.all(Arrays.asList(columns));
            weights.close();
        }
    }
}
