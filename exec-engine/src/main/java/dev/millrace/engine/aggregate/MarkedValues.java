package dev.millrace.engine.aggregate;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.batch.NestedImages;
import dev.millrace.engine.aggregate.AggregateLayout.DistinctSet;
import dev.millrace.engine.checkpoint.SectionInput;
import dev.millrace.engine.state.EntryCursor;
import dev.millrace.engine.state.GroupTable;
import dev.millrace.engine.state.KeyGroupPart.EntryWriter;
import dev.millrace.engine.state.MarkedSets;
import dev.millrace.engine.state.frozen.AddedIds;
import dev.millrace.engine.state.frozen.ChangedEntries;
import dev.millrace.engine.state.frozen.EntryPlaces;
import dev.millrace.engine.state.frozen.FrozenChanges;
import dev.millrace.engine.state.frozen.FrozenSets;
import dev.millrace.engine.state.frozen.Parts;
import dev.millrace.engine.state.memory.StateMemory;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
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
 * Distinct values that are never taken back: each value has an id, common to all groups, and a group has the set of its
 * ids, where a mark per filter says under which it was seen. So the bytes of a value are kept once, and a value of a group
 * takes five to eleven bytes.
 *
 * <pre>
 *   entry of a value: hash | link, its id | value
 * </pre>
 */
public final class MarkedValues extends DistinctValues {
    private static final int CHUNK = 1024;
    private static final int FEW_IDS = 1 << 14;

    private final BufferAllocator allocator;
    private final int offset; // of a set's header in a group
    private final MarkedSets sets;
    private final FoundValues found;
    private GroupTable ids;
    private long removed; // ids of sets removed since the last compaction
    private long kept; // ids of all sets after it

    // Once somebody notes what is added
    private Optional<EntryPlaces> places = Optional.empty();
    private Optional<AddedIds> added = Optional.empty();
    private Optional<FrozenSets> frozen = Optional.empty(); // until it is closed
    private Optional<GroupTable> owners = Optional.empty();
    private EntryWriter keys = (group, out) -> {};

    MarkedValues(AggregateLayout layout, DistinctSet set, StateMemory ofGroups, BufferAllocator allocator) {
        super(layout, set, ofGroups);
        this.allocator = allocator;
        this.offset = set.headerOffset();
        this.ids = new GroupTable(allocator, set.initial());
        this.sets = new MarkedSets(allocator);
        this.found = new FoundValues(sets, offset, ofGroups);
    }

    @Override
    void add(ValueKernel kernel, Batch batch, NestedImages images, int[] rows, int count, long[] groups) {
        checkRoom(count);
        found.reserve(count);
        kernel.add(ids, batch, images, rows, count, groups, found);
    }

    private void checkRoom(int more) {
        if ((long) ids.size() + more > MarkedSets.MOST_IDS) {
            throw MillraceException.resources(
                    SqlState.PROGRAM_LIMIT_EXCEEDED,
                    "more than " + MarkedSets.MOST_IDS + " distinct values in one aggregate");
        }
    }

    /** The id of a value that an entry of another table has; given to it if it has none yet. */
    private int id(long like) {
        long hash = Memory.getLong(like);
        long slot = hash << KeyGroups.BITS >>> ids.shift();
        while (ids.word(slot) != 0) {
            long entry = ids.word(slot) & GroupTable.ADDRESS;
            if (Memory.getLong(entry) == hash && equal(entry + DistinctSet.VALUE, like + DistinctSet.VALUE)) {
                return (int) Memory.getLong(entry + GroupTable.LINK);
            }
            slot = (slot + 1) & ids.mask();
        }
        checkRoom(1);
        long entry = ids.insert(hash, slot);
        copyValue(like + DistinctSet.VALUE, entry + DistinctSet.VALUE, ids);
        Memory.putLong(entry + GroupTable.LINK, ids.size() - 1L);
        found.named(entry);
        return ids.size() - 1;
    }

