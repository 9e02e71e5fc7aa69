package dev.millrace.engine.state;

import dev.millrace.batch.Closing;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.memory.Memory;
import dev.millrace.operator.KeyGroups;
import java.util.List;
import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.memory.BufferAllocator;

/**
 * A hash table from keys to entries of fixed size. It knows where entries are and what their hashes are; keys are compared
 * by whoever probes, which is generated code over the fields of {@link #indexAddress}, {@link #shift} and {@link #mask}:
 *
 * <pre>
 *   slot = hash &lt;&lt; KeyGroups.BITS &gt;&gt;&gt; shift   the bits below those that chose this instance
 *   word = index[slot]                         0: absent, insert(hash, slot)
 *   word = tag (hash's low 16 bits) &lt;&lt; 48 | address of the entry; on a mismatch go on with (slot + 1) &amp; mask
 *
 *   entry: hash | link | key and state words   link: free for the owner's use, 0 at first
 * </pre>
 *
 * Entries never move. The load is at most a half; removal shifts the entries behind back, there are no tombstones.
 */
public final class GroupTable implements AutoCloseable {
    /** Where an entry's link is. */
    public static final int LINK = 8;

    /** Where an entry's keys and state begin. */
    public static final int BODY = 16;

    /** The address in an index word. */
    public static final long ADDRESS = (1L << 48) - 1;

    private static final int FIRST_CAPACITY = 64;

    /** From here on the index doubles instead of quadrupling: then its memory weighs more than growing less often. */
    private static final int LARGE_CAPACITY = 1 << 20;

    /** The mask of an index from which on it is not in the nearest cache: then a batch's words are loaded ahead. */
    public static final int FAR = 1 << 14;

    private static final int REHASHED_SLOTS = 512;

    /** Slots that are gone over in their order: enough for the processor to fetch them ahead. */
    private static final int STRETCH_BITS = 7;

    /** 2^64 times (sqrt(5) - 1) / 2. */
    private static final long GOLDEN_SECTION = 0x9E3779B97F4A7C15L;

    private final BufferAllocator allocator;
    private final StateMemory memory;
    private final long[] initial; // the words of a new entry's body
    private final int entryBytes;
    private List<ArrowBuf> index = List.of(); // the one buffer of the index, none when closed
    private long indexAddress;
    private int shift;
    private long mask;
    private int size;
    private long touched;

    /** A table whose entries' bodies begin as {@code initial}. */
    public GroupTable(BufferAllocator allocator, long[] initial) {
        this.allocator = allocator;
        this.memory = new StateMemory(allocator);
        this.initial = initial.clone();
        this.entryBytes = BODY + 8 * initial.length;
        newIndex(FIRST_CAPACITY);
    }

    public long indexAddress() {
        return indexAddress;
    }

    public int shift() {
        return shift;
    }

    public long mask() {
        return mask;
    }

    /** Takes what comes of words that were loaded ahead, which keeps the JIT from dropping the loads. */
    public void touched(long words) {
        touched = words;
    }

    /** How many entries there are. */
    public int size() {
        return size;
    }

    /** Where what entries point to is kept; freed with the table or by {@link #clear}. */
    public StateMemory memory() {
        return memory;
    }

    public long bytes() {
        return memory.bytes() + 8 * (mask + 1);
    }

    /** The index word of a slot. */
    public long word(long slot) {
        return Memory.getLong(indexAddress + (slot << 3));
    }

    /**
     * A new entry at a slot found empty while probing for {@code hash}. The index may be another one afterwards: its
     * address, shift and mask are to be read again.
     */
    public long insert(long hash, long slot) {
        long entry = memory.allocate(entryBytes);
        Memory.putLong(entry, hash);
        Memory.putLong(entry + LINK, 0);
        long body = entry + BODY;
        for (int word = 0; word < initial.length; word++) {
            Memory.putLong(body + 8L * word, initial[word]);
        }
        Memory.putLong(indexAddress + (slot << 3), hash << 48 | entry);
        if (2L * ++size > mask) {
            grow();
        }
        return entry;
    }

    /** A new entry for a hash whose key is known to be absent. */
    public long insertNew(long hash) {
        long slot = hash << KeyGroups.BITS >>> shift;
        while (word(slot) != 0) {
            slot = (slot + 1) & mask;
        }
        return insert(hash, slot);
    }

