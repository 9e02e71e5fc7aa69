package dev.millrace.engine.window;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.batch.Memory;
import dev.millrace.batch.Vectors;
import dev.millrace.engine.state.Gathering;
import dev.millrace.operator.Operator;
import dev.millrace.operator.OperatorContext;
import dev.millrace.operator.Output;
import dev.millrace.plan.node.PlanNode.WindowAssign;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.FieldVector;

/**
 * Repeats each row once per window it falls into, in order of window ends. Rows without a time fall into none. With one
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
                output.emit(view(batch));
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
            if (validity != 0 && !Memory.getBit(validity, row)) {
                continue;
            }
            long slice = slicing.sliceEnd(Memory.getLong(times + 8L * row));
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

    private Batch view(Batch batch) {
        List<AutoCloseable> owned = new ArrayList<>();
        try {
            FieldVector[] columns = new FieldVector[batch.columnCount() + 2];
            for (int column = 0; column < batch.columnCount(); column++) {
                columns[column] = batch.column(column);
            }
            addBounds(columns, 0, count, owned);
            owned.add(batch.retain());
            return Batch.view(node.schema(), columns, count, batch.weights(), owned);
        } catch (RuntimeException | Error e) {
            Closing.all(owned);
            throw e;
        }
    }

    private Batch copy(Batch batch, int from, int to) {
        int[] selected = Arrays.copyOfRange(rows, from, to);
        List<AutoCloseable> owned = new ArrayList<>();
        try {
            FieldVector[] columns = new FieldVector[batch.columnCount() + 2];
            Schema schema = node.schema();
            for (int column = 0; column < batch.columnCount(); column++) {
                columns[column] =
                        Gathering.column(batch, column, schema.field(column), selected, to - from, context.allocator());
                owned.add(columns[column]);
            }
            addBounds(columns, from, to, owned);
            Optional<BigIntVector> weights = Optional.empty();
            if (batch.weights().isPresent()) {
                weights = Optional.of(Gathering.weights(batch, selected, to - from, context.allocator()));
                owned.add(weights.get());
            }
            return Batch.view(schema, columns, to - from, weights, owned);
        } catch (RuntimeException | Error e) {
            Closing.all(owned);
            throw e;
        }
    }

    private void addBounds(FieldVector[] columns, int from, int to, List<AutoCloseable> owned) {
        int first = columns.length - 2;
        for (int bound = 0; bound < 2; bound++) {
            FieldVector vector =
                    Vectors.allocate(node.schema().field(first + bound), to - from, 0, context.allocator());
            owned.add(vector);
            columns[first + bound] = vector;
            long data = vector.getDataBufferAddress();
            for (int i = from; i < to; i++) {
                Memory.putLong(data + 8L * (i - from), bound == 0 ? slicing.windowStart(ends[i]) : ends[i]);
            }
            Vectors.setAllValid(vector, to - from);
            Vectors.finish(vector, to - from);
        }
    }

    @Override
    public void close() {}
}