    /** The entries of all values by their ids. */
    public long[] entriesById() {
        long[] entries = new long[ids.size()];
        EntryCursor cursor = new EntryCursor(ids, CHUNK);
        for (int count = cursor.advance(); count > 0; count = cursor.advance()) {
            for (int i = 0; i < count; i++) {
                long entry = cursor.entries()[i];
                entries[(int) Memory.getLong(entry + GroupTable.LINK)] = entry;
            }
        }
        return entries;
    }

    @Override
    void merge(DistinctValues other, long[] from, long[] to, int count) {
        long[] values = ((MarkedValues) other).entriesById();
        int[] idsHere = new int[values.length];
        Arrays.fill(idsHere, -1);
        for (int i = 0; i < count; i++) {
            long group = to[i];
            MarkedSets.each(from[i] + offset, (id, marks) -> {
                if (idsHere[id] < 0) {
                    idsHere[id] = id(values[id]);
                }
                mark(group, idsHere[id], marks, values[id]);
            });
        }
    }

    /** Adds an id to a group's set, and its value to the group's states under the filters for which it is new. */
    private void mark(long group, int id, int marks, long entry) {
        int added = sets.add(group + offset, id, marks, ids.size());
        for (int filter = 0; added >>> filter != 0; filter++) {
            if ((added >>> filter & 1) != 0) {
                feed(filter, group, entry + DistinctSet.VALUE, 1);
            }
        }
    }

    @Override
    void fold(GroupTable owners, long[] from, long[] to, int count) {
        long[] values = entriesById();
        for (int i = 0; i < count; i++) {
            long group = to[i];
            MarkedSets.each(from[i] + offset, (id, marks) -> mark(group, id, marks, values[id]));
        }
        remove(owners, from, count);
    }

    @Override
    void remove(GroupTable owners, long[] groups, int count) {
        for (int i = 0; i < count; i++) {
            removed += MarkedSets.size(groups[i] + offset);
            if (added.isPresent()) {
                beforeLoss(groups[i]);
                added.get().beginAnew(groups[i]);
            }
            sets.clear(groups[i] + offset);
        }
        if (removed > Math.max(FEW_IDS, Math.max(kept, ids.size())) && !isWritten()) {
            compact(owners);
        }
    }

    /** Forgets the values that no group has any more: numbers those that are left anew. */
    private void compact(GroupTable owners) {
        long[] values = entriesById();
        GroupTable old = ids;
        ids = new GroupTable(allocator, set().initial());
        places.ifPresent(all -> all.clear(ids));
        added.ifPresent(AddedIds::lost);
        removed = 0;
        kept = 0;
        EntryCursor cursor = new EntryCursor(owners, CHUNK);
        for (int count = cursor.advance(); count > 0; count = cursor.advance()) {
            for (int i = 0; i < count; i++) {
                long header = cursor.entries()[i] + offset;
                int size = MarkedSets.size(header);
                int[] left = new int[size];
                int[] marks = new int[size];
                int[] next = new int[1];
                MarkedSets.each(header, (id, mark) -> {
                    left[next[0]] = id;
                    marks[next[0]++] = mark;
                });
                sets.clear(header);
                for (int j = 0; j < size; j++) {
                    int id = id(values[left[j]]);
                    sets.add(header, id, marks[j], ids.size());
                }
                kept += size;
            }
        }
        old.close();
    }

    @Override
    void clear() {
        ids.clear();
        sets.reset();
        removed = 0;
        kept = 0;
    }

    @Override
    long bytes() {
        return ids.bytes()
                + sets.bytes()
                + places.map(EntryPlaces::bytes).orElse(0L)
                + added.map(AddedIds::bytes).orElse(0L);
    }

