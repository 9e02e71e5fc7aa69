package dev.millrace.engine.aggregate;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.batch.NestedImages;
import dev.millrace.engine.aggregate.AggregateLayout.DistinctSet;
import dev.millrace.engine.state.EntryCursor;
import dev.millrace.engine.state.GroupTable;
import dev.millrace.engine.state.MarkedSets;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.memory.Memory;
import dev.millrace.operator.KeyGroups;
import java.io.DataInput;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
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

    MarkedValues(AggregateLayout layout, DistinctSet set, BufferAllocator allocator) {
        super(layout, set);
        this.allocator = allocator;
        this.offset = set.headerOffset();
        this.ids = new GroupTable(allocator, set.initial());
        this.sets = new MarkedSets(allocator);
        this.found = new FoundValues(sets, offset);
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
            sets.clear(groups[i] + offset);
        }
        if (removed > Math.max(FEW_IDS, Math.max(kept, ids.size()))) {
            compact(owners);
        }
    }

    /** Forgets the values that no group has any more: numbers those that are left anew. */
    private void compact(GroupTable owners) {
        long[] values = entriesById();
        GroupTable old = ids;
        ids = new GroupTable(allocator, set().initial());
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
        return ids.bytes() + sets.bytes();
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
        try (GroupTable one = new GroupTable(allocator, set().initial())) {
            for (long group : groups) {
                for (int left = in.readInt(); left > 0; left--) {
                    long entry = one.insert(in.readLong(), 0);
                    int marks = in.readByte();
                    readValue(one.memory(), entry + DistinctSet.VALUE, in);
                    int id = id(entry);
                    sets.add(group + offset, id, marks, ids.size());
                    one.clear();
                }
            }
        }
    }

    @Override
    public void close() {
        Closing.all(List.of(ids, sets));
    }
}
