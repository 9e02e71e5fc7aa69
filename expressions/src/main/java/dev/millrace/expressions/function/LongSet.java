package dev.millrace.expressions.function;

import java.util.Arrays;

/** A fixed set of integers, for IN with a long list: open addressing at a load of at most a half. */
public final class LongSet {
    private static final long MIX = 0x9E3779B97F4A7C15L; // 2^64 divided by the golden ratio

    private final long[] slots;
    private final int shift;
    private final boolean hasZero; // the mark of a free slot

    public LongSet(long... values) {
        int size = Integer.highestOneBit(Math.max(4, values.length)) << 2;
        slots = new long[size];
        shift = Long.numberOfLeadingZeros(size) + 1;
        hasZero = Arrays.stream(values).anyMatch(value -> value == 0);
        for (long value : values) {
            slots[slotOf(value)] = value;
        }
    }

    private int slotOf(long value) {
        int slot = (int) (value * MIX >>> shift);
        while (slots[slot] != 0 && slots[slot] != value) {
            slot = slot + 1 & slots.length - 1;
        }
        return slot;
    }

    public boolean contains(long value) {
        return value == 0 ? hasZero : slots[slotOf(value)] == value;
    }
}
