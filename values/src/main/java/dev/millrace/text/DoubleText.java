package dev.millrace.text;

import dev.millrace.memory.Memory;
import dev.millrace.number.PowersOfTen;
import java.nio.charset.StandardCharsets;

/**
 * Reads floating-point numbers, correct to the last bit.
 *
 * <p>Up to 15 digits and a power of ten that is exact: one multiplication or division (W. Clinger, "How to read floating
 * point numbers accurately", 1990). Else up to 18 digits: the product with a 126-bit power of ten, whose error is below
 * two units of 2^-64 of what rounding looks at (after D. Lemire, "Number parsing at a gigabyte per second", 2021);
 * whatever that leaves undecided, more digits and subnormal results go to the JDK.
 */
final class DoubleText {
    private static final long MAX_EXACT = 1L << 53;
    private static final int MAX_DIGITS = 18;

    private DoubleText() {}

    static int parse(long address, long limit, ValueParser out) {
        long at = address;
        long end = limit;
        if (at < end && (Memory.getByte(at) <= ' ' || Memory.getByte(end - 1) <= ' ')) {
            at = Blanks.skip(at, end);
            end = Blanks.trimEnd(at, end);
        }
        long start = at;
        if (at == end) {
            return ValueParser.SYNTAX;
        }
        byte c = Memory.getByte(at);
        boolean negative = c == '-';
        if (negative || c == '+') {
            at++;
        }
        long digits = 0;
        int significant = 0; // digits after leading zeros
        int exponent = 0;
        boolean tooMany = false;
        long digitsStart = at;
        for (; at < end; at++) {
            int digit = Memory.getByte(at) - '0';
            if (digit < 0 || digit > 9) {
                break;
            }
            if (significant < MAX_DIGITS) {
                digits = digits * 10 + digit;
                significant += digits == 0 ? 0 : 1;
            } else {
                tooMany |= digit != 0;
                exponent++;
            }
        }
        long digitCount = at - digitsStart;
        if (at < end && Memory.getByte(at) == '.') {
            long fraction = ++at;
            for (; at < end; at++) {
                int digit = Memory.getByte(at) - '0';
                if (digit < 0 || digit > 9) {
                    break;
                }
                if (significant < MAX_DIGITS) {
                    digits = digits * 10 + digit;
                    significant += digits == 0 ? 0 : 1;
                    exponent--;
                } else {
                    tooMany |= digit != 0;
                }
            }
            digitCount += at - fraction;
        }
        if (digitCount == 0) {
            return parseWord(digitsStart, end, negative, out);
        }
        if (at < end) {
            if ((Memory.getByte(at) | 0x20) != 'e') {
                return ValueParser.SYNTAX;
            }
            int written = NumericText.parseExponent(at + 1, end);
            if (written == Integer.MIN_VALUE) {
                return ValueParser.SYNTAX;
            }
            exponent += written;
        }
        if (tooMany) {
            return slow(start, end, true, out);
        }
        double value;
        if (digits == 0) {
            value = 0;
        } else if (digits <= MAX_EXACT && exponent >= -22 && exponent <= 22) {
            value = exponent < 0 ? digits / PowersOfTen.EXACT[-exponent] : digits * PowersOfTen.EXACT[exponent];
        } else {
            value = product(digits, exponent);
            if (value < 0) {
                return slow(start, end, true, out);
            }
        }
        out.low = Double.doubleToRawLongBits(negative ? -value : value);
        return ValueParser.OK;
    }

    /**
     * Reads {@code [-]digits[.digits]} of up to 15 digits, eight of them at a time; false for anything else. Eight bytes
     * behind the value are read as well.
     */
    static boolean parsePlain(long address, long end, ValueParser out) {
        long at = address;
        if (at == end) {
            return false;
        }
        boolean negative = Memory.getByte(at) == '-';
        at += negative ? 1 : 0;
        long word = Memory.getLong(at) ^ EightDigits.ZEROS;
        int whole = (int) Math.min(EightDigits.run(word), end - at);
        if (whole == 8 || whole == 0) {
            return false;
        }
        long digits = EightDigits.value(word, whole);
        at += whole;
        int decimals = 0;
        if (at < end) {
            if (Memory.getByte(at++) != '.') {
                return false;
            }
            word = Memory.getLong(at) ^ EightDigits.ZEROS;
            decimals = (int) Math.min(EightDigits.run(word), end - at);
            if (at + decimals != end || decimals == 0) {
                return false;
            }
            digits = digits * PowersOfTen.LONG[decimals] + EightDigits.value(word, decimals);
        }
        double value = digits / PowersOfTen.EXACT[decimals];
        out.low = Double.doubleToRawLongBits(negative ? -value : value);
        return true;
    }

