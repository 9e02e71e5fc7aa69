package dev.millrace.engine.state.frozen;

import dev.millrace.engine.state.GroupTable;
import dev.millrace.engine.state.KeyGroupEntries;
import dev.millrace.engine.state.KeyGroupPart.EntryWriter;
import dev.millrace.memory.Memory;
import dev.millrace.operator.KeyGroups;
import dev.millrace.operator.StateFormat;
import dev.millrace.operator.StateWriter;
import java.io.IOException;
import java.util.function.LongPredicate;
import java.util.function.LongUnaryOperator;

/**
 * The entries that a table had at one moment, written while rows change them, as {@link EntryScan} comes to them: as they were, unless they are
 * among those that were {@link #early}.
 *
 * <p>Before an entry changes whose turn is still to come its owner says so, and it is written at once, to the Java heap; so of an entry that is
 * new it is noted that it is not to be written. One thread.
 */
public final class FrozenEntries implements EntryWatch {
    /** Changes beyond which the scan gets more turns: each costs memory until it is at its end. */
    private static final int MANY_EARLY = 1 << 18;

    private static final int MANY_ROUNDS = 8;
    private static final int EARLY_BYTES = 4 << 10; // of a key group, from which on they are worth a part of their own

    private final EntryScan scan;
    private final Parts parts;
    private final LongUnaryOperator owner;
    private final EntryWriter writer;
    private final LongPredicate exists;
    private final LongUnaryOperator[] far;
    private AddressSet early = new AddressSet(); // entries whose turn is to come, and that are not to be written then
    private final KeyGroupBytes changed; // that were written before their turn

    /**
     * The entries that {@code table} has now.
     *
     * @param writer of one entry, given those that exist
     * @param exists whether an entry is of the state; one that was put into the table just now is not
     * @param far see {@link dev.millrace.engine.state.KeyGroupPart#of}
     */
    public FrozenEntries(
            GroupTable table, StateFormat state, EntryWriter writer, LongPredicate exists, LongUnaryOperator... far) {
        this(table, Parts.of(state), entry -> entry, writer, exists, far);
    }

    /** @param owner of an entry the one by whose hash it is of a key group */
    public FrozenEntries(
            GroupTable table,
            Parts parts,
            LongUnaryOperator owner,
            EntryWriter writer,
            LongPredicate exists,
            LongUnaryOperator... far) {
        this.scan = new EntryScan(table);
        this.parts = parts;
        this.owner = owner;
        this.writer = writer;
        this.exists = exists;
        this.far = far;
        this.changed = new KeyGroupBytes(owner);
    }

    @Override
    public boolean isWhole() {
        return true;
    }

    @Override
    public void beforeChange(long entry) {
        if (scan.isToCome(Memory.getLong(entry)) && early.add(entry) && exists.test(entry)) {
            changed.add(entry, writer);
        }
    }

    @Override
    public void arrived(long entry, boolean isDue) {
        if (scan.isToCome(Memory.getLong(entry))) {
            early.add(entry);
        }
        if (isDue) {
            changed.add(entry, writer);
        }
    }

    @Override
    public boolean writeMore(StateWriter to) throws IOException {
        for (int round = early.size() > MANY_EARLY ? MANY_ROUNDS : 1; round > 0 && !scan.isDone(); round--) {
            writeNext(to);
        }
        writeEarlier(to, scan.isDone());
        return scan.isDone();
    }

    @Override
    public void writeEarlier(StateWriter to, boolean all) throws IOException {
        changed.takeOut(all ? 0 : EARLY_BYTES, group -> parts.begin(to, group));
    }

    private void writeNext(StateWriter to) throws IOException {
        int found = scan.advance(EntryScan.SLOTS);
        long[] entries = scan.entries();
        int left = 0;
        for (int i = 0; i < found; i++) {
            if (!early.contains(entries[i]) && exists.test(entries[i])) {
                entries[left++] = entries[i];
            }
        }
        KeyGroupEntries some = new KeyGroupEntries(entries, left, owner);
        for (int group = 0; group < KeyGroups.COUNT; group++) {
            if (some.count(group) > 0) {
                some.write(group, parts.begin(to, group), writer, far);
            }
        }
    }

    @Override
    public void close() {
        scan.end();
        early = new AddressSet();
        changed.clear();
    }
}
