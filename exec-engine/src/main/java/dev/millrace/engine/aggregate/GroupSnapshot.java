package dev.millrace.engine.aggregate;

import dev.millrace.engine.aggregate.AggregateLayout.StateSlot;
import dev.millrace.engine.checkpoint.SectionInput;
import dev.millrace.engine.checkpoint.StateFormats;
import dev.millrace.engine.state.ByteSlots;
import dev.millrace.engine.state.GroupTable;
import dev.millrace.engine.state.KeyGroupEntries;
import dev.millrace.engine.state.KeyGroupPart;
import dev.millrace.engine.state.KeyLayout;
import dev.millrace.engine.state.SlotKind;
import dev.millrace.engine.state.cold.ColdEntries;
import dev.millrace.engine.state.frozen.ChangedEntries;
import dev.millrace.engine.state.frozen.FrozenChanges;
import dev.millrace.engine.state.frozen.FrozenEntries;
import dev.millrace.engine.state.frozen.Parts;
import dev.millrace.memory.Memory;
import dev.millrace.operator.Freezing.Kept;
import dev.millrace.operator.FrozenState;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * Groups as bytes, by key group.
 *
 * <pre>
 *   key group: number of groups | group* | per distinct set what it writes
 *   group:     hash | body words | bytes of each long text slot | per collection what it writes
 * </pre>
 *
 * What changed is as {@link FrozenChanges} has it, with hash and keys of groups that are gone. While rows flow, and what changed of them,
 * groups with distinct values are written by {@link FrozenGroups}.
 */
public final class GroupSnapshot implements KeyGroupPart {
    private final GroupState state;
    private final KeyGroupEntries entries;
    private final List<DistinctValues.Writer> distinct = new ArrayList<>();

    /** What {@code state} holds now; it may not change until the last {@link #write}. */
    public GroupSnapshot(GroupState state) {
        this.state = state;
        this.entries = new KeyGroupEntries(state.table());
        for (DistinctValues values : state.distinct()) {
            distinct.add(values.writer());
        }
    }

    /** The groups of a state without distinct values as they are now, for who writes them while they change, as {@code changes} are told. */
    static FrozenState freeze(GroupState state, ChangedEntries changes, Kept kept) {
        AggregateLayout layout = state.layout();
        int words = layout.initial().length;
        int[] byteSlots = byteSlots(layout);
        ColdEntries.Writer cold = (hash, entry, out) -> writeEntry(hash, entry, words, byteSlots, out);
        if (changes.freeze(kept, state.size())) {
            FrozenChanges changed = changes.freezeChanges(
                    StateFormats.GROUPS_SINCE, (entry, out) -> writeGroup(state, entry, words, byteSlots, out));
            return state.cold().isPresent() ? state.cold().get().freeze(changed, changed::begin, cold) : changed;
        }
        FrozenEntries frozen = new FrozenEntries(
                state.table(),
                StateFormats.GROUPS,
                (entry, out) -> writeGroup(state, entry, words, byteSlots, out),
                entry -> Memory.getLong(entry + layout.rowsOffset()) != 0);
        changes.watch(frozen);
        return state.cold().isPresent()
                ? state.cold().get().freeze(frozen, Parts.of(StateFormats.GROUPS), cold)
                : frozen;
    }

    @Override
    public int count(int keyGroup) {
        return entries.count(keyGroup)
                + state.cold().map(cold -> cold.count(keyGroup)).orElse(0);
    }

    @Override
    public void write(int keyGroup, DataOutput out) throws IOException {
        long[] groups = new long[entries.count(keyGroup)];
        out.writeInt(count(keyGroup));
        try {
            write(keyGroup, groups, out);
        } finally {
            for (long entry : groups) {
                if (entry != 0) {
                    Memory.putLong(entry + GroupTable.LINK, 0); // also when nobody takes the bytes: the groups live on
                }
            }
        }
    }

