package dev.millrace.engine.join;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.batch.Memory;
import dev.millrace.batch.Vectors;
import dev.millrace.engine.state.RowCodec;
import dev.millrace.operator.Output;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.FieldVector;

/** Joined rows on their way out: addresses of a left and a right row each, decoded a batch at a time. */
final class JoinOutput {
    private final Schema schema;
    private final RowCodec left;
    private final RowCodec right;
    private final boolean withRight;
    private final BufferAllocator allocator;
    private final long[] lefts;
    private final long[] rights;
    private final long[] weights;
    private int count;

    JoinOutput(
            Schema schema, RowCodec left, RowCodec right, boolean withRight, int batchRows, BufferAllocator allocator) {
        this.schema = schema;
        this.left = left;
        this.right = right;
        this.withRight = withRight;
        this.allocator = allocator;
        this.lefts = new long[batchRows];
        this.rights = new long[batchRows];
        this.weights = new long[batchRows];
    }

    /** Adds a row; the addresses must stay valid until the next {@link #flush}. */
    void add(long leftRow, long rightRow, long weight, Output output) {
        lefts[count] = leftRow;
        rights[count] = rightRow;
        weights[count] = weight;
        if (++count == lefts.length) {
            flush(output);
        }
    }

    /** Emits what there is. */
    void flush(Output output) {
        if (count == 0) {
            return;
        }
        int rows = count;
        count = 0;
        List<FieldVector> vectors = new ArrayList<>();
        try {
            decode(left, lefts, rows, vectors);
            if (withRight) {
                decode(right, rights, rows, vectors);
            }
            FieldVector[] columns = vectors.toArray(FieldVector[]::new);
            output.emit(isOnce(rows) ? Batch.of(schema, columns, rows) : weighted(columns, rows));
        } catch (RuntimeException | Error e) {
            Closing.all(vectors);
            throw e;
        }
    }

    private void decode(RowCodec codec, long[] addresses, int rows, List<FieldVector> vectors) {
        for (int column = 0; column < codec.columnCount(); column++) {
            vectors.add(codec.decode(column, schema.field(vectors.size()), addresses, rows, allocator));
        }
    }

    private boolean isOnce(int rows) {
        for (int i = 0; i < rows; i++) {
            if (weights[i] != 1) {
                return false;
            }
        }
        return true;
    }

    private Batch weighted(FieldVector[] columns, int rows) {
        BigIntVector vector = Vectors.allocateWeights(rows, allocator);
        for (int i = 0; i < rows; i++) {
            Memory.putLong(vector.getDataBufferAddress() + 8L * i, weights[i]);
        }
        Vectors.finish(vector, rows);
        return Batch.weighted(schema, columns, rows, vector);
    }
}
