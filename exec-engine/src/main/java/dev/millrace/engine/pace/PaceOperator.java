package dev.millrace.engine.pace;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.batch.Memory;
import dev.millrace.batch.Vectors;
import dev.millrace.engine.state.RowCodec;
import dev.millrace.engine.state.RowTable;
import dev.millrace.engine.state.Rows;
import dev.millrace.engine.state.StateMemory;
import dev.millrace.operator.Operator;
import dev.millrace.operator.OperatorContext;
import dev.millrace.operator.Output;
import dev.millrace.operator.StateReader;
import dev.millrace.operator.StateWriter;
import dev.millrace.plan.node.PlanNode.Pace;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.FieldVector;

/**
 * Sums changes up and emits what is left of them at the end of the first epoch that is a period after the last emission, and
 * when the input ends. So whole epochs are emitted, several as one.
 */
public final class PaceOperator implements Operator {
    private static final String STATE = "held";

    private final Schema schema;
    private final long periodNanos;
    private final int[] columns;
    private final List<AutoCloseable> owned = new ArrayList<>();
    private OperatorContext context;
    private RowCodec codec;
    private RowTable held;
    private long list;
    private long dueNanos; // from then on an epoch's end emits
    private boolean started; // something was emitted, so there is a time to wait for
    private boolean awaitsEpochEnd;
    private boolean inputEnded;
    private boolean emitting;

    public PaceOperator(Pace node) {
        this.schema = node.schema();
        this.periodNanos = Math.multiplyExact(node.periodMicros(), 1_000L);
        this.columns = new int[schema.size()];
        Arrays.setAll(columns, column -> column);
    }

    @Override
    public void open(OperatorContext newContext) {
        context = newContext;
        codec = own(new RowCodec(schema.fields().stream().map(Field::type).toList(), false, context.allocator()));
        held = own(new RowTable(context.allocator()));
        StateMemory memory = own(new StateMemory(context.allocator()));
        list = memory.allocate(RowTable.LIST_BYTES);
        RowTable.initList(list);
    }

    private <T extends AutoCloseable> T own(T resource) {
        owned.add(resource);
        return resource;
    }

    /** When what is held back should go, by the host's clock; {@code Long.MAX_VALUE} while nothing is. */
    public long dueNanos() {
        return held.size() == 0 || awaitsEpochEnd ? Long.MAX_VALUE : dueNanos;
    }

    /** The host has seen that it is due, and brings about an epoch's end. */
    public void awaitEpochEnd() {
        awaitsEpochEnd = true;
    }

    @Override
    public void process(int port, Batch batch, Output output) {
        try (batch) {
            int count = batch.rowCount();
            codec.encode(batch, columns, Rows.all(count), count);
            long weights = batch.weightsAddress();
            for (int i = 0; i < count; i++) {
                long weight = weights == 0 ? 1 : Memory.getLong(weights + 8L * i);
                held.add(list, codec.address(i), codec.length(i), weight);
            }
        }
        context.metrics().stateSize(held.bytes(), held.size());
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
            int count = RowTable.collect(RowTable.first(list), rows);
            output.emit(batch(rows, count));
            for (int i = 0; i < count; i++) {
                held.removeRow(rows[i]);
            }
        }
        emitting = false;
        started = true;
        awaitsEpochEnd = false;
        dueNanos = now + periodNanos;
        context.metrics().stateSize(held.bytes(), 0);
        return true;
    }

    private Batch batch(long[] rows, int count) {
        List<FieldVector> vectors = new ArrayList<>();
        try {
            for (int column : columns) {
                vectors.add(codec.decode(column, schema.field(column), rows, count, context.allocator()));
            }
            FieldVector[] array = vectors.toArray(FieldVector[]::new);
            boolean once = true;
            for (int i = 0; i < count; i++) {
                once &= RowTable.weight(rows[i]) == 1;
            }
            if (once) {
                return Batch.of(schema, array, count);
            }
            BigIntVector weights = Vectors.allocateWeights(count, context.allocator());
            for (int i = 0; i < count; i++) {
                Memory.putLong(weights.getDataBufferAddress() + 8L * i, RowTable.weight(rows[i]));
            }
            Vectors.finish(weights, count);
            return Batch.weighted(schema, array, count, weights);
        } catch (RuntimeException | Error e) {
            Closing.all(vectors);
            throw e;
        }
    }

    /** Of the instance: there is one. */
    @Override
    public void snapshot(StateWriter writer) {
        try {
            held.writeList(list, writer.keyGroup(STATE, -1));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** What was held goes at the first epoch's end. */
    @Override
    public void restore(StateReader reader) {
        reader.keyGroups(STATE, (in, group) -> {
            try {
                held.readList(list, in, true);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
    }

    @Override
    public void close() {
        List<AutoCloseable> all = List.copyOf(owned);
        owned.clear();
        Closing.all(all);
    }
}
