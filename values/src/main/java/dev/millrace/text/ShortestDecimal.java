package dev.millrace.text;

import dev.millrace.memory.Memory;
import dev.millrace.number.PowersOfTen;
import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;

/**
 * Writes floating-point numbers with the fewest digits that read back as the same number, the nearest of those: R.
 * Giulietti, "The Schubfach way to render doubles" (2021), section 9. Like PostgreSQL it does not use that a number in
 * the very middle would round to even. Fixed notation from 1e-04 up to 15 digits (6 for real), else {@code 1.5e+20}.
 * For sessions that ask for it, rounded to fewer digits.
 */
final class ShortestDecimal {
    private static final long MASK_63 = Long.MAX_VALUE;
    private static final int MAX_BYTES = 32;
    private static final int MOST_TRIED_DECIMALS = 3;
    private static final int LEAST_FIXED = -4; // the exponent from which on notation is fixed

    private ShortestDecimal() {}

    static void write(TextBuffer out, double value) {
        if (writeSpecial(out, value)) {
            return;
        }
        double magnitude = Math.abs(value);
        if (magnitude >= 1e-3 && magnitude < 1e11) {
            // Few decimals: the first count that reads back is the shortest, since 15 digits are always distinct.
            for (int decimals = 0; decimals <= MOST_TRIED_DECIMALS; decimals++) {
                double power = PowersOfTen.EXACT[decimals];
                double digits = Math.rint(magnitude * power);
                if (digits / power == magnitude) {
                    writeDecimal(out, value < 0, (long) digits, -decimals, 15);
                    return;
                }
            }
        }
        long bits = Double.doubleToRawLongBits(magnitude);
        int biased = (int) (bits >>> 52);
        long fraction = bits & (1L << 52) - 1;
        if (biased == 0) {
            writeShortest(out, value < 0, fraction, -1074, false, 15);
        } else {
            writeShortest(out, value < 0, fraction | 1L << 52, biased - 1075, fraction == 0 && biased > 1, 15);
        }
    }

    static void write(TextBuffer out, float value) {
        if (writeSpecial(out, value)) {
            return;
        }
        int bits = Float.floatToRawIntBits(Math.abs(value));
        int biased = bits >>> 23;
        int fraction = bits & (1 << 23) - 1;
        if (biased == 0) {
            writeShortest(out, value < 0, fraction, -149, false, 6);
        } else {
            writeShortest(out, value < 0, fraction | 1 << 23, biased - 150, fraction == 0 && biased > 1, 6);
        }
    }

    /** Rounded to so many digits, as C's {@code %.15g}: one allocation a number. */
    static void writeRounded(TextBuffer out, double value, int digits) {
        if (writeSpecial(out, value)) {
            return;
        }
        BigDecimal rounded = new BigDecimal(value)
                .round(new MathContext(digits, RoundingMode.HALF_EVEN))
                .stripTrailingZeros();
        int exponent = rounded.precision() - rounded.scale() - 1;
        if (exponent >= LEAST_FIXED && exponent < digits) {
            out.appendAscii(rounded.toPlainString());
            return;
        }
        String shown = rounded.unscaledValue().abs().toString();
        out.appendAscii((value < 0 ? "-" : "") + shown.charAt(0));
        if (shown.length() > 1) {
            out.appendAscii("." + shown.substring(1));
        }
        int distance = Math.abs(exponent);
        out.appendAscii((exponent < 0 ? "e-" : "e+") + (distance < 10 ? "0" : "") + distance);
    }

    private static boolean writeSpecial(TextBuffer out, double value) {
        if (value == 0) {
            out.appendAscii(1 / value < 0 ? "-0" : "0");
        } else if (Double.isNaN(value)) {
            out.appendAscii("NaN");
        } else if (Double.isInfinite(value)) {
            out.appendAscii(value < 0 ? "-Infinity" : "Infinity");
        } else {
            return false;
        }
        return true;
    }

