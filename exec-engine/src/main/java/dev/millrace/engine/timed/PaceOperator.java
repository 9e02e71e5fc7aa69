package dev.millrace.engine.timed;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Owned;
import dev.millrace.engine.checkpoint.StateFormats;
import dev.millrace.engine.state.RowBag;
import dev.millrace.engine.state.RowTable;
import dev.millrace.engine.state.WeightedRows;
import dev.millrace.engine.task.Alarm;
import dev.millrace.operator.Operator;
import dev.millrace.operator.OperatorContext;
import dev.millrace.operator.Output;
import dev.millrace.operator.StateReader;
import dev.millrace.operator.StateWriter;
import dev.millrace.plan.node.PlanNode.Pace;
import dev.millrace.type.Schema;
import java.io.IOException;
import java.util.Arrays;

/**
 * Sums changes up and emits what is left of them at the end of the first epoch that is a period after the last emission, and
 * when the input ends. So whole epochs are emitted, several as one.
 */
public final class PaceOperator implements Operator, Alarm {

    private final Schema schema;
    private final long periodNanos;
    private OperatorContext context;
    private final Owned owned = new Owned();
    private RowBag held;
    private long dueNanos; // from then on an epoch's end emits
    private boolean started; // something was emitted, so there is a time to wait for
    private boolean awaitsEpochEnd;
    private boolean inputEnded;
    private boolean emitting;

    public PaceOperator(Pace node) {
        this.schema = node.schema();
        this.periodNanos = Math.multiplyExact(node.periodMicros(), 1_000L);
    }

    @Override
    public void open(OperatorContext newContext) {
        context = newContext;
        held = owned.own(new RowBag(schema, context));
    }

    @Override
    public long dueNanos() {
        return held.size() == 0 || awaitsEpochEnd ? Long.MAX_VALUE : dueNanos;
    }

    @Override
    public void awaitEpochEnd() {
        awaitsEpochEnd = true;
    }

    @Override
    public void process(int port, Batch batch, Output output) {
        try (batch) {
            held.add(batch);
        }
    }

    @Override
    public boolean onWatermark(long watermarkMicros, Output output) {
        inputEnded |= watermarkMicros == END_OF_INPUT;
        return true;
    }

    @Override
    public boolean onEpochEnd(long epoch, Output output) {
        long now = context.clock().nanoTime();
        emitting |= held.size() > 0 && (!started || inputEnded || now - dueNanos >= 0);
        if (!emitting) {
            return true;
        }
        long[] rows = new long[context.batchRows()];
        while (held.size() > 0) {
            if (output.isFull()) {
                return false;
            }
            int count = RowTable.collect(held.first(), rows);
            output.emit(batch(rows, count));
            for (int i = 0; i < count; i++) {
                held.remove(rows[i]);
            }
        }
        emitting = false;
        started = true;
        awaitsEpochEnd = false;
        dueNanos = now + periodNanos;
        held.reportSize();
        return true;
    }

    private Batch batch(long[] rows, int count) {
        long[] weights = Arrays.stream(rows, 0, count).map(RowTable::weight).toArray();
        return WeightedRows.batch(schema, held.decode(rows, count), count, weights, 0, context.allocator());
    }

    /** Of the instance: there is one. */
    @Override
    public void snapshot(StateWriter writer) throws IOException {
        held.snapshot(writer, StateFormats.HELD, -1);
    }

    /** What was held goes at the first epoch's end. */
    @Override
    public void restore(StateReader reader) {
        held.restore(reader, StateFormats.HELD);
    }

    @Override
    public void close() {
        owned.close();
    }
}
