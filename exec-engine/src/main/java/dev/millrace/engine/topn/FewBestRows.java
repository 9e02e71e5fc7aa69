package dev.millrace.engine.topn;

import dev.millrace.batch.Closing;
import dev.millrace.engine.checkpoint.SectionInput;
import dev.millrace.engine.checkpoint.SectionOutput;
import dev.millrace.engine.state.GroupTable;
import dev.millrace.engine.state.KeyLayout;
import dev.millrace.engine.state.PackedCodec;
import dev.millrace.engine.state.memory.StateMemory;
import dev.millrace.memory.Memory;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.List;
import org.apache.arrow.memory.BufferAllocator;

/**
 * The best rows of each partition, a few of them, of rows that come and never go. A row that others push out is freed, or if
 * it was emitted kept in {@link #leaving} until that is taken back.
 *
 * <pre>
 *   partition: hash | link | keys | places                             with a limit of 1
 *   partition: hash | link | keys | address of the places | number of rows, 4 bytes | room, 4 bytes | word of the last
 *   link:      whether touched
 *   place:     rank under which the row was emitted last or 0, 16 bits, and the row's address | word
 * </pre>
 *
 * The words ({@link OrderWords}) decide nearly always, so that a row that is too late is turned away by the partition
 * alone and the others find their place without a look at any row.
 */
final class FewBestRows implements BestOfPartitions, AutoCloseable {
    /** The greatest limit: places are moved one by one. */
    static final int MOST = 64;

    private static final int PLACE = 16;
    private static final int FIRST_ROOM = 2;
    private static final long ADDRESS = (1L << 48) - 1;

    private final KeyLayout keys;
    private final PackedCodec codec;
    private final TotalOrder order;
    private final int limit;
    private final GroupTable table;
    private final StateMemory memory; // rows
    private final StateMemory arrays;
    private final StateMemory scratch;
    private final LeavingPlaces leaving = new LeavingPlaces();
    private int size;

    /** @param order over rows of the codec's plain codec */
    FewBestRows(KeyLayout keys, PackedCodec codec, TotalOrder order, int limit, BufferAllocator allocator) {
        assert limit <= MOST : limit;
        this.keys = keys;
        this.codec = codec;
        this.order = order;
        this.limit = limit;
        int words = (keys.end() - GroupTable.BODY) / 8 + (limit == 1 ? 2 : 3);
        this.table = new GroupTable(allocator, new long[words]);
        this.memory = new StateMemory(allocator);
        this.arrays = new StateMemory(allocator);
        this.scratch = new StateMemory(allocator);
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
        return table.bytes() + memory.bytes() + arrays.bytes() + codec.bytes();
    }

    @Override
    public int count(long partition) {
        long at = partition + keys.end();
        return limit == 1 ? (Memory.getLong(at) == 0 ? 0 : 1) : Memory.getInt(at + 8);
    }

    private long places(long partition) {
        long at = partition + keys.end();
        return limit == 1 ? at : Memory.getLong(at);
    }

    @Override
    public long place(long partition, int i) {
        return Memory.getLong(places(partition) + (long) PLACE * i);
    }

    @Override
    public long rowAt(long place) {
        return row(place);
    }

    @Override
    public int emittedAt(long place) {
        return emitted(place);
    }

    @Override
    public void sort(long partition) {
        // it is in order
    }

    @Override
    public void remove(long partition) {
        throw new IllegalStateException("a partition has no rows");
    }

    private static long row(long place) {
        return place & ADDRESS;
    }

    private static int emitted(long place) {
        return (int) (place >>> 48);
    }

    @Override
    public void setEmitted(long partition, int i, int rank) {
        long at = places(partition) + (long) PLACE * i;
        Memory.putLong(at, Memory.getLong(at) & ADDRESS | (long) rank << 48);
    }

    // ---- rows

    /** Keeps of rows those that may be among the best, and returns how many they are; {@link #offer} would turn the others away. */
    int candidates(long[] partitions, long[] words, int[] rows, int count) {
        int found = 0;
        for (int i = 0; i < count; i++) {
            int row = rows[i];
            long partition = partitions[i];
            rows[found] = row;
            partitions[found] = partition;
            found += mayEnter(partition, words[row]) ? 1 : 0;
        }
        return found;
    }

    /** Whether a row with this word may be among the best of its partition; else {@link #offer} would turn it away. */
    private boolean mayEnter(long partition, long word) {
        long at = partition + keys.end();
        return limit == 1
                ? Memory.getLong(at) == 0 || word <= Memory.getLong(at + 8)
                : Memory.getInt(at + 8) < limit || word <= Memory.getLong(at + 16);
    }

