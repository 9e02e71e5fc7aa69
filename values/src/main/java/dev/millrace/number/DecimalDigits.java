package dev.millrace.number;

import java.math.BigInteger;

/** Whole numbers, not negative, as digits to the base 10^9, the most significant first, by halving: as fast as they are multiplied. */
final class DecimalDigits {
    private static final int FEW = 8;
    private static final int LOG_10_OF_2 = 30_103; // in 100,000ths, a little too much
    private static final BigInteger BASE = BigInteger.valueOf(BignumBytes.BASE);

    private DecimalDigits() {}

    /** The digits of a number; there may be zeros in front. */
    static int[] of(BigInteger number) {
        long decimal = (long) number.bitLength() * LOG_10_OF_2 / 100_000 + 1;
        int[] digits = new int[(int) (decimal / BignumBytes.DIGITS) + 1];
        fill(number, digits, 0, digits.length);
        return digits;
    }

    private static void fill(BigInteger number, int[] digits, int from, int to) {
        if (to - from <= FEW) {
            BigInteger left = number;
            for (int i = to - 1; i >= from; i--) {
                BigInteger[] parts = left.divideAndRemainder(BASE);
                digits[i] = parts[1].intValue();
                left = parts[0];
            }
            return;
        }
        int lower = (to - from) / 2;
        BigInteger[] parts = number.divideAndRemainder(power(lower));
        fill(parts[0], digits, from, to - lower);
        fill(parts[1], digits, to - lower, to);
    }

    /** The number of digits {@code from} (inclusive) to {@code to} (exclusive). */
    static BigInteger number(int[] digits, int from, int to) {
        if (to - from <= FEW) {
            BigInteger number = BigInteger.ZERO;
            for (int i = from; i < to; i++) {
                number = number.multiply(BASE).add(BigInteger.valueOf(digits[i]));
            }
            return number;
        }
        int lower = (to - from) / 2;
        return number(digits, from, to - lower).multiply(power(lower)).add(number(digits, to - lower, to));
    }

    private static BigInteger power(int digits) {
        return BigInteger.TEN.pow(BignumBytes.DIGITS * digits);
    }
}