    /** c * 2^q, where the gap below is half the gap above when {@code uneven}. */
    private static void writeShortest(TextBuffer out, boolean negative, long c, int q, boolean uneven, int fixedBelow) {
        long middle = c << 2;
        long above = middle + 2;
        long below = middle - (uneven ? 1 : 2);
        int k = uneven ? PowersOfTen.floorLog10OfThreeQuartersPow2(q) : PowersOfTen.floorLog10OfPow2(q);
        int h = q + PowersOfTen.floorLog2OfPow10(-k) + 2;
        long g1 = PowersOfTen.upper(-k);
        long g0 = PowersOfTen.lower(-k);
        long v = roundToOdd(g1, g0, middle << h);
        long vBelow = roundToOdd(g1, g0, below << h) + 1; // + 1: the bounds themselves do not count
        long vAbove = roundToOdd(g1, g0, above << h) - 1;
        long s = v >> 2;
        if (s >= 10) {
            long down = s / 10 * 10;
            long up = down + 10;
            boolean downFits = vBelow <= down << 2;
            boolean upFits = up << 2 <= vAbove;
            if (downFits != upFits) {
                writeDecimal(out, negative, downFits ? down : up, k, fixedBelow);
                return;
            }
        }
        long t = s + 1;
        boolean sFits = vBelow <= s << 2;
        boolean tFits = t << 2 <= vAbove;
        long order = v - (s + t << 1);
        boolean nearerS = order < 0 || (order == 0 && (s & 1) == 0);
        boolean takeS = sFits != tFits ? sFits : nearerS;
        writeDecimal(out, negative, takeS ? s : t, k, fixedBelow);
    }

    /** cp * g / 2^126, the last bit set when anything was dropped. */
    private static long roundToOdd(long g1, long g0, long cp) {
        long x1 = Math.multiplyHigh(g0, cp);
        long y0 = g1 * cp;
        long y1 = Math.multiplyHigh(g1, cp);
        long z = (y0 >>> 1) + x1;
        long w = y1 + (z >>> 63);
        return w | (z & MASK_63) + MASK_63 >>> 63;
    }

    /** digits * 10^exponent, in the notation that PostgreSQL chooses. */
    private static void writeDecimal(TextBuffer out, boolean negative, long digits, int exponent, int fixedBelow) {
        while (digits % 10 == 0) {
            digits /= 10;
            exponent++;
        }
        int count = Digits.count(digits);
        int scientific = exponent + count - 1;
        long at = out.room(MAX_BYTES);
        if (negative) {
            Memory.putByte(at++, (byte) '-');
        }
        if (scientific < -4 || scientific >= fixedBelow) {
            at = writeScientific(at, digits, count, scientific);
        } else if (exponent >= 0) {
            at = Digits.write(at, digits, count);
            at = zeros(at, exponent);
        } else if (scientific >= 0) {
            Digits.write(at + 1, digits, count);
            int whole = scientific + 1;
            for (int i = 0; i < whole; i++) {
                Memory.putByte(at + i, Memory.getByte(at + i + 1));
            }
            Memory.putByte(at + whole, (byte) '.');
            at += count + 1;
        } else {
            Memory.putByte(at++, (byte) '0');
            Memory.putByte(at++, (byte) '.');
            at = zeros(at, -scientific - 1);
            at = Digits.write(at, digits, count);
        }
        out.end(at);
    }

    private static long writeScientific(long at, long digits, int count, int scientific) {
        Digits.write(at + 1, digits, count);
        Memory.putByte(at, Memory.getByte(at + 1));
        long next = at + 1;
        if (count > 1) {
            Memory.putByte(next, (byte) '.');
            next += count;
        }
        Memory.putByte(next++, (byte) 'e');
        Memory.putByte(next++, (byte) (scientific < 0 ? '-' : '+'));
        int exponent = Math.abs(scientific);
        return Digits.write(next, exponent, Math.max(2, Digits.count(exponent)));
    }

    private static long zeros(long at, int count) {
        for (int i = 0; i < count; i++) {
            Memory.putByte(at + i, (byte) '0');
        }
        return at + count;
    }
}
