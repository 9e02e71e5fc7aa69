package dev.millrace.engine.topn;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.engine.aggregate.KeyFinder;
import dev.millrace.engine.state.GroupTable;
import dev.millrace.engine.state.KeyLayout;
import dev.millrace.engine.state.RowCodec;
import dev.millrace.engine.state.RowTable;
import dev.millrace.memory.Memory;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.List;
import org.apache.arrow.memory.BufferAllocator;

/** Rows by partition: an entry per partition with a list of its rows and one of those that were emitted. */
final class RankedPartitions implements AutoCloseable {
    private final KeyLayout keys;
    private final GroupTable table;
    private final RowTable rows;
    private final RowTable emitted;

    RankedPartitions(KeyLayout keys, BufferAllocator allocator) {
        this.keys = keys;
        this.table = new GroupTable(allocator, new long[(keys.end() - GroupTable.BODY + 2 * RowTable.LIST_BYTES) / 8]);
        this.rows = new RowTable(allocator);
        this.emitted = new RowTable(allocator);
    }

    GroupTable table() {
        return table;
    }

    RowTable rows() {
        return rows;
    }

    RowTable emitted() {
        return emitted;
    }

    long rowList(long entry) {
        return entry + keys.end();
    }

    long emittedList(long entry) {
        return entry + keys.end() + RowTable.LIST_BYTES;
    }

    /** Adds rows of a batch; returns their entries. */
    long[] add(Batch batch, int[] selected, int count, KeyFinder finder, RowCodec codec, int[] columns) {
        codec.encode(batch, columns, selected, count);
        long[] entries = finder.find(table, batch, selected, count);
        long weights = batch.weightsAddress();
        for (int i = 0; i < count; i++) {
            long weight = weights == 0 ? 1 : Memory.getLong(weights + 8L * selected[i]);
            rows.add(rowList(entries[i]), codec.address(i), codec.length(i), weight);
        }
        return entries;
    }

    /** The partition with the keys of an entry of the same layout; negative if there is none. */
    long find(long like) {
        return keys.find(table, Memory.getLong(like), like);
    }

    /** Removes a partition without rows. */
    void remove(long entry) {
        emitted.clear(emittedList(entry));
        keys.free(entry, table.memory());
        table.remove(entry);
    }

    long bytes() {
        return table.bytes() + rows.bytes() + emitted.bytes();
    }

    void clear() {
        table.clear();
        rows.clear();
        emitted.clear();
    }

    /** Writes the partitions of a key group: their number, then of each its keys and lists. */
    void write(long entry, DataOutput out) throws IOException {
        keys.write(entry, out);
        rows.writeList(rowList(entry), out);
        emitted.writeList(emittedList(entry), out);
    }

    void read(DataInput in) throws IOException {
        for (int left = in.readInt(); left > 0; left--) {
            long entry = keys.read(table, in);
            rows.readList(rowList(entry), in, true);
            emitted.readList(emittedList(entry), in, true);
        }
    }

    @Override
    public void close() {
        Closing.all(List.of(table, rows, emitted));
    }
}
