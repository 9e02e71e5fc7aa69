package dev.millrace.engine.state.frozen;

import dev.millrace.engine.state.GroupTable;
import dev.millrace.engine.state.KeyGroupEntries;
import dev.millrace.engine.state.KeyGroupPart;
import dev.millrace.memory.Memory;
import dev.millrace.operator.KeyGroups;
import dev.millrace.operator.StateFormat;
import dev.millrace.operator.StateWriter;
import java.io.IOException;
import java.util.Arrays;
import java.util.function.LongPredicate;
import java.util.function.LongUnaryOperator;

/**
 * The entries that a table had at one moment, written in the order of their places in the index while rows change them. That order is of
 * the hashes alone, so it stays when the index grows or entries go:
 *
 * <pre>
 *   hash &lt;&lt; KeyGroups.BITS   below {@code next}: written;   from there on: as it was, unless it is among those that were {@link #early}
 * </pre>
 *
 * Before an entry changes whose turn is still to come its owner says so, and it is written at once, to the Java heap; so of an entry that is
 * new it is noted that it is not to be written. One thread.
 */
public final class FrozenEntries implements EntryWatch {
    /** Slots of the index that are gone over at a time: some thousand entries. */
    private static final int SLOTS = 1 << 14;

    /** Changes beyond which the scan gets more turns: each costs memory until it is at its end. */
    private static final int MANY_EARLY = 1 << 18;

    private static final int MANY_ROUNDS = 8;
    private static final int EARLY_BYTES = 4 << 10; // of a key group, from which on they are worth a part of their own

    private final GroupTable table;
    private final StateFormat state;
    private final KeyGroupPart.EntryWriter writer;
    private final LongPredicate exists;
    private final LongUnaryOperator[] far;
    private AddressSet early = new AddressSet(); // entries whose turn is to come, and that are not to be written then
    private final KeyGroupBytes changed = new KeyGroupBytes(); // that were written before their turn
    private long[] chunk = new long[SLOTS / 2];
    private long next; // unsigned
    private boolean scanned;

    /**
     * The entries that {@code table} has now.
     *
     * @param writer of one entry, given those that exist
     * @param exists whether an entry is of the state; one that was put into the table just now is not
     * @param far see {@link KeyGroupPart#of}
     */
    public FrozenEntries(
            GroupTable table,
            StateFormat state,
            KeyGroupPart.EntryWriter writer,
            LongPredicate exists,
            LongUnaryOperator... far) {
        this.table = table;
        this.state = state;
        this.writer = writer;
        this.exists = exists;
        this.far = far;
    }

    @Override
    public boolean isWhole() {
        return true;
    }

    @Override
    public void beforeChange(long entry) {
        if (isToCome(entry) && early.add(entry) && exists.test(entry)) {
            changed.add(entry, writer);
        }
    }

    @Override
    public void arrived(long entry, boolean isDue) {
        if (isToCome(entry)) {
            early.add(entry);
        }
        if (isDue) {
            changed.add(entry, writer);
        }
    }

    private boolean isToCome(long entry) {
        return !scanned && Long.compareUnsigned(Memory.getLong(entry) << KeyGroups.BITS, next) >= 0;
    }

    @Override
    public boolean writeMore(StateWriter to) throws IOException {
        for (int round = early.size() > MANY_EARLY ? MANY_ROUNDS : 1; round > 0 && !scanned; round--) {
            scan(to);
        }
        writeEarlier(to, scanned);
        return scanned;
    }

    @Override
    public void writeEarlier(StateWriter to, boolean all) throws IOException {
        changed.takeOut(all ? 0 : EARLY_BYTES, group -> to.keyGroup(state, group));
    }

    /** Writes the entries of the next slots: all that would be looked for there first, wherever they found room. */
    private void scan(StateWriter to) throws IOException {
        long slots = table.mask() + 1;
        long first = next >>> table.shift();
        long end = Math.min(slots, first + SLOTS);
        boolean last = end == slots;
        long below = last ? -1L : (end << table.shift()) - 1; // the greatest of them
        int count = 0;
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
            boolean isDue = Long.compareUnsigned(order, next) >= 0 && Long.compareUnsigned(order, below) <= 0;
            if (isDue && !early.contains(entry) && exists.test(entry)) {
                if (count == chunk.length) {
                    chunk = Arrays.copyOf(chunk, 2 * count);
                }
                chunk[count++] = entry;
            }
        }
        KeyGroupPart.of(new KeyGroupEntries(chunk, count), writer, far).write(to, state);
        next = below + 1;
        scanned = last;
    }

    @Override
    public void close() {
        scanned = true;
        early = new AddressSet();
        chunk = new long[0];
        changed.clear();
    }
}
