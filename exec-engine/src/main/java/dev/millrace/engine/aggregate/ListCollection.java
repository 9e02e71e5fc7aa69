package dev.millrace.engine.aggregate;

import dev.millrace.batch.Batch;
import dev.millrace.batch.NestedImages;
import dev.millrace.batch.Vectors;
import dev.millrace.engine.aggregate.AggregateLayout.Collected;
import dev.millrace.engine.aggregate.number.Wide;
import dev.millrace.engine.state.RowCodec;
import dev.millrace.engine.state.RowOrder;
import dev.millrace.engine.state.RowTable;
import dev.millrace.engine.state.memory.StateMemory;
import dev.millrace.error.MillraceException;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.memory.Memory;
import dev.millrace.plan.expression.AggregateCall;
import dev.millrace.plan.expression.AggregateCall.Function;
import dev.millrace.plan.expression.OrderKey;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.complex.ListVector;

/**
 * The values of a call per group, in a list each: first/last value, string_agg, array_agg, percentiles, and min/max over
 * retractions. A row has the value, then the columns of the ordering.
 */
final class ListCollection extends Collection {
    private static final int BEST = RowTable.LIST_BYTES;
    private static final int LOOK_ROWS = 1023; // a mask: how often long lists ask whether to stop

    private final AggregateCall call;
    private final int offset;
    private final int[] columns; // of the input: value, ordering
    private final int required; // the column whose NULLs do not count, or -1
    private final boolean multiset;
    private final boolean ordered;
    private final BufferAllocator allocator;
    private final RowCodec codec;
    private final RowOrder order;
    private final RowTable rows;
    private final StateMemory nullRow;
    private final long nulls;
    private int[] passed = new int[0];
    private long[] passedGroups = new long[0];
    private long[] sorted = new long[256];

    ListCollection(AggregateLayout layout, Collected collected, BufferAllocator allocator) {
        this.call = layout.calls().get(collected.call());
        this.offset = collected.offset();
        this.allocator = allocator;
        List<Integer> used = new ArrayList<>();
        boolean isPercentile =
                call.function() == Function.PERCENTILE_CONT || call.function() == Function.PERCENTILE_DISC;
        used.add(
                isPercentile
                        ? PercentileCollection.valueColumn(call)
                        : call.arguments().get(0));
        List<OrderKey> keys = new ArrayList<>();
        if (isPercentile) {
            boolean descending =
                    !call.ordering().isEmpty() && call.ordering().get(0).descending();
            keys.add(new OrderKey(0, descending, false));
        } else if (call.function() == Function.MIN || call.function() == Function.MAX) {
            keys.add(new OrderKey(0, call.function() == Function.MAX, false));
        } else {
            for (OrderKey key : call.ordering()) {
                keys.add(new OrderKey(used.size(), key.descending(), key.nullsFirst()));
                used.add(key.column());
            }
            if (keys.isEmpty() && call.distinct()) {
                keys.add(new OrderKey(0, false, false)); // PostgreSQL finds duplicates by sorting
            }
        }
        boolean keepsNulls = call.function() == Function.ARRAY_AGG
                || call.function() == Function.FIRST_VALUE
                || call.function() == Function.LAST_VALUE;
        this.columns = used.stream().mapToInt(Integer::intValue).toArray();
        this.required = keepsNulls ? -1 : columns[0];
        this.multiset = layout.retractions() || call.distinct();
        this.ordered = !keys.isEmpty();
        List<DataType> types = used.stream().map(layout.arguments()::type).toList();
        if (call.function() == Function.PERCENTILE_CONT && !types.get(0).isNumber()) {
            throw MillraceException.notAvailableYet("percentile_cont of " + types.get(0));
        }
        this.codec = new RowCodec(types, call.distinct(), allocator);
        this.order = new RowOrder(codec, types, keys);
        this.rows = new RowTable(allocator);
        this.nullRow = new StateMemory(allocator);
        this.nulls = nullRow.allocate(codec.fixedBytes());
        codec.writeNulls(nulls);
    }

    private boolean isFirst() {
        return call.function() == Function.FIRST_VALUE;
    }

    private boolean isLast() {
        return call.function() == Function.LAST_VALUE;
    }

    @Override
    void add(Batch batch, NestedImages images, int[] all, int count, long[] groups) {
        if (passed.length < count) {
            passed = new int[count];
            passedGroups = new long[count];
        }
        int kept = CallFilter.select(call, required, batch, all, count, groups, passed, passedGroups);
        codec.encode(batch, columns, passed, kept);
        long weights = batch.weightsAddress();
        for (int i = 0; i < kept; i++) {
            long weight = weights == 0 ? 1 : Memory.getLong(weights + 8L * passed[i]);
            add(passedGroups[i] + offset, codec.address(i), codec.length(i), weight);
        }
    }

    private void add(long list, long row, int length, long weight) {
        if (isExtreme()) {
            addExtreme(list, row, length, weight);
        } else if (multiset) {
            rows.add(list, row, length, weight);
        } else if (isFirst() || isLast()) {
            keepBetter(list, row, length);
        } else {
            rows.append(list, row, length, weight);
        }
    }

