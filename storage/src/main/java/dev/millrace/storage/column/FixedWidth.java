package dev.millrace.storage.column;

import dev.millrace.memory.Memory;

/** Integers as values of 2, 4, 8 or 16 bytes in memory. Loops of their own, as each is as fast as memory then. */
final class FixedWidth {
    private FixedWidth() {}

    /** Reads so many to an address; of 16 bytes the upper half is the sign. */
    static void read(ByteInput in, int count, int width, long to) {
        read(IntegerCursor.open(in, count), count, width, width, 0, to);
    }

    /**
     * Reads so many.
     *
     * @param width of what is written of each, in bytes
     * @param stride from one to the next, in bytes
     * @param offset of the first from the address, in bytes
     */
    static void read(IntegerCursor integers, int count, int width, int stride, int offset, long to) {
        long[] group = new long[Math.min(count, IntegerEncoding.GROUP)];
        for (int from = 0; from < count; from += IntegerEncoding.GROUP) {
            int size = Math.min(IntegerEncoding.GROUP, count - from);
            integers.next(group, size);
            long at = to + (long) from * stride + offset;
            switch (width) {
                case 2 -> putShorts(group, size, at);
                case 4 -> putInts(group, size, stride, at);
                case 8 -> putLongs(group, size, stride, at);
                default -> putWide(group, size, at);
            }
        }
        integers.end();
    }

    private static void putShorts(long[] group, int size, long at) {
        for (int i = 0; i < size; i++) {
            Memory.putShort(at + 2L * i, (short) group[i]);
        }
    }

    private static void putInts(long[] group, int size, int stride, long at) {
        for (int i = 0; i < size; i++) {
            Memory.putInt(at + (long) stride * i, (int) group[i]);
        }
    }

    private static void putLongs(long[] group, int size, int stride, long at) {
        for (int i = 0; i < size; i++) {
            Memory.putLong(at + (long) stride * i, group[i]);
        }
    }

    private static void putWide(long[] group, int size, long at) {
        for (int i = 0; i < size; i++) {
            Memory.putLong(at + 16L * i, group[i]);
            Memory.putLong(at + 16L * i + 8, group[i] >> 63);
        }
    }
}
