package dev.millrace.text;

import dev.millrace.memory.Memory;
import dev.millrace.number.Bignum;
import dev.millrace.number.BignumBytes;
import dev.millrace.number.PowersOfTen;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/** Numbers of any size in PostgreSQL's text form. Those of eighteen digits at most are read and written without allocating. */
final class BignumText {
    private static final int FEW_DIGITS = 18;
    private static final int HUGE_EXPONENT = 1_000_000;
    private static final String[] INFINITE = {"infinity", "inf"};

    private BignumText() {}

    /** The unscaled value and the scale go to the parser, or the number if they do not fit there. */
    static int parse(long address, long limit, ValueParser out) {
        long start = Blanks.skip(address, limit);
        long end = Blanks.trimEnd(start, limit);
        if (start == end) {
            return ValueParser.SYNTAX;
        }
        boolean negative = Memory.getByte(start) == '-';
        boolean signed = negative || Memory.getByte(start) == '+';
        long at = signed ? start + 1 : start;
        if (at < end && (Memory.getByte(at) | 0x20) > '9') {
            return word(at, end, signed, negative, out);
        }
        long mantissa = 0;
        int significant = 0;
        long whole = 0;
        long fraction = 0;
        boolean point = false;
        for (; at < end; at++) {
            int digit = Memory.getByte(at) - '0';
            if (digit >= 0 && digit <= 9) {
                significant += significant > 0 || digit != 0 ? 1 : 0;
                mantissa = significant <= FEW_DIGITS ? 10 * mantissa + digit : mantissa;
                whole += point || significant == 0 ? 0 : 1;
                fraction += point ? 1 : 0;
            } else if (digit == '.' - '0' && !point) {
                point = true;
            } else {
                break;
            }
        }
        boolean hasDigits = at - start > (signed ? 1 : 0) + (point ? 1 : 0);
        int exponent = 0;
        if (hasDigits && at < end) {
            if ((Memory.getByte(at) | 0x20) != 'e') {
                return ValueParser.SYNTAX;
            }
            exponent = exponent(at + 1, end);
        }
        if (!hasDigits || exponent == Integer.MIN_VALUE) {
            return ValueParser.SYNTAX;
        }
        if (whole > Bignum.MOST_WHOLE_DIGITS + HUGE_EXPONENT || fraction - exponent > Bignum.MOST_SCALE) {
            return ValueParser.RANGE;
        }
        return number(start, end, significant, negative ? -mantissa : mantissa, fraction - exponent, out);
    }

    private static int number(long start, long end, int significant, long mantissa, long scale, ValueParser out) {
        out.low = mantissa;
        out.high = Math.max(0, scale);
        out.bignum = Optional.empty();
        if (significant <= FEW_DIGITS && scale < 0 && mantissa != 0) {
            long scaled = BignumBytes.scaledUp(Math.abs(mantissa), (int) Math.min(-scale, HUGE_EXPONENT));
            out.low = mantissa < 0 ? -scaled : scaled;
        }
        if (significant > FEW_DIGITS || out.low == BignumBytes.UNFIT) {
            if (significant - scale > 2L * Bignum.MOST_WHOLE_DIGITS) {
                return ValueParser.RANGE;
            }
            BigDecimal value = new BigDecimal(text(start, end));
            if ((long) value.precision() - value.scale() > Bignum.MOST_WHOLE_DIGITS) {
                return ValueParser.RANGE;
            }
            out.bignum = Optional.of(Bignum.of(value));
        }
        return ValueParser.OK;
    }

    private static String text(long start, long end) {
        byte[] bytes = new byte[(int) (end - start)];
        Memory.copyOut(start, bytes, 0, bytes.length);
        return new String(bytes, StandardCharsets.US_ASCII);
    }

    private static int word(long at, long end, boolean signed, boolean negative, ValueParser out) {
        if (!signed && isWord(at, end, "nan")) {
            out.bignum = Optional.of(Bignum.NAN);
            return ValueParser.OK;
        }
        for (String word : INFINITE) {
            if (isWord(at, end, word)) {
                out.bignum = Optional.of(negative ? Bignum.NEGATIVE_INFINITY : Bignum.INFINITY);
                return ValueParser.OK;
            }
        }
        return ValueParser.SYNTAX;
    }

    private static boolean isWord(long at, long end, String word) {
        boolean same = end - at == word.length();
        for (int i = 0; same && i < word.length(); i++) {
            same = (Memory.getByte(at + i) | 0x20) == word.charAt(i);
        }
        return same;
    }

    /** {@link Integer#MIN_VALUE} if the text is no exponent; otherwise a million at most either way. */
    private static int exponent(long address, long end) {
        long at = address;
        boolean negative = at < end && Memory.getByte(at) == '-';
        if (negative || at < end && Memory.getByte(at) == '+') {
            at++;
        }
        if (at == end) {
            return Integer.MIN_VALUE;
        }
        int value = 0;
        for (; at < end; at++) {
            int digit = Memory.getByte(at) - '0';
            if (digit < 0 || digit > 9) {
                return Integer.MIN_VALUE;
            }
            value = Math.min(HUGE_EXPONENT, 10 * value + digit);
        }
        return negative ? -value : value;
    }

    static void write(TextBuffer out, long address, int length) {
        long mantissa = BignumBytes.mantissa(address, length);
        if (mantissa == BignumBytes.UNFIT) {
            out.appendAscii(Bignum.at(address, length).toString());
            return;
        }
        int scale = BignumBytes.scale(address, length);
        long at = out.room(24L + scale);
        long magnitude = mantissa;
        if (mantissa < 0) {
            Memory.putByte(at++, (byte) '-');
            magnitude = -mantissa;
        }
        int digits = Math.max(Digits.count(magnitude), scale + 1);
        if (digits > PowersOfTen.LONG.length) { // zeros in front of the digits
            at = padded(at, magnitude, digits, scale);
        } else {
            at = Digits.write(at, magnitude, digits);
            at = scale == 0 ? at : pointed(at, scale);
        }
        out.end(at);
    }

    private static long padded(long address, long magnitude, int digits, int scale) {
        int significant = Digits.count(magnitude);
        Memory.fill(address, digits - significant, (byte) '0');
        return pointed(Digits.write(address + digits - significant, magnitude, significant), scale);
    }

    /** Puts the point in front of the last {@code scale} digits, which end here. */
    private static long pointed(long end, int scale) {
        Memory.copy(end - scale, end - scale + 1, scale);
        Memory.putByte(end - scale, (byte) '.');
        return end + 1;
    }
}
