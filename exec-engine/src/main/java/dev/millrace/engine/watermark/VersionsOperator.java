package dev.millrace.engine.watermark;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.batch.Owned;
import dev.millrace.batch.Vectors;
import dev.millrace.engine.aggregate.KeyFinder;
import dev.millrace.engine.checkpoint.StateFormats;
import dev.millrace.engine.rows.RowBuffer;
import dev.millrace.engine.state.GroupTable;
import dev.millrace.engine.state.KeyLayout;
import dev.millrace.engine.state.RowSort;
import dev.millrace.engine.state.Rows;
import dev.millrace.memory.Memory;
import dev.millrace.operator.Operator;
import dev.millrace.operator.OperatorContext;
import dev.millrace.operator.Output;
import dev.millrace.operator.StateReader;
import dev.millrace.operator.StateWriter;
import dev.millrace.plan.node.PlanNode.Versions;
import dev.millrace.type.Schema;
import java.io.DataOutput;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.apache.arrow.vector.FieldVector;

/**
 * Makes versions of a table's changes ({@link Versions}). An epoch's changes are held until its end, for two reasons: only
 * then is it known which deleted rows have no successor, and the rows of one statement, or of a table that is read for the
 * first time, come in any order of time, in which none of them should be late.
 */
public final class VersionsOperator implements Operator {
    private static final int NET = 0; // weight of a key's rows in this epoch, in its entry behind the key
    private static final int LAST = 8; // change that took its row away, from 1

    private final Schema schema;
    private final Schema input;
    private final List<Integer> key;
    private final int timeColumn;
    private final Owned owned = new Owned();
    private OperatorContext context;
    private KeyLayout keys;
    private GroupTable table;
    private KeyFinder finder;

    private final List<Batch> held = new ArrayList<>();
    private final int[] one = new int[1];
    private int count; // changes held
    private long[] places = new long[64]; // batch << 32 | row
    private long[] times = new long[64];
    private long[] numbers = new long[64]; // negative: the row was taken away
    private long[] entries = new long[64]; // of the keys
    private long[] order = new long[0]; // of emission
    private int orderCount;
    private int emitted;
    private boolean emitting;

    private long number; // of the last change
    private long latest = NO_WATERMARK; // greatest time of a row

    public VersionsOperator(Versions node) {
        this.schema = node.schema();
        this.input = node.input().schema();
        this.key = node.key();
        this.timeColumn = node.timeColumn();
    }

    @Override
    public void open(OperatorContext newContext) {
        context = newContext;
        keys = new KeyLayout(input, key);
        table = owned.own(new GroupTable(context.allocator(), new long[(keys.end() - GroupTable.BODY) / 8 + 2]));
        finder = owned.own(new KeyFinder(input, keys, context.allocator()));
    }

    @Override
    public void process(int port, Batch batch, Output output) {
        int rows = batch.rowCount();
        reserve(count + rows);
        long[] found = finder.find(table, batch, Rows.all(rows), rows);
        long weights = batch.weightsAddress();
        long data = batch.dataAddress(timeColumn);
        long validity = batch.validityAddress(timeColumn);
        for (int row = 0; row < rows; row++) {
            long weight = weights == 0 ? 1 : Memory.getLong(weights + 8L * row);
            boolean isNull = validity != 0 && !Memory.getBit(validity, row);
            long time = isNull ? NO_WATERMARK : Memory.getLong(data + 8L * row);
            latest = Math.max(latest, time);
            long entry = found[row] + keys.end();
            Memory.putLong(entry + NET, Memory.getLong(entry + NET) + weight);
            if (weight < 0) {
                Memory.putLong(entry + LAST, count + 1);
            }
            number++;
            places[count] = (long) held.size() << 32 | row;
            times[count] = weight < 0 ? latest : time;
            numbers[count] = weight < 0 ? -number : number;
            entries[count++] = entry;
        }
        held.add(batch);
        context.metrics().stateSize(table.bytes() + 32L * count, count);
    }

    private void reserve(int size) {
        if (size > places.length) {
            int larger = Math.max(size, 2 * places.length);
            places = Arrays.copyOf(places, larger);
            times = Arrays.copyOf(times, larger);
            numbers = Arrays.copyOf(numbers, larger);
            entries = Arrays.copyOf(entries, larger);
        }
    }