    private boolean isExtreme() {
        return call.function() == Function.MIN || call.function() == Function.MAX;
    }

    /** Keeps the best row in a word behind the list; 0 once it is gone, when the next result has to look for another. */
    private void addExtreme(long list, long row, int length, long weight) {
        long best = Memory.getLong(list + BEST);
        int comparison = best == 0 ? 1 : order.compare(row, best);
        boolean isOnly = RowTable.first(list) == 0;
        long added = rows.addRow(list, row, length, weight);
        if (isOnly || comparison < 0) {
            Memory.putLong(list + BEST, added);
        } else if (comparison == 0 && added == 0) {
            Memory.putLong(list + BEST, 0);
        }
    }

    /** Without retractions only one row can ever be the first or last. */
    private void keepBetter(long list, long row, int length) {
        long kept = RowTable.first(list);
        if (kept != 0) {
            int comparison = ordered ? order.compare(row, kept) : 1;
            if (isFirst() ? comparison >= 0 : comparison < 0) {
                return;
            }
            rows.removeRow(kept);
        }
        rows.append(list, row, length, 1);
    }

    @Override
    void merge(Collection other, long[] from, long[] to, int count) {
        for (int i = 0; i < count; i++) {
            for (long row = RowTable.first(from[i] + offset); row != 0; row = RowTable.next(row)) {
                add(to[i] + offset, row, RowTable.length(row), RowTable.weight(row));
            }
        }
    }

    // ---- results

    @Override
    FieldVector results(Field field, long[] groups, int count) {
        return switch (call.function()) {
            case STRING_AGG -> joined(field, groups, count);
            case ARRAY_AGG -> arrays(field, groups, count);
            case PERCENTILE_CONT -> interpolated(field, groups, count);
            default -> picked(field, groups, count);
        };
    }

    /** Fills {@link #sorted} with a group's rows in order, each as often as it counts; returns how many. */
    private int sort(long group) {
        Interrupt interrupt = Interrupt.current();
        int count = 0;
        for (long row = RowTable.first(group + offset); row != 0; row = RowTable.next(row)) {
            long times = call.distinct() ? Math.min(1, RowTable.weight(row)) : RowTable.weight(row);
            for (long i = 0; i < times; i++) {
                if ((count & LOOK_ROWS) == 0) {
                    interrupt.check();
                }
                if (count == sorted.length) {
                    sorted = Arrays.copyOf(sorted, 2 * count);
                }
                sorted[count++] = row;
            }
        }
        if (ordered) {
            order.sort(sorted, count);
        }
        return count;
    }

    /** The one row that is the result, or the row of NULLs. */
    private FieldVector picked(Field field, long[] groups, int count) {
        long[] chosen = new long[count];
        for (int i = 0; i < count; i++) {
            chosen[i] = switch (call.function()) {
                case PERCENTILE_DISC -> {
                    int values = sort(groups[i]);
                    int at = (int) Math.max(0, Math.ceil(fraction() * values) - 1);
                    yield values == 0 ? nulls : sorted[at];
                }
                case LAST_VALUE -> extreme(groups[i], true);
                case MIN, MAX -> best(groups[i]);
                default -> extreme(groups[i], false);
            };
        }
        return codec.decode(0, field, chosen, count, allocator);
    }

    private long best(long group) {
        long best = Memory.getLong(group + offset + BEST);
        if (best == 0 || RowTable.weight(best) <= 0) {
            best = extreme(group, false);
            Memory.putLong(group + offset + BEST, best == nulls ? 0 : best);
        }
        return best;
    }

    private long extreme(long group, boolean last) {
        long best = 0;
        Interrupt interrupt = Interrupt.current();
        int rows = 0;
        for (long row = RowTable.first(group + offset); row != 0; row = RowTable.next(row)) {
            if ((++rows & LOOK_ROWS) == 0) {
                interrupt.check();
            }
            if (RowTable.weight(row) <= 0) {
                continue;
            }
            int comparison = best == 0 ? -1 : ordered ? order.compare(row, best) : 1;
            if (best == 0 || (last ? comparison >= 0 : comparison < 0)) {
                best = row;
            }
        }
        return best == 0 ? nulls : best;
    }

    private double fraction() {
        double fraction = ((Number) call.parameters().get(0).value()).doubleValue();
        assert fraction >= 0 && fraction <= 1 : "a percentile's fraction is checked by the front end";
        return fraction;
    }

    private FieldVector interpolated(Field field, long[] groups, int count) {
        FieldVector vector = Vectors.allocate(field, count, 0, allocator);
        try {
            Vectors.setAllValid(vector, count);
            for (int i = 0; i < count; i++) {
                int values = sort(groups[i]);
                if (values == 0) {
                    Memory.clearBit(vector.getValidityBufferAddress(), i);
                } else {
                    Results.putDouble(field.type(), vector.getDataBufferAddress(), i, interpolated(values));
                }
            }
            Vectors.finish(vector, count);
            return vector;
        } catch (RuntimeException | Error e) { // who looks whether to stop
            vector.close();
            throw e;
        }
    }

