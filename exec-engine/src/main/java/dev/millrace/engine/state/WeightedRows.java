package dev.millrace.engine.state;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.batch.Vectors;
import dev.millrace.memory.Memory;
import dev.millrace.type.Schema;
import java.util.List;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.FieldVector;

/** Makes batches of columns and weights that are collected apart. */
public final class WeightedRows {
    private WeightedRows() {}

    /**
     * A batch of columns, which it takes over, also when it throws; without weights if all are 1.
     *
     * @param weights the rows' weights, from position {@code from} on
     */
    public static Batch batch(
            Schema schema, FieldVector[] columns, int rows, long[] weights, int from, BufferAllocator allocator) {
        boolean once = true;
        for (int i = from; i < from + rows; i++) {
            once &= weights[i] == 1;
        }
        if (once) {
            return Batch.of(schema, columns, rows);
        }
        BigIntVector vector;
        try {
            vector = Vectors.allocateWeights(rows, allocator);
        } catch (RuntimeException | Error e) {
            Closing.all(List.of(columns));
            throw e;
        }
        for (int i = 0; i < rows; i++) {
            Memory.putLong(vector.getDataBufferAddress() + 8L * i, weights[from + i]);
        }
        Vectors.finish(vector, rows);
        return Batch.weighted(schema, columns, rows, vector);
    }
}
