package dev.millrace.engine.view;

import dev.millrace.batch.Closing;
import dev.millrace.batch.Memory;
import dev.millrace.engine.state.Hashing;
import dev.millrace.engine.state.StateMemory;
import dev.millrace.operator.KeyGroups;
import java.util.ArrayList;
import java.util.List;
import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.memory.BufferAllocator;

/**
 * Rows of a Z-set with the versions from and to which each is there: a reader at version {@code n} sees the rows with {@code
 * born <= n < died}. A change of a row's weight is a new row, and the end of the old one. Not safe by itself.
 *
 * <pre>
 *   stage (may run out of memory) -> stamp with a version nobody sees yet (cannot fail) -> the version is made current
 *     -> rows that died are reclaimed when nobody reads as of an earlier version
 *
 *   row: next | previous | hash, or next of the dead | born | died | weight | length, 4 bytes | unused, 4 bytes | bytes
 * </pre>
 *
 * Rows are in one list, in the order of their arrival. Those that are alive are found by their bytes; all that are not
 * reclaimed are in every {@link RowIndex}.
 */
final class RowVersions implements AutoCloseable {
    private static final int PREVIOUS = 8;
    private static final int HASH = 16;
    private static final int NEXT_DEAD = 16; // a row that died is not found by its bytes, and needs no hash
    private static final int BORN = 24;
    private static final int DIED = 32;
    private static final int WEIGHT = 40;
    private static final int LENGTH = 48;
    private static final int ROW = 56;
    private static final long ALIVE = Long.MAX_VALUE;
    private static final long ADDRESS = (1L << 48) - 1;
    private static final int FIRST_CAPACITY = 64;

    private final BufferAllocator allocator;
    private final StateMemory memory;
    private final List<RowIndex> indexes = new ArrayList<>();
    private final List<RowCursor> cursors = new ArrayList<>();
    private List<ArrowBuf> slots = List.of(); // of the rows that are alive, by their bytes
    private long slotsAddress;
    private int shift;
    private long mask;
    private long alive;
    private long staged;
    private long first;
    private long last;
    private long firstDead; // in the order in which they died
    private long lastDead;
    private long deadBytes;

    RowVersions(BufferAllocator allocator) {
        this.allocator = allocator;
        this.memory = new StateMemory(allocator);
    }

    long size() {
        return alive;
    }

    long bytes() {
        long sum = memory.bytes() + (slots.isEmpty() ? 0 : 8 * (mask + 1));
        for (RowIndex index : indexes) {
            sum += index.bytes();
        }
        return sum;
    }

    /** Bytes of rows that died and wait for readers. */
    long deadBytes() {
        return deadBytes;
    }

    // ---- to stage --------------------------------------------------------------------------------------------------

    /**
     * Makes a row that is not there yet, with room for it wherever it has to be found.
     *
     * @throws org.apache.arrow.memory.OutOfMemoryException and nothing was changed that is seen
     */
    long stage(long row, int length, long weight) {
        reserve(staged + 1);
        long node = memory.allocate(ROW + length);
        Memory.putLong(node, 0);
        Memory.putLong(node + HASH, Hashing.finish(Hashing.bytes(row, length)));
        Memory.putLong(node + WEIGHT, weight);
        Memory.putInt(node + LENGTH, length);
        Memory.copy(row, node + ROW, length);
        staged++;
        return node;
    }

    /** The row that was staged after a row that is staged, or 0. */
    static long stagedNext(long node) {
        return Memory.getLong(node);
    }

    static void setStagedNext(long node, long next) {
        Memory.putLong(node, next);
    }

    /** Frees a row that was staged. */
    void discard(long node) {
        staged--;
        free(node);
    }

    private void reserve(long more) {
        long needed = 2 * (alive + more);
        if (slots.isEmpty() || needed > mask) {
            long capacity = slots.isEmpty() ? FIRST_CAPACITY : 4 * (mask + 1);
            while (needed >= capacity) {
                capacity *= 2;
            }
            grow(capacity);
        }
        for (int i = 0; i < indexes.size(); i++) {
            indexes.get(i).reserve(more);
        }
    }

