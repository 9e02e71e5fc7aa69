package dev.millrace.engine.state.frozen;

import dev.millrace.engine.state.GroupTable;
import dev.millrace.memory.Memory;
import dev.millrace.operator.KeyGroups;
import java.util.Arrays;

/**
 * Goes over the entries of a table by the order of their places in its index while the table changes. That order is of the hashes alone, so
 * it stays when the index grows or entries go:
 *
 * <pre>
 *   hash &lt;&lt; KeyGroups.BITS   below {@code next}: was given;   from there on: is to come
 * </pre>
 *
 * What is put into the table meanwhile is given if it is to come. One thread.
 */
public final class EntryScan {
    /** Slots of the index that are worth going over at a time: some thousand entries. */
    public static final int SLOTS = 1 << 14;

    private final GroupTable table;
    private long[] entries = new long[64];
    private int count;
    private long next; // unsigned
    private boolean isDone;

    public EntryScan(GroupTable table) {
        this.table = table;
    }

    /** Whether an entry of this hash is still to be given. */
    public boolean isToCome(long hash) {
        return !isDone && Long.compareUnsigned(hash << KeyGroups.BITS, next) >= 0;
    }

    /** Whether all were given. */
    public boolean isDone() {
        return isDone;
    }

    /** Goes on to those of so many slots: all that would be looked for there first, wherever they found room. Returns how many there are. */
    public int advance(int most) {
        count = 0;
        if (isDone) {
            return 0;
        }
        long slots = table.mask() + 1;
        long first = next >>> table.shift();
        long end = Math.min(slots, first + most);
        boolean last = end == slots;
        long below = last ? -1L : (end << table.shift()) - 1; // the greatest of them
        for (long slot = first; slot < first + slots; slot++) {
            long word = table.word(slot & table.mask());
            if (word == 0) {
                if (slot >= end) {
                    break;
                }
                continue;
            }
            long entry = word & GroupTable.ADDRESS;
            long order = Memory.getLong(entry) << KeyGroups.BITS;
            if (Long.compareUnsigned(order, next) >= 0 && Long.compareUnsigned(order, below) <= 0) {
                if (count == entries.length) {
                    entries = Arrays.copyOf(entries, 2 * count);
                }
                entries[count++] = entry;
            }
        }
        next = below + 1;
        isDone = last;
        return count;
    }

    /** What {@link #advance} found, as many as it said; another call's are in the same array. */
    public long[] entries() {
        return entries;
    }

    /** Gives none any more. */
    public void end() {
        isDone = true;
        entries = new long[0];
        count = 0;
    }
}
