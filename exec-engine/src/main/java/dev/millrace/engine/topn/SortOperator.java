package dev.millrace.engine.topn;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Owned;
import dev.millrace.engine.checkpoint.StateFormats;
import dev.millrace.engine.state.RowBag;
import dev.millrace.engine.state.RowOrder;
import dev.millrace.engine.state.RowTable;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.operator.Operator;
import dev.millrace.operator.OperatorContext;
import dev.millrace.operator.Output;
import dev.millrace.operator.StateReader;
import dev.millrace.operator.StateWriter;
import dev.millrace.plan.node.PlanNode.Sort;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import org.apache.arrow.vector.FieldVector;

/**
 * Keeps all rows of a finite input and emits them in order at its end. Rows that tie come in the order of their arrival.
 * There is one instance, so its state is written as that of its first key group.
 */
public final class SortOperator implements Operator {

    private final Sort node;
    private OperatorContext context;
    private RowOrder order;
    private final Owned owned = new Owned();
    private RowBag rows;
    private boolean isEnded;
    private boolean isSorted;
    private long[] sorted = new long[0];
    private int next;
    private int end;

    public SortOperator(Sort node) {
        this.node = node;
    }

    @Override
    public void open(OperatorContext newContext) {
        context = newContext;
        rows = owned.own(new RowBag(node.schema(), context));
        List<DataType> types = node.schema().fields().stream().map(Field::type).toList();
        order = new RowOrder(rows.codec(), types, node.order());
    }

    @Override
    public void process(int port, Batch batch, Output output) {
        try (batch) {
            rows.add(batch);
        }
    }

    @Override
    public boolean onWatermark(long watermarkMicros, Output output) {
        isEnded |= watermarkMicros == END_OF_INPUT;
        return true;
    }

    /** Updating operators speak at the end of an epoch, so the last rows come after the last watermark. */
    @Override
    public boolean onEpochEnd(long epoch, Output output) {
        if (!isEnded) {
            return true;
        }
        if (!isSorted) {
            sort();
        }
        while (next < end) {
            if (output.isFull()) {
                return false;
            }
            int count = Math.min(context.batchRows(), end - next);
            long[] chunk = Arrays.copyOfRange(sorted, next, next + count);
            FieldVector[] vectors = rows.decode(chunk, count);
            next += count;
            output.emit(Batch.of(node.schema(), vectors, count));
        }
        return true;
    }

    private void sort() {
        sorted = new long[Math.max(16, rows.size())];
        int count = 0;
        Interrupt interrupt = Interrupt.current();
        for (long row = rows.first(); row != 0; row = RowTable.next(row)) {
            if ((count & 1023) == 0) {
                interrupt.check();
            }
            for (long times = RowTable.weight(row); times > 0; times--) {
                if (count == sorted.length) {
                    sorted = Arrays.copyOf(sorted, 2 * count);
                }
                sorted[count++] = row;
            }
        }
        order.sort(sorted, count);
        next = (int) Math.min(count, node.offset());
        end = node.limit() < 0 ? count : (int) Math.min(count, next + Math.min(count, node.limit()));
        isSorted = true;
    }

    @Override
    public void snapshot(StateWriter writer) throws IOException {
        rows.snapshot(writer, StateFormats.SORTED, context.keyGroups().first());
    }

    @Override
    public void restore(StateReader reader) {
        rows.restore(reader, StateFormats.SORTED);
    }

    @Override
    public void close() {
        sorted = new long[0];
        owned.close();
    }
}
