package dev.millrace.engine.aggregate;

import dev.millrace.batch.Batch;
import dev.millrace.batch.NestedImages;
import dev.millrace.engine.aggregate.AggregateLayout.DistinctSet;
import dev.millrace.engine.aggregate.AggregateLayout.StateSlot;
import dev.millrace.engine.aggregate.number.BignumSums;
import dev.millrace.engine.aggregate.number.Doubles;
import dev.millrace.engine.aggregate.number.Wide;
import dev.millrace.engine.state.ByteSlots;
import dev.millrace.engine.state.GroupTable;
import dev.millrace.engine.state.KeyGroupPart.EntryWriter;
import dev.millrace.engine.state.SlotKind;
import dev.millrace.engine.state.frozen.ChangedEntries;
import dev.millrace.engine.state.frozen.FrozenChanges;
import dev.millrace.engine.state.frozen.Parts;
import dev.millrace.engine.state.memory.StateMemory;
import dev.millrace.memory.Memory;
import dev.millrace.operator.FrozenState;
import dev.millrace.type.DataType;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.List;
import org.apache.arrow.memory.BufferAllocator;

/**
 * The distinct values of a column in the groups of one {@link GroupState}, per filter; values that are new in a group, or
 * gone from it, feed its states.
 */
public abstract class DistinctValues implements AutoCloseable {
    /** Writes the values of the groups of a key group, each of which has its number as its link. */
    @FunctionalInterface
    interface Writer {
        void write(int keyGroup, long[] groups, DataOutput out) throws IOException;
    }

    private final DistinctSet set;
    private final List<StateSlot> fed; // the states that the values feed
    private final StateMemory ofGroups; // where these have what they point to

    DistinctValues(AggregateLayout layout, DistinctSet set, StateMemory ofGroups) {
        this.set = set;
        this.ofGroups = ofGroups;
        this.fed = layout.states().stream()
                .filter(slot -> slot.state().distinct() && slot.state().argument() == set.argument())
                .filter(slot -> set.filters().contains(slot.state().filter()))
                .toList();
    }

    /** @param ofGroups where states of the groups have what they point to */
    static DistinctValues of(AggregateLayout layout, DistinctSet set, StateMemory ofGroups, BufferAllocator allocator) {
        return set.counts()
                ? new CountedValues(layout, set, ofGroups, allocator)
                : new MarkedValues(layout, set, ofGroups, allocator);
    }

    DistinctSet set() {
        return set;
    }

    /** Adds the values of rows to their groups. */
    abstract void add(ValueKernel kernel, Batch batch, NestedImages images, int[] rows, int count, long[] groups);

    /** Adds the values of groups of another state, which keeps them, to groups of this one. */
    abstract void merge(DistinctValues other, long[] from, long[] to, int count);

    /** Moves the values of groups of this state to others of it; may leave the former's links other than 0. */
    abstract void fold(GroupTable owners, long[] from, long[] to, int count);

    /** Forgets the values of groups, which are still there; may leave their links other than 0. */
    abstract void remove(GroupTable owners, long[] groups, int count);

    /** Forgets all values; keeps memory for reuse. */
    abstract void clear();

    abstract long bytes();

    /** What writes the values to a snapshot, before any change. */
    abstract Writer writer();

    /** Adds values that a {@link Writer} wrote to groups; their states have been fed with them already. */
    abstract void read(long[] groups, DataInput in) throws IOException;

    // ---- frozen with their groups

    /** How many values groups have, in sum. */
    abstract long size();

    /**
     * Has what changes be noted from now on; once.
     *
     * @param owners the groups
     * @param keys writes hash and keys of one
     */
    abstract ChangedEntries.Further note(GroupTable owners, EntryWriter keys);

    /**
     * The values as they are now, or what changed of them; for who writes them while they change, in parts whose kinds are of {@link
     * FrozenChanges}.
     */
    abstract FrozenState freeze(boolean isWhole, Parts parts);

