package dev.millrace.engine.state;

import dev.millrace.memory.Memory;
import java.util.Arrays;

/**
 * The groups that something came for and that are still to be looked at, each once: its link is 1 while it is among them, and
 * whoever looks at it sets it to 0.
 */
public final class TouchedGroups {
    private static final int FIRST = 16;
    private static final int KEPT = 1_024; // beyond that an array is not kept for epochs to come

    private long[] entries = new long[FIRST];
    private int count;

    /** Adds a group unless it is among them. */
    public void add(long entry) {
        if (Memory.getLong(entry + GroupTable.LINK) == 0) {
            Memory.putLong(entry + GroupTable.LINK, 1);
            if (count == entries.length) {
                entries = Arrays.copyOf(entries, 2 * count);
            }
            entries[count++] = entry;
        }
    }

    public int count() {
        return count;
    }

    public long get(int index) {
        return entries[index];
    }

    /** Puts one that was got at an index at a lower one, to stay there. */
    public void keep(int index, long entry) {
        entries[index] = entry;
    }

    /** Forgets all but so many. */
    public void truncate(int length) {
        count = length;
        if (length == 0 && entries.length > KEPT) {
            entries = new long[FIRST];
        }
    }
}
