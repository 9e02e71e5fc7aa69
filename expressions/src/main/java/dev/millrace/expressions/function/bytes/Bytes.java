package dev.millrace.expressions.function.bytes;

import dev.millrace.interrupt.Interrupt;
import dev.millrace.memory.Memory;

/** Bytes at raw addresses: short copies, comparison, search. */
public final class Bytes {
    private static final int LONG_COPY = 256;
    private static final int CHECKED_CANDIDATES = 1 << 14;
    private static final long ONES = 0x0101010101010101L;
    private static final long HIGH_BITS = 0x8080808080808080L;

    private Bytes() {}

    /**
     * Copies without reading or writing outside of the ranges. For short texts this beats the JVM's copy, whose call
     * alone costs as much, and a loop over words, whose end is rarely foreseen.
     */
    public static void copy(long from, long to, int bytes) {
        if (bytes >= 8) {
            if (bytes > LONG_COPY) {
                Memory.copy(from, to, bytes);
            } else if (bytes > 96) {
                for (int at = 0; at < bytes - 64; at += 64) {
                    copy32(from + at, to + at);
                    copy32(from + at + 32, to + at + 32);
                }
                copy32(from + bytes - 64, to + bytes - 64); // overlaps what was copied, here and below
                copy32(from + bytes - 32, to + bytes - 32);
            } else if (bytes > 32) {
                int middle = Math.min(32, bytes - 32);
                copy32(from, to);
                copy32(from + middle, to + middle);
                copy32(from + bytes - 32, to + bytes - 32);
            } else if (bytes > 16) {
                copy16(from, to);
                copy16(from + bytes - 16, to + bytes - 16);
            } else {
                Memory.putLong(to, Memory.getLong(from));
                Memory.putLong(to + bytes - 8, Memory.getLong(from + bytes - 8));
            }
        } else if (bytes >= 4) {
            int first = Memory.getInt(from);
            int last = Memory.getInt(from + bytes - 4);
            Memory.putInt(to, first);
            Memory.putInt(to + bytes - 4, last);
        } else if (bytes > 0) {
            byte first = Memory.getByte(from);
            byte middle = Memory.getByte(from + (bytes >>> 1));
            byte last = Memory.getByte(from + bytes - 1);
            Memory.putByte(to, first);
            Memory.putByte(to + (bytes >>> 1), middle);
            Memory.putByte(to + bytes - 1, last);
        }
    }

    private static void copy16(long from, long to) {
        Memory.putLong(to, Memory.getLong(from));
        Memory.putLong(to + 8, Memory.getLong(from + 8));
    }

    private static void copy32(long from, long to) {
        copy16(from, to);
        copy16(from + 16, to + 16);
    }

    public static boolean equal(long a, int aBytes, long b, int bBytes) {
        return aBytes == bBytes && Memory.equal(a, b, aBytes);
    }

    /** Order of unsigned bytes: PostgreSQL's C collation for UTF-8. */
    public static int compare(long a, int aBytes, long b, int bBytes) {
        return Memory.compare(a, aBytes, b, bBytes);
    }

    /** Index of the first byte of this value at or after {@code from}, or -1. */
    public static int indexOf(long address, int length, byte value, int from) {
        long pattern = (value & 0xffL) * ONES;
        int at = from;
        for (; at + 8 <= length; at += 8) {
            long difference = Memory.getLong(address + at) ^ pattern;
            long zeros = (difference - ONES) & ~difference & HIGH_BITS; // exact in its lowest set bit
            if (zeros != 0) {
                return at + (Long.numberOfTrailingZeros(zeros) >>> 3);
            }
        }
        for (; at < length; at++) {
            if (Memory.getByte(address + at) == value) {
                return at;
            }
        }
        return -1;
    }

    /** Index of the first place at or after {@code from} where two bytes follow each other, or -1. */
    public static int indexOfPair(long address, int length, byte first, byte second, int from) {
        long firsts = (first & 0xffL) * ONES;
        long seconds = (second & 0xffL) * ONES;
        int at = from;
        for (; at + 9 <= length; at += 8) {
            long difference = (Memory.getLong(address + at) ^ firsts) | (Memory.getLong(address + at + 1) ^ seconds);
            long zeros = (difference - ONES) & ~difference & HIGH_BITS;
            if (zeros != 0) {
                return at + (Long.numberOfTrailingZeros(zeros) >>> 3);
            }
        }
        for (; at + 2 <= length; at++) {
            if (Memory.getByte(address + at) == first && Memory.getByte(address + at + 1) == second) {
                return at;
            }
        }
        return -1;
    }

    /** Index of the first occurrence of a pattern at or after {@code from}, or -1; the empty pattern is found at once. */
    public static int indexOf(long address, int length, long pattern, int patternLength, int from) {
        if (patternLength <= 1) {
            return patternLength == 1
                    ? indexOf(address, length, Memory.getByte(pattern), from)
                    : from <= length ? from : -1;
        }
        byte first = Memory.getByte(pattern);
        byte second = Memory.getByte(pattern + 1);
        int end = length - patternLength + 2; // behind the last place for the first two bytes
        int at = from;
        int candidates = 0;
        while ((at = indexOfPair(address, end, first, second, at)) >= 0) {
            candidates +=
                    1 + (patternLength >>> 6); // where all look alike to the end it takes the product of both lengths
            if (candidates > CHECKED_CANDIDATES) {
                candidates = 0;
                Interrupt.checkCurrent();
            }
            if (Memory.equal(address + at + 2, pattern + 2, patternLength - 2)) {
                return at;
            }
            at++;
        }
        return -1;
    }

    /** How often a byte occurs. */
    public static int count(long address, int length, byte value) {
        long pattern = (value & 0xffL) * ONES;
        int count = 0;
        int at = 0;
        for (; at + 8 <= length; at += 8) {
            long difference = Memory.getLong(address + at) ^ pattern;
            // Exact per byte: no borrow crosses from one byte to the next.
            long zeros = ~(((difference & ~HIGH_BITS) + ~HIGH_BITS) | difference) & HIGH_BITS;
            count += Long.bitCount(zeros);
        }
        for (; at < length; at++) {
            count += Memory.getByte(address + at) == value ? 1 : 0;
        }
        return count;
    }
}
