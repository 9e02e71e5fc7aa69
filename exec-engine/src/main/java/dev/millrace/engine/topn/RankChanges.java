package dev.millrace.engine.topn;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.batch.Memory;
import dev.millrace.batch.Vectors;
import dev.millrace.engine.state.RowReader;
import dev.millrace.engine.state.WeightedRows;
import dev.millrace.operator.Output;
import dev.millrace.plan.node.PlanNode.TopN;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;

/** Rows that enter and leave ranks, on their way out. They stay where they are until all are emitted. */
final class RankChanges {
    private final TopN node;
    private final RowReader codec;
    private final int batchRows;
    private final BufferAllocator allocator;
    private long[] rows = new long[256];
    private long[] ranks = new long[256];
    private long[] weights = new long[256];
    private int emitted;
    private int count;

    RankChanges(TopN node, RowReader codec, int batchRows, BufferAllocator allocator) {
        this.node = node;
        this.codec = codec;
        this.batchRows = batchRows;
        this.allocator = allocator;
    }

    void add(long row, long rank, long weight) {
        if (count == rows.length) {
            rows = Arrays.copyOf(rows, 2 * count);
            ranks = Arrays.copyOf(ranks, 2 * count);
            weights = Arrays.copyOf(weights, 2 * count);
        }
        rows[count] = row;
        ranks[count] = rank;
        weights[count++] = weight;
    }

    boolean fillBatch() {
        return count >= batchRows;
    }

    /** Emits all; returns false if the output is full before. */
    boolean emit(Output output) {
        while (emitted < count) {
            if (output.isFull()) {
                return false;
            }
            int end = Math.min(count, emitted + batchRows);
            output.emit(batch(emitted, end));
            emitted = end;
        }
        count = 0;
        emitted = 0;
        return true;
    }

    private Batch batch(int from, int to) {
        List<FieldVector> vectors = new ArrayList<>();
        int size = to - from;
        long[] some = from == 0 ? rows : Arrays.copyOfRange(rows, from, to);
        try {
            codec.decode(node.schema(), 0, some, size, vectors, allocator);
            if (node.emitRank()) {
                FieldVector column = Vectors.allocate(node.schema().field(codec.columnCount()), size, 0, allocator);
                vectors.add(column);
                for (int i = 0; i < size; i++) {
                    Memory.putLong(column.getDataBufferAddress() + 8L * i, ranks[from + i]);
                }
                Vectors.setAllValid(column, size);
                Vectors.finish(column, size);
            }
            return WeightedRows.batch(
                    node.schema(), vectors.toArray(FieldVector[]::new), size, weights, from, allocator);
        } catch (RuntimeException | Error e) {
            Closing.all(vectors);
            throw e;
        }
    }
}
