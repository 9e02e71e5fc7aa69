package dev.millrace.engine.view;

import dev.millrace.batch.Closing;
import dev.millrace.memory.Memory;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongUnaryOperator;
import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.memory.BufferAllocator;

/**
 * Addresses by a hash: open addressing, a word of 16 bits of the hash and 48 of the address each. One thread at a time writes; others may
 * read {@link #words} meanwhile, and find every address that is there all the time, once.
 *
 * <pre>
 *   a slot: FREE -> word <-> GONE, and either -> FREE where the next slot is FREE: a word stays in its slot
 *
 *   to grow: a larger array is asked for -> made FREE, some slots with each call -> filled, some slots with each call, while what
 *     comes and goes does so in both -> takes the place of the other, which its readers may still read ({@link #takeReplaced})
 * </pre>
 *
 * So no call takes long, whatever the size, as long as more room is asked for little by little.
 */
final class AddressTable implements AutoCloseable {
    static final long FREE = 0;
    static final long ADDRESS = (1L << 48) - 1;
    private static final long GONE = 1L << 48; // no address
    private static final int FIRST_CAPACITY = 64;
    private static final int FREED_TOGETHER = 64;
    private static final int MOVED_TOGETHER = 8;
    private static final int PREPARED_TOGETHER = 256; // steps of growing

    private final BufferAllocator allocator;
    private final LongUnaryOperator hashOf;
    private final int factor;
    private final List<ArrowBuf> replaced = new ArrayList<>(0);
    private volatile Words words = Words.NONE; // replaced by who writes, read by all
    private Words larger = Words.NONE; // that is being made, if it has slots
    private long freed; // of its slots
    private long moved; // slots that it was filled from
    private long[] moving = new long[0]; // some of their addresses
    private long[] hashes = new long[0]; // of these
    private long touched; // what comes of words that were loaded ahead, which keeps the JIT from dropping the loads
    private long count;

    /**
     * @param hashOf the hash of an address that is there
     * @param factor how many times as many slots it grows to; a power of two
     */
    AddressTable(BufferAllocator allocator, LongUnaryOperator hashOf, int factor) {
        this.allocator = allocator;
        this.hashOf = hashOf;
        this.factor = factor;
    }

    /** Slots, to be read on any thread. */
    static final class Words {
        static final Words NONE = new Words(List.of(), 0, 0);

        private final List<ArrowBuf> buffers;
        private final long address;
        private final long capacity;
        private final long mask;
        private final int shift;
        private long gone; // slots whose addresses are; of who writes

        private Words(List<ArrowBuf> buffers, long address, long capacity) {
            this.buffers = buffers;
            this.address = address;
            this.capacity = capacity;
            this.mask = capacity - 1;
            this.shift = 64 - Long.numberOfTrailingZeros(capacity);
        }

        boolean isEmpty() {
            return capacity == 0;
        }

        /** The slot from which on a hash is looked for, up to one that is {@link #FREE}. Not where there are no slots. */
        long first(long hash) {
            return hash >>> shift;
        }

        long next(long slot) {
            return slot + 1 & mask;
        }

        long word(long slot) {
            return Memory.getLongAcquire(address + (slot << 3));
        }

        /** Whether a word is that of an address with some hash, or one that has its 16 bits in common. */
        static boolean mayBe(long word, long hash) {
            return (word ^ hash << 48) >>> 48 == 0 && (word & ADDRESS) != 0;
        }

        private void set(long slot, long word) {
            Memory.putLongRelease(address + (slot << 3), word);
        }

        private boolean hasRoomFor(long addresses) {
            return 8 * (gone + addresses) <= 7 * capacity;
        }

        /** Whether the address was not there. */
        private boolean put(long address, long hash) {
            long word = hash << 48 | address;
            long slot = first(hash);
            long usable = -1;
            for (long there = word(slot); there != FREE; there = word(slot)) {
                if (there == word) {
                    return false;
                }
                if (there == GONE && usable < 0) {
                    usable = slot;
                }
                slot = next(slot);
            }
            if (usable >= 0) {
                gone--;
            }
            set(usable < 0 ? slot : usable, word);
            return true;
        }

        /** The slot of an address; -1 if it is not there. */
        private long slot(long address, long hash) {
            long slot = first(hash);
            for (long there = word(slot); there != FREE; there = word(slot)) {
                if ((there & ADDRESS) == address) {
                    return slot;
                }
                slot = next(slot);
            }
            return -1;
        }

        private boolean remove(long address, long hash) {
            long slot = slot(address, hash);
            if (slot < 0) {
                return false;
            }
            if (word(next(slot)) != FREE) {
                set(slot, GONE);
                gone++;
                return true;
            }
            set(slot, FREE);
            for (slot = slot - 1 & mask; word(slot) == GONE; slot = slot - 1 & mask) { // with nothing behind it
                set(slot, FREE);
                gone--;
            }
            return true;
        }
    }

    /** Where to look; what comes later may be elsewhere. */
    Words words() {
        return words;
    }

    long count() {
        return count;
    }

    // ---- room ------------------------------------------------------------------------------------------------------

