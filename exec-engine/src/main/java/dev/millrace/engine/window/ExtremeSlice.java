package dev.millrace.engine.window;

import dev.millrace.batch.Closing;
import dev.millrace.engine.state.GroupTable;
import dev.millrace.engine.state.KeyLayout;
import dev.millrace.engine.state.RowTable;
import dev.millrace.memory.Memory;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.List;
import org.apache.arrow.memory.BufferAllocator;

/**
 * The rows with the extreme value per key, of a slice or window.
 *
 * <pre>
 *   entry: hash | link | keys | the extreme as an ordered integer (see ExtremeValues) | list of rows | list of boundary rows
 * </pre>
 *
 * Boundary rows lie exactly at the slice's end: they belong to the next slice, but a window with a closed end compares
 * them, too.
 */
final class ExtremeSlice implements AutoCloseable {
    private final KeyLayout keys;
    private final GroupTable table;
    private final RowTable rows;

    ExtremeSlice(KeyLayout keys, BufferAllocator allocator) {
        this.keys = keys;
        int words = (keys.end() - GroupTable.BODY + 8 + 2 * RowTable.LIST_BYTES) / 8;
        long[] initial = new long[words];
        initial[(keys.end() - GroupTable.BODY) / 8] = Long.MIN_VALUE;
        this.table = new GroupTable(allocator, initial);
        this.rows = new RowTable(allocator);
    }

    GroupTable table() {
        return table;
    }

    /** The greatest value so far; the least integer when there is none. */
    long extreme(long entry) {
        return Memory.getLong(entry + keys.end());
    }

    boolean isEmpty(long entry) {
        return RowTable.first(rowList(entry)) == 0;
    }

    long rowList(long entry) {
        return entry + keys.end() + 8;
    }

    long boundaryList(long entry) {
        return rowList(entry) + RowTable.LIST_BYTES;
    }

    /** Adds a row whose value is the extreme or better. */
    void add(long entry, long value, long row, int length) {
        if (value != extreme(entry)) {
            raise(entry, value);
        }
        rows.append(rowList(entry), row, length, 1);
    }

    /** Sets a better extreme, which no row has yet. */
    void raise(long entry, long value) {
        rows.clear(rowList(entry));
        Memory.putLong(entry + keys.end(), value);
    }

    /** Replaces all rows by one. */
    void replace(long entry, long row, int length) {
        rows.clear(rowList(entry));
        rows.append(rowList(entry), row, length, 1);
    }

    void append(long list, long row, int length) {
        rows.append(list, row, length, 1);
    }

    /** The entry with the keys of another slice's entry. */
    long findOrInsert(long like) {
        long hash = Memory.getLong(like);
        long found = keys.find(table, hash, like);
        if (found >= 0) {
            return found;
        }
        long entry = table.insert(hash, -1 - found);
        keys.copy(like, entry, table.memory());
        return entry;
    }

    long bytes() {
        return table.bytes() + rows.bytes();
    }

    int rowCount() {
        return rows.size();
    }

    void write(long entry, DataOutput out) throws IOException {
        keys.write(entry, out);
        out.writeLong(extreme(entry));
        rows.writeList(rowList(entry), out);
        rows.writeList(boundaryList(entry), out);
    }

    void read(DataInput in) throws IOException {
        for (int left = in.readInt(); left > 0; left--) {
            long entry = keys.read(table, in);
            Memory.putLong(entry + keys.end(), in.readLong());
            rows.readList(rowList(entry), in, false);
            rows.readList(boundaryList(entry), in, false);
        }
    }

    void clear() {
        table.clear();
        rows.clear();
    }

    @Override
    public void close() {
        Closing.all(List.of(table, rows));
    }
}
