package dev.millrace.engine.state;

import dev.millrace.batch.Closing;
import dev.millrace.engine.checkpoint.SectionInput;
import dev.millrace.engine.checkpoint.SectionOutput;
import dev.millrace.engine.state.memory.StateMemory;
import dev.millrace.memory.Memory;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.function.LongConsumer;
import org.apache.arrow.memory.BufferAllocator;

/**
 * Weighted rows in lists: a Z-set per list. A list is two words of its owner (the first and last row, 0 when empty), at an
 * address that stays; its rows are in order of arrival. Adding a row that its list holds adds to its weight, and a row of
 * weight 0 is gone; {@link #append} always makes a new row and asks for no hash.
 *
 * <pre>
 *   row: next | previous | list | hash | weight | length, 4 bytes | appended, 4 bytes | note | bytes of a RowCodec
 * </pre>
 *
 * As the storage of a view or of a join's side it is used with one list, or one per key.
 */
public final class RowTable implements AutoCloseable {
    /** Bytes of a list in its owner. */
    public static final int LIST_BYTES = 16;

    private static final int PREVIOUS = 8;
    private static final int LIST = 16;
    private static final int HASH = 24;
    private static final int WEIGHT = 32;
    private static final int LENGTH = 40;
    private static final int APPENDED = 44;
    private static final int NOTE = 48;
    private static final int ROW = 56;

    private final StateMemory memory;
    private final EntryIndex index; // of the rows that add() finds
    private int size;
    private Optional<LongConsumer> watcher = Optional.empty();

    public RowTable(BufferAllocator allocator) {
        this.memory = new StateMemory(allocator);
        this.index = new EntryIndex(allocator, memory, HASH);
    }

    /** Calls back with each row that goes one by one, before it does; not when all go at once. */
    public void watch(LongConsumer leaving) {
        watcher = Optional.of(leaving);
    }

    /** The hash of a row, to be given to {@link #add}: any hash would do that depends on the list, too. */
    public static long hash(long list, long row, int length) {
        return Hashing.finish(Hashing.step(Hashing.bytes(row, length), list));
    }

    /** Makes an empty list. */
    public static void initList(long list) {
        Memory.putLong(list, 0);
        Memory.putLong(list + 8, 0);
    }

    /** Rows that are there, whatever their weights. */
    public int size() {
        return size;
    }

    public long bytes() {
        return memory.bytes() + index.bytes();
    }

    /** Adds to the weight of a row of a list, and returns its weight now. */
    public long add(long list, long row, int length, long weight) {
        long added = addRow(list, row, length, weight);
        return added == 0 ? 0 : weight(added);
    }

    /** Adds to the weight of a row of a list, and returns the row, or 0 when it is gone. */
    public long addRow(long list, long row, int length, long weight) {
        long hash = hash(list, row, length);
        long found = find(list, row, length, hash);
        if (found > 0) {
            return addWeight(found, weight);
        }
        long node = memory.allocate(ROW + length);
        Memory.copy(row, node + ROW, length);
        begin(node, list, length, weight);
        insert(node, hash, -1 - found);
        return node + ROW;
    }

    /** The node of a row, or -1 - the slot where it is to be. */
    private long find(long list, long row, int length, long hash) {
        if (!index.isOpen()) {
            index.open();
        }
        long slot = index.home(hash);
        while (true) {
            long word = index.word(slot);
            if (word == 0) {
                return -1 - slot;
            }
            if ((word ^ hash << 48) >>> 48 == 0) {
                long node = word & EntryIndex.ADDRESS;
                if (Memory.getLong(node + HASH) == hash
                        && Memory.getLong(node + LIST) == list
                        && Memory.getInt(node + LENGTH) == length
                        && Memory.equal(node + ROW, row, length)) {
                    return node;
                }
            }
            slot = (slot + 1) & index.mask();
        }
    }

    private void insert(long node, long hash, long slot) {
        Memory.putLong(node + HASH, hash);
        Memory.putInt(node + APPENDED, 0);
        index.put(slot, hash, node);
    }

    private long addWeight(long node, long weight) {
        long sum = Memory.getLong(node + WEIGHT) + weight;
        Memory.putLong(node + WEIGHT, sum);
        if (sum == 0) {
            remove(node);
            return 0;
        }
        return node + ROW;
    }

    /** Makes the appended rows of a list such that {@link #add} finds them; those that are equal become one. */
    public void index(long list) {
        for (long row = first(list); row != 0; ) {
            long next;
            long node = row - ROW;
            if (Memory.getInt(node + APPENDED) == 0) {
                next = next(row);
            } else {
                long hash = hash(list, row, length(row));
                long found = find(list, row, length(row), hash);
                if (found > 0) {
                    addWeight(found, weight(row)); // which may have been the next row, and be gone
                    next = next(row);
                    remove(node);
                } else {
                    next = next(row);
                    insert(node, hash, -1 - found);
                }
            }
            row = next;
        }
    }

    /** Adds a row at the end of a list, equal to another or not; returns the row. */
    public long append(long list, long row, int length, long weight) {
        long node = memory.allocate(ROW + length);
        Memory.copy(row, node + ROW, length);
        return appendNode(list, node, length, weight);
    }

