package dev.millrace.engine.sort;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.batch.Memory;
import dev.millrace.engine.state.RowCodec;
import dev.millrace.engine.state.RowOrder;
import dev.millrace.engine.state.RowTable;
import dev.millrace.engine.state.Rows;
import dev.millrace.engine.state.StateMemory;
import dev.millrace.operator.Operator;
import dev.millrace.operator.OperatorContext;
import dev.millrace.operator.Output;
import dev.millrace.operator.StateReader;
import dev.millrace.operator.StateWriter;
import dev.millrace.plan.node.PlanNode.Sort;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.arrow.vector.FieldVector;

/**
 * Keeps all rows of a finite input and emits them in order at its end. Rows that tie come in the order of their arrival.
 * There is one instance, so its state is written as that of its first key group.
 */
public final class SortOperator implements Operator {
    private static final String STATE = "rows";

    private final Sort node;
    private final int[] columns;
    private final List<AutoCloseable> owned = new ArrayList<>();
    private OperatorContext context;
    private RowCodec codec;
    private RowOrder order;
    private RowTable rows;
    private long list;
    private boolean isEnded;
    private boolean isSorted;
    private long[] sorted = new long[0];
    private int next;
    private int end;

    public SortOperator(Sort node) {
        this.node = node;
        this.columns = new int[node.schema().size()];
        Arrays.setAll(columns, column -> column);
    }

    @Override
    public void open(OperatorContext newContext) {
        context = newContext;
        List<DataType> types = node.schema().fields().stream().map(Field::type).toList();
        codec = new RowCodec(types, false, context.allocator());
        owned.add(codec);
        order = new RowOrder(codec, types, node.order());
        rows = new RowTable(context.allocator());
        owned.add(rows);
        StateMemory memory = new StateMemory(context.allocator());
        owned.add(memory);
        list = memory.allocate(RowTable.LIST_BYTES);
        RowTable.initList(list);
    }

    @Override
    public void process(int port, Batch batch, Output output) {
        try (batch) {
            int count = batch.rowCount();
            codec.encode(batch, columns, Rows.all(count), count);
            long weights = batch.weightsAddress();
            for (int i = 0; i < count; i++) {
                long weight = weights == 0 ? 1 : Memory.getLong(weights + 8L * i);
                rows.add(list, codec.address(i), codec.length(i), weight);
            }
        }
        context.metrics().stateSize(rows.bytes(), rows.size());
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
        Schema schema = node.schema();
        while (next < end) {
            if (output.isFull()) {
                return false;
            }
            int count = Math.min(context.batchRows(), end - next);
            long[] chunk = Arrays.copyOfRange(sorted, next, next + count);
            List<FieldVector> vectors = new ArrayList<>();
            try {
                for (int column = 0; column < schema.size(); column++) {
                    vectors.add(codec.decode(column, schema.field(column), chunk, count, context.allocator()));
                }
            } catch (RuntimeException | Error e) {
                Closing.all(vectors);
                throw e;
            }
            next += count;
            output.emit(Batch.of(schema, vectors.toArray(FieldVector[]::new), count));
        }
        return true;
    }

    private void sort() {
        sorted = new long[Math.max(16, rows.size())];
        int count = 0;
        for (long row = RowTable.first(list); row != 0; row = RowTable.next(row)) {
            for (long times = RowTable.weight(row); times > 0; times--) {
                if (count == sorted.length) {
                    sorted = Arrays.copyOf(sorted, 2 * count);
                }
                sorted[count++] = row;
            }
        }
        order.sort(sorted, count);
        next = (int) Math.min(count, node.offset());
        end = node.limit() < 0 ? count : (int) Math.min(count, next + node.limit());
        isSorted = true;
    }

    @Override
    public void snapshot(StateWriter writer) {
        try {
            rows.writeList(list, writer.keyGroup(STATE, context.keyGroups().first()));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void restore(StateReader reader) {
        reader.keyGroups(STATE, (in, group) -> {
            try {
                rows.readList(list, in, true);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
    }

    @Override
    public void close() {
        sorted = new long[0];
        List<AutoCloseable> all = List.copyOf(owned);
        owned.clear();
        Closing.all(all);
    }
}
