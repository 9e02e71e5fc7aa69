package dev.millrace.engine.join;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.engine.checkpoint.SectionOutput;
import dev.millrace.engine.state.EntryCursor;
import dev.millrace.engine.state.GroupTable;
import dev.millrace.engine.state.KeyGroupPart;
import dev.millrace.engine.state.KeyGroupPart.EntryWriter;
import dev.millrace.engine.state.KeyLayout;
import dev.millrace.engine.state.PackedCodec;
import dev.millrace.engine.state.RowLog;
import dev.millrace.engine.state.frozen.ChangedEntries;
import dev.millrace.engine.state.frozen.EntryWatch;
import dev.millrace.engine.state.frozen.FrozenChanges;
import dev.millrace.engine.state.frozen.FrozenEntries;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.memory.Memory;
import dev.millrace.operator.Freezing.Kept;
import dev.millrace.operator.FrozenState;
import dev.millrace.operator.Operator;
import dev.millrace.operator.StateFormat;
import dev.millrace.operator.StateWriter;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.LongPredicate;
import java.util.function.LongUnaryOperator;
import org.apache.arrow.memory.BufferAllocator;

/**
 * The rows of both sides of an {@link AppendedJoinOperator} by key: an entry per key with the head of a chain of rows for
 * each side, the newest first.
 *
 * <pre>
 *   entry: hash | link | keys | position of the last left row | of the last right row, 0 for none
 * </pre>
 *
 * Rows that are over go with their page of a {@link RowLog}. Where that leaves too many, because others that stay for long
 * are among them, all that are needed move to a new log: when there are three times as many bytes as after the last time,
 * so that each row moves a few times at most.
 */
final class AppendedRows implements AutoCloseable {
    private static final int GROWTH = 3;
    private static final long LEAST_BYTES = 64 << 10;
    private static final int LEAST_ENTRIES = 64;

    private final KeyLayout keys;
    private final List<AppendedSide> sides; // left, right
    private final GroupTable table;
    private long bytesMoved; // at the last move
    private long entriesKept; // at the last sweep
    private final ChangedEntries changes;
    private long keptLeft; // rows before this position are where they were written to
    private long keptRight;
    private long keptRows; // how many had come then
    private long lastLeft; // the same of when this was frozen last
    private long lastRight;
    private long lastRows;
    private long[] chain = new long[16]; // rows of a key, while they are written
    private boolean frozen; // nothing is forgotten
    private boolean closing; // when it is not frozen any more

    AppendedRows(KeyLayout keys, List<AppendedSide> sides, BufferAllocator allocator) {
        this.keys = keys;
        this.sides = sides;
        this.table = new GroupTable(allocator, new long[(keys.end() - GroupTable.BODY) / 8 + 2]);
        this.changes = new ChangedEntries(table, keys::write, allocator);
    }

    GroupTable table() {
        return table;
    }

    /** How far behind an entry its chain of a side's rows is. */
    int head(int port) {
        return keys.end() + 8 * port;
    }

    long size() {
        return sides.get(0).log().size() + sides.get(1).log().size();
    }

    /**
     * Keeps the rows that a side has chosen. Of entries whose rows come one after the other only the first since the last checkpoint is noted: the
     * position of the row before says which that is, and is at hand.
     *
     * @param entries of these rows; what is in it is gone after
     */
    void keep(int port, long[] entries) {
        int count = sides.get(port).keep(entries, head(port), port == 0 ? lastLeft : lastRight);
        for (int i = 0; i < count; i++) {
            changes.changed(entries[i]);
        }
    }

    long bytes() {
        return table.bytes() + sides.get(0).bytes() + sides.get(1).bytes();
    }

    // ---- time

    /** Forgets what none can reach any more, not necessarily all of it. */
    void forget(long watermark) {
        if (frozen) {
            return; // rows that are over were not at that moment
        }
        sides.forEach(side -> side.forget(watermark));
        long bytes = logBytes();
        if (bytes > GROWTH * Math.max(LEAST_BYTES, bytesMoved)) {
            moveAll(watermark);
            bytesMoved = logBytes();
        }
        if (table.size() > 2 * Math.max(LEAST_ENTRIES, entriesKept)) {
            removeEmptyEntries();
            entriesKept = table.size();
        }
    }

    private long logBytes() {
        return sides.get(0).log().bytes() + sides.get(1).log().bytes();
    }

    /**
     * Moves the rows that are needed to new logs: first those that are where they were written to, then those that were there when this was
     * frozen last, then all others; so that each of these still ends at one position.
     */
    private void moveAll(long watermark) {
        keptRows = 0;
        lastRows = 0;
        for (int port = 0; port < 2; port++) {
            AppendedSide side = sides.get(port);
            try (RowLog old = side.renew()) {
                long kept = port == 0 ? keptLeft : keptRight;
                long last = port == 0 ? lastLeft : lastRight;
                move(port, old, old.begin(), kept, watermark);
                long newKept = side.log().end();
                keptRows += side.log().added();
                move(port, old, Math.max(old.begin(), kept), last, watermark);
                long newLast = side.log().end();
                lastRows += side.log().added();
                move(port, old, Math.max(old.begin(), last), Long.MAX_VALUE, watermark);
                if (port == 0) {
                    keptLeft = newKept;
                    lastLeft = newLast;
                } else {
                    keptRight = newKept;
                    lastRight = newLast;
                }
                setHeads(port);
            }
        }
    }

