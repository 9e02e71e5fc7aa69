package dev.millrace.engine.match;

import dev.millrace.batch.Closing;
import dev.millrace.engine.state.GroupTable;
import dev.millrace.engine.state.KeyLayout;
import dev.millrace.engine.state.RowOrder;
import dev.millrace.memory.Memory;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import org.apache.arrow.memory.BufferAllocator;

/**
 * What is kept of each partition: its rows from a little before the row at which a match is looked for, in order, and how
 * far they were looked at.
 *
 * <pre>
 *   keys | first row | last row | match number | first due row | last due row
 *        | rows | start | decided | matched, 4 bytes each | rows pending elsewhere | flags
 * </pre>
 *
 * {@code start}: where the search begins; {@code decided}: rows whose words hold their conditions; {@code matched}: behind
 * the last row that is of a match. A due row waits to be sorted in, linked to its partition.
 */
final class Partitions implements AutoCloseable {
    private static final int FIRST = 0;
    private static final int LAST = 8;
    private static final int NUMBER = 16;
    private static final int FIRST_DUE = 24;
    private static final int LAST_DUE = 32;
    private static final int ROWS = 40;
    private static final int START = 44;
    private static final int DECIDED = 48;
    private static final int MATCHED = 52;
    private static final int PENDING = 56;
    private static final int FLAGS = 60;
    private static final int BYTES = 64;

    /** Rows were forgotten: the first one here is not the partition's first. */
    static final int CUT = 1;
    /** The partition has a deadline. */
    static final int TIMED = 2;
    /** The partition is to be looked at in this round. */
    static final int TOUCHED = 4;

    private final KeyLayout keys;
    private final GroupTable table;
    private final StoredRows rows;
    private final RowOrder order;
    private final int body;
    private long[] due = new long[64];

    Partitions(KeyLayout keys, RowOrder order, BufferAllocator allocator) {
        this.keys = keys;
        this.order = order;
        this.body = keys.end();
        this.table = new GroupTable(allocator, new long[(keys.end() - GroupTable.BODY + BYTES) / 8]);
        this.rows = new StoredRows(allocator);
    }

    GroupTable table() {
        return table;
    }

    StoredRows rows() {
        return rows;
    }

    long bytes() {
        return table.bytes() + rows.bytes();
    }

    private int get(long entry, int field) {
        return Memory.getInt(entry + body + field);
    }

    private void set(long entry, int field, int value) {
        Memory.putInt(entry + body + field, value);
    }

    long first(long entry) {
        return Memory.getLong(entry + body + FIRST);
    }

    int count(long entry) {
        return get(entry, ROWS);
    }

    int start(long entry) {
        return get(entry, START);
    }

    int decided(long entry) {
        return get(entry, DECIDED);
    }

    void setDecided(long entry, int decided) {
        set(entry, DECIDED, decided);
    }

    int matched(long entry) {
        return get(entry, MATCHED);
    }

    void setMatched(long entry, int matched) {
        set(entry, MATCHED, matched);
    }

    boolean is(long entry, int flag) {
        return (get(entry, FLAGS) & flag) != 0;
    }

    void flag(long entry, int flag, boolean on) {
        int flags = get(entry, FLAGS);
        set(entry, FLAGS, on ? flags | flag : flags & ~flag);
    }

    /** The number of the next match, which is taken. */
    long nextNumber(long entry) {
        long number = Memory.getLong(entry + body + NUMBER) + 1;
        Memory.putLong(entry + body + NUMBER, number);
        return number;
    }

    long number(long entry) {
        return Memory.getLong(entry + body + NUMBER);
    }

    void addPending(long entry, int count) {
        set(entry, PENDING, get(entry, PENDING) + count);
    }

    /** Links a pending row to its partition, whose rows it will be sorted into. */
    void addDue(long entry, long row) {
        long last = Memory.getLong(entry + body + LAST_DUE);
        if (last == 0) {
            Memory.putLong(entry + body + FIRST_DUE, row);
        } else {
            StoredRows.link(last, row);
        }
        Memory.putLong(entry + body + LAST_DUE, row);
        addPending(entry, -1);
    }

    /** Puts the due rows behind the others, in order. */
    void sortIn(long entry) {
        int count = 0;
        boolean sorted = true;
        for (long row = Memory.getLong(entry + body + FIRST_DUE); row != 0; row = StoredRows.next(row)) {
            if (count == due.length) {
                due = Arrays.copyOf(due, 2 * count);
            }
            sorted &= count == 0 || order.compare(due[count - 1], row) <= 0;
            due[count++] = row;
        }
        if (!sorted) {
            order.sort(due, count);
        }
        for (int i = 0; i < count; i++) {
            append(entry, due[i]);
        }
        Memory.putLong(entry + body + FIRST_DUE, 0);
        Memory.putLong(entry + body + LAST_DUE, 0);
    }

    private void append(long entry, long row) {
        StoredRows.link(row, 0);
        long last = Memory.getLong(entry + body + LAST);
        if (last == 0) {
            Memory.putLong(entry + body + FIRST, row);
        } else {
            StoredRows.link(last, row);
        }
        Memory.putLong(entry + body + LAST, row);
        set(entry, ROWS, count(entry) + 1);
    }

    /** Forgets the first rows; the search goes on at {@code start}, counted before. */
    void advance(long entry, int gone, int start) {
        long row = first(entry);
        for (int i = 0; i < gone; i++) {
            long next = StoredRows.next(row);
            rows.free(row);
            row = next;
        }
        Memory.putLong(entry + body + FIRST, row);
        if (row == 0) {
            Memory.putLong(entry + body + LAST, 0);
        }
        set(entry, ROWS, count(entry) - gone);
        set(entry, START, start - gone);
        set(entry, DECIDED, Math.max(0, decided(entry) - gone));
        set(entry, MATCHED, Math.max(0, matched(entry) - gone));
        if (gone > 0) {
            flag(entry, CUT, true);
        }
    }

    /** Whether nothing is known of the partition but its number. */
    boolean isEmpty(long entry) {
        return count(entry) == 0 && get(entry, PENDING) == 0;
    }

    void remove(long entry) {
        keys.free(entry, table.memory());
        table.remove(entry);
    }

    // ---- snapshots -------------------------------------------------------------------------------------------------

    /** Writes a partition. */
    void write(long entry, DataOutput out) throws IOException {
        keys.write(entry, out);
        out.writeLong(number(entry));
        out.writeInt(start(entry));
        out.writeInt(decided(entry));
        out.writeInt(matched(entry));
        out.writeBoolean(is(entry, CUT));
        out.writeInt(count(entry));
        for (long row = first(entry); row != 0; row = StoredRows.next(row)) {
            StoredRows.write(row, out);
        }
    }

    /** Adds the partitions of a key group; {@code more} reads what followed each. */
    void read(DataInput in, EntryReader more) throws IOException {
        for (int left = in.readInt(); left > 0; left--) {
            long entry = keys.read(table, in);
            Memory.putLong(entry + body + NUMBER, in.readLong());
            set(entry, START, in.readInt());
            set(entry, DECIDED, in.readInt());
            set(entry, MATCHED, in.readInt());
            flag(entry, CUT, in.readBoolean());
            for (int count = in.readInt(); count > 0; count--) {
                append(entry, rows.read(in));
            }
            more.read(entry);
        }
    }

    /** Reads what is kept elsewhere of a partition. */
    @FunctionalInterface
    interface EntryReader {
        void read(long entry) throws IOException;
    }

    @Override
    public void close() {
        Closing.all(List.of(table, rows));
    }
}
