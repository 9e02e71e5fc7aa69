package dev.millrace.engine.state;

/** Goes over the entries of a table in chunks; the table must not change meanwhile. */
public final class EntryCursor {
    private final GroupTable table;
    private final long[] entries;
    private final int[] count = new int[1];
    private long slot;

    /** A cursor that gives at most {@code most} entries at a time. */
    public EntryCursor(GroupTable table, int most) {
        this.table = table;
        this.entries = new long[most];
    }

    /** Moves on to the next entries; returns how many, 0 at the end. */
    public int advance() {
        count[0] = 0;
        while (slot >= 0 && count[0] == 0) {
            slot = table.entries(slot, entries, count);
        }
        return count[0];
    }

    /** The entries of the last {@link #advance}. */
    public long[] entries() {
        return entries;
    }
}
