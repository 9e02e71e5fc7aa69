package dev.millrace.engine.aggregate;

import dev.millrace.engine.state.MarkedSets;

/** Where a {@link ValueKernel} collects the rows of a batch whose values count, with the values' ids and marks. */
public final class FoundValues {
    private final MarkedSets sets;
    private final int offset; // of a set's header in a group
    private int[] rows = new int[0];
    private int[] ids = new int[0];
    private int[] marks = new int[0];
    private long[] groups = new long[0];

    FoundValues(MarkedSets sets, int offset) {
        this.sets = sets;
        this.offset = offset;
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
    }
}
