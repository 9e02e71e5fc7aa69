package dev.millrace.engine.aggregate;

import dev.millrace.engine.checkpoint.SectionInput;
import dev.millrace.engine.state.GroupTable;
import dev.millrace.engine.state.KeyLayout;
import dev.millrace.engine.state.frozen.FrozenChanges;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.memory.Memory;
import java.io.DataInput;
import java.io.IOException;
import java.util.HashSet;
import java.util.Set;

/**
 * Reads what {@link FrozenGroups} wrote, step by step, into a state. Values and groups come in any order: a group stays where it is, whatever
 * is said of it, and goes at the end if it is gone then. Used once.
 */
final class RestoredGroups {
    private final GroupState state;
    private final GroupTable table;
    private final KeyLayout keys;
    private final int words;
    private final int[] byteSlots;
    private final Set<Long> gone = new HashSet<>(); // unless they come again

    RestoredGroups(GroupState state) {
        this.state = state;
        this.table = state.table();
        this.keys = state.layout().keys();
        this.words = state.layout().initial().length;
        this.byteSlots = GroupSnapshot.byteSlots(state.layout());
    }

    /** Reads a part. */
    void read(DataInput in) throws IOException {
        int what = in.readByte();
        if (what < 0 || what > state.distinct().size()) {
            throw MillraceException.external(SqlState.DATA_CORRUPTED, "groups have no distinct values number " + what);
        }
        int kind = FrozenChanges.readKind(in);
        if (what > 0) {
            state.distinct().get(what - 1).read(kind, in, this);
        } else if (kind == FrozenChanges.GONE) {
            for (int left = SectionInput.readLength(in); left > 0; left--) {
                long entry = read(in, false);
                if (entry != 0) {
                    state.distinct().forEach(values -> values.forgetRestored(entry));
                    empty(entry);
                    gone.add(entry);
                }
            }
        } else {
            for (int left = SectionInput.readLength(in); left > 0; left--) {
                readGroup(in);
            }
        }
    }

    private void readGroup(DataInput in) throws IOException {
        long made = GroupSnapshot.readEntry(table, words, byteSlots, in);
        long entry = keys.find(table, Memory.getLong(made), made);
        if (entry < 0) {
            state.layout().distinctSets().forEach(set -> set.forgetHeader(made));
            table.put(made);
            entry = made;
        } else {
            replace(entry, made);
            gone.remove(entry);
        }
        for (Collection collection : state.collections()) {
            collection.read(entry, in);
        }
    }

    /** Has a group be what another one is, which is no more; but for its values. */
    private void replace(long entry, long by) {
        state.free(entry);
        for (int word = 0; word < words; word++) {
            long at = GroupTable.BODY + 8L * word;
            if (!state.layout().isOfDistinct(at)) {
                Memory.putLong(entry + at, Memory.getLong(by + at));
            }
        }
        table.discard(by);
    }

    /** Has a group that stays for now be as one is without rows. */
    private void empty(long entry) {
        long like = table.newEntry(Memory.getLong(entry));
        keys.copy(entry, like, table.memory());
        replace(entry, like);
    }

    /** Finds the group of which hash and keys follow; 0 if it is not there, and is not {@code made} then. */
    long read(DataInput in, boolean made) throws IOException {
        return find(readKey(in), made);
    }

    /** Reads hash and keys of a group, which {@link #find} is asked for then. */
    long readKey(DataInput in) throws IOException {
        return keys.readNew(table, in);
    }

    /** The same as {@link #read} of the group that was read last. */
    long find(long key, boolean made) {
        long entry = keys.find(table, Memory.getLong(key), key);
        if (entry < 0 && made) {
            table.put(key);
            return key;
        }
        keys.free(key, table.memory());
        table.discard(key);
        return Math.max(0, entry);
    }

    /** All was read. */
    void end() {
        for (long entry : gone) {
            state.remove(entry);
        }
        gone.clear();
    }
}
