package dev.millrace.engine.aggregate;

import dev.millrace.batch.Memory;
import dev.millrace.engine.aggregate.AggregateLayout.DistinctSet;
import dev.millrace.engine.aggregate.AggregateLayout.StateSlot;
import dev.millrace.engine.state.ByteSlots;
import dev.millrace.engine.state.EntryCursor;
import dev.millrace.engine.state.GroupTable;
import dev.millrace.engine.state.SlotKind;
import dev.millrace.operator.KeyGroups;
import dev.millrace.type.DataType;
import java.util.Arrays;

/** Adds distinct values of groups to other groups, and feeds the states of those with what is new to them. */
final class DistinctMerge {
    /** The link of a group that goes without a successor. */
    static final long GONE = 1;

    private DistinctMerge() {}

    /** Merges tables of append-only sets. The link of each group in {@code from} is the group it was merged into. */
    static void merge(AggregateLayout layout, DistinctSet set, GroupTable from, GroupTable to) {
        long[] entries = new long[256];
        int[] count = new int[1];
        for (long slot = 0; slot >= 0; ) {
            slot = from.entries(slot, entries, count);
            for (int i = 0; i < count[0]; i++) {
                long owner = Memory.getLong(Memory.getLong(entries[i] + DistinctSet.OWNER) + GroupTable.LINK);
                mark(layout, set, to, owner, Memory.getLong(entries[i]), entries[i]);
            }
        }
    }

    /**
     * Moves the values of groups whose link is not 0 to the group it names, or drops them if it is {@link #GONE}; goes
     * over the whole table.
     */
    static void fold(AggregateLayout layout, DistinctSet set, GroupTable table) {
        long[] moving = new long[16];
        int moved = 0;
        EntryCursor cursor = new EntryCursor(table, 256);
        for (int count = cursor.advance(); count > 0; count = cursor.advance()) {
            for (int i = 0; i < count; i++) {
                long value = cursor.entries()[i];
                if (Memory.getLong(Memory.getLong(value + DistinctSet.OWNER) + GroupTable.LINK) != 0) {
                    if (moved == moving.length) {
                        moving = Arrays.copyOf(moving, 2 * moved);
                    }
                    moving[moved++] = value;
                }
            }
        }
        for (int i = 0; i < moved; i++) {
            long target = Memory.getLong(Memory.getLong(moving[i] + DistinctSet.OWNER) + GroupTable.LINK);
            if (target != GONE) {
                mark(layout, set, table, target, Memory.getLong(moving[i]), moving[i]);
            }
            if (SlotKind.of(set.type()) == SlotKind.BYTES) {
                ByteSlots.free(table.memory(), moving[i] + DistinctSet.VALUE);
            }
            table.remove(moving[i]);
        }
    }

    private static void mark(AggregateLayout layout, DistinctSet set, GroupTable to, long owner, long hash, long from) {
        long entry = findOrInsert(set, to, owner, hash, from);
        long before = Memory.getLong(entry + set.stateOffset());
        long added = Memory.getLong(from + set.stateOffset()) & ~before;
        Memory.putLong(entry + set.stateOffset(), before | added);
        for (StateSlot slot : layout.states()) {
            if (slot.state().distinct() && slot.state().argument() == set.argument()) {
                int bit = set.filters().indexOf(slot.state().filter());
                if (bit >= 0 && (added >>> bit & 1) != 0) {
                    feed(slot, owner + slot.offset(), from + DistinctSet.VALUE);
                }
            }
        }
    }

    /** The entry of an owner and the value that another entry has. */
    static long findOrInsert(DistinctSet set, GroupTable table, long owner, long hash, long like) {
        SlotKind kind = SlotKind.of(set.type());
        long slot = hash << KeyGroups.BITS >>> table.shift();
        long value = like + DistinctSet.VALUE;
        while (table.word(slot) != 0) {
            long entry = table.word(slot) & GroupTable.ADDRESS;
            long other = entry + DistinctSet.VALUE;
            if (Memory.getLong(entry) == hash && Memory.getLong(entry + DistinctSet.OWNER) == owner) {
                boolean same = switch (kind) {
                    case WORD -> Memory.getLong(other) == Memory.getLong(value);
                    case WIDE ->
                        Memory.getLong(other) == Memory.getLong(value)
                                && Memory.getLong(other + 8) == Memory.getLong(value + 8);
                    case BYTES -> ByteSlots.equal(other, value);
                };
                if (same) {
                    return entry;
                }
            }
            slot = (slot + 1) & table.mask();
        }
        long entry = table.insert(hash, slot);
        Memory.putLong(entry + DistinctSet.OWNER, owner);
        if (kind == SlotKind.BYTES) {
            ByteSlots.store(
                    table.memory(), entry + DistinctSet.VALUE, ByteSlots.address(value), ByteSlots.length(value));
        } else {
            Memory.copy(value, entry + DistinctSet.VALUE, kind.bytes());
        }
        return entry;
    }

    /** Adds a value of an entry to a state. */
    private static void feed(StateSlot slot, long state, long value) {
        boolean isNumeric = slot.argumentType().kind() == DataType.Kind.NUMERIC;
        long low = Memory.getLong(value);
        switch (slot.state().kind()) {
            case COUNT -> Memory.putLong(state, Memory.getLong(state) + 1);
            case SUM_LONG -> Memory.putLong(state, Math.addExact(Memory.getLong(state), low));
            case SUM_WIDE -> Wide.add128(state, low, isNumeric ? Memory.getLong(value + 8) : low >> 63);
            case SQUARES_WIDE -> Wide.addSquare128(state, low, isNumeric ? Memory.getLong(value + 8) : low >> 63, 1);
            case SUM_DOUBLE -> Doubles.add(state, Memory.getDouble(value));
            case SQUARES_DOUBLE -> Doubles.addSquare(state, Memory.getDouble(value), 1);
            case SUM_INTERVAL -> Wide.addInterval(state, low, Memory.getLong(value + 8), 1);
            case TRUES, SUM_DOUBLE_RETRACTABLE, MIN, MAX ->
                throw new IllegalArgumentException(slot + " is not fed by distinct values");
        }
    }
}