    /** Moves rows from one position on and before another, of each key the oldest first; until all are moved the new heads are links. */
    private void move(int port, RowLog old, long from, long end, long watermark) {
        if (from >= end) {
            return;
        }
        AppendedSide side = sides.get(port);
        EntryCursor cursor = new EntryCursor(table, 1024);
        for (int count = cursor.advance(); count > 0; count = cursor.advance()) {
            for (int i = 0; i < count; i++) {
                long entry = cursor.entries()[i];
                int found = 0;
                for (long at = newestPosition(old, entry + head(port), end); at >= from; ) {
                    long row = old.address(at);
                    if (!side.isOver(row, watermark)) {
                        chain = found == chain.length ? Arrays.copyOf(chain, 2 * found) : chain;
                        chain[found++] = row + RowLog.HEADER;
                    }
                    at = old.before(at, row);
                }
                long last = Memory.getLong(entry + GroupTable.LINK);
                while (--found >= 0) {
                    last = side.add(chain[found], side.codec().length(chain[found]), last);
                }
                Memory.putLong(entry + GroupTable.LINK, last);
            }
        }
    }

    private void setHeads(int port) {
        EntryCursor cursor = new EntryCursor(table, 1024);
        for (int count = cursor.advance(); count > 0; count = cursor.advance()) {
            for (int i = 0; i < count; i++) {
                long entry = cursor.entries()[i];
                Memory.putLong(entry + head(port), Memory.getLong(entry + GroupTable.LINK));
                Memory.putLong(entry + GroupTable.LINK, 0);
            }
        }
    }

    private boolean isEmpty(long entry) {
        return Memory.getLong(entry + head(0)) < sides.get(0).log().begin()
                && Memory.getLong(entry + head(1)) < sides.get(1).log().begin();
    }

    /** Removes those entries that have no rows, some of which may come several times; what is in the array is gone after. */
    void removeEmpty(long[] entries, int count) {
        int empty = 0;
        for (int i = 0; i < count; i++) {
            long entry = entries[i];
            if (isEmpty(entry) && Memory.getLong(entry + GroupTable.LINK) == 0) {
                Memory.putLong(entry + GroupTable.LINK, 1);
                entries[empty++] = entry;
            }
        }
        for (int i = 0; i < empty; i++) {
            remove(entries[i]);
        }
    }

    private void remove(long entry) {
        changes.unmark(entry);
        keys.free(entry, table.memory());
        table.remove(entry);
    }

    private void removeEmptyEntries() {
        EntryCursor cursor = new EntryCursor(table, table.size());
        int count = cursor.advance();
        for (int i = 0; i < count; i++) {
            long entry = cursor.entries()[i];
            if (isEmpty(entry)) {
                remove(entry);
            }
        }
    }

    // ---- going over all

    /** Gives all rows of a side as they came, at most so many at a time, in batches that are the taker's to close. */
    void forEach(int port, int most, Consumer<Batch> taker) {
        AppendedSide side = sides.get(port);
        RowLog log = side.log();
        long[] entries = new long[most];
        long[] rows = new long[most];
        int found = 0;
        EntryCursor cursor = new EntryCursor(table, 1024);
        for (int count = cursor.advance(); count > 0; count = cursor.advance()) {
            for (int i = 0; i < count; i++) {
                long entry = cursor.entries()[i];
                for (long at = Memory.getLong(entry + head(port));
                        at >= log.begin();
                        at = log.before(at, log.address(at))) {
                    entries[found] = entry;
                    rows[found++] = log.address(at) + RowLog.HEADER;
                    if (found == most) {
                        taker.accept(side.unpacked(keys, entries, rows, found));
                        found = 0;
                    }
                }
            }
        }
        if (found > 0) {
            taker.accept(side.unpacked(keys, entries, rows, found));
        }
    }

    // ---- snapshots

    /** Writes per key group the number of entries, then each one's keys and its rows, left and right. */
    void write(StateFormat state, StateWriter writer) throws IOException {
        KeyGroupPart.of(
                        table,
                        (entry, out) -> {
                            keys.write(entry, out);
                            write(0, entry, 0, Long.MAX_VALUE, Operator.NO_WATERMARK, out);
                            write(1, entry, 0, Long.MAX_VALUE, Operator.NO_WATERMARK, out);
                        },
                        entry -> newest(0, entry, Long.MAX_VALUE),
                        entry -> newest(1, entry, Long.MAX_VALUE))
                .write(writer, state);
    }

