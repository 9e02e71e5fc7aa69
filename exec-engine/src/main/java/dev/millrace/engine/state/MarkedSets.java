package dev.millrace.engine.state;

import dev.millrace.engine.state.memory.BuddyMemory;
import dev.millrace.engine.state.memory.StateMemory;
import dev.millrace.memory.Memory;
import dev.millrace.plan.node.DistinctArgument;
import org.apache.arrow.memory.BufferAllocator;

/**
 * Sets of small integers, called ids, each with up to four marks. A set is a header of {@link #HEADER_BYTES} in some
 * entry of its owner, all zero when empty, and a block:
 *
 * <pre>
 *   header:  address of the block | number of ids (32 bits), log2 of the slots (8 bits), 1 if dense (1 bit)
 *   sparse:  a hash table of 4-byte slots, id &lt;&lt; 4 | marks, 0 if free; at most three quarters full
 *   dense:   a byte per id, its marks
 * </pre>
 *
 * A set is dense as soon as that takes no more memory. An id is in the set if it has marks.
 */
public final class MarkedSets implements AutoCloseable {
    /** Size of a header. */
    public static final int HEADER_BYTES = 16;

    /** How many marks there are, numbered from bit 0. */
    public static final int MARKS = DistinctArgument.MOST_FILTERS;

    /** The end of ids. */
    public static final int MOST_IDS = 1 << 32 - MARKS;

    private static final int WORD = 8; // of the header: size, slots and kind
    private static final int FIRST_LOG = 2;
    private static final int ALL_MARKS = (1 << MARKS) - 1;
    private static final int MULTIPLIER = 0x9E3779B9;
    private static final long DENSE = 1L << 40;

    /** Takes the ids of a set, one by one, in no particular order. */
    @FunctionalInterface
    public interface Visitor {
        void id(int id, int marks);
    }

    private final StateMemory small;
    private final BuddyMemory large;
    private long ids; // in all sets
    private long touched; // keeps the JIT from dropping the loads of touch

    public MarkedSets(BufferAllocator allocator) {
        this.small = new StateMemory(allocator);
        this.large = new BuddyMemory(allocator);
    }

    /** How many ids a set has. */
    public static int size(long header) {
        return Memory.getInt(header + WORD);
    }

    private static int log(long word) {
        return (int) (word >>> 32) & 0xFF;
    }

    private static boolean isDense(long word) {
        return (word & DENSE) != 0;
    }

    private static int slot(int id, int log) {
        return id * MULTIPLIER >>> 32 - log;
    }

    /**
     * Adds ids to sets and replaces their marks by those that were new.
     *
     * @param headers where the sets' headers are, less {@code offset}
     * @param ids below {@code endOfIds}
     * @param marks at least one each
     */
    public void add(long[] headers, int offset, int[] ids, int[] marks, int count, int endOfIds) {
        for (int from = 0; from < count; from += 64) {
            int to = Math.min(count, from + 64);
            touch(headers, offset, ids, from, to);
            for (int i = from; i < to; i++) {
                marks[i] = add(headers[i] + offset, ids[i], marks[i], endOfIds);
            }
        }
    }

    /** Loads what {@link #add} will look at first, in a loop of its own: these loads wait for memory together. */
    private void touch(long[] headers, int offset, int[] ids, int from, int to) {
        long sum = 0;
        for (int i = from; i < to; i++) {
            long header = headers[i] + offset;
            long word = Memory.getLong(header + WORD);
            int log = log(word);
            if (log != 0 && !isDense(word)) {
                sum += Memory.getInt(Memory.getLong(header) + 4L * slot(ids[i], log));
            }
        }
        touched += sum;
    }

    /** Adds an id to a set; returns those marks that are new. */
    public int add(long header, int id, int marks, int endOfIds) {
        long word = Memory.getLong(header + WORD);
        int log = log(word);
        if (log == 0) {
            startSparse(header);
            return add(header, id, marks, endOfIds);
        }
        long block = Memory.getLong(header);
        if (isDense(word)) {
            if (id >>> log != 0) {
                growDense(header, word, endOfIds);
                return add(header, id, marks, endOfIds);
            }
            int before = Memory.getByte(block + id);
            Memory.putByte(block + id, (byte) (before | marks));
            Memory.putLong(header + WORD, before == 0 ? word + 1 : word);
            ids += before == 0 ? 1 : 0;
            return marks & ~before;
        }
        int mask = (1 << log) - 1;
        int slot = slot(id, log);
        while (true) {
            int found = Memory.getInt(block + 4L * slot);
            if (found == 0) {
                if (4 * ((int) word + 1L) > 3L << log) {
                    growSparse(header, word, endOfIds);
                    return add(header, id, marks, endOfIds);
                }
                Memory.putInt(block + 4L * slot, id << MARKS | marks);
                Memory.putLong(header + WORD, word + 1);
                ids++;
                return marks;
            }
            if (found >>> MARKS == id) {
                Memory.putInt(block + 4L * slot, found | marks);
                return marks & ~found;
            }
            slot = slot + 1 & mask;
        }
    }

    /** Gives a set's ids to a visitor, which must not change the set. */
    public static void each(long header, Visitor visitor) {
        long word = Memory.getLong(header + WORD);
        long block = Memory.getLong(header);
        int slots = log(word) == 0 ? 0 : 1 << log(word);
        for (int slot = 0; slot < slots; slot++) {
            if (isDense(word)) {
                int marks = Memory.getByte(block + slot);
                if (marks != 0) {
                    visitor.id(slot, marks);
                }
            } else {
                int found = Memory.getInt(block + 4L * slot);
                if (found != 0) {
                    visitor.id(found >>> MARKS, found & ALL_MARKS);
                }
            }
        }
    }

