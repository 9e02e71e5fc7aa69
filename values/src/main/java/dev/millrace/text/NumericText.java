package dev.millrace.text;

import dev.millrace.memory.Memory;
import dev.millrace.number.PowersOfTen;

/** Decimal numbers of up to 38 digits as 128-bit unscaled integers. */
final class NumericText {
    private static final int CHUNK_DIGITS = 18;
    private static final int MOST_DIGITS = 38;
    private static final int HUGE_EXPONENT = 100_000;

    // 10^0 .. 10^38 as unsigned 128-bit numbers.
    private static final long[] POWER_HIGH = new long[MOST_DIGITS + 1];
    private static final long[] POWER_LOW = new long[MOST_DIGITS + 1];

    static {
        POWER_LOW[0] = 1;
        for (int i = 1; i <= MOST_DIGITS; i++) {
            POWER_HIGH[i] = POWER_HIGH[i - 1] * 10 + upperOfProduct(POWER_LOW[i - 1], 10);
            POWER_LOW[i] = POWER_LOW[i - 1] * 10;
        }
    }

    private NumericText() {}

    static int parse(long address, long limit, int precision, int scale, ValueParser out) {
        long at = Blanks.skip(address, limit);
        long end = Blanks.trimEnd(at, limit);
        if (at == end) {
            return ValueParser.SYNTAX;
        }
        boolean negative = Memory.getByte(at) == '-';
        if (negative || Memory.getByte(at) == '+') {
            at++;
        }
        long first = at; // the digits, with perhaps a point among them, are from here to `last`
        int whole = 0;
        while (at < end && isDigit(at)) {
            at++;
            whole++;
        }
        int fraction = 0;
        if (at < end && Memory.getByte(at) == '.') {
            at++;
            while (at < end && isDigit(at)) {
                at++;
                fraction++;
            }
        }
        long last = at;
        if (whole + fraction == 0) {
            return ValueParser.SYNTAX;
        }
        int exponent = 0;
        if (at < end) {
            if ((Memory.getByte(at) | 0x20) != 'e') {
                return ValueParser.SYNTAX;
            }
            exponent = parseExponent(at + 1, end);
            if (exponent == Integer.MIN_VALUE) {
                return ValueParser.SYNTAX;
            }
        }
        // Digits to keep: those not below 10^-scale.
        long keep = (long) whole + exponent + scale;
        return assemble(first, last, keep, precision, negative, out);
    }

    /** The first {@code keep} digits, padded with zeros when there are fewer, rounded by the one after them. */
    private static int assemble(long first, long last, long keep, int precision, boolean negative, ValueParser out) {
        long high = 0;
        long low = 0;
        long chunk = 0;
        int chunkDigits = 0;
        int significant = 0;
        long taken = 0;
        boolean roundUp = false;
        for (long at = first; at < last; at++) {
            int digit = Memory.getByte(at) - '0';
            if (digit < 0) {
                continue; // the point
            }
            if (taken >= keep) {
                roundUp = taken == keep && keep >= 0 && digit >= 5;
                break;
            }
            taken++;
            if (significant > 0 || digit != 0) {
                if (++significant > MOST_DIGITS) {
                    return ValueParser.RANGE;
                }
            }
            chunk = chunk * 10 + digit;
            if (++chunkDigits == CHUNK_DIGITS) {
                high = high * PowersOfTen.LONG[CHUNK_DIGITS] + upperOfProduct(low, PowersOfTen.LONG[CHUNK_DIGITS]);
                low *= PowersOfTen.LONG[CHUNK_DIGITS];
                low += chunk;
                high += Long.compareUnsigned(low, chunk) < 0 ? 1 : 0;
                chunk = 0;
                chunkDigits = 0;
            }
        }
        if (chunkDigits > 0) {
            long power = PowersOfTen.LONG[chunkDigits];
            high = high * power + upperOfProduct(low, power);
            low *= power;
            low += chunk;
            high += Long.compareUnsigned(low, chunk) < 0 ? 1 : 0;
        }
        if (roundUp && ++low == 0) {
            high++;
        }
        long padding = keep - taken;
        if (padding > 0 && (high | low) != 0) {
            if (padding + significant > MOST_DIGITS) {
                return ValueParser.RANGE;
            }
            for (long left = padding; left > 0; left -= CHUNK_DIGITS) {
                long power = PowersOfTen.LONG[(int) Math.min(left, CHUNK_DIGITS)];
                high = high * power + upperOfProduct(low, power);
                low *= power;
            }
        }
        if (!isBelowPower(high, low, precision)) {
            return ValueParser.RANGE;
        }
        if (negative) {
            high = low == 0 ? -high : ~high;
            low = -low;
        }
        out.low = low;
        out.high = high;
        return ValueParser.OK;
    }

