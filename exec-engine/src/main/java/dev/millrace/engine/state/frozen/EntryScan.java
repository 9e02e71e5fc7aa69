package dev.millrace.engine.state.frozen;

import dev.millrace.engine.state.GroupTable;
import dev.millrace.memory.Memory;
import dev.millrace.operator.KeyGroups;
import java.util.Arrays;

/**
 * Goes over the entries of a table while the table changes, a stretch of its index after the other. Which stretch an entry is of is said by its
 * hash alone, so that stays when the index grows or entries go:
 *
 * <pre>
 *   stretch = the highest bits of hash &lt;&lt; KeyGroups.BITS, backwards   below {@code next}: was given;   from there on: is to come
 * </pre>
 *
 * Backwards, as stretches that follow each other then lie far apart: entries that are read again in the order of their homes would all be
 * put at the front of a table that is smaller yet, each behind all others.
 *
 * <p>What is put into the table meanwhile is given if it is to come. One thread.
 */
public final class EntryScan {
    /** Slots of the index that are worth going over at a time: some thousand entries. */
    public static final int SLOTS = 1 << 14;

    /** Slots of a stretch at first: enough for the processor to fetch them ahead. */
    private static final int STRETCH_BITS = 6;

    private final GroupTable table;
    private long[] entries = new long[64];
    private int count;
    private int bits; // of a stretch's number, known from the first advance on
    private long next; // stretch
    private boolean isDone;

    public EntryScan(GroupTable table) {
        this.table = table;
    }

    /** Whether an entry of this hash is still to be given. */
    public boolean isToCome(long hash) {
        return !isDone && stretch(hash) >= next;
    }

    private long stretch(long hash) {
        return Long.reverse(hash << KeyGroups.BITS) & (1L << bits) - 1;
    }

    /** Whether all were given. */
    public boolean isDone() {
        return isDone;
    }

    /** Goes on to those of about so many slots: all that would be looked for there first, wherever they found room. Returns how many there are. */
    public int advance(int most) {
        count = 0;
        if (isDone) {
            return 0;
        }
        long slots = table.mask() + 1;
        if (next == 0) {
            bits = Math.max(0, Long.SIZE - table.shift() - STRETCH_BITS);
        }
        long together = Math.max(1, most / (slots >>> bits));
        for (long end = Math.min(1L << bits, next + together); next < end; next++) {
            give(next, slots);
        }
        isDone = next == 1L << bits;
        return count;
    }

    private void give(long stretch, long slots) {
        long first = Long.reverse(stretch) >>> table.shift();
        long end = first + (slots >>> bits);
        for (long slot = first; slot < first + slots; slot++) {
            long word = table.word(slot & table.mask());
            if (word == 0) {
                if (slot >= end) {
                    break;
                }
                continue;
            }
            long entry = word & GroupTable.ADDRESS;
            if (stretch(Memory.getLong(entry)) == stretch) {
                if (count == entries.length) {
                    entries = Arrays.copyOf(entries, 2 * count);
                }
                entries[count++] = entry;
            }
        }
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
