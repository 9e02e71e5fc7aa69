package dev.millrace.number;

/** Quotients of numbers whose unscaled values fit 64 bits, with the digits that {@link ResultScale} has, in registers. */
public final class Quotient {
    private static final int STEP_DIGITS = 8; // a remainder below 2^36 times 10^8 fits 63 bits
    private static final long MOST_STEPPED = 1L << 36;
    private static final int MOST_DIGITS = 27; // behind a whole part below 2^36; 128 bits hold both
    private static final int MOST_DIGITS_OF_ANY = 19; // behind one of 63 bits

    private Quotient() {}

    /**
     * Writes {@code x} / 10^{@code xScale} divided by {@code y} / 10^{@code yScale}, as {@link BignumBytes}.
     *
     * @param target room for {@link BignumBytes#MOST_FIXED_BYTES}
     * @param x {@link BignumBytes#UNFIT} if it does not fit; {@code y} too
     * @return how many bytes it takes; 0 if it is not to be had so, and nothing was written
     */
    public static int write(long target, long x, int xScale, long y, int yScale) {
        if (x == BignumBytes.UNFIT || y == BignumBytes.UNFIT || y == 0 || Math.abs(y) >= MOST_STEPPED) {
            return 0;
        }
        int scale = ResultScale.ofQuotient(x, xScale, y, yScale);
        int digits = scale - xScale + yScale;
        int most = Math.abs(x) < MOST_STEPPED ? MOST_DIGITS : MOST_DIGITS_OF_ANY;
        return digits >= 0 && digits <= most ? divide(target, x, y, digits, scale) : 0;
    }

    /** To so many digits, found eight at a time in 128 bits; a half is rounded away from zero. */
    private static int divide(long target, long x, long y, int digits, int scale) {
        long divisor = Math.abs(y);
        long rest = Math.abs(x);
        long low = rest / divisor;
        long high = 0;
        rest %= divisor;
        for (int left = digits; left > 0; left -= STEP_DIGITS) {
            long power = BignumBytes.scaledUp(1, Math.min(left, STEP_DIGITS));
            rest *= power;
            long digit = rest / divisor;
            rest -= digit * divisor;
            high = high * power + Math.multiplyHigh(low, power) + (low >> 63 & power);
            low = low * power + digit;
            high += Long.compareUnsigned(low, digit) < 0 ? 1 : 0;
        }
        if (rest >= divisor - rest) {
            low++;
            high += low == 0 ? 1 : 0;
        }
        if ((x ^ y) < 0) {
            high = ~high + (low == 0 ? 1 : 0);
            low = -low;
        }
        return BignumBytes.write(target, high, low, scale);
    }
}