    /** Writes {@code high:low}, a signed 128-bit number, with its point {@code scale} digits from the right. */
    static void write(TextBuffer out, long highBits, long lowBits, int scale) {
        long high = highBits;
        long low = lowBits;
        long at = out.room(48);
        if (high < 0) {
            Memory.putByte(at++, (byte) '-');
            high = low == 0 ? -high : ~high;
            low = -low;
        }
        // Nine digits at a time into the end of the room, then moved to its start.
        long end = at + 42;
        long next = end;
        int digits = 0;
        do {
            int nine;
            if (high == 0 && low >= 0) {
                nine = (int) (low % 1_000_000_000);
                low /= 1_000_000_000;
            } else {
                long rest = Long.remainderUnsigned(high, 1_000_000_000);
                high = Long.divideUnsigned(high, 1_000_000_000);
                long upper = rest << 32 | low >>> 32;
                long lower = upper % 1_000_000_000 << 32 | low & 0xffff_ffffL;
                nine = (int) (lower % 1_000_000_000);
                low = upper / 1_000_000_000 << 32 | lower / 1_000_000_000;
            }
            for (int i = 0; i < 9 && (nine != 0 || (high | low) != 0 || digits <= scale); i++) {
                if (digits == scale && scale > 0) {
                    Memory.putByte(--next, (byte) '.');
                }
                Memory.putByte(--next, (byte) ('0' + nine % 10));
                nine /= 10;
                digits++;
            }
        } while ((high | low) != 0 || digits <= scale);
        for (long from = next; from < end; from++) {
            Memory.putByte(at++, Memory.getByte(from));
        }
        out.end(at);
    }

    private static boolean isBelowPower(long high, long low, int precision) {
        long powerHigh = POWER_HIGH[precision];
        return high >= 0
                && (high < powerHigh || (high == powerHigh && Long.compareUnsigned(low, POWER_LOW[precision]) < 0));
    }

    private static boolean isDigit(long at) {
        byte c = Memory.getByte(at);
        return c >= '0' && c <= '9';
    }

    /** The upper 64 bits of unsigned {@code a} times {@code b}, which is not negative. */
    private static long upperOfProduct(long a, long b) {
        return Math.multiplyHigh(a, b) + ((a >> 63) & b);
    }

    /** The number of an exponent's text; {@link Integer#MIN_VALUE} if it is none, and at most 100,000 either way. */
    static int parseExponent(long address, long end) {
        long at = address;
        boolean negative = false;
        if (at < end && (Memory.getByte(at) == '-' || Memory.getByte(at) == '+')) {
            negative = Memory.getByte(at) == '-';
            at++;
        }
        if (at == end) {
            return Integer.MIN_VALUE;
        }
        int value = 0;
        for (; at < end; at++) {
            if (!isDigit(at)) {
                return Integer.MIN_VALUE;
            }
            value = Math.min(HUGE_EXPONENT, value * 10 + Memory.getByte(at) - '0');
        }
        return negative ? -value : value;
    }
}