    /**
     * Writes a set's ids, each with its marks in the low {@link #MARKS} bits.
     *
     * @param to has room for {@link #size}
     * @return how many
     */
    public static int copy(long header, int[] to) {
        long word = Memory.getLong(header + WORD);
        long block = Memory.getLong(header);
        int slots = log(word) == 0 ? 0 : 1 << log(word);
        int count = 0;
        for (int slot = 0; slot < slots; slot++) {
            int found = isDense(word) ? slot << MARKS | Memory.getByte(block + slot) : Memory.getInt(block + 4L * slot);
            if ((found & ALL_MARKS) != 0) {
                to[count++] = found;
            }
        }
        return count;
    }

    /** The same to memory, four bytes each. */
    public static int copy(long header, long to) {
        int[] count = new int[1];
        each(header, (id, marks) -> Memory.putInt(to + 4L * count[0]++, id << MARKS | marks));
        return count[0];
    }

    /** The marks of an id that {@link #copy} wrote. */
    public static int marks(int written) {
        return written & ALL_MARKS;
    }

    /** The marks of an id in a set, 0 if it is not there. */
    public static int marks(long header, int id) {
        long word = Memory.getLong(header + WORD);
        int log = log(word);
        if (log == 0) {
            return 0;
        }
        long block = Memory.getLong(header);
        if (isDense(word)) {
            return id >>> log == 0 ? Memory.getByte(block + id) : 0;
        }
        int mask = (1 << log) - 1;
        for (int slot = slot(id, log); ; slot = slot + 1 & mask) {
            int found = Memory.getInt(block + 4L * slot);
            if (found == 0 || found >>> MARKS == id) {
                return found & ALL_MARKS;
            }
        }
    }

    /** Empties a set. */
    public void clear(long header) {
        long word = Memory.getLong(header + WORD);
        ids -= (int) word;
        if (log(word) != 0) {
            free(Memory.getLong(header), bytesLog(word));
        }
        Memory.putLong(header, 0);
        Memory.putLong(header + WORD, 0);
    }

    /** Forgets the blocks of all sets, whose headers are to be zeroed or forgotten too; keeps memory for reuse. */
    public void reset() {
        small.reset();
        large.reset();
        ids = 0;
    }

    /** How many ids all sets have. */
    public long ids() {
        return ids;
    }

    /** Bytes of all blocks. */
    public long bytes() {
        return small.bytes() + large.bytes();
    }

    private void startSparse(long header) {
        Memory.putLong(header, allocate(FIRST_LOG + 2));
        Memory.putLong(header + WORD, (long) FIRST_LOG << 32);
    }

    private void growSparse(long header, long word, int endOfIds) {
        int dense = logOf(endOfIds);
        boolean becomesDense = dense <= log(word) + 1 + 2; // a byte per id against four per slot
        rebuild(header, word, becomesDense ? dense : log(word) + 1, becomesDense);
    }

    private void growDense(long header, long word, int endOfIds) {
        int dense = logOf(endOfIds);
        int sparse = Math.max(FIRST_LOG, logOf((int) word + 1) + 1);
        boolean staysDense = dense <= sparse + 2 + 1; // not at once back and forth
        rebuild(header, word, staysDense ? dense : sparse, staysDense);
    }

    /** The smallest log with 2^log at least {@code number}. */
    private static int logOf(int number) {
        return 32 - Integer.numberOfLeadingZeros(Math.max(1, number - 1));
    }

    private void rebuild(long header, long word, int log, boolean dense) {
        long old = Memory.getLong(header);
        long block = allocate(dense ? log : log + 2);
        int slots = 1 << log(word);
        for (int from = 0; from < slots; from++) {
            int found = isDense(word) ? from << MARKS | Memory.getByte(old + from) : Memory.getInt(old + 4L * from);
            if ((found & ALL_MARKS) != 0) {
                put(block, log, dense, found);
            }
        }
        free(old, bytesLog(word));
        Memory.putLong(header, block);
        Memory.putLong(header + WORD, (int) word & 0xFFFFFFFFL | (long) log << 32 | (dense ? DENSE : 0));
    }

    private static void put(long block, int log, boolean dense, int word) {
        int id = word >>> MARKS;
        if (dense) {
            Memory.putByte(block + id, (byte) (word & ALL_MARKS));
            return;
        }
        int mask = (1 << log) - 1;
        int slot = slot(id, log);
        while (Memory.getInt(block + 4L * slot) != 0) {
            slot = slot + 1 & mask;
        }
        Memory.putInt(block + 4L * slot, word);
    }

    private static int bytesLog(long word) {
        return isDense(word) ? log(word) : log(word) + 2;
    }

    private long allocate(int bytesLog) {
        long block = bytesLog < BuddyMemory.SMALLEST_ORDER ? small.allocate(1 << bytesLog) : large.allocate(bytesLog);
        Memory.fill(block, 1L << bytesLog, (byte) 0);
        return block;
    }

    private void free(long block, int bytesLog) {
        if (bytesLog < BuddyMemory.SMALLEST_ORDER) {
            small.free(block, 1 << bytesLog);
        } else {
            large.free(block, bytesLog);
        }
    }

    @Override
    public void close() {
        small.close();
        large.close();
    }
}
