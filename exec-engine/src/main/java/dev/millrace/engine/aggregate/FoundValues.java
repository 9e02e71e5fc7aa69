package dev.millrace.engine.aggregate;

import dev.millrace.engine.state.MarkedSets;
import dev.millrace.engine.state.frozen.AddedIds;
import dev.millrace.engine.state.frozen.ChangedEntries;
import dev.millrace.engine.state.frozen.EntryPlaces;
import dev.millrace.engine.state.memory.StateMemory;
import org.jspecify.annotations.Nullable;

/**
 * Where a {@link ValueKernel} collects the rows of a batch whose values count, with the values' ids and marks; and whom it tells of what it
 * is about to change, once somebody notes it.
 */
public final class FoundValues {
    private final MarkedSets sets;
    private final int offset; // of a set's header in a group
    private final StateMemory memory; // of the groups
    private int[] rows = new int[0];
    private int[] ids = new int[0];
    private int[] marks = new int[0];
    private long[] groups = new long[0];
    private @Nullable EntryPlaces places; // null until somebody asks: hot
    private @Nullable AddedIds added;
    private @Nullable ChangedEntries changes;

    FoundValues(MarkedSets sets, int offset, StateMemory memory) {
        this.sets = sets;
        this.offset = offset;
        this.memory = memory;
    }

    /** Where states of the groups have what they point to. */
    public StateMemory memory() {
        return memory;
    }

    /** Makes room for so many rows; before any of the arrays is asked for. */
    public void reserve(int count) {
        if (rows.length < count) {
            rows = new int[count];
            ids = new int[count];
            marks = new int[count];
            groups = new long[count];
        }
    }

    public int[] rows() {
        return rows;
    }

    public int[] ids() {
        return ids;
    }

    /** At first the filters that a row passes, a bit each; after {@link #mark} those under which its value is new. */
    public int[] marks() {
        return marks;
    }

    public long[] groups() {
        return groups;
    }

    /** Adds the first {@code count} ids to the sets of their groups; all ids are below {@code endOfIds}. */
    public void mark(int count, int endOfIds) {
        sets.add(groups, offset, ids, marks, count, endOfIds);
        if (added != null) {
            added.add(groups, ids, marks, count, endOfIds);
        }
    }

    /** A new value got its id. */
    public void named(long entry) {
        if (places != null) {
            places.put(entry);
        }
    }

    /** Has those know of what comes who have to from now on, of values with ids. */
    void tell(EntryPlaces newPlaces, AddedIds newAdded) {
        places = newPlaces;
        added = newAdded;
    }

    // ---- of values that are counted

    /** Whether {@link #beforeChange} and {@link #gone} want to be called. */
    public boolean isWatched() {
        return changes != null;
    }

    /** The counts of a value are about to change, which may be new. */
    public void beforeChange(long entry) {
        if (changes != null) {
            changes.beforeChange(entry);
        }
    }

    /** A value is about to go. */
    public void gone(long entry) {
        if (changes != null) {
            changes.gone(entry);
        }
    }

    /** Has this one know of what changes. */
    void tell(ChangedEntries newChanges) {
        changes = newChanges;
    }
}
