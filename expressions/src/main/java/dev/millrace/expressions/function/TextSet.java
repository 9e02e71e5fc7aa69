package dev.millrace.expressions.function;

import dev.millrace.expressions.function.bytes.Bytes;
import dev.millrace.memory.Memory;

/**
 * A fixed set of texts, for IN with a long list: open addressing over a hash of length, first and last bytes. The texts
 * stay where they are.
 */
public final class TextSet {
    private static final long MIX = 0x9E3779B97F4A7C15L; // 2^64 divided by the golden ratio

    private final long[] addresses; // 0 is free
    private final int[] lengths;
    private final int shift;

    /** @param texts addresses and lengths in turn */
    public TextSet(long... texts) {
        int size = Integer.highestOneBit(Math.max(4, texts.length / 2)) << 2;
        addresses = new long[size];
        lengths = new int[size];
        shift = Long.numberOfLeadingZeros(size) + 1;
        for (int i = 0; i < texts.length; i += 2) {
            int slot = slotOf(texts[i], (int) texts[i + 1]);
            addresses[slot] = texts[i];
            lengths[slot] = (int) texts[i + 1];
        }
    }

    private static long hash(long address, int length) {
        long hash = length * MIX;
        if (length >= 8) {
            hash ^= Memory.getLong(address) * MIX;
            hash = Long.rotateLeft(hash, 31) ^ Memory.getLong(address + length - 8);
        } else {
            for (int at = 0; at < length; at++) {
                hash = (hash ^ Memory.getByte(address + at)) * MIX;
            }
        }
        return hash * MIX;
    }

    private int slotOf(long address, int length) {
        int slot = (int) (hash(address, length) >>> shift);
        while (addresses[slot] != 0 && !Bytes.equal(addresses[slot], lengths[slot], address, length)) {
            slot = slot + 1 & addresses.length - 1;
        }
        return slot;
    }

    public boolean contains(long address, int length) {
        return addresses[slotOf(address, length)] != 0;
    }
}
