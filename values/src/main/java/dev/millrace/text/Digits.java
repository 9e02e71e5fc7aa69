package dev.millrace.text;

import dev.millrace.memory.Memory;

/** Writes decimal digits at raw addresses. */
final class Digits {
    private Digits() {}

    /** Decimal digits of a value that is not negative; 1 for 0. */
    static int count(long value) {
        int digits = 1;
        while (digits < PowersOfTen.LONG.length && value >= PowersOfTen.LONG[digits]) {
            digits++;
        }
        return digits;
    }

    /** Writes exactly {@code count} digits, with leading zeros, and returns the address behind them. */
    static long write(long at, long value, int count) {
        long rest = value;
        for (int i = count - 1; i >= 0; i--) {
            long tenth = rest / 10;
            Memory.putByte(at + i, (byte) ('0' + (rest - tenth * 10)));
            rest = tenth;
        }
        return at + count;
    }

    /** Two digits, with a leading zero. */
    static long two(long at, int value) {
        Memory.putByte(at, (byte) ('0' + value / 10));
        Memory.putByte(at + 1, (byte) ('0' + value % 10));
        return at + 2;
    }

    /** A point and the six digits of a fraction of a second, without trailing zeros; nothing for 0. */
    static long microseconds(long at, int micros) {
        if (micros == 0) {
            return at;
        }
        Memory.putByte(at, (byte) '.');
        long end = write(at + 1, micros, 6);
        while (Memory.getByte(end - 1) == '0') {
            end--;
        }
        return end;
    }

    static void writeLong(TextBuffer out, long value) {
        if (value == Long.MIN_VALUE) {
            out.appendAscii("-9223372036854775808");
            return;
        }
        long at = out.room(20);
        long magnitude = value;
        if (value < 0) {
            Memory.putByte(at++, (byte) '-');
            magnitude = -value;
        }
        out.end(write(at, magnitude, count(magnitude)));
    }
}
