package dev.millrace.engine.state;

import dev.millrace.batch.Closing;
import dev.millrace.engine.state.memory.StateMemory;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.memory.Memory;
import dev.millrace.operator.KeyGroups;
import java.util.Arrays;
import java.util.List;
import java.util.function.LongPredicate;
import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.memory.BufferAllocator;

/**
 * Finds entries by their hashes: open addressing with linear probing, one word per slot, at most half of them in use, but for an
 * index of 1 GB. Entries
 * have their hash at an offset that is the same for all. Whoever probes compares keys:
 *
 * <pre>
 *   slot = hash &lt;&lt; KeyGroups.BITS &gt;&gt;&gt; shift   the bits below those that chose this instance
 *   word = 0                                  the entry is absent; put(slot, hash, entry)
 *   word = tag (hash's low 16 bits) &lt;&lt; 48 | address of the entry; on a mismatch go on with (slot + 1) &amp; mask
 * </pre>
 *
 * Removal shifts the words behind back: there are no tombstones. One thread.
 */
final class EntryIndex implements AutoCloseable {
    /** The address in a word. */
    static final long ADDRESS = (1L << 48) - 1;

    private static final int FIRST_CAPACITY = 64;

    /** From here on the index doubles instead of quadrupling: then its memory weighs more than growing less often. */
    private static final int LARGE_CAPACITY = 1 << 20;

    /** An index of 1 GB, which is filled further: one twice as large is more than a file's mapping can be. */
    private static final long LARGEST_MAPPED_CAPACITY = 1L << 27;

    private static final int REHASHED_SLOTS = 512;

    /** How many times as many entries as are known of room is made for at once. */
    private static final int GUESSED = 4;

    private final BufferAllocator allocator;
    private final StateMemory memory; // of the entries, which takes what growing leaves
    private final int hashOffset;
    private List<ArrowBuf> buffer = List.of(); // one, or none before open() and when closed
    private long address;
    private int shift;
    private long mask;
    private int size;
    private long touched; // what comes of words that were loaded ahead, which keeps the JIT from dropping the loads

    EntryIndex(BufferAllocator allocator, StateMemory memory, int hashOffset) {
        this.allocator = allocator;
        this.memory = memory;
        this.hashOffset = hashOffset;
    }

    /** Makes an index that has no entries; before that there is nothing to probe. */
    void open() {
        renew(FIRST_CAPACITY);
    }

    boolean isOpen() {
        return !buffer.isEmpty();
    }

    long address() {
        return address;
    }

    int shift() {
        return shift;
    }

    /** The number of slots less one. */
    long mask() {
        return mask;
    }

    /** How many entries it finds. */
    int size() {
        return size;
    }

    long bytes() {
        return isOpen() ? 8 * (mask + 1) : 0;
    }

    /** Where a hash is looked for first. */
    long home(long hash) {
        return hash << KeyGroups.BITS >>> shift;
    }

    long word(long slot) {
        return Memory.getLong(address + (slot << 3));
    }

    private long hash(long entry) {
        return Memory.getLong(entry + hashOffset);
    }

    private void setWord(long slot, long word) {
        Memory.putLong(address + (slot << 3), word);
    }

    /** The first slot from a hash's home on that is free. */
    long freeSlot(long hash) {
        long slot = home(hash);
        while (word(slot) != 0) {
            slot = (slot + 1) & mask;
        }
        return slot;
    }

    /** Puts an entry, which holds its hash, into a free slot; address, shift and mask may be others afterwards. */
    void put(long slot, long hash, long entry) {
        setWord(slot, hash << 48 | entry);
        if (++size > most(mask + 1)) {
            grow((mask + 1 < LARGE_CAPACITY ? 4 : 2) * (mask + 1));
        }
    }

    /**
     * Makes room for so many more entries at once, so that what follows need not grow little by little; not for more than a few times
     * as many as there are already, since who asks may only guess.
     */
    void reserve(long more, long atHand) {
        long wanted = Math.max(size + atHand, Math.min(size + more, GUESSED * (size + atHand)));
        long capacity = mask + 1;
        while (wanted + 1 > most(capacity)) {
            capacity *= 2;
        }
        if (capacity > mask + 1) {
            grow(capacity);
        }
    }