    private void write(int keyGroup, long[] groups, DataOutput out) throws IOException {
        AggregateLayout layout = state.layout();
        int words = layout.initial().length;
        int[] byteSlots = byteSlots(layout);
        if (state.cold().isPresent()) { // of these there are no collections and no distinct values
            state.cold().get().each(keyGroup, (hash, entry) -> writeEntry(hash, entry, words, byteSlots, out));
        }
        for (int i = 0; i < groups.length; i++) {
            if (i % KeyGroupEntries.AHEAD == 0) {
                entries.loadAhead(keyGroup, i);
            }
            long entry = entries.entry(keyGroup, i);
            assert Memory.getLong(entry + GroupTable.LINK) == 0 : "snapshot in the middle of an epoch";
            writeGroup(state, entry, words, byteSlots, out);
            groups[i] = entry;
            Memory.putLong(entry + GroupTable.LINK, i);
        }
        for (DistinctValues.Writer values : distinct) {
            values.write(keyGroup, groups, out);
        }
    }

    static void writeGroup(GroupState state, long entry, int words, int[] byteSlots, DataOutput out)
            throws IOException {
        writeEntry(Memory.getLong(entry), entry, words, byteSlots, out);
        for (Collection collection : state.collections()) {
            collection.write(entry, out);
        }
    }

    private static void writeEntry(long hash, long entry, int words, int[] byteSlots, DataOutput out)
            throws IOException {
        out.writeLong(hash);
        for (int word = 0; word < words; word++) {
            out.writeLong(Memory.getLong(entry + GroupTable.BODY + 8L * word));
        }
        for (int slot : byteSlots) {
            ByteSlots.write(entry + slot, out);
        }
    }

    /** Adds the groups of a key group that {@link #write} wrote to a state that has none of them. */
    public static void read(GroupState state, DataInput in) throws IOException {
        AggregateLayout layout = state.layout();
        long[] read = new long[SectionInput.readLength(in)];
        GroupTable.Filling entries = state.table().fill(in);
        int words = layout.initial().length;
        int[] byteSlots = byteSlots(layout);
        for (int i = 0; i < read.length; i++) {
            read[i] = readEntry(state.table(), words, byteSlots, in);
            entries.add(read[i]);
            for (Collection collection : state.collections()) {
                collection.read(read[i], in);
            }
            for (AggregateLayout.DistinctSet set : layout.distinctSets()) {
                set.forgetHeader(read[i]);
            }
        }
        entries.end();
        for (DistinctValues values : state.distinct()) {
            values.read(read, in);
        }
        state.relieveUnlinked();
    }

    /** Makes of a state what it was when {@link #freeze} wrote what had changed. */
    public static void readChanges(GroupState state, DataInput in) throws IOException {
        AggregateLayout layout = state.layout();
        GroupTable table = state.table();
        KeyLayout keys = layout.keys();
        int words = layout.initial().length;
        int[] byteSlots = byteSlots(layout);
        boolean areGone = FrozenChanges.readKind(in) == FrozenChanges.GONE;
        for (int left = SectionInput.readLength(in); left > 0; left--) {
            long made = areGone ? keys.readNew(table, in) : readEntry(table, words, byteSlots, in);
            long before = keys.find(table, Memory.getLong(made), made);
            if (before >= 0) {
                state.remove(before);
            }
            if (areGone) {
                keys.free(made, table.memory());
                table.discard(made);
                continue;
            }
            for (Collection collection : state.collections()) {
                collection.read(made, in);
            }
            table.put(made);
        }
        state.relieveUnlinked();
    }

    static long readEntry(GroupTable table, int words, int[] byteSlots, DataInput in) throws IOException {
        long entry = table.newEntry(in.readLong());
        for (int word = 0; word < words; word++) {
            Memory.putLong(entry + GroupTable.BODY + 8L * word, in.readLong());
        }
        for (int slot : byteSlots) {
            ByteSlots.read(table.memory(), entry + slot, in);
        }
        return entry;
    }

    /** Where in an entry slots of texts are. */
    static int[] byteSlots(AggregateLayout layout) {
        List<Integer> slots = new ArrayList<>();
        for (KeyLayout.Key key : layout.keys().keys()) {
            if (key.kind() == SlotKind.BYTES) {
                slots.add(key.offset());
            }
        }
        layout.states().stream().filter(StateSlot::isBytes).forEach(slot -> slots.add(slot.offset()));
        layout.collections().forEach(collected -> collected.emitted().ifPresent(slots::add));
        return slots.stream().mapToInt(Integer::intValue).toArray();
    }
}