    /**
     * The rows of now, or those that came since what is kept, which are told from those to come by their positions. Until it is closed
     * nothing is forgotten, nor freed. Rows that none can reach any more, of which there may be many, are not written.
     *
     * @param since the state that rows are which came since others
     */
    FrozenState freeze(StateFormat state, StateFormat since, Kept kept, long watermark) {
        assert !frozen : "frozen twice";
        if (kept == Kept.ALL) {
            keptLeft = lastLeft;
            keptRight = lastRight;
            keptRows = lastRows;
        }
        long left = sides.get(0).log().end();
        long right = sides.get(1).log().end();
        long rows = sides.get(0).log().added() + sides.get(1).log().added();
        lastLeft = left;
        lastRight = right;
        lastRows = rows;
        boolean isEnough = changes.freeze(kept, size(), () -> rows - keptRows);
        long fromLeft = isEnough ? keptLeft : 0;
        long fromRight = isEnough ? keptRight : 0;
        EntryWriter writer = (entry, out) -> {
            keys.write(entry, out);
            write(0, entry, fromLeft, left, watermark, out);
            write(1, entry, fromRight, right, watermark, out);
        };
        LongPredicate exists =
                entry -> hasRows(0, entry, fromLeft, left, watermark) || hasRows(1, entry, fromRight, right, watermark);
        LongUnaryOperator newestLeft = entry -> newest(0, entry, left);
        LongUnaryOperator newestRight = entry -> newest(1, entry, right);
        EntryWatch entries = isEnough
                ? changes.freezeChanges(since, writer, exists, newestLeft, newestRight)
                : new FrozenEntries(table, state, writer, exists, newestLeft, newestRight);
        frozen = true;
        return new FrozenState() {
            @Override
            public boolean isWhole() {
                return entries.isWhole();
            }

            @Override
            public boolean writeMore(StateWriter writer) throws IOException {
                return entries.writeMore(writer);
            }

            @Override
            public void close() {
                entries.close();
                frozen = false;
                if (closing) {
                    closing = false;
                    AppendedRows.this.close();
                }
            }
        };
    }

    /** The newest row of a key before a position, or 0. */
    private long newest(int port, long entry, long end) {
        RowLog log = sides.get(port).log();
        long at = newestPosition(log, entry + head(port), end);
        return at >= log.begin() ? log.address(at) : 0;
    }

    private static long newestPosition(RowLog log, long head, long end) {
        long at = Memory.getLong(head);
        while (at >= end) {
            at = log.before(at, log.address(at));
        }
        return at;
    }

    /** Whether a key has rows that {@link #write(int, long, long, long, long, DataOutput)} writes. */
    private boolean hasRows(int port, long entry, long from, long end, long watermark) {
        AppendedSide side = sides.get(port);
        RowLog log = side.log();
        long begin = Math.max(from, log.begin());
        for (long at = newestPosition(log, entry + head(port), end); at >= begin; ) {
            long row = log.address(at);
            if (!side.isOver(row, watermark)) {
                return true;
            }
            at = log.before(at, row);
        }
        return false;
    }

    /** Writes the rows of a key that are there from one position on and before another, and are not over. */
    private void write(int port, long entry, long from, long end, long watermark, DataOutput out) throws IOException {
        AppendedSide side = sides.get(port);
        RowLog log = side.log();
        long begin = Math.max(from, log.begin());
        int count = 0;
        for (long at = newestPosition(log, entry + head(port), end); at >= begin; ) {
            long row = log.address(at);
            if (!side.isOver(row, watermark)) {
                chain = count == chain.length ? Arrays.copyOf(chain, 2 * count) : chain;
                chain[count++] = row + RowLog.HEADER;
            }
            at = log.before(at, row);
        }
        out.writeInt(count);
        PackedCodec codec = side.codec();
        while (--count >= 0) { // the oldest first
            long inlined = codec.inlined(chain[count]);
            SectionOutput.writeBytes(inlined, codec.length(inlined), out);
        }
    }

    /** Adds the entries of a key group that {@link #write} wrote. */
    void read(DataInput in) throws IOException {
        GroupTable.Filling entries = table.fill(in);
        for (int left = in.readInt(); left > 0; left--) {
            long entry = keys.readNew(table, in);
            entries.add(entry);
            read(0, entry, in);
            read(1, entry, in);
        }
        entries.end();
    }

    /** The same of entries some of which may be there, with rows to which those that are read are added. */
    void readChanges(DataInput in) throws IOException {
        if (FrozenChanges.readKind(in) == FrozenChanges.GONE) {
            throw MillraceException.external(SqlState.DATA_CORRUPTED, "rows of a join that only come have gone");
        }
        for (int left = in.readInt(); left > 0; left--) {
            long made = keys.readNew(table, in);
            long entry = keys.find(table, Memory.getLong(made), made);
            if (entry >= 0) {
                keys.free(made, table.memory());
                table.discard(made);
            } else {
                entry = made;
                table.put(made);
            }
            read(0, entry, in);
            read(1, entry, in);
        }
    }

    private void read(int port, long entry, DataInput in) throws IOException {
        for (int left = in.readInt(); left > 0; left--) {
            long head = entry + head(port);
            Memory.putLong(head, sides.get(port).read(in, Memory.getLong(head)));
        }
    }

    @Override
    public void close() {
        closing = frozen;
        if (frozen) {
            return;
        }
        Closing.all(List.of(changes, table, sides.get(0), sides.get(1)));
    }
}