    static int parseReal(long address, long limit, ValueParser out) {
        int outcome = parse(address, limit, out);
        if (outcome != ValueParser.OK) {
            return outcome;
        }
        double value = out.doubleValue();
        float nearest = (float) value;
        double magnitude = Math.abs(value);
        // Rounding twice errs only where the double lies in the middle between two floats.
        boolean middle = (out.low & 0x1fff_ffffL) == 0x1000_0000L;
        if ((middle || magnitude < Float.MIN_NORMAL) && magnitude != 0) {
            nearest = Float.parseFloat(ascii(Blanks.skip(address, limit), limit).trim());
        }
        if ((Float.isInfinite(nearest) && !Double.isInfinite(value)) || (nearest == 0 && value != 0)) {
            return ValueParser.RANGE;
        }
        out.low = Double.doubleToRawLongBits(nearest);
        return ValueParser.OK;
    }

    /**
     * digits * 10^exponent to the nearest double, or -1 when it cannot tell. With digits normalised to 63 bits and
     * g = g1 * 2^63 + g0, the true product lies within one unit of the last place of the 128-bit sum taken here.
     */
    private static double product(long digits, int exponent) {
        if (exponent < -300 || exponent > 300) {
            return -1; // results that may be subnormal, zero or infinite
        }
        int shift = Long.numberOfLeadingZeros(digits) - 1;
        long w = digits << shift;
        long g1 = PowersOfTen.upper(exponent);
        long g0 = PowersOfTen.lower(exponent);
        long high = Math.multiplyHigh(w, g1);
        long low = w * g1;
        long carried = Math.multiplyHigh(w, g0) << 1 | w * g0 >>> 63;
        long sum = low + carried;
        high += Long.compareUnsigned(sum, low) < 0 ? 1 : 0;
        // high:sum is in [2^124, 2^126): bring it to exactly 126 bits, then 53 bits of high are the mantissa.
        int room = Long.numberOfLeadingZeros(high) - 2;
        if (room > 0) {
            high = high << room | sum >>> (64 - room);
            sum <<= room;
        }
        int dropped = 62 - 53;
        long rest = high & ((1L << dropped) - 1);
        long half = 1L << (dropped - 1);
        // Undecided when the error of a few units could cross the middle.
        boolean nearMiddle = (rest == half && sum >= 0 && sum < 16) || (rest == half - 1 && sum < 0 && sum >= -16);
        if (nearMiddle) {
            return -1;
        }
        long mantissa = (high >>> dropped) + (rest >= half ? 1 : 0);
        // value = mantissa * 2^power: undo the shifts; g carries 2^(125 - floor(log2(10^e))), 63 bits of it dropped.
        int power = dropped + 64 - room - shift - (125 - PowersOfTen.floorLog2OfPow10(exponent)) + 63;
        if (power < -1022 || power > 970) {
            return -1;
        }
        return mantissa * Double.longBitsToDouble((power + 1023L) << 52);
    }

    private static int parseWord(long at, long end, boolean negative, ValueParser out) {
        double value;
        if (WordBytes.equal(at, end, "nan")) {
            value = Double.NaN;
        } else if (WordBytes.equal(at, end, "inf") || WordBytes.equal(at, end, "infinity")) {
            value = negative ? Double.NEGATIVE_INFINITY : Double.POSITIVE_INFINITY;
        } else {
            return ValueParser.SYNTAX;
        }
        out.low = Double.doubleToRawLongBits(value);
        return ValueParser.OK;
    }

    /** The JDK's reading of what is known to be a number. */
    private static int slow(long at, long end, boolean nonZero, ValueParser out) {
        double value = Double.parseDouble(ascii(at, end));
        if (Double.isInfinite(value) || (value == 0 && nonZero)) {
            return ValueParser.RANGE;
        }
        out.low = Double.doubleToRawLongBits(value);
        return ValueParser.OK;
    }

    private static String ascii(long at, long end) {
        byte[] bytes = new byte[(int) (end - at)];
        Memory.copyOut(at, bytes, 0, bytes.length);
        return new String(bytes, StandardCharsets.ISO_8859_1);
    }
}