    private void grow(long capacity) {
        List<ArrowBuf> oldSlots = slots;
        long oldAddress = slotsAddress;
        long oldCapacity = oldSlots.isEmpty() ? 0 : mask + 1;
        ArrowBuf buffer = allocator.buffer(8 * capacity);
        slots = List.of(buffer);
        slotsAddress = buffer.memoryAddress();
        mask = capacity - 1;
        shift = 64 - Long.numberOfTrailingZeros(capacity);
        Memory.fill(slotsAddress, 8 * capacity, (byte) 0);
        for (long old = 0; old < oldCapacity; old++) {
            long word = Memory.getLong(oldAddress + (old << 3));
            if (word != 0) {
                long slot = home(word & ADDRESS);
                while (word(slot) != 0) {
                    slot = (slot + 1) & mask;
                }
                Memory.putLong(slotsAddress + (slot << 3), word);
            }
        }
        Closing.all(oldSlots);
    }

    // ---- to stamp --------------------------------------------------------------------------------------------------

    /** Has a staged row take effect from a version on, which is greater than all that are seen. Asks for no memory. */
    void stamp(long node, long version) {
        staged--;
        long hash = Memory.getLong(node + HASH);
        long slot = find(node, hash);
        long word = word(slot);
        if (word == 0) {
            if (Memory.getLong(node + WEIGHT) == 0) {
                free(node);
                return;
            }
            link(node, last);
            begin(node, version);
            Memory.putLong(slotsAddress + (slot << 3), hash << 48 | node);
            alive++;
            return;
        }
        long before = word & ADDRESS;
        long sum = Memory.getLong(before + WEIGHT) + Memory.getLong(node + WEIGHT);
        if (Memory.getLong(before + BORN) == version) { // nobody sees it yet
            free(node);
            if (sum == 0) {
                unindex(slot);
                remove(before);
            } else {
                Memory.putLong(before + WEIGHT, sum);
            }
        } else if (sum == 0) {
            free(node);
            unindex(slot);
            end(before, version);
        } else {
            Memory.putLong(node + WEIGHT, sum);
            link(node, before);
            begin(node, version);
            Memory.putLong(slotsAddress + (slot << 3), hash << 48 | node);
            end(before, version);
        }
    }

    private void begin(long node, long version) {
        Memory.putLong(node + BORN, version);
        Memory.putLong(node + DIED, ALIVE);
        for (int i = 0; i < indexes.size(); i++) {
            indexes.get(i).add(node + ROW);
        }
    }

    private void end(long node, long version) {
        Memory.putLong(node + DIED, version);
        Memory.putLong(node + NEXT_DEAD, 0);
        if (lastDead == 0) {
            firstDead = node;
        } else {
            Memory.putLong(lastDead + NEXT_DEAD, node);
        }
        lastDead = node;
        deadBytes += ROW + Memory.getInt(node + LENGTH);
    }

    /** The slot of the living row with the same bytes, or the free one where it is to be. */
    private long find(long node, long hash) {
        int length = Memory.getInt(node + LENGTH);
        long slot = hash << KeyGroups.BITS >>> shift;
        while (true) {
            long word = word(slot);
            if (word == 0) {
                return slot;
            }
            if ((word ^ hash << 48) >>> 48 == 0) {
                long other = word & ADDRESS;
                if (Memory.getLong(other + HASH) == hash
                        && Memory.getInt(other + LENGTH) == length
                        && Memory.equal(other + ROW, node + ROW, length)) {
                    return slot;
                }
            }
            slot = (slot + 1) & mask;
        }
    }

    private void unindex(long freed) {
        long hole = freed;
        long slot = hole;
        while (true) {
            slot = (slot + 1) & mask;
            long word = word(slot);
            if (word == 0) {
                break;
            }
            if (((slot - home(word & ADDRESS)) & mask) >= ((slot - hole) & mask)) {
                Memory.putLong(slotsAddress + (hole << 3), word);
                hole = slot;
            }
        }
        Memory.putLong(slotsAddress + (hole << 3), 0);
        alive--;
    }

    private long word(long slot) {
        return Memory.getLong(slotsAddress + (slot << 3));
    }

    private long home(long node) {
        return Memory.getLong(node + HASH) << KeyGroups.BITS >>> shift;
    }