    /** Adds or takes away values that what {@link #freeze} gave wrote; states of groups have been fed, or are. */
    abstract void read(int kind, DataInput in, RestoredGroups groups) throws IOException;

    /** All values of a restored group that is gone, and may come again, have gone too, or do. */
    abstract void forgetRestored(long group);

    /** A group without values is about to go. */
    void gone(long group) {}

    /** Adds a value to, or for a sign of -1 takes it from, the states of a group that belong to a filter. */
    final void feed(int filter, long group, long value, long sign) {
        for (StateSlot slot : fed) {
            if (slot.state().filter() == set.filters().get(filter)) {
                feed(slot, group + slot.offset(), value, sign);
            }
        }
    }

    private void feed(StateSlot slot, long state, long value, long sign) {
        DataType.Kind type = slot.argumentType().kind();
        boolean isNumeric = type == DataType.Kind.NUMERIC;
        long low = Memory.getLong(value);
        switch (slot.state().kind()) {
            case COUNT -> Memory.putLong(state, Memory.getLong(state) + sign);
            case SUM_LONG -> Memory.putLong(state, Math.addExact(Memory.getLong(state), sign * low));
            case SUM_WIDE -> Wide.add128(state, low, isNumeric ? Memory.getLong(value + 8) : low >> 63, sign);
            case SUM_CARRIED -> Wide.addCarried(state, low, Memory.getLong(value + 8), sign);
            case SQUARES_WIDE -> Wide.addSquare128(state, low, isNumeric ? Memory.getLong(value + 8) : low >> 63, sign);
            case SUM_DOUBLE -> Doubles.add(state, Memory.getDouble(value), sign);
            case SUM_DOUBLE_RETRACTABLE -> Doubles.addRetractable(state, Memory.getDouble(value), sign);
            case SQUARES_DOUBLE -> Doubles.addSquare(state, Memory.getDouble(value), sign);
            case SUM_INTERVAL -> Wide.addInterval(state, low, Memory.getLong(value + 8), sign);
            case SUM_BIGNUM -> BignumSums.addKept(ofGroups, state, value, sign);
            case SQUARES_BIGNUM -> BignumSums.addSquareKept(ofGroups, state, value, sign);
            case TRUES, MIN, MAX -> throw new IllegalArgumentException(slot + " is not fed by distinct values");
        }
    }

    /** The words that a value takes. */
    final int valueWords() {
        return set.valueBytes() / 8;
    }

    final void writeValue(long value, DataOutput out) throws IOException {
        for (int word = 0; word < valueWords(); word++) {
            out.writeLong(Memory.getLong(value + 8L * word));
        }
        if (SlotKind.of(set.type()) == SlotKind.BYTES) {
            ByteSlots.write(value, out);
        }
    }

    final void readValue(StateMemory memory, long value, DataInput in) throws IOException {
        for (int word = 0; word < valueWords(); word++) {
            Memory.putLong(value + 8L * word, in.readLong());
        }
        if (SlotKind.of(set.type()) == SlotKind.BYTES) {
            ByteSlots.read(memory, value, in);
        }
    }

    /** Copies a value into an entry of a table that keeps it. */
    final void copyValue(long from, long to, GroupTable table) {
        if (SlotKind.of(set.type()) == SlotKind.BYTES) {
            ByteSlots.store(table.memory(), to, ByteSlots.address(from), ByteSlots.length(from));
            if (set.hasScale()) {
                Memory.copy(from + SlotKind.BYTES.bytes(), to + SlotKind.BYTES.bytes(), Long.BYTES);
            }
        } else {
            Memory.copy(from, to, 8L * valueWords());
        }
    }

    final boolean equal(long a, long b) {
        return switch (SlotKind.of(set.type())) {
            case WORD -> Memory.getLong(a) == Memory.getLong(b);
            case WIDE -> Memory.getLong(a) == Memory.getLong(b) && Memory.getLong(a + 8) == Memory.getLong(b + 8);
            case BYTES -> ByteSlots.equal(a, b);
        };
    }

    @Override
    public abstract void close();
}
