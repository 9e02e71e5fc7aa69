package dev.millrace.engine.topn;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.batch.Vectors;
import dev.millrace.engine.state.PendingChanges;
import dev.millrace.engine.state.RowReader;
import dev.millrace.engine.state.WeightedRows;
import dev.millrace.memory.Memory;
import dev.millrace.operator.Output;
import dev.millrace.plan.node.PlanNode.TopN;
import java.util.ArrayList;
import java.util.List;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;

/** Rows that enter and leave ranks, on their way out. They stay where they are until all are emitted. */
final class RankChanges {
    private final TopN node;
    private final RowReader codec;
    private final int batchRows;
    private final BufferAllocator allocator;
    private final PendingChanges pending = new PendingChanges(); // the words are ranks

    RankChanges(TopN node, RowReader codec, int batchRows, BufferAllocator allocator) {
        this.node = node;
        this.codec = codec;
        this.batchRows = batchRows;
        this.allocator = allocator;
    }

    void add(long row, long rank, long weight) {
        pending.add(row, rank, weight);
    }

    boolean fillBatch() {
        return pending.size() >= batchRows;
    }

    /** Emits all; returns false if the output is full before. */
    boolean emit(Output output) {
        while (pending.size() > 0) {
            if (output.isFull()) {
                return false;
            }
            output.emit(batch(pending.take(batchRows)));
        }
        return true;
    }

    private Batch batch(PendingChanges.Some some) {
        List<FieldVector> vectors = new ArrayList<>();
        int size = some.size();
        try {
            codec.decode(node.schema(), 0, some.rows(), size, vectors, allocator);
            if (node.emitRank()) {
                FieldVector column = Vectors.allocate(node.schema().field(codec.columnCount()), size, 0, allocator);
                vectors.add(column);
                for (int i = 0; i < size; i++) {
                    Memory.putLong(column.getDataBufferAddress() + 8L * i, some.words()[i]);
                }
                Vectors.setAllValid(column, size);
                Vectors.finish(column, size);
            }
            return WeightedRows.batch(
                    node.schema(), vectors.toArray(FieldVector[]::new), size, some.weights(), 0, allocator);
        } catch (RuntimeException | Error e) {
            Closing.all(vectors);
            throw e;
        }
    }
}
