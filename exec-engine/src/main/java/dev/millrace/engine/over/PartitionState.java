package dev.millrace.engine.over;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.engine.aggregate.KeyFinder;
import dev.millrace.engine.checkpoint.SectionInput;
import dev.millrace.engine.state.GroupTable;
import dev.millrace.engine.state.KeyLayout;
import dev.millrace.engine.state.RowCodec;
import dev.millrace.engine.state.memory.StateMemory;
import dev.millrace.memory.Memory;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.List;
import org.apache.arrow.memory.BufferAllocator;

/**
 * The partitions: an entry each, with an array of its rows in order and a chain of those that came since they were last
 * put in order.
 *
 * <pre>
 *   entry: hash | link | keys | array | rows | capacity | first pending | rows released | the owner's
 * </pre>
 */
final class PartitionState implements AutoCloseable {
    private static final int WORDS = 6;

    private final KeyLayout keys;
    private final GroupTable table;
    private final StateMemory memory;
    private final int array;
    private final int count;
    private final int capacity;
    private final int pending;
    private final int released;
    private final int watched;
    private long rows;

    /** @param ownersWords words of each entry that are the owner's */
    PartitionState(KeyLayout keys, int ownersWords, BufferAllocator allocator) {
        this.keys = keys;
        this.table = new GroupTable(allocator, new long[(keys.end() - GroupTable.BODY) / 8 + WORDS + ownersWords]);
        this.memory = new StateMemory(allocator);
        this.array = keys.end();
        this.count = array + 8;
        this.capacity = array + 16;
        this.pending = array + 24;
        this.released = array + 32;
        this.watched = array + 40;
    }

    StateMemory memory() {
        return memory;
    }

    /** Adds rows of a batch to those pending; returns their partitions. */
    long[] add(Batch batch, int[] selected, int selectedCount, KeyFinder finder, RowCodec codec, int[] columns) {
        codec.encode(batch, columns, selected, selectedCount);
        long[] entries = finder.find(table, batch, selected, selectedCount);
        long weights = batch.weightsAddress();
        for (int i = 0; i < selectedCount; i++) {
            long row = KeptRow.create(codec.address(i), codec.length(i), memory);
            KeptRow.setWeight(row, weights == 0 ? 1 : Memory.getLong(weights + 8L * selected[i]));
            pend(entries[i], row);
        }
        return entries;
    }

    /** Adds a row to those pending, with its weight. */
    void pend(long entry, long row) {
        KeptRow.setNext(row, Memory.getLong(entry + pending));
        Memory.putLong(entry + pending, row);
    }

    /** The first pending row, 0 when there is none; the others are {@link KeptRow#next}. Nothing is pending any more. */
    long takePending(long entry) {
        long first = Memory.getLong(entry + pending);
        Memory.putLong(entry + pending, 0);
        return first;
    }

    /** Address of the addresses of the rows, in order. */
    long array(long entry) {
        return Memory.getLong(entry + array);
    }

    int count(long entry) {
        return (int) Memory.getLong(entry + count);
    }

    /** How many rows, the first ones, were emitted for good. */
    int released(long entry) {
        return (int) Memory.getLong(entry + released);
    }

    void setReleased(long entry, int newReleased) {
        Memory.putLong(entry + released, newReleased);
    }

    /** Replaces the rows from {@code from} on. */
    void replace(long entry, int from, long[] tail, int tailCount) {
        int newCount = from + tailCount;
        reserve(entry, newCount);
        rows += newCount - count(entry);
        long to = array(entry) + 8L * from;
        for (int i = 0; i < tailCount; i++) {
            Memory.putLong(to + 8L * i, tail[i]);
        }
        Memory.putLong(entry + count, newCount);
    }

    private void reserve(long entry, int needed) {
        long old = Memory.getLong(entry + capacity);
        if (needed <= old) {
            return;
        }
        int grown = Math.max(needed, (int) Math.min(Integer.MAX_VALUE / 16, 2 * old));
        long fresh = memory.allocate(8 * grown);
        if (old > 0) {
            Memory.copy(array(entry), fresh, 8L * count(entry));
            memory.free(array(entry), (int) (8 * old));
        }
        Memory.putLong(entry + array, fresh);
        Memory.putLong(entry + capacity, grown);
    }

    /** Where the owner's words are; 0 at first and after a restore. */
    long words(long entry) {
        return entry + watched + 8;
    }