    /** Puts a row behind another, or first behind 0. */
    private void link(long node, long previous) {
        long next = previous == 0 ? first : Memory.getLong(previous);
        Memory.putLong(node, next);
        Memory.putLong(node + PREVIOUS, previous);
        if (previous == 0) {
            first = node;
        } else {
            Memory.putLong(previous, node);
        }
        if (next == 0) {
            last = node;
        } else {
            Memory.putLong(next + PREVIOUS, node);
        }
    }

    private void remove(long node) {
        long next = Memory.getLong(node);
        long previous = Memory.getLong(node + PREVIOUS);
        for (int i = 0; i < indexes.size(); i++) {
            indexes.get(i).remove(node + ROW);
        }
        for (int i = 0; i < cursors.size(); i++) {
            cursors.get(i).leaving(node, next);
        }
        if (previous == 0) {
            first = next;
        } else {
            Memory.putLong(previous, next);
        }
        if (next == 0) {
            last = previous;
        } else {
            Memory.putLong(next + PREVIOUS, previous);
        }
        free(node);
    }

    private void free(long node) {
        memory.free(node, ROW + Memory.getInt(node + LENGTH));
    }

    // ---- to reclaim ------------------------------------------------------------------------------------------------

    /**
     * Frees some of the rows that died at a version or before.
     *
     * @return whether there are more
     */
    boolean reclaim(long version, int most) {
        for (int left = most; firstDead != 0 && Memory.getLong(firstDead + DIED) <= version; left--) {
            if (left == 0) {
                return true;
            }
            long node = firstDead;
            firstDead = Memory.getLong(node + NEXT_DEAD);
            if (firstDead == 0) {
                lastDead = 0;
            }
            deadBytes -= ROW + Memory.getInt(node + LENGTH);
            remove(node);
        }
        return false;
    }

    // ---- to read ---------------------------------------------------------------------------------------------------

    static long next(long node) {
        return Memory.getLong(node);
    }

    static long row(long node) {
        return node + ROW;
    }

    static boolean isSeenAt(long row, long version) {
        return Memory.getLong(row - ROW + BORN) <= version && version < Memory.getLong(row - ROW + DIED);
    }

    static long weight(long row) {
        return Memory.getLong(row - ROW + WEIGHT);
    }

    static int length(long row) {
        return Memory.getInt(row - ROW + LENGTH);
    }

    /** Has a cursor begin with the first row of all versions, and be told of the rows that go. */
    long open(RowCursor cursor) {
        cursors.add(cursor);
        cursor.goOnAt(first);
        return first;
    }

    void remove(RowCursor cursor) {
        cursors.remove(cursor);
    }

    // ---- indexes ---------------------------------------------------------------------------------------------------

    /**
     * Has an index be told of all rows that come and go from now on.
     *
     * @throws org.apache.arrow.memory.OutOfMemoryException and nothing was changed
     */
    void add(RowIndex index) {
        index.reserve(staged);
        indexes.add(index);
    }

    /**
     * Adds some rows from a node on to an index that is told of what comes and goes; returns where to go on, 0 at the end.
     *
     * @throws org.apache.arrow.memory.OutOfMemoryException for an index that is of no use any more
     */
    long addTo(RowIndex index, long node, int most) {
        index.reserve(staged + most);
        long next = node;
        for (int left = most; next != 0 && left > 0; left--) {
            index.add(row(next));
            next = next(next);
        }
        return next;
    }

    boolean has(RowIndex index) {
        return indexes.contains(index);
    }

    /** Has an index not be told any more, and closes it. */
    void remove(RowIndex index) {
        if (indexes.remove(index)) {
            index.close();
        }
    }

    /** How many rows are written or looked at while others wait: fewer where each has to be put in order. */
    int together(int most) {
        for (int i = 0; i < indexes.size(); i++) {
            if (indexes.get(i) instanceof OrderedIndex) {
                return most / 4;
            }
        }
        return most;
    }

    @Override
    public void close() {
        List<AutoCloseable> all = new ArrayList<>(indexes);
        all.addAll(slots);
        all.add(memory);
        indexes.clear();
        slots = List.of();
        alive = 0;
        first = 0;
        last = 0;
        firstDead = 0;
        lastDead = 0;
        Closing.all(all);
    }
}
