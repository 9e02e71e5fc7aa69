package dev.millrace.engine.window;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.batch.Vectors;
import dev.millrace.engine.rows.RowBuffer;
import dev.millrace.memory.Memory;
import dev.millrace.operator.Operator;
import dev.millrace.operator.OperatorContext;
import dev.millrace.operator.Output;
import dev.millrace.plan.node.PlanNode.WindowAssign;
import dev.millrace.text.TimeRange;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.arrow.vector.FieldVector;

/**
 * Repeats each row once per window it falls into, in order of window ends. Rows without a time, and those whose time is infinite, fall into none. With one
 * window per row the columns are shared with the input, not copied. Keeps no state.
 */
public final class WindowAssignOperator implements Operator {
    private final WindowAssign node;
    private final Slicing slicing;
    private OperatorContext context;
    private int[] rows = new int[1024];
    private long[] ends = new long[1024];
    private int count;

    public WindowAssignOperator(WindowAssign node) {
        this.node = node;
        this.slicing = Slicing.of(node.window());
    }

    @Override
    public void open(OperatorContext newContext) {
        context = newContext;
    }

    @Override
    public void process(int port, Batch batch, Output output) {
        try (batch) {
            assign(batch);
            if (isOncePerRow(batch)) {
                output.emit(withBounds(batch.retain(), 0, count));
                return;
            }
            int most = Math.max(context.batchRows(), batch.rowCount());
            for (int from = 0; from < count; from += most) {
                output.emit(copy(batch, from, Math.min(count, from + most)));
            }
        }
    }

    private void assign(Batch batch) {
        count = 0;
        long times = batch.dataAddress(node.timeColumn());
        long validity = batch.validityAddress(node.timeColumn());
        for (int row = 0; row < batch.rowCount(); row++) {
            long time = Memory.getLong(times + 8L * row);
            if (validity != 0 && !Memory.getBit(validity, row) || !TimeRange.isFinite(time)) {
                continue;
            }
            long slice = slicing.sliceEnd(time);
            long last = slicing.lastWindowEnd(slice);
            if (last == Slicing.NONE) {
                continue;
            }
            long end = slicing.firstWindowEnd(slice, Long.MIN_VALUE);
            while (true) {
                put(row, end);
                if (end >= last) {
                    break;
                }
                end = slicing.firstWindowEnd(slice, end);
            }
        }
    }

    private void put(int row, long end) {
        if (count == rows.length) {
            rows = Arrays.copyOf(rows, 2 * count);
            ends = Arrays.copyOf(ends, 2 * count);
        }
        rows[count] = row;
        ends[count++] = end;
    }

    private boolean isOncePerRow(Batch batch) {
        if (count != batch.rowCount()) {
            return false;
        }
        for (int i = 0; i < count; i++) {
            if (rows[i] != i) {
                return false;
            }
        }
        return true;
    }

    private Batch copy(Batch batch, int from, int to) {
        try (RowBuffer buffer = new RowBuffer(node.input().schema(), to - from, context.allocator())) {
            buffer.append(batch, rows, from, to);
            return withBounds(buffer.take(), from, to);
        }
    }

    /** Shows a batch, which is taken over, with the bounds of the windows of its rows. */
    private Batch withBounds(Batch batch, int from, int to) {
        List<AutoCloseable> owned = new ArrayList<>(List.of(batch));
        try {
            int inputs = batch.columnCount();
            FieldVector[] columns = new FieldVector[inputs + 2];
            for (int column = 0; column < inputs; column++) {
                columns[column] = batch.column(column);
            }
            for (int bound = 0; bound < 2; bound++) {
                FieldVector vector =
                        Vectors.allocate(node.schema().field(inputs + bound), to - from, 0, context.allocator());
                owned.add(vector);
                columns[inputs + bound] = vector;
                long data = vector.getDataBufferAddress();
                for (int i = from; i < to; i++) {
                    Memory.putLong(data + 8L * (i - from), bound == 0 ? slicing.windowStart(ends[i]) : ends[i]);
                }
                Vectors.setAllValid(vector, to - from);
                Vectors.finish(vector, to - from);
            }
            return Batch.view(node.schema(), columns, to - from, batch.weights(), owned);
        } catch (RuntimeException | Error e) {
            Closing.all(owned);
            throw e;
        }
    }

    @Override
    public void close() {}
}