    /**
     * Makes sure that so many more addresses can be added without asking for memory.
     *
     * @throws org.apache.arrow.memory.OutOfMemoryException and nothing was changed that matters
     */
    void reserve(long more) {
        growSome();
        while (!words.hasRoomFor(count + more) || (isGrowing() ? !larger.hasRoomFor(count + more) : isTight(more))) {
            if (isGrowing()) {
                growSome();
            } else {
                begin(more);
            }
        }
    }

    /**
     * Takes a step towards room for so many addresses in all, which are added then without growing any more; returns whether it is
     * there.
     *
     * @throws org.apache.arrow.memory.OutOfMemoryException and nothing was changed that matters
     */
    boolean prepare(long addresses) {
        if (!isGrowing()) {
            if (2 * addresses <= words.capacity) {
                return true;
            }
            begin(addresses - count);
        }
        for (int i = 0; i < PREPARED_TOGETHER && isGrowing(); i++) {
            growSome();
        }
        return false;
    }

    /** The word where a hash is looked for first: who asks for those of many addresses before it adds them waits less for memory. */
    long firstWord(long hash) {
        Words now = words;
        return now.isEmpty() ? FREE : now.word(now.first(hash));
    }

    private boolean isGrowing() {
        return !larger.isEmpty();
    }

    /** Whether it is time to begin to make more room: there is enough for what comes until that is done. */
    private boolean isTight(long more) {
        return 2 * (count + more) > words.capacity || 8 * (words.gone + count + more) > 5 * words.capacity;
    }

    private void begin(long more) {
        long capacity = Math.max(FIRST_CAPACITY, words.capacity);
        if (8 * (count + more) > 3 * capacity) { // else it is full of slots whose addresses are gone
            capacity = words.isEmpty() ? capacity : factor * capacity;
            while (2 * (count + more) >= capacity) {
                capacity *= 2;
            }
        }
        ArrowBuf buffer = allocator.buffer(8 * capacity);
        larger = new Words(List.of(buffer), buffer.memoryAddress(), capacity);
        freed = 0;
        moved = 0;
        moving = new long[MOVED_TOGETHER];
        hashes = new long[MOVED_TOGETHER];
    }

    /** A step of growing, if it is. */
    private void growSome() {
        if (!isGrowing()) {
            return;
        }
        if (freed < larger.capacity) {
            Memory.fill(larger.address + (freed << 3), 8 * FREED_TOGETHER, (byte) 0);
            freed += FREED_TOGETHER;
            return;
        }
        move(Math.min(words.capacity, moved + MOVED_TOGETHER));
        if (moved == words.capacity) {
            replaced.addAll(words.buffers);
            words = larger;
            larger = Words.NONE;
        }
    }

    /** In loops of their own: what each waits for in memory comes together. */
    private void move(long end) {
        int count = 0;
        for (; moved < end; moved++) {
            moving[count] = words.word(moved) & ADDRESS;
            count += moving[count] == 0 ? 0 : 1; // no branch: occupied slots are random
        }
        for (int i = 0; i < count; i++) {
            hashes[i] = hashOf.applyAsLong(moving[i]);
        }
        long loaded = 0;
        for (int i = 0; i < count; i++) {
            loaded += larger.word(larger.first(hashes[i]));
        }
        touched = loaded;
        for (int i = 0; i < count; i++) {
            larger.put(moving[i], hashes[i]);
        }
    }

    private boolean isBeingFilled() {
        return isGrowing() && freed == larger.capacity;
    }

    // ---- to write --------------------------------------------------------------------------------------------------

    /** Adds an address, for which there is room, unless it is there already. */
    void add(long address, long hash) {
        growSome();
        if (words.put(address, hash)) {
            count++;
            if (isBeingFilled()) {
                larger.put(address, hash);
            }
        }
    }

    /** Removes an address, if it is there. */
    void remove(long address, long hash) {
        if (!words.isEmpty() && words.remove(address, hash)) {
            count--;
            if (isBeingFilled()) {
                larger.remove(address, hash);
            }
        }
    }

    /** Has another address with the same hash take the place of one. */
    void replace(long address, long by, long hash) {
        words.set(words.slot(address, hash), hash << 48 | by);
        if (isBeingFilled()) {
            long slot = larger.slot(address, hash);
            if (slot >= 0) {
                larger.set(slot, hash << 48 | by);
            }
        }
    }

    // ---- memory ----------------------------------------------------------------------------------------------------

    long bytes() {
        long sum = 8 * (words.capacity + larger.capacity);
        for (int i = 0; i < replaced.size(); i++) {
            sum += replaced.get(i).capacity();
        }
        return sum;
    }

    /** What nobody finds any more who begins to read now; the caller closes it when nobody reads it. */
    List<ArrowBuf> takeReplaced() {
        if (replaced.isEmpty()) {
            return List.of();
        }
        List<ArrowBuf> taken = List.copyOf(replaced);
        replaced.clear();
        return taken;
    }

    @Override
    public void close() {
        List<ArrowBuf> all = new ArrayList<>(replaced);
        all.addAll(words.buffers);
        all.addAll(larger.buffers);
        replaced.clear();
        words = Words.NONE;
        larger = Words.NONE;
        count = 0;
        Closing.all(all);
    }
}
