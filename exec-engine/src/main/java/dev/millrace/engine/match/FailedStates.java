package dev.millrace.engine.match;

import java.util.Arrays;

/** States of the automaton that led to no match: a set of numbers but zero, by open addressing. */
final class FailedStates {
    private static final long MIX = 0x9E3779B97F4A7C15L; // 2^64 divided by the golden ratio
    private static final int MOST = 1 << 22; // beyond that nothing more is remembered

    private long[] slots = new long[256];
    private int size;

    boolean contains(long state) {
        int slot = slot(state);
        while (slots[slot] != 0) {
            if (slots[slot] == state) {
                return true;
            }
            slot = slot + 1 & slots.length - 1;
        }
        return false;
    }

    void add(long state) {
        if (size >= MOST) {
            return;
        }
        if (2 * size >= slots.length) {
            long[] old = slots;
            slots = new long[4 * old.length];
            size = 0;
            for (long each : old) {
                if (each != 0) {
                    put(each);
                }
            }
        }
        put(state);
    }

    private void put(long state) {
        int slot = slot(state);
        while (slots[slot] != 0) {
            if (slots[slot] == state) {
                return;
            }
            slot = slot + 1 & slots.length - 1;
        }
        slots[slot] = state;
        size++;
    }

    private int slot(long state) {
        return (int) (state * MIX >>> 32) & slots.length - 1;
    }

    void clear() {
        if (size > 0) {
            if (slots.length > 1 << 12) {
                slots = new long[256];
            } else {
                Arrays.fill(slots, 0);
            }
            size = 0;
        }
    }
}
