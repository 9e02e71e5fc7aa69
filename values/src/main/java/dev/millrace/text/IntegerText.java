package dev.millrace.text;

import dev.millrace.memory.Memory;

/** Whole numbers in decimal digits. */
final class IntegerText {
    private static final int SURE_DIGITS = 18; // as many always fit a long

    private IntegerText() {}

    static int parse(long address, long limit, long min, long max, ValueParser out) {
        long at = address;
        long end = limit;
        if (at < end && (Memory.getByte(at) <= ' ' || Memory.getByte(end - 1) <= ' ')) {
            at = Blanks.skip(at, end);
            end = Blanks.trimEnd(at, end);
        }
        if (at == end) {
            return ValueParser.SYNTAX;
        }
        byte sign = Memory.getByte(at);
        boolean negative = sign == '-';
        if (negative || sign == '+') {
            at++;
            if (at == end) {
                return ValueParser.SYNTAX;
            }
        }
        if (end - at > SURE_DIGITS) {
            return parseLong(at, end, negative, min, max, out);
        }
        long value = 0;
        for (; at < end; at++) {
            int digit = Memory.getByte(at) - '0';
            if (digit < 0 || digit > 9) {
                return ValueParser.SYNTAX;
            }
            value = value * 10 + digit;
        }
        value = negative ? -value : value;
        out.low = value;
        return value >= min && value <= max ? ValueParser.OK : ValueParser.RANGE;
    }

    /** More digits than always fit: accumulates below zero, where there is one value more. */
    private static int parseLong(long at, long end, boolean negative, long min, long max, ValueParser out) {
        long value = 0;
        boolean overflow = false;
        for (; at < end; at++) {
            int digit = Memory.getByte(at) - '0';
            if (digit < 0 || digit > 9) {
                return ValueParser.SYNTAX;
            }
            if (value < Long.MIN_VALUE / 10 || value * 10 < Long.MIN_VALUE + digit) {
                overflow = true;
            } else {
                value = value * 10 - digit;
            }
        }
        if (overflow || (!negative && value == Long.MIN_VALUE)) {
            return ValueParser.RANGE;
        }
        value = negative ? value : -value;
        out.low = value;
        return value >= min && value <= max ? ValueParser.OK : ValueParser.RANGE;
    }
}