    /** Adds the codec's row at hand if it is among the best of its partition; returns whether it is. */
    boolean offer(long partition, int row, long word) {
        long at = partition + keys.end();
        if (limit == 1) {
            long old = Memory.getLong(at);
            if (old != 0) {
                long oldWord = Memory.getLong(at + 8);
                if (word > oldWord || word == oldWord && !isBefore(row, row(old))) {
                    return false;
                }
                leave(old);
            }
            Memory.putLong(at, store(row));
            Memory.putLong(at + 8, word);
            return true;
        }
        int count = Memory.getInt(at + 8);
        if (count == limit) {
            long last = Memory.getLong(at + 16);
            if (word > last || word == last && !isBefore(row, row(place(partition, limit - 1)))) {
                return false;
            }
            leave(place(partition, --count));
        } else {
            makeRoom(at, count);
            Memory.putInt(at + 8, count + 1);
        }
        insert(Memory.getLong(at), count, row, word);
        Memory.putLong(at + 16, Memory.getLong(Memory.getLong(at) + (long) PLACE * count + 8));
        return true;
    }

    /** Puts a row where it belongs among {@code count} others, behind its equals. */
    private void insert(long places, int count, int row, long word) {
        int at = count;
        for (; at > 0; at--) {
            long before = places + (long) PLACE * (at - 1);
            long other = Memory.getLong(before + 8);
            if (other < word || other == word && !isBefore(row, row(Memory.getLong(before)))) {
                break;
            }
            Memory.putLong(before + PLACE, Memory.getLong(before));
            Memory.putLong(before + PLACE + 8, other);
        }
        Memory.putLong(places + (long) PLACE * at, store(row));
        Memory.putLong(places + (long) PLACE * at + 8, word);
    }

    /** Whether a row at hand comes before another whose word is equal. */
    private boolean isBefore(int row, long other) {
        scratch.reset();
        long candidate = codec.store(row, scratch, 0);
        int bytes = codec.unpackedLength(candidate);
        int otherBytes = codec.unpackedLength(other);
        return order.compare(codec.unpack(candidate, scratch), bytes, codec.unpack(other, scratch), otherBytes) < 0;
    }

    private void makeRoom(long at, int count) {
        int room = Memory.getInt(at + 12);
        if (count < room) {
            return;
        }
        int newRoom = room == 0 ? FIRST_ROOM : Math.min(limit, 2 * room);
        long places = arrays.allocate(PLACE * newRoom);
        if (room > 0) {
            long old = Memory.getLong(at);
            Memory.copy(old, places, (long) PLACE * count);
            arrays.free(old, PLACE * room);
        }
        Memory.putLong(at, places);
        Memory.putInt(at + 12, newRoom);
    }

    private long store(int row) {
        size++;
        return codec.store(row, memory, 0);
    }

    private void leave(long place) {
        if (emitted(place) == 0) {
            free(row(place));
            return;
        }
        leaving.add(place);
    }

    private void free(long row) {
        memory.free(row, codec.length(row));
        size--;
    }

    // ---- rows that left

    @Override
    public LeavingPlaces leaving() {
        return leaving;
    }

    @Override
    public void freeLeaving() {
        for (int i = 0; i < leaving.count(); i++) {
            free(row(leaving.get(i)));
        }
        leaving.clear();
    }

    // ---- snapshots

    /** Writes a partition: its keys, the number of its rows, and of each the rank, the word, the length and the bytes. */
    @Override
    public void write(long partition, DataOutput out) throws IOException {
        keys.write(partition, out);
        int count = count(partition);
        out.writeInt(count);
        for (int i = 0; i < count; i++) {
            long place = place(partition, i);
            long row = codec.inlined(row(place));
            out.writeInt(emitted(place));
            out.writeLong(Memory.getLong(places(partition) + (long) PLACE * i + 8));
            SectionOutput.writeBytes(row, codec.length(row), out);
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
        long partition = keys.find(table, Memory.getLong(like), like);
        if (partition >= 0) {
            for (int i = 0; i < count(partition); i++) {
                free(row(place(partition, i)));
            }
            long at = partition + keys.end();
            if (limit > 1 && Memory.getInt(at + 12) > 0) {
                arrays.free(Memory.getLong(at), PLACE * Memory.getInt(at + 12));
            }
            keys.free(partition, table.memory());
            table.remove(partition);
        }
    }

    private long readNew(DataInput in) throws IOException {
        long partition = keys.readNew(table, in);
        long at = partition + keys.end();
        int count = in.readInt();
        for (int i = 0; i < count; i++) {
            long rank = in.readInt();
            long word = in.readLong();
            int length = SectionInput.readLength(in);
            long row = memory.allocate(length);
            SectionInput.readBytes(in, row, length);
            size++;
            if (limit > 1) {
                makeRoom(at, i);
                Memory.putInt(at + 8, i + 1);
                Memory.putLong(at + 16, word);
            }
            long place = (limit == 1 ? at : Memory.getLong(at)) + (long) PLACE * i;
            Memory.putLong(place, rank << 48 | row);
            Memory.putLong(place + 8, word);
        }
        return partition;
    }

    @Override
    public void close() {
        Closing.all(List.of(table, memory, arrays, scratch));
    }
}