    /** Puts a node that has its bytes behind all others of a list. */
    private void begin(long node, long list, int length, long weight) {
        link(node, list);
        Memory.putLong(node + WEIGHT, weight);
        Memory.putLong(node + NOTE, 0);
        Memory.putInt(node + LENGTH, length);
        size++;
    }

    private static void link(long node, long list) {
        long last = Memory.getLong(list + 8);
        Memory.putLong(node, 0);
        Memory.putLong(node + PREVIOUS, last);
        Memory.putLong(node + LIST, list);
        Memory.putLong(last == 0 ? list : last, node);
        Memory.putLong(list + 8, node);
    }

    private static void unlink(long node) {
        long list = Memory.getLong(node + LIST);
        long next = Memory.getLong(node);
        long previous = Memory.getLong(node + PREVIOUS);
        Memory.putLong(previous == 0 ? list : previous, next);
        Memory.putLong(next == 0 ? list + 8 : next + PREVIOUS, previous);
    }

    private void remove(long node) {
        if (watcher.isPresent()) {
            watcher.get().accept(node + ROW);
        }
        if (Memory.getInt(node + APPENDED) == 0) {
            index.remove(node);
        }
        unlink(node);
        memory.free(node, ROW + Memory.getInt(node + LENGTH));
        size--;
    }

    /** Removes a row found by iterating. */
    public void removeRow(long row) {
        remove(row - ROW);
    }

    /** Removes all rows of a list. */
    public void clear(long list) {
        for (long row = first(list); row != 0; ) {
            long next = next(row);
            remove(row - ROW);
            row = next;
        }
    }

    /** Removes all rows of all lists, which their owners forget; keeps the memory for reuse. */
    public void clear() {
        index.clear();
        size = 0;
        memory.reset();
    }

    /** The first row of a list, or 0. */
    public static long first(long list) {
        long node = Memory.getLong(list);
        return node == 0 ? 0 : node + ROW;
    }

    /** The row after a row, or 0. */
    public static long next(long row) {
        long node = Memory.getLong(row - ROW);
        return node == 0 ? 0 : node + ROW;
    }

    /** Whether a row is the only one of its list. */
    public static boolean isAlone(long row) {
        return Memory.getLong(row - ROW) == 0 && Memory.getLong(row - ROW + PREVIOUS) == 0;
    }

    public static long weight(long row) {
        return Memory.getLong(row - ROW + WEIGHT);
    }

    public static int length(long row) {
        return Memory.getInt(row - ROW + LENGTH);
    }

    /** A word of the owner's with a row; 0 at first. */
    public static long note(long row) {
        return Memory.getLong(row - ROW + NOTE);
    }

    public static void setNote(long row, long note) {
        Memory.putLong(row - ROW + NOTE, note);
    }

    /** The list a row is in. */
    public static long list(long row) {
        return Memory.getLong(row - ROW + LIST);
    }

    /**
     * Collects rows of a list, for {@link RowCodec#decode}.
     *
     * @param from the row to begin with, 0 for none
     * @return how many; the row to go on with is {@code next(rows[count - 1])}
     */
    public static int collect(long from, long[] rows) {
        int count = 0;
        for (long row = from; row != 0 && count < rows.length; row = next(row)) {
            rows[count++] = row;
        }
        return count;
    }

    /** How many rows a list has: goes over them. */
    public static int count(long list) {
        int count = 0;
        for (long row = first(list); row != 0; row = next(row)) {
            count++;
        }
        return count;
    }

    /** Writes the rows of a list: their number, which is returned, then weight, note, length and bytes of each. */
    public int writeList(long list, DataOutput out) throws IOException {
        int count = count(list);
        out.writeInt(count);
        for (long row = first(list); row != 0; row = next(row)) {
            out.writeLong(weight(row));
            out.writeLong(note(row));
            SectionOutput.writeBytes(row, length(row), out);
        }
        return count;
    }

    /** Adds the rows that {@link #writeList} wrote; {@code merging}: as {@link #add} does, else as {@link #append}. */
    public void readList(long list, DataInput in, boolean merging) throws IOException {
        for (int left = in.readInt(); left > 0; left--) {
            long weight = in.readLong();
            long note = in.readLong();
            int length = SectionInput.readLength(in);
            long node = memory.allocate(ROW + length);
            SectionInput.readBytes(in, node + ROW, length);
            long row = merging ? addNode(list, node, length, weight) : appendNode(list, node, length, weight);
            if (row != 0) {
                setNote(row, note);
            }
        }
    }

    private long addNode(long list, long node, int length, long weight) {
        long hash = hash(list, node + ROW, length);
        long found = find(list, node + ROW, length, hash);
        if (found > 0) {
            memory.free(node, ROW + length);
            return addWeight(found, weight);
        }
        begin(node, list, length, weight);
        insert(node, hash, -1 - found);
        return node + ROW;
    }

    private long appendNode(long list, long node, int length, long weight) {
        begin(node, list, length, weight);
        Memory.putInt(node + APPENDED, 1);
        return node + ROW;
    }

    @Override
    public void close() {
        size = 0;
        Closing.all(List.of(index, memory));
    }
}
