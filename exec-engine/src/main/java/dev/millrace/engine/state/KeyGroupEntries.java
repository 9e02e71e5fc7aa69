package dev.millrace.engine.state;

import dev.millrace.memory.Memory;
import dev.millrace.operator.KeyGroups;
import java.io.DataOutput;
import java.io.IOException;
import java.util.Arrays;
import java.util.function.LongUnaryOperator;

/** The entries of a table sorted by key group, as a snapshot writes them. */
public final class KeyGroupEntries {
    /** Entries that are loaded together: they and what they lead to fit into the nearest cache. */
    public static final int AHEAD = 64;

    private final long[] entries;
    private final long[] ahead = new long[AHEAD];
    private long touched; // keeps the JIT from dropping the loads of loadAhead
    private final int[] starts = new int[KeyGroups.COUNT + 1];

    /** The entries of a table by their own hashes. */
    public KeyGroupEntries(GroupTable table) {
        this(table, entry -> entry);
    }

    /** The entries of a table by the hashes of other entries that they belong to. */
    public KeyGroupEntries(GroupTable table, LongUnaryOperator owner) {
        this(all(table), table.size(), owner);
    }

    /** The first {@code count} of some entries, by their own hashes. */
    public KeyGroupEntries(long[] some, int count) {
        this(some, count, entry -> entry);
    }

    /** The first {@code count} of some entries, by the hashes of other entries that they belong to. */
    public KeyGroupEntries(long[] all, int count, LongUnaryOperator owner) {
        byte[] groups = new byte[count]; // each hash is looked at once: it may be far away
        for (int i = 0; i < count; i++) {
            int group = group(owner, all[i]);
            groups[i] = (byte) group;
            starts[group + 1]++;
        }
        for (int group = 0; group < KeyGroups.COUNT; group++) {
            starts[group + 1] += starts[group];
        }
        entries = new long[count];
        int[] next = Arrays.copyOf(starts, KeyGroups.COUNT);
        for (int i = 0; i < count; i++) {
            entries[next[groups[i] & 0xFF]++] = all[i];
        }
    }

    private static long[] all(GroupTable table) {
        long[] all = new long[table.size() + 1];
        int[] count = new int[1];
        table.entries(0, all, count);
        assert count[0] == table.size() : count[0] + " entries of " + table.size();
        return all;
    }

    private static int group(LongUnaryOperator owner, long entry) {
        return KeyGroups.of(Memory.getLong(owner.applyAsLong(entry)));
    }

    /**
     * Loads some entries of a key group, and then where each leads to: in loops whose turns do not wait for each other, so that they
     * are near when they are written one by one. To be called before each of the entries {@code from}, a multiple of {@link #AHEAD}, is.
     *
     * @param far addresses that an entry leads to, 0 for none
     */
    public void loadAhead(int group, int from, LongUnaryOperator... far) {
        int first = starts[group] + from;
        int count = Math.min(AHEAD, starts[group + 1] - first);
        long sum = 0;
        for (int i = 0; i < count; i++) {
            sum ^= Memory.getLong(entries[first + i] + GroupTable.LINK);
        }
        for (LongUnaryOperator each : far) {
            int found = 0;
            for (int i = 0; i < count; i++) {
                ahead[found] = each.applyAsLong(entries[first + i]);
                found += ahead[found] == 0 ? 0 : 1;
            }
            for (int i = 0; i < found; i++) {
                sum ^= Memory.getByte(ahead[i]);
            }
        }
        touched = sum;
    }

    /** Writes how many entries a key group has, 4 bytes, then each. @param far see {@link #loadAhead} */
    public void write(int group, DataOutput out, KeyGroupPart.EntryWriter writer, LongUnaryOperator... far)
            throws IOException {
        out.writeInt(count(group));
        for (int i = 0; i < count(group); i++) {
            if (i % AHEAD == 0) {
                loadAhead(group, i, far);
            }
            writer.write(entry(group, i), out);
        }
    }

    /** How many entries a key group has. */
    public int count(int group) {
        return starts[group + 1] - starts[group];
    }

    /** The i-th entry of a key group. */
    public long entry(int group, int i) {
        return entries[starts[group] + i];
    }
}