    /** Removes an entry and frees its block, but nothing it points to. */
    public void remove(long entry) {
        long hole = Memory.getLong(entry) << KeyGroups.BITS >>> shift;
        while ((word(hole) & ADDRESS) != entry) {
            hole = (hole + 1) & mask;
        }
        long slot = hole;
        while (true) {
            slot = (slot + 1) & mask;
            long word = word(slot);
            if (word == 0) {
                break;
            }
            long home = Memory.getLong(word & ADDRESS) << KeyGroups.BITS >>> shift;
            if (((slot - home) & mask)
                    >= ((slot - hole) & mask)) { // its home is not behind the hole: it may move there
                Memory.putLong(indexAddress + (hole << 3), word);
                hole = slot;
            }
        }
        Memory.putLong(indexAddress + (hole << 3), 0);
        memory.free(entry, entryBytes);
        size--;
    }

    /** Removes all entries and what they point to; keeps the memory for reuse. */
    public void clear() {
        if (size > 0) {
            Memory.fill(indexAddress, 8 * (mask + 1), (byte) 0);
            size = 0;
        }
        memory.reset();
    }

    /**
     * Copies addresses of entries, scattered: stretches of the index in strides of a golden section of it. Entries in the
     * order of their hashes would fill a smaller table from one end, where each would be put behind all others.
     *
     * @param from where to begin; 0 first
     * @return where to go on from, or -1 at the end
     */
    public long entries(long from, long[] addresses, int[] count) {
        long stretch = Math.min(1L << STRETCH_BITS, mask + 1);
        long stride = (GOLDEN_SECTION >>> shift | stretch) & -stretch; // an odd number of stretches
        long position = from;
        int found = 0;
        while (position <= mask && found < addresses.length) {
            long slot = (position >>> STRETCH_BITS) * stride + (position & stretch - 1) & mask;
            int most = (int) Math.min(stretch - (position & stretch - 1), addresses.length - found);
            long address = indexAddress + (slot << 3);
            for (int i = 0; i < most; i++) {
                long word = Memory.getLong(address + 8L * i);
                addresses[found] = word & ADDRESS;
                found += word == 0 ? 0 : 1; // no branch: occupied slots are random
            }
            position += most;
        }
        count[0] = found;
        return position > mask ? -1 : position;
    }

    private void grow() {
        List<ArrowBuf> oldIndex = index;
        long oldAddress = indexAddress;
        long oldCapacity = mask + 1;
        newIndex((oldCapacity < LARGE_CAPACITY ? 4 : 2) * oldCapacity);
        int chunk = (int) Math.min(oldCapacity, REHASHED_SLOTS);
        long[] words = new long[chunk];
        long[] hashes = new long[chunk];
        Interrupt interrupt = Interrupt.current();
        try {
            for (long from = 0; from < oldCapacity; from += chunk) {
                interrupt.check();
                int found = 0;
                for (int i = 0; i < chunk; i++) {
                    long word = Memory.getLong(oldAddress + (from + i << 3));
                    words[found] = word;
                    found += word == 0 ? 0 : 1; // no branch: occupied slots are random
                }
                for (int i = 0; i < found; i++) {
                    hashes[i] = Memory.getLong(words[i] & ADDRESS); // a loop of its own: these wait for memory together
                }
                for (int i = 0; i < found; i++) {
                    long at = hashes[i] << KeyGroups.BITS >>> shift;
                    while (word(at) != 0) {
                        at = (at + 1) & mask;
                    }
                    Memory.putLong(indexAddress + (at << 3), words[i]);
                }
            }
        } finally {
            oldIndex.forEach(memory::adopt); // for new entries
        }
    }

    private void newIndex(long capacity) {
        ArrowBuf buffer = allocator.buffer(8 * capacity);
        index = List.of(buffer);
        indexAddress = buffer.memoryAddress();
        mask = capacity - 1;
        shift = 64 - Long.numberOfTrailingZeros(capacity);
        Memory.fill(indexAddress, 8 * capacity, (byte) 0);
    }

    @Override
    public void close() {
        List<ArrowBuf> old = index;
        index = List.of();
        Closing.all(old);
        memory.close();
    }
}
