package dev.millrace.text;

import dev.millrace.memory.Memory;
import dev.millrace.number.PowersOfTen;

/** Writes decimal digits at raw addresses. */
final class Digits {
    /** The two digits of each number below 100, the first in the lower byte, as memory has them. */
    private static final short[] PAIRS = new short[100];

    static {
        for (int i = 0; i < PAIRS.length; i++) {
            PAIRS[i] = (short) ('0' + i / 10 | '0' + i % 10 << Byte.SIZE);
        }
    }

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
        long to = at + count;
        while (to - at >= 2) {
            long hundredth = rest / 100;
            to -= 2;
            Memory.putShort(to, PAIRS[(int) (rest - hundredth * 100)]);
            rest = hundredth;
        }
        if (to > at) {
            Memory.putByte(at, (byte) ('0' + rest % 10));
        }
        return at + count;
    }

    /** Two digits, with a leading zero. */
    static long two(long at, int value) {
        Memory.putShort(at, PAIRS[value]);
        return at + 2;
    }

    /** A point and the six digits of a fraction of a second, without trailing zeros; nothing for 0. */
    static long microseconds(long at, int micros) {
        if (micros == 0) {
            return at;
        }
        Memory.putByte(at, (byte) '.');
        int digits = 6;
        int rest = micros;
        if (rest % 1000 == 0) { // most are milliseconds
            digits = 3;
            rest /= 1000;
        }
        while (rest % 10 == 0) {
            digits--;
            rest /= 10;
        }
        return write(at + 1, rest, digits);
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
