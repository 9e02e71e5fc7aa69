package dev.millrace.engine.state.frozen;

import dev.millrace.engine.state.KeyGroupEntries;
import dev.millrace.engine.state.KeyGroupPart.EntryWriter;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.operator.KeyGroups;
import dev.millrace.operator.StateWriter;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.function.LongPredicate;
import java.util.function.LongUnaryOperator;

/**
 * The entries of a table that are marked at one moment, written as they were then while rows change them, behind the keys of those that
 * had gone:
 *
 * <pre>
 *   part = 1, 1 byte | number of keys, 4 bytes | keys that are not there any more
 *        | 2, 1 byte | number of entries, 4 bytes | entries that are new, or are not as they were
 * </pre>
 *
 * They are written in the order of their marks; an entry that changes before its turn is written then, to the Java heap. One thread.
 */
public final class FrozenChanges implements EntryWatch {
    /** What a part begins with that has keys. */
    public static final int GONE = 1;

    /** What a part begins with that has entries. */
    public static final int CHANGED = 2;

    private static final int TOGETHER = 1 << 13;
    private static final int MANY_EARLY = 1 << 18; // changes beyond which more is written at a time
    private static final int MANY_ROUNDS = 8;
    private static final int EARLY_BYTES = 4 << 10; // of a key group, that are worth a part of their own
    private static final int GONE_GROUPS = 16; // that are written at a time

    private final EntryMarks marks;
    private final KeyGroupBytes gone;
    private final Parts parts;
    private final LongUnaryOperator owner;
    private final EntryWriter writer;
    private final LongPredicate exists;
    private final LongUnaryOperator[] far;
    private final KeyGroupBytes early;
    private AddressSet written = new AddressSet(); // before their turn
    private final long[] entries = new long[TOGETHER];
    private final int[] count = new int[1];
    private int nextGone;
    private long next; // place of the first mark that is still to come; -1: none is

    /**
     * @param marks from which only those of entries that go are taken away until this is closed
     * @param gone keys, none of which is added meanwhile
     * @param owner of an entry the one by whose hash it is of a key group
     * @param exists whether an entry has something to be written
     * @param far see {@link dev.millrace.engine.state.KeyGroupPart#of}
     */
    FrozenChanges(
            EntryMarks marks,
            KeyGroupBytes gone,
            Parts parts,
            LongUnaryOperator owner,
            EntryWriter writer,
            LongPredicate exists,
            LongUnaryOperator... far) {
        this.marks = marks;
        this.gone = gone;
        this.parts = parts;
        this.owner = owner;
        this.early = new KeyGroupBytes(owner);
        this.writer = writer;
        this.exists = exists;
        this.far = far;
    }

    /** What a part has, {@link #GONE} or {@link #CHANGED}. */
    public static int readKind(DataInput in) throws IOException {
        int kind = in.readByte();
        if (kind != GONE && kind != CHANGED) {
            throw MillraceException.external(
                    SqlState.DATA_CORRUPTED, "what changed of a state has a part of kind " + kind);
        }
        return kind;
    }

    @Override
    public boolean isWhole() {
        return false;
    }

    @Override
    public void beforeChange(long entry) {
        if (next < 0) {
            return;
        }
        long place = marks.place(entry);
        if (place >= next && written.add(entry) && exists.test(entry)) {
            early.add(entry, writer);
        }
    }

    @Override
    public void arrived(long entry, boolean isDue) {
        if (next >= 0) {
            written.add(entry); // it is marked again where it is now
        }
        if (isDue) {
            early.add(entry, writer);
        }
    }

    @Override
    public void writeEarlier(StateWriter to, boolean all) throws IOException {
        early.takeOut(all ? 0 : EARLY_BYTES, group -> begin(to, group));
    }

    @Override
    public boolean writeMore(StateWriter to) throws IOException {
        if (nextGone < KeyGroups.COUNT) {
            for (int end = nextGone + GONE_GROUPS; nextGone < end; nextGone++) {
                gone.write(nextGone, group -> begin(to, group, GONE));
            }
        } else {
            for (int round = written.size() > MANY_EARLY ? MANY_ROUNDS : 1; round > 0 && next >= 0; round--) {
                writeNext(to);
            }
            writeEarlier(to, next < 0);
        }
        return next < 0;
    }

    /** Begins a part of entries that changed, whose number follows. */
    public DataOutput begin(StateWriter to, int group) throws IOException {
        return begin(to, group, CHANGED);
    }

    private DataOutput begin(StateWriter to, int group, int kind) throws IOException {
        DataOutput out = parts.begin(to, group);
        out.writeByte(kind);
        return out;
    }

    private void writeNext(StateWriter to) throws IOException {
        long after = marks.next(next, entries, count);
        int left = 0;
        for (int i = 0; i < count[0]; i++) {
            if (!written.contains(entries[i]) && exists.test(entries[i])) {
                entries[left++] = entries[i];
            }
        }
        KeyGroupEntries some = new KeyGroupEntries(entries, left, owner);
        for (int group = 0; group < KeyGroups.COUNT; group++) {
            if (some.count(group) > 0) {
                some.write(group, begin(to, group), writer, far);
            }
        }
        next = after;
    }

    @Override
    public void close() {
        next = -1;
        written = new AddressSet();
        early.clear();
    }
}
