package dev.millrace.engine.topn;

import dev.millrace.batch.Closing;
import dev.millrace.engine.checkpoint.SectionInput;
import dev.millrace.engine.checkpoint.SectionOutput;
import dev.millrace.engine.state.GroupTable;
import dev.millrace.engine.state.KeyLayout;
import dev.millrace.engine.state.memory.StateMemory;
import dev.millrace.memory.Memory;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.List;
import org.apache.arrow.memory.BufferAllocator;

/**
 * The best rows of each partition, of rows that come and never go. A row that others push out is freed, or if it was
 * emitted kept in {@link #leaving} until that is taken back.
 *
 * <pre>
 *   partition: hash | link | keys | address of the array | number of rows, 4 bytes | room of the array, 4 bytes
 *   array:     addresses of rows; with a limit of 1 the partition has the row's in place of the array's
 *   row:       length, 4 bytes | rank under which it was emitted last or 0, 4 bytes | bytes of a RowCodec
 * </pre>
 *
 * With a small limit the array is in order. With a large one its first {@code limit} rows are, once there are so many,
 * and further ones follow as they come until there are twice as many: not each should move half of the array.
 */
final class BestRows implements BestOfPartitions, AutoCloseable {
    private static final int SMALL_LIMIT = 64;
    private static final int HEADER = 8;
    private static final int EMITTED = 4;
    private static final int FIRST_ROOM = 2;

    private final KeyLayout keys;
    private final TotalOrder order;
    private final int limit;
    private final int most; // rows of a partition
    private final GroupTable table;
    private final StateMemory memory;
    private long[] sorted = new long[64];
    private final LeavingPlaces leaving = new LeavingPlaces();
    private int size;

    BestRows(KeyLayout keys, TotalOrder order, int limit, BufferAllocator allocator) {
        this.keys = keys;
        this.order = order;
        this.limit = limit;
        this.most = limit <= SMALL_LIMIT ? limit : 2 * limit;
        this.table = new GroupTable(allocator, new long[(keys.end() - GroupTable.BODY) / 8 + 2]);
        this.memory = new StateMemory(allocator);
    }

    static int length(long row) {
        return Memory.getInt(row - HEADER);
    }

    /** The rank under which a row was emitted last, or 0. */
    private static int emitted(long row) {
        return Memory.getInt(row - EMITTED);
    }

    private static void setEmitted(long row, int rank) {
        Memory.putInt(row - EMITTED, rank);
    }

    @Override
    public long place(long partition, int i) {
        return row(partition, i);
    }

    @Override
    public long rowAt(long place) {
        return place;
    }

    @Override
    public int emittedAt(long place) {
        return emitted(place);
    }

    @Override
    public void setEmitted(long partition, int i, int rank) {
        setEmitted(row(partition, i), rank);
    }

    @Override
    public GroupTable table() {
        return table;
    }

    @Override
    public int size() {
        return size;
    }

    @Override
    public long bytes() {
        return table.bytes() + memory.bytes();
    }

    private long place(long partition) {
        return partition + keys.end();
    }

    @Override
    public int count(long partition) {
        return Memory.getInt(partition + keys.end() + 8);
    }

    private void setCount(long partition, int count) {
        Memory.putInt(partition + keys.end() + 8, count);
    }

    private int room(long partition) {
        return Memory.getInt(partition + keys.end() + 12);
    }

    /** Where the addresses of a partition's rows are. */
    private long array(long partition) {
        return limit == 1 ? place(partition) : Memory.getLong(place(partition));
    }

    private long row(long partition, int i) {
        return Memory.getLong(array(partition) + 8L * i);
    }

    // ---- rows

