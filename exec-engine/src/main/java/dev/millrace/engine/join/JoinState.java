package dev.millrace.engine.join;

import dev.millrace.batch.Closing;
import dev.millrace.batch.Memory;
import dev.millrace.engine.state.EntryCursor;
import dev.millrace.engine.state.GroupTable;
import dev.millrace.engine.state.KeyLayout;
import dev.millrace.engine.state.RowTable;
import java.util.Arrays;
import java.util.List;
import java.util.function.LongConsumer;
import org.apache.arrow.memory.BufferAllocator;

/** The rows of both sides by key: an entry per key with a list for each side. A row's note is the weight it matched. */
final class JoinState implements AutoCloseable {
    private final KeyLayout keys;
    private final GroupTable table;
    private final List<RowTable> rows; // left, right
    private final boolean[] isIndexed = new boolean[2]; // whether a side's rows are found by their bytes

    JoinState(KeyLayout keys, BufferAllocator allocator) {
        this.keys = keys;
        this.table = new GroupTable(allocator, new long[(keys.end() - GroupTable.BODY + 2 * RowTable.LIST_BYTES) / 8]);
        this.rows = List.of(new RowTable(allocator), new RowTable(allocator));
    }

    GroupTable table() {
        return table;
    }

    RowTable rows(int side) {
        return rows.get(side);
    }

    /**
     * Adds to the weight of a row of a side, and returns the row, or 0 when it is gone. Until the first row is taken back,
     * rows are only appended: who never looks for them needs no index.
     */
    long addRow(int side, long entry, long row, int length, long weight) {
        if (weight > 0 && !isIndexed[side]) {
            return rows.get(side).append(list(entry, side), row, length, weight);
        }
        if (!isIndexed[side]) {
            index(side);
        }
        return rows.get(side).addRow(list(entry, side), row, length, weight);
    }

    private void index(int side) {
        isIndexed[side] = true;
        EntryCursor cursor = new EntryCursor(table, 1024);
        for (int count = cursor.advance(); count > 0; count = cursor.advance()) {
            for (int i = 0; i < count; i++) {
                rows.get(side).index(list(cursor.entries()[i], side));
            }
        }
    }

    /** The list of a side in an entry. */
    long list(long entry, int side) {
        return entry + keys.end() + (long) side * RowTable.LIST_BYTES;
    }

    /** Removes an entry both of whose lists are empty; once, however often it is asked to before the next insertion. */
    void removeIfEmpty(long entry) {
        boolean isEmpty = RowTable.first(list(entry, 0)) == 0 && RowTable.first(list(entry, 1)) == 0;
        if (isEmpty && Memory.getLong(entry + GroupTable.LINK) == 0) {
            Memory.putLong(entry + GroupTable.LINK, 1);
            keys.free(entry, table.memory());
            table.remove(entry);
        }
    }

    /**
     * Drops the rows of a side whose window ended; entries left empty go, too.
     *
     * @param slot of the window's end in a row
     */
    void expire(int side, int slot, long watermark) {
        EntryCursor cursor = new EntryCursor(table, Math.max(1, table.size()));
        int count = cursor.advance();
        for (int i = 0; i < count; i++) {
            long entry = cursor.entries()[i];
            for (long row = RowTable.first(list(entry, side)); row != 0; ) {
                long next = RowTable.next(row);
                if (Memory.getLong(row + slot) <= watermark) {
                    rows.get(side).removeRow(row);
                }
                row = next;
            }
            removeIfEmpty(entry);
        }
    }

    /** Calls back with each row of a side. */
    void forEach(int side, LongConsumer consumer) {
        EntryCursor cursor = new EntryCursor(table, Math.max(1, table.size()));
        int count = cursor.advance();
        for (int i = 0; i < count; i++) {
            for (long row = RowTable.first(list(cursor.entries()[i], side)); row != 0; row = RowTable.next(row)) {
                consumer.accept(row);
            }
        }
    }

    /** Removes a row, and its entry if that was its last. */
    void drop(int side, long row) {
        long entry = RowTable.list(row) - keys.end() - (long) side * RowTable.LIST_BYTES;
        rows.get(side).removeRow(row);
        removeIfEmpty(entry);
    }

    long bytes() {
        return table.bytes() + rows.get(0).bytes() + rows.get(1).bytes();
    }

    long size() {
        return (long) rows.get(0).size() + rows.get(1).size();
    }

    void clear() {
        table.clear();
        rows.forEach(RowTable::clear);
        Arrays.fill(isIndexed, false);
    }

    @Override
    public void close() {
        Closing.all(List.of(table, rows.get(0), rows.get(1)));
    }
}
