package dev.millrace.engine.aggregate;

import dev.millrace.batch.Batch;
import dev.millrace.batch.NestedImages;
import dev.millrace.batch.Vectors;
import dev.millrace.engine.aggregate.AggregateLayout.Collected;
import dev.millrace.engine.aggregate.number.OrderedWords;
import dev.millrace.engine.state.memory.StateMemory;
import dev.millrace.memory.Memory;
import dev.millrace.plan.expression.AggregateCall;
import dev.millrace.plan.expression.AggregateCall.Function;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.Arrays;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;

/**
 * The values of a percentile per group, when they fit a word each and are never retracted: chunks of growing size, the
 * newest first, of the values as ordered integers.
 *
 * <pre>
 *   entry: newest chunk | values in all
 *   chunk: older chunk | values in it, 4 bytes | room, 4 bytes | values
 * </pre>
 */
final class PercentileCollection extends Collection {
    private static final int HEADER_BYTES = 16;
    private static final int FIRST_ROOM = 4;
    private static final int LARGEST_ROOM = 8_000;

    private final AggregateCall call;
    private final DataType type;
    private final int column;
    private final int offset;
    private final BufferAllocator allocator;
    private final StateMemory memory;
    private long[] sorted = new long[256];

    PercentileCollection(AggregateLayout layout, Collected collected, BufferAllocator allocator) {
        this.call = layout.calls().get(collected.call());
        this.column = valueColumn(call);
        this.type = layout.arguments().type(column);
        this.offset = collected.offset();
        this.allocator = allocator;
        this.memory = new StateMemory(allocator);
    }

    /** The column that a percentile is of: what it is ordered by. */
    static int valueColumn(AggregateCall call) {
        return call.ordering().isEmpty()
                ? call.arguments().get(0)
                : call.ordering().get(0).column();
    }

    @Override
    void add(Batch batch, NestedImages images, int[] rows, int count, long[] groups) {
        long validity = batch.validityAddress(column);
        long data = batch.dataAddress(column);
        long weights = batch.weightsAddress();
        for (int i = 0; i < count; i++) {
            int row = rows[i];
            if (validity != 0 && !Memory.getBit(validity, row) || !CallFilter.passes(call, batch, row)) {
                continue;
            }
            long value = OrderedWords.load(type, data, row);
            long times = weights == 0 ? 1 : Memory.getLong(weights + 8L * row);
            for (; times > 0; times--) {
                put(groups[i] + offset, value);
            }
        }
    }

    private void put(long list, long value) {
        long chunk = Memory.getLong(list);
        int used = chunk == 0 ? 0 : Memory.getInt(chunk + 8);
        int room = chunk == 0 ? 0 : Memory.getInt(chunk + 12);
        if (used == room) {
            int larger = Math.min(LARGEST_ROOM, Math.max(FIRST_ROOM, 2 * room));
            long next = memory.allocate(HEADER_BYTES + 8 * larger);
            Memory.putLong(next, chunk);
            Memory.putInt(next + 12, larger);
            Memory.putLong(list, next);
            chunk = next;
            used = 0;
        }
        Memory.putLong(chunk + HEADER_BYTES + 8L * used, value);
        Memory.putInt(chunk + 8, used + 1);
        Memory.putLong(list + 8, Memory.getLong(list + 8) + 1);
    }

    @Override
    void merge(Collection other, long[] from, long[] to, int count) {
        for (int i = 0; i < count; i++) {
            for (long chunk = Memory.getLong(from[i] + offset); chunk != 0; chunk = Memory.getLong(chunk)) {
                int used = Memory.getInt(chunk + 8);
                for (int at = 0; at < used; at++) {
                    put(to[i] + offset, Memory.getLong(chunk + HEADER_BYTES + 8L * at));
                }
            }
        }
    }

    /** Fills {@link #sorted} with the values of a group; returns how many. */
    private int sort(long group) {
        int count = Math.toIntExact(Memory.getLong(group + offset + 8));
        if (sorted.length < count) {
            sorted = new long[Math.max(count, 2 * sorted.length)];
        }
        int at = 0;
        for (long chunk = Memory.getLong(group + offset); chunk != 0; chunk = Memory.getLong(chunk)) {
            int used = Memory.getInt(chunk + 8);
            for (int i = 0; i < used; i++) {
                sorted[at++] = Memory.getLong(chunk + HEADER_BYTES + 8L * i);
            }
        }
        Arrays.sort(sorted, 0, count);
        return count;
    }

    @Override
    FieldVector results(Field field, long[] groups, int count) {
        FieldVector vector = Vectors.allocate(field, count, 0, allocator);
        long data = vector.getDataBufferAddress();
        Vectors.setAllValid(vector, count);
        boolean descending =
                !call.ordering().isEmpty() && call.ordering().get(0).descending();
        double fraction = ((Number) call.parameters().get(0).value()).doubleValue();
        long[] chosen = new long[count]; // discrete: the values
        for (int i = 0; i < count; i++) {
            int values = sort(groups[i]);
            if (values == 0) {
                Memory.clearBit(vector.getValidityBufferAddress(), i);
            } else if (call.function() == Function.PERCENTILE_DISC) {
                int at = (int) Math.max(0, Math.ceil(fraction * values) - 1);
                chosen[i] = sorted[descending ? values - 1 - at : at];
            } else {
                double position = fraction * (values - 1);
                double low = at(values, (int) Math.floor(position), descending);
                double high = at(values, (int) Math.ceil(position), descending);
                double value = low == high ? low : low + (position - Math.floor(position)) * (high - low);
                Results.putDouble(field.type(), data, i, value);
            }
        }
        if (call.function() == Function.PERCENTILE_DISC) {
            OrderedWords.store(type, chosen, count, data);
        }
        Vectors.finish(vector, count);
        return vector;
    }

    private double at(int values, int index, boolean descending) {
        return OrderedWords.number(type, sorted[descending ? values - 1 - index : index]);
    }

    @Override
    void remove(long group, StateMemory groupMemory) {
        for (long chunk = Memory.getLong(group + offset); chunk != 0; ) {
            long older = Memory.getLong(chunk);
            memory.free(chunk, HEADER_BYTES + 8 * Memory.getInt(chunk + 12));
            chunk = older;
        }
        Memory.putLong(group + offset, 0);
        Memory.putLong(group + offset + 8, 0);
    }

    @Override
    void clear() {
        memory.reset();
    }

    @Override
    long bytes() {
        return memory.bytes();
    }

    @Override
    void write(long group, DataOutput out) throws IOException {
        out.writeLong(Memory.getLong(group + offset + 8));
        for (long chunk = Memory.getLong(group + offset); chunk != 0; chunk = Memory.getLong(chunk)) {
            int used = Memory.getInt(chunk + 8);
            for (int i = 0; i < used; i++) {
                out.writeLong(Memory.getLong(chunk + HEADER_BYTES + 8L * i));
            }
        }
    }

    @Override
    void read(long group, DataInput in) throws IOException {
        Memory.putLong(group + offset, 0);
        Memory.putLong(group + offset + 8, 0);
        for (long left = in.readLong(); left > 0; left--) {
            put(group + offset, in.readLong());
        }
    }

    @Override
    public void close() {
        memory.close();
    }
}
