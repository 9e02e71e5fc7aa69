package dev.millrace.server.transaction;

import dev.millrace.memory.Memory;
import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.memory.BufferAllocator;

/**
 * Where the row of each key is: a hash table off the heap, of sixteen bytes a slot, at most three quarters full. It has hashes, not keys:
 * who looks something up says whether a place is that of its key. For one thread at a time.
 *
 * <p>Hashes begin with a secret of the table, as clients choose the keys: nobody can choose many that meet in one slot.
 *
 * <pre>
 *   slot: hash (0: never used, 1: removed) | place, chosen by the caller, not negative
 * </pre>
 */
final class KeyPlaces implements AutoCloseable {
    /** No place. */
    static final long NONE = -1;

    private static final long EMPTY = 0;
    private static final long REMOVED = 1;
    private static final int SLOT_BYTES = 16;
    private static final long FIRST_SLOTS = 64;

    private final BufferAllocator allocator;
    private final long seed;
    private ArrowBuf slots;
    private long capacity; // a power of two; 0 before there is a key
    private long used; // slots that are not empty
    private long size;

    /** Says whether a place is that of the key that is looked for. */
    interface Match {
        boolean is(long place);
    }

    /** Is given each place. */
    interface Each {
        void place(long hash, long place);
    }

    /** @param seed of its hashes, which no client knows */
    KeyPlaces(BufferAllocator allocator, long seed) {
        this.seed = seed;
        this.allocator = allocator;
        this.slots = allocator.getEmpty();
    }

    /** Of a key's text. */
    long hash(CharSequence key) {
        long hash = mixed(seed, key.length());
        for (int i = 0; i < key.length(); i++) {
            hash = mixed(hash, key.charAt(i));
        }
        return finished(hash);
    }

    private static long mixed(long hash, long value) {
        long mixed = (hash ^ value) * 0x9E3779B97F4A7C15L;
        return mixed ^ mixed >>> 29;
    }

    private static long finished(long hash) {
        long mixed = (hash ^ hash >>> 32) * 0xD6E8FEB86659FD93L;
        mixed ^= mixed >>> 32;
        return mixed == EMPTY || mixed == REMOVED ? 2 : mixed;
    }

    /** How many keys there are. */
    long size() {
        return size;
    }

    /** Bytes off the heap. */
    long bytes() {
        return capacity * SLOT_BYTES;
    }

    /**
     * Makes room for so many keys more, so that putting them cannot fail.
     *
     * @throws org.apache.arrow.memory.OutOfMemoryException if there is none; all is as it was then
     */
    void reserve(long more) {
        long wanted = capacity == 0 ? FIRST_SLOTS : capacity;
        if ((used + more) * 4 <= capacity * 3) {
            return;
        }
        while ((size + more) * 2 > wanted) { // half full: some can come before the next time
            wanted *= 2;
        }
        ArrowBuf larger = allocator.buffer(wanted * SLOT_BYTES);
        larger.setZero(0, wanted * SLOT_BYTES);
        ArrowBuf old = slots;
        long oldCapacity = capacity;
        slots = larger;
        capacity = wanted;
        used = size;
        for (long slot = 0; slot < oldCapacity; slot++) {
            long address = old.memoryAddress() + slot * SLOT_BYTES;
            long hash = Memory.getLong(address);
            if (hash != EMPTY && hash != REMOVED) {
                write(free(hash), hash, Memory.getLong(address + Long.BYTES));
            }
        }
        old.close();
    }

    private long address(long slot) {
        return slots.memoryAddress() + (slot & capacity - 1) * SLOT_BYTES;
    }

    private static void write(long address, long hash, long place) {
        Memory.putLong(address, hash);
        Memory.putLong(address + Long.BYTES, place);
    }

    /** The slot for a hash that is not there. */
    private long free(long hash) {
        long slot = hash;
        while (Memory.getLong(address(slot)) != EMPTY) {
            slot++;
        }
        return address(slot);
    }

    /** The address of a key's slot; 0 if it is not there. */
    private long find(long hash, Match match) {
        if (capacity == 0) {
            return 0;
        }
        for (long slot = hash; ; slot++) {
            long address = address(slot);
            long there = Memory.getLong(address);
            if (there == EMPTY) {
                return 0;
            }
            if (there == hash && match.is(Memory.getLong(address + Long.BYTES))) {
                return address;
            }
        }
    }

    /** The place of a key; {@link #NONE} if it is not there. */
    long get(long hash, Match match) {
        long address = find(hash, match);
        return address == 0 ? NONE : Memory.getLong(address + Long.BYTES);
    }

    /**
     * Gives a key a place. Room was reserved for it.
     *
     * @return the place that it had; {@link #NONE} if it was not there
     */
    long put(long hash, Match match, long place) {
        long address = find(hash, match);
        if (address != 0) {
            long before = Memory.getLong(address + Long.BYTES);
            Memory.putLong(address + Long.BYTES, place);
            return before;
        }
        if (used + 1 >= capacity) {
            throw new IllegalStateException("no room was reserved for a key");
        }
        write(free(hash), hash, place);
        used++;
        size++;
        return NONE;
    }

    /** Gives a key a place, for which room was reserved; false if it has one, which it keeps. */
    boolean add(long hash, Match match, long place) {
        long address = address(hash);
        long there = Memory.getLong(address);
        for (long slot = hash; there != EMPTY; there = Memory.getLong(address)) {
            if (there == hash && match.is(Memory.getLong(address + Long.BYTES))) {
                return false;
            }
            address = address(++slot);
        }
        if (used + 1 >= capacity) {
            throw new IllegalStateException("no room was reserved for a key");
        }
        write(address, hash, place);
        used++;
        size++;
        return true;
    }

    /** Where a hash is looked for first, of which there is a slot: who asks for those of many keys waits less for memory. */
    long firstWord(long hash) {
        return Memory.getLong(address(hash));
    }

    /** The place that a key had; {@link #NONE} if it was not there. */
    long remove(long hash, Match match) {
        long address = find(hash, match);
        if (address == 0) {
            return NONE;
        }
        long before = Memory.getLong(address + Long.BYTES);
        Memory.putLong(address, REMOVED);
        size--;
        return before;
    }

    @Override
    public void close() {
        slots.close();
        slots = allocator.getEmpty();
        capacity = 0;
        used = 0;
        size = 0;
    }
}
