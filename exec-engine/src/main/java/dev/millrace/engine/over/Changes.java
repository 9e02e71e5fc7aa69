package dev.millrace.engine.over;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.engine.state.PendingChanges;
import dev.millrace.engine.state.RowCodec;
import dev.millrace.engine.state.WeightedRows;
import dev.millrace.operator.OperatorContext;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;

/** Rows with results that are to be emitted, and what may be freed after that. */
final class Changes {
    private final RowCodec rowCodec;
    private final RowCodec resultCodec;
    private final Schema schema;
    private final PartitionState partitions;
    private final OperatorContext context;
    private final BufferAllocator allocator;
    private final PendingChanges pending = new PendingChanges(); // the words are results
    private long[] oldRows = new long[64];
    private int oldRowCount;
    private long[] oldResults = new long[64];
    private int oldResultCount;

    Changes(
            RowCodec rowCodec,
            RowCodec resultCodec,
            Schema schema,
            PartitionState partitions,
            OperatorContext context) {
        this.rowCodec = rowCodec;
        this.resultCodec = resultCodec;
        this.schema = schema;
        this.partitions = partitions;
        this.context = context;
        this.allocator = context.allocator();
    }

    /** A row with its results came or goes; if those are a failure it is noted. */
    void add(long row, long result, long weight) {
        if (KeptRow.isFailure(result)) {
            context.failedRow(KeptRow.failure(result), weight);
        } else {
            pending.add(row, result, weight);
        }
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
        return pending.size();
    }

    /** The next rows, at most so many; after the last all is freed and forgotten. */
    Batch next(int most) {
        Batch batch = batch(pending.take(most));
        if (pending.size() == 0) {
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

    private Batch batch(PendingChanges.Some some) {
        int size = some.size();
        List<FieldVector> vectors = new ArrayList<>();
        try {
            for (int column = 0; column < rowCodec.columnCount(); column++) {
                vectors.add(rowCodec.decode(column, schema.field(column), some.rows(), size, allocator));
            }
            for (int call = 0; call < resultCodec.columnCount(); call++) {
                vectors.add(resultCodec.decode(
                        call, schema.field(rowCodec.columnCount() + call), some.words(), size, allocator));
            }
            return WeightedRows.batch(schema, vectors.toArray(FieldVector[]::new), size, some.weights(), 0, allocator);
        } catch (RuntimeException | Error e) {
            Closing.all(vectors);
            throw e;
        }
    }
}