    boolean isEmpty(long entry) {
        return count(entry) == 0 && !hasPending(entry);
    }

    /** Whether somebody has the entry's address, so that it must stay even when it is empty. */
    boolean isWatched(long entry) {
        return Memory.getLong(entry + watched) != 0;
    }

    void setWatched(long entry, boolean newWatched) {
        Memory.putLong(entry + watched, newWatched ? 1 : 0);
    }

    boolean hasPending(long entry) {
        return Memory.getLong(entry + pending) != 0;
    }

    /** Takes the first rows, which must have been released, out of a partition; the caller frees them. */
    void dropFirst(long entry, int evicted) {
        int left = count(entry) - evicted;
        long from = array(entry);
        for (int i = 0; i < left; i++) { // upward, as the ranges overlap
            Memory.putLong(from + 8L * i, Memory.getLong(from + 8L * (i + evicted)));
        }
        rows -= evicted;
        Memory.putLong(entry + count, left);
        setReleased(entry, released(entry) - evicted);
    }

    /** Frees a row and its results. */
    void free(long row) {
        if (KeptRow.result(row) != 0) {
            KeptRow.freeResult(KeptRow.result(row), memory);
        }
        KeptRow.free(row, memory);
    }

    /** Removes a partition without rows, unless some are pending or it is watched. */
    void removeIfEmpty(long entry) {
        if (!isEmpty(entry) || isWatched(entry)) {
            return;
        }
        if (Memory.getLong(entry + capacity) > 0) {
            memory.free(array(entry), (int) (8 * Memory.getLong(entry + capacity)));
        }
        keys.free(entry, table.memory());
        table.remove(entry);
    }

    GroupTable table() {
        return table;
    }

    /** Rows in order in all partitions. */
    long rows() {
        return rows;
    }

    long bytes() {
        return table.bytes() + memory.bytes();
    }

    /** Writes the partitions of a key group: their number, then of each its keys, its rows, and those pending. */
    void write(long entry, DataOutput out) throws IOException {
        keys.write(entry, out);
        out.writeInt(count(entry));
        out.writeInt(released(entry));
        for (int row = 0; row < count(entry); row++) {
            long address = Memory.getLong(array(entry) + 8L * row);
            writeBytes(address, KeptRow.length(address), out);
            long result = KeptRow.result(address);
            writeBytes(result, result == 0 ? -1 : KeptRow.resultLength(result), out);
        }
        for (long row = Memory.getLong(entry + pending); row != 0; row = KeptRow.next(row)) {
            writeBytes(row, KeptRow.length(row), out);
            out.writeLong(KeptRow.weight(row));
        }
        out.writeInt(-1);
    }

    private static void writeBytes(long address, int length, DataOutput out) throws IOException {
        out.writeInt(length);
        byte[] bytes = new byte[Math.max(0, length)];
        Memory.copyOut(address, bytes, 0, bytes.length);
        out.write(bytes);
    }

    void read(DataInput in) throws IOException {
        for (int left = in.readInt(); left > 0; left--) {
            long entry = keys.read(table, in);
            long[] all = new long[in.readInt()];
            int wereReleased = in.readInt();
            for (int row = 0; row < all.length; row++) {
                all[row] = readRow(in.readInt(), in);
                int length = in.readInt();
                if (length >= 0) {
                    long bytes = readBytes(length, in);
                    KeptRow.setResult(all[row], KeptRow.createResult(bytes, length, memory));
                    memory.free(bytes, Math.max(8, length));
                }
            }
            replace(entry, 0, all, all.length);
            setReleased(entry, wereReleased);
            for (int length = in.readInt(); length >= 0; length = in.readInt()) {
                long row = readRow(length, in);
                KeptRow.setWeight(row, in.readLong());
                pend(entry, row);
            }
        }
    }

    private long readRow(int length, DataInput in) throws IOException {
        long bytes = readBytes(length, in);
        long row = KeptRow.create(bytes, length, memory);
        memory.free(bytes, Math.max(8, length));
        return row;
    }

    private long readBytes(int length, DataInput in) throws IOException {
        long address = memory.allocate(Math.max(8, length));
        SectionInput.readBytes(in, address, length);
        return address;
    }

    @Override
    public void close() {
        Closing.all(List.of(table, memory));
    }
}
