package dev.millrace.engine.aggregate;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.batch.NestedImages;
import dev.millrace.engine.aggregate.AggregateLayout.DistinctSet;
import dev.millrace.engine.checkpoint.SectionInput;
import dev.millrace.engine.state.ByteSlots;
import dev.millrace.engine.state.EntryCursor;
import dev.millrace.engine.state.GroupTable;
import dev.millrace.engine.state.KeyGroupEntries;
import dev.millrace.engine.state.KeyGroupPart.EntryWriter;
import dev.millrace.engine.state.MarkedSets;
import dev.millrace.engine.state.SlotKind;
import dev.millrace.engine.state.frozen.ChangedEntries;
import dev.millrace.engine.state.frozen.FrozenChanges;
import dev.millrace.engine.state.frozen.FrozenEntries;
import dev.millrace.engine.state.frozen.Parts;
import dev.millrace.engine.state.memory.StateMemory;
import dev.millrace.memory.Memory;
import dev.millrace.operator.FrozenState;
import dev.millrace.operator.KeyGroups;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.apache.arrow.memory.BufferAllocator;

/**
 * Distinct values that may be taken back: how often each is there, per group and filter.
 *
 * <pre>
 *   entry: hash | link | value | owner, the group's entry | a count per filter
 * </pre>
 */
final class CountedValues extends DistinctValues {
    private static final int CHUNK = 256;

    private final GroupTable table;
    private final FoundValues unused;
    private final MarkedSets noSets;
    private final BufferAllocator allocator;
    private Optional<ChangedEntries> changes = Optional.empty(); // once somebody notes them
    private EntryWriter keys = (group, out) -> {}; // of a group

    CountedValues(AggregateLayout layout, DistinctSet set, StateMemory ofGroups, BufferAllocator allocator) {
        super(layout, set, ofGroups);
        this.allocator = allocator;
        this.table = new GroupTable(allocator, set.initial());
        this.noSets = new MarkedSets(allocator);
        this.unused = new FoundValues(noSets, 0, ofGroups);
    }

    @Override
    void add(ValueKernel kernel, Batch batch, NestedImages images, int[] rows, int count, long[] groups) {
        kernel.add(table, batch, images, rows, count, groups, unused);
    }

    @Override
    void merge(DistinctValues other, long[] from, long[] to, int count) {
        for (int i = 0; i < count; i++) {
            Memory.putLong(from[i] + GroupTable.LINK, to[i]);
        }
        EntryCursor cursor = new EntryCursor(((CountedValues) other).table, CHUNK);
        for (int found = cursor.advance(); found > 0; found = cursor.advance()) {
            for (int i = 0; i < found; i++) {
                long entry = cursor.entries()[i];
                addCounts(entry, Memory.getLong(owner(entry) + GroupTable.LINK));
            }
        }
        for (int i = 0; i < count; i++) {
            Memory.putLong(from[i] + GroupTable.LINK, 0);
        }
    }

    private long owner(long entry) {
        return Memory.getLong(entry + set().ownerOffset());
    }

    /** Adds the counts of an entry to those of another group. */
    private void addCounts(long from, long group) {
        long to = findOrInsert(from, group);
        changes.ifPresent(noting -> noting.beforeChange(to));
        for (int filter = 0; filter < set().filters().size(); filter++) {
            long at = to + set().countOffset(filter);
            long before = Memory.getLong(at);
            long after = before + Memory.getLong(from + set().countOffset(filter));
            Memory.putLong(at, after);
            if (before > 0 != after > 0) {
                feed(filter, group, from + DistinctSet.VALUE, after > 0 ? 1 : -1);
            }
        }
    }

    private long findOrInsert(long like, long group) {
        long found = find(like, group);
        if (found >= 0) {
            return found;
        }
        long entry = table.insert(Memory.getLong(like), -1 - found);
        copyValue(like + DistinctSet.VALUE, entry + DistinctSet.VALUE, table);
        Memory.putLong(entry + set().ownerOffset(), group);
        return entry;
    }

    /** The entry of a group with the value of another entry; or the empty slot, as -1 - slot. */
    private long find(long like, long group) {
        long hash = Memory.getLong(like);
        long slot = hash << KeyGroups.BITS >>> table.shift();
        while (table.word(slot) != 0) {
            long entry = table.word(slot) & GroupTable.ADDRESS;
            if (Memory.getLong(entry) == hash
                    && owner(entry) == group
                    && equal(entry + DistinctSet.VALUE, like + DistinctSet.VALUE)) {
                return entry;
            }
            slot = (slot + 1) & table.mask();
        }
        return -1 - slot;
    }

    @Override
    void fold(GroupTable owners, long[] from, long[] to, int count) {
        for (int i = 0; i < count; i++) {
            Memory.putLong(from[i] + GroupTable.LINK, to[i]);
        }
        long[] moving = entriesOfLinked();
        for (long entry : moving) {
            addCounts(entry, Memory.getLong(owner(entry) + GroupTable.LINK));
        }
        removeEntries(moving);
    }

    @Override
    void remove(GroupTable owners, long[] groups, int count) {
        for (int i = 0; i < count; i++) {
            Memory.putLong(groups[i] + GroupTable.LINK, 1);
        }
        removeEntries(entriesOfLinked());
    }

