package dev.millrace.engine.over;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.batch.Memory;
import dev.millrace.batch.Vectors;
import dev.millrace.engine.state.RowCodec;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.FieldVector;

/** Rows with results that are to be emitted, and what may be freed after that. */
final class Changes {
    private final RowCodec rowCodec;
    private final RowCodec resultCodec;
    private final Schema schema;
    private final PartitionState partitions;
    private final BufferAllocator allocator;
    private long[] rows = new long[256];
    private long[] results = new long[256];
    private long[] weights = new long[256];
    private int count;
    private int emitted;
    private long[] oldRows = new long[64];
    private int oldRowCount;
    private long[] oldResults = new long[64];
    private int oldResultCount;

    Changes(
            RowCodec rowCodec,
            RowCodec resultCodec,
            Schema schema,
            PartitionState partitions,
            BufferAllocator allocator) {
        this.rowCodec = rowCodec;
        this.resultCodec = resultCodec;
        this.schema = schema;
        this.partitions = partitions;
        this.allocator = allocator;
    }

    void add(long row, long result, long weight) {
        if (count == rows.length) {
            rows = Arrays.copyOf(rows, 2 * count);
            results = Arrays.copyOf(results, 2 * count);
            weights = Arrays.copyOf(weights, 2 * count);
        }
        rows[count] = row;
        results[count] = result;
        weights[count++] = weight;
    }

    /** The row, with its results, is no longer needed once the changes are emitted. */
    void freeRow(long row) {
        if (oldRowCount == oldRows.length) {
            oldRows = Arrays.copyOf(oldRows, 2 * oldRowCount);
        }
        oldRows[oldRowCount++] = row;
    }

    void freeResult(long result) {
        if (oldResultCount == oldResults.length) {
            oldResults = Arrays.copyOf(oldResults, 2 * oldResultCount);
        }
        oldResults[oldResultCount++] = result;
    }

    int size() {
        return count - emitted;
    }

    /** The next rows, at most so many; after the last all is freed and forgotten. */
    Batch next(int most) {
        int from = emitted;
        int size = Math.min(most, size());
        Batch batch =
                batch(Arrays.copyOfRange(rows, from, from + size), Arrays.copyOfRange(results, from, from + size));
        emitted += size;
        if (emitted == count) {
            count = 0;
            emitted = 0;
            free();
        }
        return batch;
    }

    /** Frees what is no longer needed, when nothing is left to emit. */
    void free() {
        for (int i = 0; i < oldRowCount; i++) {
            partitions.free(oldRows[i]);
        }
        for (int i = 0; i < oldResultCount; i++) {
            KeptRow.freeResult(oldResults[i], partitions.memory());
        }
        oldRowCount = 0;
        oldResultCount = 0;
    }

    private Batch batch(long[] rowAddresses, long[] resultAddresses) {
        int size = rowAddresses.length;
        List<FieldVector> vectors = new ArrayList<>();
        try {
            for (int column = 0; column < rowCodec.columnCount(); column++) {
                vectors.add(rowCodec.decode(column, schema.field(column), rowAddresses, size, allocator));
            }
            for (int call = 0; call < resultCodec.columnCount(); call++) {
                vectors.add(resultCodec.decode(
                        call, schema.field(rowCodec.columnCount() + call), resultAddresses, size, allocator));
            }
            FieldVector[] columns = vectors.toArray(FieldVector[]::new);
            boolean once = true;
            for (int i = 0; i < size; i++) {
                once &= weights[emitted + i] == 1;
            }
            if (once) {
                return Batch.of(schema, columns, size);
            }
            BigIntVector vector = Vectors.allocateWeights(size, allocator);
            for (int i = 0; i < size; i++) {
                Memory.putLong(vector.getDataBufferAddress() + 8L * i, weights[emitted + i]);
            }
            Vectors.finish(vector, size);
            return Batch.weighted(schema, columns, size, vector);
        } catch (RuntimeException | Error e) {
            Closing.all(vectors);
            throw e;
        }
    }
}