    /** The end of the input ends its last epoch, before the watermark goes on. */
    @Override
    public boolean onWatermark(long watermarkMicros, Output output) {
        return watermarkMicros != END_OF_INPUT || onEpochEnd(-1, output);
    }

    @Override
    public boolean onEpochEnd(long epoch, Output output) {
        if (count == 0) {
            return true;
        }
        if (!emitting) {
            putInOrder();
            emitting = true;
        }
        while (emitted < orderCount) {
            if (output.isFull()) {
                return false;
            }
            int end = Math.min(orderCount, emitted + context.batchRows());
            output.emit(versions(emitted, end));
            emitted = end;
        }
        emitting = false;
        forget();
        context.metrics().stateSize(table.bytes(), 0);
        return true;
    }

    /** What becomes a version, in the order of time; a row that was taken away only if it was the last of its key. */
    private void putInOrder() {
        if (order.length < count) {
            order = new long[count];
        }
        orderCount = 0;
        boolean sorted = true;
        for (int i = 0; i < count; i++) {
            boolean ends = Memory.getLong(entries[i] + NET) < 0 && Memory.getLong(entries[i] + LAST) == i + 1;
            if (numbers[i] < 0 && (!ends || times[i] == NO_WATERMARK)) {
                continue;
            }
            sorted &= orderCount == 0 || times[(int) order[orderCount - 1]] <= times[i];
            order[orderCount++] = i;
        }
        if (!sorted) {
            RowSort.sort(order, orderCount, (a, b) -> Long.compare(times[(int) a], times[(int) b]));
        }
        emitted = 0;
    }

    private Batch versions(int from, int to) {
        int rows = to - from;
        try (RowBuffer buffer = new RowBuffer(input, rows, context.allocator())) {
            for (int i = from; i < to; i++) {
                long place = places[(int) order[i]];
                one[0] = (int) place;
                buffer.append(held.get((int) (place >>> 32)), one, 0, 1);
            }
            Batch columns = buffer.take();
            try {
                return numbered(columns, from, to);
            } catch (RuntimeException | Error e) {
                columns.close();
                throw e;
            }
        }
    }

    /** Takes the rows over. */
    private Batch numbered(Batch columns, int from, int to) {
        int rows = to - from;
        FieldVector version = Vectors.allocate(schema.field(input.size()), rows, 0, context.allocator());
        Vectors.setAllValid(version, rows);
        FieldVector[] vectors = new FieldVector[schema.size()];
        for (int column = 0; column < input.size(); column++) {
            vectors[column] = columns.column(column);
        }
        vectors[input.size()] = version;
        writeNumbers(from, to, vectors[timeColumn], version);
        return Batch.view(schema, vectors, rows, Optional.empty(), List.of(columns, version));
    }

    /** And the ends of rows in the place of their times: nobody has seen these vectors yet. */
    private void writeNumbers(int from, int to, FieldVector time, FieldVector version) {
        for (int i = from; i < to; i++) {
            int change = (int) order[i];
            int row = i - from;
            Memory.putLong(version.getDataBufferAddress() + 8L * row, numbers[change]);
            if (numbers[change] < 0) {
                Memory.putLong(time.getDataBufferAddress() + 8L * row, times[change]);
                Memory.setBit(time.getValidityBufferAddress(), row);
            }
        }
        Vectors.finish(version, to - from);
    }

    private void forget() {
        count = 0;
        orderCount = 0;
        table.clear();
        List<Batch> old = List.copyOf(held);
        held.clear();
        Closing.all(old);
    }

    /** Of the instance: there is one. */
    @Override
    public void snapshot(StateWriter writer) throws IOException {
        DataOutput out = writer.keyGroup(StateFormats.ROW_VERSIONS, -1);

        out.writeLong(number);
        out.writeLong(latest);
    }

    @Override
    public void restore(StateReader reader) {
        reader.keyGroups(StateFormats.ROW_VERSIONS, (in, group) -> {
            number = Math.max(number, in.readLong());
            latest = Math.max(latest, in.readLong());
        });
    }

    @Override
    public void close() {
        List<AutoCloseable> all = new ArrayList<>(held);
        held.clear();
        all.add(owned);
        Closing.all(all);
    }
}
