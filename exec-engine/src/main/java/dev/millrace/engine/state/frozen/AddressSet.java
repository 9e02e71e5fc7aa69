package dev.millrace.engine.state.frozen;

/** Addresses, none of which is 0: open addressing, at most half full. One thread. */
final class AddressSet {
    private static final int FIRST_CAPACITY = 256;
    private static final long GOLDEN_SECTION = 0x9E3779B97F4A7C15L;

    private long[] slots = {};
    private int shift;
    private int size;

    int size() {
        return size;
    }

    /** Adds an address; returns whether it was not there. */
    boolean add(long address) {
        if (2 * size >= slots.length) {
            grow();
        }
        int slot = slot(address);
        if (slots[slot] == address) {
            return false;
        }
        slots[slot] = address;
        size++;
        return true;
    }

    boolean contains(long address) {
        return size > 0 && slots[slot(address)] == address;
    }

    /** Where it is, or would be. */
    private int slot(long address) {
        int slot = (int) (address * GOLDEN_SECTION >>> shift);
        while (slots[slot] != 0 && slots[slot] != address) {
            slot = slot + 1 & slots.length - 1;
        }
        return slot;
    }

    private void grow() {
        long[] before = slots;
        slots = new long[Math.max(FIRST_CAPACITY, 2 * before.length)];
        shift = Long.SIZE - Integer.numberOfTrailingZeros(slots.length);
        for (long address : before) {
            if (address != 0) {
                slots[slot(address)] = address;
            }
        }
    }
}
