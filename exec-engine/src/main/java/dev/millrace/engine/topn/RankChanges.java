package dev.millrace.engine.topn;

import dev.millrace.engine.state.PendingChanges;
import dev.millrace.engine.state.RowReader;
import dev.millrace.operator.Output;
import dev.millrace.plan.node.PlanNode.TopN;
import org.apache.arrow.memory.BufferAllocator;

/** Rows that enter and leave ranks, on their way out. They stay where they are until all are emitted. */
final class RankChanges {
    private final RankedBatches batches;
    private final int batchRows;
    private final PendingChanges pending = new PendingChanges(); // the words are ranks

    RankChanges(TopN node, RowReader codec, int batchRows, BufferAllocator allocator) {
        this.batches = new RankedBatches(node, codec, allocator);
        this.batchRows = batchRows;
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
            PendingChanges.Some some = pending.take(batchRows);
            output.emit(batches.batch(some.rows(), some.words(), some.weights(), some.size()));
        }
        return true;
    }
}
