package dev.millrace.engine.state.frozen;

import dev.millrace.engine.state.memory.StateMemory;
import dev.millrace.memory.Memory;
import java.util.Arrays;
import org.apache.arrow.memory.BufferAllocator;

/**
 * Marks at addresses of entries: a bit for each eight bytes of those stretches of memory that have any, so about a sixtieth of the entries.
 * Marks of one stretch follow each other in the order of addresses, so that who goes over them reads memory forwards.
 *
 * <pre>
 *   address = stretch | bit &lt;&lt; 3                stretches are of 64 kB
 *   place   = number of the stretch, in the order of their first marks | bit
 * </pre>
 *
 * One thread.
 */
final class EntryMarks implements AutoCloseable {
    private static final int STRETCH_BITS = 16;
    private static final int GRAIN_BITS = 3;
    private static final int PLACE_BITS = STRETCH_BITS - GRAIN_BITS;
    private static final int WORDS = 1 << PLACE_BITS - 6;
    private static final int FIRST_SLOTS = 16;
    private static final int FIRST_STRETCHES = 4;
    private static final long GOLDEN_SECTION = 0x9E3779B97F4A7C15L;

    private final StateMemory memory; // bits
    private long[] stretches = {}; // by number
    private long[] bits = {}; // of each, where they are
    private int count; // of stretches
    private int[] slots = {}; // 1 + number, by the stretch: open addressing, at most half full
    private int shift;
    private long size;
    private long lastStretch = -1; // that was looked for
    private int lastNumber;

    EntryMarks(BufferAllocator allocator) {
        this.memory = new StateMemory(allocator);
    }

    /** How many there are. */
    long size() {
        return size;
    }

    long bytes() {
        return memory.bytes();
    }

    /** Sets one. */
    void add(long address) {
        long stretch = address >>> STRETCH_BITS;
        int number = number(stretch);
        if (number < 0) {
            number = open(stretch);
        }
        long word = bits[number] + (bit(address) >>> 6 << 3);
        long before = Memory.getLong(word);
        long after = before | 1L << bit(address);
        Memory.putLong(word, after);
        size += before == after ? 0 : 1;
    }

    /** Takes one away, if it is there. */
    void remove(long address) {
        int number = number(address >>> STRETCH_BITS);
        if (number >= 0) {
            long word = bits[number] + (bit(address) >>> 6 << 3);
            long before = Memory.getLong(word);
            long after = before & ~(1L << bit(address));
            Memory.putLong(word, after);
            size -= before == after ? 0 : 1;
        }
    }

    /** Where the mark at an address comes among all, or -1 if there is none. */
    long place(long address) {
        int number = number(address >>> STRETCH_BITS);
        if (number < 0) {
            return -1;
        }
        int bit = bit(address);
        boolean isThere = (Memory.getLong(bits[number] + (bit >>> 6 << 3)) >>> bit & 1) != 0;
        return isThere ? (long) number << PLACE_BITS | bit : -1;
    }

    /** Sets all that another has. */
    void addAll(EntryMarks other) {
        for (int theirs = 0; theirs < other.count; theirs++) {
            int number = number(other.stretches[theirs]);
            if (number < 0) {
                number = open(other.stretches[theirs]);
            }
            for (int i = 0; i < WORDS; i++) {
                long word = bits[number] + 8L * i;
                long before = Memory.getLong(word);
                long after = before | Memory.getLong(other.bits[theirs] + 8L * i);
                Memory.putLong(word, after);
                size += Long.bitCount(after) - Long.bitCount(before);
            }
        }
    }

    /**
     * Copies addresses of marks.
     *
     * @param from the place to begin at; 0 first
     * @param addresses room for at least 64
     * @param found set to how many there are
     * @return the place to go on from, or -1 at the end
     */
    long next(long from, long[] addresses, int[] found) {
        long place = from;
        int into = 0;
        while (place >>> PLACE_BITS < count && into + Long.SIZE <= addresses.length) {
            int number = (int) (place >>> PLACE_BITS);
            int bit = (int) (place & (1 << PLACE_BITS) - 1);
            long first = stretches[number] << STRETCH_BITS | (long) bit << GRAIN_BITS;
            for (long word = Memory.getLong(bits[number] + (bit >>> 6 << 3)); word != 0; word &= word - 1) {
                addresses[into++] = first + ((long) Long.numberOfTrailingZeros(word) << GRAIN_BITS);
            }
            place += Long.SIZE;
        }
        found[0] = into;
        return place >>> PLACE_BITS < count ? place : -1;
    }

    /** Takes all away; keeps memory for others. */
    void clear() {
        if (count > 0) {
            count = 0;
            size = 0;
            lastStretch = -1;
            Arrays.fill(slots, 0);
            memory.reset();
        }
    }

    private static int bit(long address) {
        return (int) (address >>> GRAIN_BITS) & (1 << PLACE_BITS) - 1;
    }

    /** The number of a stretch, or -1 if it has no marks. */
    private int number(long stretch) {
        if (stretch == lastStretch) {
            return lastNumber; // neighbours are marked one after the other
        }
        if (count == 0) {
            return -1;
        }
        int slot = slot(stretch);
        if (slots[slot] == 0) {
            return -1;
        }
        lastStretch = stretch;
        lastNumber = slots[slot] - 1;
        return lastNumber;
    }

    /** Where a stretch's number is, or would be. */
    private int slot(long stretch) {
        int slot = (int) (stretch * GOLDEN_SECTION >>> shift);
        while (slots[slot] != 0 && stretches[slots[slot] - 1] != stretch) {
            slot = slot + 1 & slots.length - 1;
        }
        return slot;
    }

    private int open(long stretch) {
        if (2 * (count + 1) > slots.length) {
            slots = new int[Math.max(FIRST_SLOTS, 2 * slots.length)];
            shift = Long.SIZE - Integer.numberOfTrailingZeros(slots.length);
            for (int number = 0; number < count; number++) {
                slots[slot(stretches[number])] = number + 1;
            }
        }
        if (count == stretches.length) {
            int more = Math.max(FIRST_STRETCHES, 2 * count);
            stretches = Arrays.copyOf(stretches, more);
            bits = Arrays.copyOf(bits, more);
        }
        long words = memory.allocate(WORDS * Long.BYTES);
        Memory.fill(words, (long) WORDS * Long.BYTES, (byte) 0);
        stretches[count] = stretch;
        bits[count] = words;
        slots[slot(stretch)] = count + 1;
        return count++;
    }

    @Override
    public void close() {
        count = 0;
        size = 0;
        lastStretch = -1;
        Arrays.fill(slots, 0);
        memory.close();
    }
}