    /** Of the first values of {@link #sorted}. */
    private double interpolated(int values) {
        DataType type = codec.type(0);
        double position = fraction() * (values - 1);
        int below = (int) Math.floor(position);
        double low = number(type, sorted[below]);
        double high = number(type, sorted[(int) Math.ceil(position)]);
        return low == high ? low : low + (position - below) * (high - low);
    }

    private double number(DataType type, long row) {
        long slot = row + codec.slot(0);
        return switch (type.kind()) {
            case REAL, DOUBLE -> Memory.getDouble(slot);
            case NUMERIC ->
                new java.math.BigDecimal(
                                Wide.toBigInteger(Memory.getLong(slot), Memory.getLong(slot + 8)), type.scale())
                        .doubleValue();
            default -> Memory.getLong(slot);
        };
    }

    private FieldVector joined(Field field, long[] groups, int count) {
        StateMemory scratch = new StateMemory(allocator);
        try (scratch) {
            String delimiter = call.parameters().isEmpty()
                    ? ""
                    : (String) call.parameters().get(0).value();
            byte[] between = delimiter.getBytes(java.nio.charset.StandardCharsets.UTF_8);
            long[] slots = new long[count];
            long bytes = 0;
            for (int i = 0; i < count; i++) {
                slots[i] = scratch.allocate(16);
                int values = sort(groups[i]);
                Memory.putLong(slots[i], 0);
                if (values > 0) {
                    bytes += join(values, between, slots[i], scratch);
                }
            }
            FieldVector vector = Vectors.allocate(field, count, bytes, allocator);
            long data = vector.getDataBufferAddress();
            int at = 0;
            for (int i = 0; i < count; i++) {
                long text = Memory.getLong(slots[i]);
                if (text != 0) {
                    int length = (int) Memory.getLong(slots[i] + 8);
                    Memory.copy(text, data + at, length);
                    at += length;
                    Memory.setBit(vector.getValidityBufferAddress(), i);
                }
                Memory.putInt(vector.getOffsetBufferAddress() + 4L * i + 4, at);
            }
            Vectors.finish(vector, count);
            return vector;
        }
    }

    /** Joins the first rows of {@link #sorted}; writes the address and length of the text to {@code slot}. */
    private long join(int values, byte[] between, long slot, StateMemory scratch) {
        long length = (long) between.length * (values - 1);
        for (int i = 0; i < values; i++) {
            length += Memory.getInt(sorted[i] + codec.slot(0) + 4);
        }
        long text = scratch.allocate(Math.toIntExact(length));
        long at = text;
        Interrupt interrupt = Interrupt.current();
        for (int i = 0; i < values; i++) {
            if ((i & LOOK_ROWS) == 0) {
                interrupt.check();
            }
            if (i > 0) {
                Memory.copyIn(between, 0, at, between.length);
                at += between.length;
            }
            int bytes = Memory.getInt(sorted[i] + codec.slot(0) + 4);
            Memory.copy(sorted[i] + Memory.getInt(sorted[i] + codec.slot(0)), at, bytes);
            at += bytes;
        }
        Memory.putLong(slot, text);
        Memory.putLong(slot + 8, length);
        return length;
    }

    private FieldVector arrays(Field field, long[] groups, int count) {
        long[] elements = new long[256];
        int[] ends = new int[count];
        int total = 0;
        for (int i = 0; i < count; i++) {
            int values = sort(groups[i]);
            if (total + values > elements.length) {
                elements = Arrays.copyOf(elements, 2 * (total + values));
            }
            System.arraycopy(sorted, 0, elements, total, values);
            total += values;
            ends[i] = total;
        }
        try (FieldVector values = codec.decode(0, field.type().fields().get(0), elements, total, allocator)) {
            ListVector list = (ListVector) Vectors.allocate(field, count, 0, allocator);
            for (int i = 0; i < count; i++) {
                int length = ends[i] - (i == 0 ? 0 : ends[i - 1]);
                if (length == 0) {
                    list.setNull(i);
                } else {
                    list.startNewValue(i);
                    list.endValue(i, length);
                }
            }
            values.makeTransferPair(list.getDataVector()).transfer();
            list.setLastSet(count - 1);
            list.setValueCount(count);
            return list;
        }
    }

    // ---- life

    @Override
    void remove(long group, StateMemory memory) {
        rows.clear(group + offset);
    }

    @Override
    void clear() {
        rows.clear();
    }

    @Override
    long bytes() {
        return rows.bytes();
    }

    @Override
    void write(long group, DataOutput out) throws IOException {
        rows.writeList(group + offset, out);
    }

    @Override
    void read(long group, DataInput in) throws IOException {
        RowTable.initList(group + offset);
        if (isExtreme()) {
            Memory.putLong(group + offset + BEST, 0);
        }
        rows.readList(group + offset, in, multiset);
    }

    @Override
    public void close() {
        codec.close();
        rows.close();
        nullRow.close();
    }
}
