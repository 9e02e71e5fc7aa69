package dev.millrace.text;

import dev.millrace.memory.Memory;

/** Checks of UTF-8 at raw addresses, eight bytes at a time while they are plain ASCII. */
public final class Utf8 {
    private static final long HIGH_BITS = 0x8080808080808080L;
    private static final long ONES = 0x0101010101010101L;

    private Utf8() {}

    /** Whether all bytes are ASCII and none is NUL: the common case, which needs no closer look. */
    public static boolean isPlain(long address, int length) {
        int at = 0;
        for (; at + 8 <= length; at += 8) {
            long word = Memory.getLong(address + at);
            // A byte of zero borrows into its high bit; a byte above 127 has it.
            if (((word | (word - ONES)) & HIGH_BITS) != 0) {
                return false;
            }
        }
        for (; at < length; at++) {
            if (Memory.getByte(address + at) <= 0) {
                return false;
            }
        }
        return true;
    }

    public static boolean hasNul(long address, int length) {
        for (int at = 0; at < length; at++) {
            if (Memory.getByte(address + at) == 0) {
                return true;
            }
        }
        return false;
    }

    /** Whether the bytes are well-formed UTF-8: shortest forms only, no surrogates, at most U+10FFFF. */
    public static boolean isValid(long address, int length) {
        long at = address;
        long end = address + length;
        while (at < end) {
            if (at + 8 <= end && (Memory.getLong(at) & HIGH_BITS) == 0) {
                at += 8;
                continue;
            }
            int first = Memory.getByte(at) & 0xff;
            if (first < 0x80) {
                at++;
                continue;
            }
            int more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : 1;
            if (first < 0xc2 || first > 0xf4 || at + more >= end) {
                return false;
            }
            int second = Memory.getByte(at + 1) & 0xff;
            int lowest = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
            int highest = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
            if (second < lowest || second > highest) {
                return false;
            }
            for (int i = 2; i <= more; i++) {
                if ((Memory.getByte(at + i) & 0xc0) != 0x80) {
                    return false;
                }
            }
            at += more + 1;
        }
        return true;
    }

    /** Code points in valid UTF-8. */
    public static int characters(long address, int length) {
        int count = 0;
        for (int at = 0; at < length; at++) {
            count += (Memory.getByte(address + at) & 0xc0) != 0x80 ? 1 : 0;
        }
        return count;
    }

    /** Whether nothing but blanks follows the first {@code characters}: such text is cut to fit, as PostgreSQL does. */
    static boolean onlyBlanksAfter(long address, int length, int characters) {
        int at = 0;
        for (int seen = 0; at < length; at++) {
            if ((Memory.getByte(address + at) & 0xc0) != 0x80 && ++seen > characters) {
                break;
            }
        }
        for (; at < length; at++) {
            if (Memory.getByte(address + at) != ' ') {
                return false;
            }
        }
        return true;
    }
}