    /** Puts entries that hold their hashes, and whose keys are absent. */
    void putAll(long[] entries, int count) {
        reserve(0, count);
        long[] hashes = new long[Math.min(count, REHASHED_SLOTS)];
        for (int from = 0; from < count; from += hashes.length) {
            int some = Math.min(hashes.length, count - from);
            long words = 0;
            for (int i = 0; i < some; i++) {
                hashes[i] = hash(entries[from + i]);
                words += word(home(hashes[i])); // a loop of its own: these wait for memory together
            }
            touched = words;
            for (int i = 0; i < some; i++) {
                setWord(freeSlot(hashes[i]), hashes[i] << 48 | entries[from + i]);
            }
        }
        size += count;
    }

    /** Finds an entry no more. */
    void remove(long entry) {
        long hole = home(hash(entry));
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
            long home = home(hash(word & ADDRESS));
            if (((slot - home) & mask)
                    >= ((slot - hole) & mask)) { // its home is not behind the hole: it may move there
                setWord(hole, word);
                hole = slot;
            }
        }
        setWord(hole, 0);
        size--;
    }

    /** The first slot of one of 2^bits equal parts, of which there are no more than slots. */
    private long firstOf(int part, int bits) {
        return (mask + 1 >>> bits) * part;
    }

    /** The slot behind a part's first free one that is behind the part: no entry that is at home before that is beyond it. */
    private long endOf(int part, int bits) {
        long end = firstOf(part + 1, bits);
        long most = firstOf(part, bits) + mask + 1;
        while (end < most && word(end & mask) != 0) {
            end++;
        }
        return end;
    }

    /** The entries that are at home in one of 2^{@code bits} equal parts of the slots, nearly in the order of their homes. */
    long[] entriesOf(int part, int bits) {
        long first = firstOf(part, bits);
        long slots = mask + 1 >>> bits;
        long[] found = new long[64];
        int count = 0;
        long end = endOf(part, bits);
        for (long slot = first; slot < end; slot++) {
            long word = word(slot & mask);
            if (word != 0 && home(hash(word & ADDRESS)) - first < slots && home(hash(word & ADDRESS)) >= first) {
                if (count == found.length) {
                    found = Arrays.copyOf(found, 2 * count);
                }
                found[count++] = word & ADDRESS;
            }
        }
        return Arrays.copyOf(found, count);
    }

    /** Finds no more those entries of a part's slots of which this holds, and is asked once of each that is there. */
    void remove(int part, int bits, LongPredicate isGone) {
        long end = endOf(part, bits);
        long[] left = new long[64];
        int count = 0;
        for (long slot = firstOf(part, bits); slot < end; slot++) {
            long word = word(slot & mask);
            if (word == 0) {
                continue;
            }
            setWord(slot & mask, 0);
            if (isGone.test(word & ADDRESS)) {
                size--;
                continue;
            }
            if (count == left.length) {
                left = Arrays.copyOf(left, 2 * count);
            }
            left[count++] = word;
        }
        for (int i = 0; i < count; i++) { // these are found from their homes on, up to a slot that was free before
            setWord(freeSlot(hash(left[i] & ADDRESS)), left[i]);
        }
    }

    /** Finds nothing any more, and keeps its memory. */
    void clear() {
        if (size > 0) {
            Memory.fill(address, 8 * (mask + 1), (byte) 0);
            size = 0;
        }
    }

    private void grow(long capacity) {
        List<ArrowBuf> oldBuffer = buffer;
        long oldAddress = address;
        long oldCapacity = mask + 1;
        renew(capacity);
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
                    hashes[i] = hash(words[i] & ADDRESS); // a loop of its own: these wait for memory together
                }
                for (int i = 0; i < found; i++) {
                    setWord(freeSlot(hashes[i]), words[i]);
                }
            }
        } finally {
            oldBuffer.forEach(memory::adopt); // for new entries
        }
    }

    /** The entries that an index of so many slots has before it grows. */
    private static long most(long capacity) {
        return capacity == LARGEST_MAPPED_CAPACITY ? capacity - capacity / 8 : (capacity - 1) / 2;
    }

    private void renew(long capacity) {
        ArrowBuf made = allocator.buffer(8 * capacity);
        buffer = List.of(made);
        address = made.memoryAddress();
        mask = capacity - 1;
        shift = 64 - Long.numberOfTrailingZeros(capacity);
        Memory.fill(address, 8 * capacity, (byte) 0);
    }

    @Override
    public void close() {
        List<ArrowBuf> old = buffer;
        buffer = List.of();
        size = 0;
        Closing.all(old);
    }
}