    /** Adds a copy of a row if it is among the best of its partition; returns whether it is. */
    boolean offer(long partition, long row, int length) {
        int count = count(partition);
        if (count >= limit && !isBefore(row, length, row(partition, limit - 1))) {
            return false;
        }
        if (most > limit) {
            append(partition, count, copy(row, length));
            return true;
        }
        int at = count;
        if (count == limit) {
            leave(row(partition, --at));
        } else {
            setCount(partition, count + 1);
            makeRoom(partition, count);
        }
        long array = array(partition);
        int low = 0;
        for (int high = at; low < high; ) { // behind its equals
            int middle = (low + high) >>> 1;
            if (isBefore(row, length, Memory.getLong(array + 8L * middle))) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        for (int i = at; i > low; i--) {
            Memory.putLong(array + 8L * i, Memory.getLong(array + 8L * (i - 1)));
        }
        Memory.putLong(array + 8L * low, copy(row, length));
        return true;
    }

    private boolean isBefore(long row, int length, long other) {
        return order.compare(row, length, other, length(other)) < 0;
    }

    private void append(long partition, int count, long row) {
        makeRoom(partition, count);
        Memory.putLong(array(partition) + 8L * count, row);
        setCount(partition, count + 1);
        if (count + 1 == limit || count + 1 == most) {
            sort(partition);
        }
    }

    private void makeRoom(long partition, int count) {
        int room = room(partition);
        if (limit == 1 || count < room) {
            return;
        }
        int newRoom = room == 0 ? FIRST_ROOM : Math.min(most, 2 * room);
        long array = memory.allocate(8 * newRoom);
        if (room > 0) {
            long old = array(partition);
            Memory.copy(old, array, 8L * count);
            memory.free(old, 8 * room);
        }
        Memory.putLong(place(partition), array);
        Memory.putInt(partition + keys.end() + 12, newRoom);
    }

    private long copy(long row, int length) {
        long copy = memory.allocate(HEADER + length) + HEADER;
        Memory.putInt(copy - HEADER, length);
        setEmitted(copy, 0);
        Memory.copy(row, copy, length);
        size++;
        return copy;
    }

    private void leave(long row) {
        if (emitted(row) == 0) {
            free(row);
            return;
        }
        leaving.add(row);
    }

    private void free(long row) {
        memory.free(row - HEADER, HEADER + length(row));
        size--;
    }

    /** Brings a partition's rows in order and drops those beyond the limit. */
    @Override
    public void sort(long partition) {
        int count = count(partition);
        if (most == limit) {
            return; // it is in order
        }
        if (sorted.length < count) {
            sorted = new long[2 * count];
        }
        long array = array(partition);
        for (int i = 0; i < count; i++) {
            sorted[i] = Memory.getLong(array + 8L * i);
        }
        order.sort(sorted, count);
        int kept = Math.min(count, limit);
        for (int i = 0; i < kept; i++) {
            Memory.putLong(array + 8L * i, sorted[i]);
        }
        for (int i = kept; i < count; i++) {
            leave(sorted[i]);
        }
        setCount(partition, kept);
    }

    /** The partition with the keys of an entry of the same layout; negative if there is none. */
    long find(long like) {
        return keys.find(table, Memory.getLong(like), like);
    }

    /** Lets all rows of a partition leave. */
    void empty(long partition) {
        for (int i = 0; i < count(partition); i++) {
            leave(row(partition, i));
        }
        setCount(partition, 0);
    }

    @Override
    public void remove(long partition) {
        if (limit > 1 && room(partition) > 0) {
            memory.free(array(partition), 8 * room(partition));
        }
        keys.free(partition, table.memory());
        table.remove(partition);
    }

    // ---- rows that left

    @Override
    public LeavingPlaces leaving() {
        return leaving;
    }

    @Override
    public void freeLeaving() {
        for (int i = 0; i < leaving.count(); i++) {
            free(leaving.get(i));
        }
        leaving.clear();
    }

    // ---- snapshots

    /** Writes a partition: its keys, the number of its rows, and of each the rank, the length and the bytes. */
    @Override
    public void write(long partition, DataOutput out) throws IOException {
        keys.write(partition, out);
        int count = count(partition);
        out.writeInt(count);
        for (int i = 0; i < count; i++) {
            long row = row(partition, i);
            out.writeInt(emitted(row));
            SectionOutput.writeBytes(row, length(row), out);
        }
    }

    @Override
    public void writeKeys(long partition, DataOutput out) throws IOException {
        keys.write(partition, out);
    }

    @Override
    public void read(DataInput in) throws IOException {
        table.put(readNew(in));
    }

    @Override
    public void replace(DataInput in) throws IOException {
        long partition = readNew(in);
        removeLike(partition);
        table.put(partition);
    }

    @Override
    public void removeWritten(DataInput in) throws IOException {
        long like = keys.readNew(table, in);
        removeLike(like);
        keys.free(like, table.memory());
        table.discard(like);
    }

    private void removeLike(long like) {
        long partition = find(like);
        if (partition >= 0) {
            for (int i = 0; i < count(partition); i++) {
                free(row(partition, i));
            }
            remove(partition);
        }
    }

    private long readNew(DataInput in) throws IOException {
        long partition = keys.readNew(table, in);
        int count = in.readInt();
        for (int i = 0; i < count; i++) {
            int rank = in.readInt();
            int length = SectionInput.readLength(in);
            long row = memory.allocate(HEADER + length) + HEADER;
            Memory.putInt(row - HEADER, length);
            setEmitted(row, rank);
            SectionInput.readBytes(in, row, length);
            size++;
            makeRoom(partition, i);
            Memory.putLong(array(partition) + 8L * i, row);
        }
        setCount(partition, count);
        return partition;
    }

    @Override
    public void close() {
        Closing.all(List.of(table, memory));
    }
}
