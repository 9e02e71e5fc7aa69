package dev.millrace.engine.topn;

import dev.millrace.batch.Closing;
import dev.millrace.engine.state.RowReader;
import dev.millrace.engine.state.RowTable;
import dev.millrace.engine.state.memory.StateMemory;
import dev.millrace.memory.Memory;
import dev.millrace.operator.Output;
import dev.millrace.plan.node.PlanNode.TopN;
import java.util.List;
import org.apache.arrow.memory.BufferAllocator;

/** Copies of rows on their way out, each with its rank behind it, eight bytes: a list of a {@link RowTable}. */
final class RankedRows implements AutoCloseable {
    private final TopN node;
    private final RankedBatches batches;
    private final int batchRows;
    private final StateMemory scratch;
    private final RowTable table;
    private final long list;

    RankedRows(TopN node, RowReader codec, int batchRows, BufferAllocator allocator) {
        this.node = node;
        this.batches = new RankedBatches(node, codec, allocator);
        this.batchRows = batchRows;
        this.scratch = new StateMemory(allocator);
        this.list = scratch.allocate(RowTable.LIST_BYTES);
        this.table = new RowTable(allocator);
        RowTable.initList(list);
    }

    boolean isEmpty() {
        return table.size() == 0;
    }

    /** Adds a row that is told once. */
    void append(long row, int rowBytes, long rank, long weight) {
        long copy = copy(row, rowBytes, rank);
        table.append(list, copy, rowBytes + Long.BYTES, weight);
        scratch.free(copy, rowBytes + Long.BYTES);
    }

    /** Adds a row to what is told and to what was; the weights of rows that are equal with their ranks add up. */
    void add(long row, int rowBytes, long rank, long weight, RowTable told, long toldList) {
        long copy = copy(row, rowBytes, rank);
        table.add(list, copy, rowBytes + Long.BYTES, weight);
        told.add(toldList, copy, rowBytes + Long.BYTES, weight);
        scratch.free(copy, rowBytes + Long.BYTES);
    }

    /** Takes back what was told, of which nothing is left then. */
    void takeBack(RowTable told, long toldList) {
        for (long row = RowTable.first(toldList); row != 0; row = RowTable.next(row)) {
            table.add(list, row, RowTable.length(row), -RowTable.weight(row));
        }
        told.clear(toldList);
    }

    /** A rank that is not emitted is no difference between rows. */
    private long copy(long row, int rowBytes, long rank) {
        long copy = scratch.allocate(rowBytes + Long.BYTES);
        Memory.copy(row, copy, rowBytes);
        Memory.putLong(copy + rowBytes, node.emitRank() ? rank : 0);
        return copy;
    }

    /** Emits the rows; false if the output is full before all are out. */
    boolean emit(Output output) {
        int most = (int) Math.min(batchRows, table.size());
        long[] rows = new long[most];
        long[] ranks = new long[most];
        long[] weights = new long[most];
        while (table.size() > 0) {
            if (output.isFull()) {
                return false;
            }
            int count = RowTable.collect(RowTable.first(list), rows);
            for (int i = 0; i < count; i++) {
                ranks[i] = Memory.getLong(rows[i] + RowTable.length(rows[i]) - Long.BYTES);
                weights[i] = RowTable.weight(rows[i]);
            }
            output.emit(batches.batch(rows, ranks, weights, count));
            for (int i = 0; i < count; i++) {
                table.removeRow(rows[i]);
            }
        }
        return true;
    }

    @Override
    public void close() {
        Closing.all(List.of(table, scratch));
    }
}
