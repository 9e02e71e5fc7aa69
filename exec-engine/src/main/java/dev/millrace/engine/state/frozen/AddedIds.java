package dev.millrace.engine.state.frozen;

import dev.millrace.batch.Closing;
import dev.millrace.engine.state.EntryCursor;
import dev.millrace.engine.state.GroupTable;
import dev.millrace.engine.state.MarkedSets;
import dev.millrace.memory.Memory;
import dev.millrace.operator.KeyGroups;
import java.util.List;
import org.apache.arrow.memory.BufferAllocator;

/**
 * What was added to sets of entries of a table, {@link MarkedSets}, since these were last frozen, and what had been when they were: of each
 * entry, called a group, that got ids a set of these alone. By the first it is also known what a set had at that moment.
 *
 * <pre>
 *   entry: hash of the group | link | the group | 1 if all that it had before are gone | header of a set
 * </pre>
 *
 * One thread, that of the sets.
 */
public final class AddedIds implements ChangedEntries.Further, AutoCloseable {
    private static final int GROUP = GroupTable.BODY;
    private static final int BEGUN_ANEW = GROUP + 8;
    private static final int SET = BEGUN_ANEW + 8;
    private static final int WORDS = 2 + MarkedSets.HEADER_BYTES / 8;
    private static final int CHUNK = 1024;
    private static final long FEW_BYTES = 1 << 20;
    private static final int PART = 2; // of the bytes of all sets, beyond which all is written

    /** Groups with values. */
    static final class Additions implements AutoCloseable {
        private final GroupTable groups;
        private final MarkedSets sets;

        private Additions(BufferAllocator allocator) {
            this.groups = new GroupTable(allocator, new long[WORDS]);
            this.sets = new MarkedSets(allocator);
        }

        GroupTable table() {
            return groups;
        }

        /** How many values there are in all sets. */
        long size() {
            return sets.ids();
        }

        /** The entry of a group, or 0. */
        long find(long group) {
            long at = look(group);
            return at < 0 ? 0 : at;
        }

        private long look(long group) {
            long hash = Memory.getLong(group);
            long slot = hash << KeyGroups.BITS >>> groups.shift();
            while (groups.word(slot) != 0) {
                long entry = groups.word(slot) & GroupTable.ADDRESS;
                if (group(entry) == group) {
                    return entry;
                }
                slot = slot + 1 & groups.mask();
            }
            return -1 - slot;
        }

        private long findOrInsert(long group) {
            long found = look(group);
            if (found >= 0) {
                return found;
            }
            long entry = groups.insert(Memory.getLong(group), -1 - found);
            Memory.putLong(entry + GROUP, group);
            return entry;
        }

        private void remove(long group) {
            long entry = find(group);
            if (entry != 0) {
                sets.clear(set(entry));
                groups.remove(entry);
            }
        }

        private long bytes() {
            return groups.bytes() + sets.bytes();
        }

        private void clear() {
            groups.clear();
            sets.reset();
        }

        @Override
        public void close() {
            Closing.all(List.of(groups, sets));
        }
    }

    private final MarkedSets all;
    private Additions since;
    private Additions pending;
    private int endOfIds; // of all that are in sets
    private boolean isKnown; // what was added since is all noted
    private boolean isWritten; // by somebody who asks what was added since

    /** @param all those of the groups */
    public AddedIds(MarkedSets all, BufferAllocator allocator) {
        this.all = all;
        this.since = new Additions(allocator);
        this.pending = new Additions(allocator);
    }

    static long group(long entry) {
        return Memory.getLong(entry + GROUP);
    }

    /** Whether all that a group had before is gone, and what the entry has came after that. */
    static boolean beganAnew(long entry) {
        return Memory.getLong(entry + BEGUN_ANEW) != 0;
    }

    /** The header of an entry's set. */
    static long set(long entry) {
        return entry + SET;
    }

    /** What was added since the groups were frozen. */
    Additions since() {
        return since;
    }

    /** What had been added when they were; it stays but for groups that {@link #beginAnew} or {@link #gone} is told of. */
    Additions frozen() {
        return pending;
    }

    /** Off the heap. */
    public long bytes() {
        return since.bytes() + pending.bytes();
    }

    /** Whether somebody writes what groups had when they were frozen: then what is added since is noted in any case. */
    void setWritten(boolean newIsWritten) {
        isWritten = newIsWritten;
    }

    /** Whether somebody writes what there was: then ids stay what they are. */
    public boolean isWritten() {
        return isWritten;
    }

    // ---- as values come

    /** Ids below the end were added to sets of groups, with these marks, where there are any. */
    public void add(long[] groups, int[] ids, int[] marks, int count, int newEndOfIds) {
        if (!isKnown) {
            return;
        }
        endOfIds = newEndOfIds;
        for (int i = 0; i < count; i++) {
            if (marks[i] != 0) {
                since.sets.add(set(since.findOrInsert(groups[i])), ids[i], marks[i], endOfIds);
            }
        }
        if (!isWritten && since.bytes() + pending.bytes() > Math.max(FEW_BYTES, all.bytes() / PART)) {
            lost();
        }
    }

    /** A group is about to lose all its values. */
    public void beginAnew(long group) {
        pending.remove(group);
        if (isKnown) {
            long entry = since.findOrInsert(group);
            since.sets.clear(set(entry));
            Memory.putLong(entry + BEGUN_ANEW, 1);
        }
    }

    /** A group without values is about to go. */
    public void gone(long group) {
        pending.remove(group);
        since.remove(group);
    }

    /** Ids are others, or more was added than is worth noting. */
    public void lost() {
        isKnown = false;
        since.clear();
        pending.clear();
    }

    // ---- as groups are frozen

    @Override
    public boolean isKnown() {
        return isKnown;
    }

    @Override
    public void unmark(boolean ofAll) {
        pending.clear();
        if (ofAll) {
            since.clear();
            isKnown = true;
        }
    }

    @Override
    public void movePending() {
        if (pending.groups.size() == 0) {
            Additions none = pending;
            pending = since;
            since = none;
            return;
        }
        EntryCursor cursor = new EntryCursor(since.groups, CHUNK);
        for (int count = cursor.advance(); count > 0; count = cursor.advance()) {
            for (int i = 0; i < count; i++) {
                long from = cursor.entries()[i];
                long to = pending.findOrInsert(group(from));
                if (beganAnew(from)) { // what was there before went when it did
                    Memory.putLong(to + BEGUN_ANEW, 1);
                }
                MarkedSets.each(set(from), (id, marks) -> pending.sets.add(set(to), id, marks, endOfIds));
            }
        }
        since.clear();
    }

    @Override
    public long pending() {
        return pending.groups.size() + pending.size();
    }

    @Override
    public void close() {
        Closing.all(List.of(since, pending));
    }
}