    /** Per group: the number of values, then each one's hash, marks and bytes. */
    @Override
    Writer writer() {
        long[] values = entriesById();
        return (keyGroup, groups, out) -> {
            for (long group : groups) {
                int size = MarkedSets.size(group + offset);
                int[] of = new int[size];
                int[] marks = new int[size];
                int[] next = new int[1];
                MarkedSets.each(group + offset, (id, mark) -> {
                    of[next[0]] = id;
                    marks[next[0]++] = mark;
                });
                out.writeInt(size);
                for (int i = 0; i < size; i++) {
                    out.writeLong(Memory.getLong(values[of[i]]));
                    out.writeByte(marks[i]);
                    writeValue(values[of[i]] + DistinctSet.VALUE, out);
                }
            }
        };
    }

    @Override
    void read(long[] groups, DataInput in) throws IOException {
        try (StateMemory one = new StateMemory(allocator)) {
            for (long group : groups) {
                readValues(group, in.readInt(), one, in);
            }
        }
    }

    private void readValues(long group, int count, StateMemory one, DataInput in) throws IOException {
        for (int left = count; left > 0; left--) {
            long like = one.allocate(ids.entryBytes());
            Memory.putLong(like, in.readLong());
            int marks = in.readByte();
            readValue(one, like + DistinctSet.VALUE, in);
            sets.add(group + offset, id(like), marks, ids.size());
            one.reset();
        }
    }

    // ---- frozen with their groups

    @Override
    long size() {
        return sets.ids();
    }

    @Override
    ChangedEntries.Further note(GroupTable newOwners, EntryWriter newKeys) {
        owners = Optional.of(newOwners);
        keys = newKeys;
        places = Optional.of(new EntryPlaces(ids, allocator));
        added = Optional.of(new AddedIds(sets, allocator));
        found.tell(places.get(), added.get());
        return added.get();
    }

    private boolean isWritten() {
        return added.isPresent() && added.get().isWritten();
    }

    /** A group's values are about to go, or it is. */
    private void beforeLoss(long group) {
        if (isWritten()) {
            frozen.orElseThrow().beforeLoss(group);
        }
    }

    @Override
    void gone(long group) {
        if (added.isPresent()) {
            beforeLoss(group);
            added.get().gone(group);
        }
    }

    /** Writes the value of an id, given with its marks as {@link MarkedSets#copy} does: hash, marks and value. */
    private void write(int marked, DataOutput out) throws IOException {
        long value = places.orElseThrow().get(marked >>> MarkedSets.MARKS);
        out.writeLong(Memory.getLong(value));
        out.writeByte(MarkedSets.marks(marked));
        writeValue(value + DistinctSet.VALUE, out);
    }

    @Override
    FrozenState freeze(boolean isWhole, Parts parts) {
        frozen = Optional.of(new FrozenSets(
                owners.orElseThrow(),
                sets,
                offset,
                added.orElseThrow(),
                places.orElseThrow(),
                isWhole,
                parts.behind(FrozenChanges.CHANGED),
                keys,
                this::write,
                allocator));
        return frozen.get();
    }

    @Override
    void read(int kind, DataInput in, RestoredGroups groups) throws IOException {
        if (kind == FrozenChanges.GONE) {
            throw MillraceException.external(
                    SqlState.DATA_CORRUPTED, "values of groups that are never taken back have gone");
        }
        try (StateMemory one = new StateMemory(allocator)) {
            for (int left = SectionInput.readLength(in); left > 0; left--) {
                long key = groups.readKey(in);
                boolean beganAnew = in.readBoolean();
                int count = SectionInput.readLength(in);
                long group = groups.find(key, beganAnew || count > 0);
                if (beganAnew) {
                    sets.clear(group + offset);
                }
                readValues(group, count, one, in);
            }
        }
    }

    @Override
    void forgetRestored(long group) {
        sets.clear(group + offset);
    }

    @Override
    public void close() {
        List<AutoCloseable> all = new ArrayList<>(List.of(ids, sets));
        frozen.ifPresent(all::add);
        places.ifPresent(all::add);
        added.ifPresent(all::add);
        Closing.all(all);
    }
}
