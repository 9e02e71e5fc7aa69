package dev.millrace.engine.topn;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.batch.Vectors;
import dev.millrace.engine.state.RowReader;
import dev.millrace.engine.state.WeightedRows;
import dev.millrace.memory.Memory;
import dev.millrace.plan.node.PlanNode.TopN;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;

/** Makes batches of kept rows, with a last column of their ranks where the node emits it. */
record RankedBatches(TopN node, RowReader codec, BufferAllocator allocator) {
    /** The rows at some addresses, with their weights where one is not 1; the caller closes the batch. */
    Batch batch(long[] rows, long[] ranks, long[] weights, int count) {
        Schema schema = node.schema();
        List<FieldVector> vectors = new ArrayList<>();
        try {
            codec.decode(schema, 0, rows, count, vectors, allocator);
            if (node.emitRank()) {
                FieldVector column = Vectors.allocate(schema.field(codec.columnCount()), count, 0, allocator);
                vectors.add(column);
                for (int i = 0; i < count; i++) {
                    Memory.putLong(column.getDataBufferAddress() + 8L * i, ranks[i]);
                }
                Vectors.setAllValid(column, count);
                Vectors.finish(column, count);
            }
            return WeightedRows.batch(schema, vectors.toArray(FieldVector[]::new), count, weights, 0, allocator);
        } catch (RuntimeException | Error e) {
            Closing.all(vectors);
            throw e;
        }
    }
}