    /** The values of groups whose link is not 0; goes over the whole table. */
    private long[] entriesOfLinked() {
        long[] found = new long[16];
        int size = 0;
        EntryCursor cursor = new EntryCursor(table, CHUNK);
        for (int count = cursor.advance(); count > 0; count = cursor.advance()) {
            for (int i = 0; i < count; i++) {
                if (Memory.getLong(owner(cursor.entries()[i]) + GroupTable.LINK) != 0) {
                    if (size == found.length) {
                        found = Arrays.copyOf(found, 2 * size);
                    }
                    found[size++] = cursor.entries()[i];
                }
            }
        }
        return Arrays.copyOf(found, size);
    }

    private void removeEntries(long[] entries) {
        for (long entry : entries) {
            changes.ifPresent(noting -> {
                noting.beforeChange(entry);
                noting.gone(entry);
            });
            removeEntry(entry);
        }
    }

    private void removeEntry(long entry) {
        if (SlotKind.of(set().type()) == SlotKind.BYTES) {
            ByteSlots.free(table.memory(), entry + DistinctSet.VALUE);
        }
        table.remove(entry);
    }

    @Override
    void clear() {
        table.clear();
    }

    @Override
    long bytes() {
        return table.bytes();
    }

    /** The number of values, then each one's number of its group, hash, value and counts. */
    @Override
    Writer writer() {
        KeyGroupEntries entries = new KeyGroupEntries(table, this::owner);
        return (keyGroup, groups, out) -> {
            out.writeInt(entries.count(keyGroup));
            for (int i = 0; i < entries.count(keyGroup); i++) {
                long entry = entries.entry(keyGroup, i);
                out.writeInt((int) Memory.getLong(owner(entry) + GroupTable.LINK));
                out.writeLong(Memory.getLong(entry));
                writeValue(entry + DistinctSet.VALUE, out);
                for (int filter = 0; filter < set().filters().size(); filter++) {
                    out.writeLong(Memory.getLong(entry + set().countOffset(filter)));
                }
            }
        };
    }

    @Override
    void read(long[] groups, DataInput in) throws IOException {
        for (int left = in.readInt(); left > 0; left--) {
            long group = groups[in.readInt()];
            long entry = table.insertNew(in.readLong());
            readValue(table.memory(), entry + DistinctSet.VALUE, in);
            Memory.putLong(entry + set().ownerOffset(), group);
            for (int filter = 0; filter < set().filters().size(); filter++) {
                Memory.putLong(entry + set().countOffset(filter), in.readLong());
            }
        }
    }

    // ---- frozen with their groups

    @Override
    long size() {
        return table.size();
    }

    @Override
    ChangedEntries.Further note(GroupTable owners, EntryWriter newKeys) {
        keys = newKeys;
        ChangedEntries noting = new ChangedEntries(table, this::writeKey, this::owner, allocator);
        changes = Optional.of(noting);
        unused.tell(noting);
        return noting.asFurther();
    }

    /** Of each value hash and keys of its group, its own hash, and it; then counts, if it is there. */
    private void writeKey(long entry, DataOutput out) throws IOException {
        keys.write(owner(entry), out);
        out.writeLong(Memory.getLong(entry));
        writeValue(entry + DistinctSet.VALUE, out);
    }

    private void writeCounts(long entry, DataOutput out) throws IOException {
        writeKey(entry, out);
        for (int filter = 0; filter < set().filters().size(); filter++) {
            out.writeLong(Memory.getLong(entry + set().countOffset(filter)));
        }
    }

    private boolean exists(long entry) {
        for (int filter = 0; filter < set().filters().size(); filter++) {
            if (Memory.getLong(entry + set().countOffset(filter)) != 0) {
                return true;
            }
        }
        return false;
    }

    @Override
    FrozenState freeze(boolean isWhole, Parts parts) {
        ChangedEntries noted = changes.orElseThrow();
        if (!isWhole) {
            return noted.freezeChanges(parts, this::writeCounts, this::exists, this::owner);
        }
        FrozenEntries all = new FrozenEntries(
                table, parts.behind(FrozenChanges.CHANGED), this::owner, this::writeCounts, this::exists, this::owner);
        noted.watch(all);
        return all;
    }

    @Override
    void read(int kind, DataInput in, RestoredGroups groups) throws IOException {
        boolean areGone = kind == FrozenChanges.GONE;
        for (int left = SectionInput.readLength(in); left > 0; left--) {
            long group = groups.read(in, !areGone);
            long made = table.newEntry(in.readLong());
            readValue(table.memory(), made + DistinctSet.VALUE, in);
            long found = group == 0 ? -1 : find(made, group);
            long entry = found;
            if (found < 0 && !areGone) {
                Memory.putLong(made + set().ownerOffset(), group);
                table.put(made);
                entry = made;
            } else {
                if (SlotKind.of(set().type()) == SlotKind.BYTES) {
                    ByteSlots.free(table.memory(), made + DistinctSet.VALUE);
                }
                table.discard(made);
            }
            if (!areGone) {
                for (int filter = 0; filter < set().filters().size(); filter++) {
                    Memory.putLong(entry + set().countOffset(filter), in.readLong());
                }
            } else if (found >= 0) {
                removeEntry(found);
            }
        }
    }

    @Override
    void forgetRestored(long group) {
        // each of its values is said to be gone
    }

    @Override
    public void close() {
        List<AutoCloseable> all = new ArrayList<>(List.of(table, noSets));
        changes.ifPresent(all::add);
        Closing.all(all);
    }
}
