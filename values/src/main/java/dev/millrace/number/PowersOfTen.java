package dev.millrace.number;

import java.math.BigInteger;

/**
 * Powers of ten: exact ones, and 126-bit approximations of all that doubles reach.
 *
 * <p>The approximation of 10^e is g(e) = floor(10^e * 2^(125 - floor(log2(10^e)))) + 1, always a little too large and
 * never by more than one unit (R. Giulietti, "The Schubfach way to render doubles", 2021, section 9.8). It is held as
 * its upper 63 and lower 63 bits.
 */
public final class PowersOfTen {
    public static final int MIN_EXPONENT = -345;
    public static final int MAX_EXPONENT = 345;

    /** Powers that a double holds exactly. */
    public static final double[] EXACT = {
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
        1e20, 1e21, 1e22
    };

    /** Powers that a long holds. */
    public static final long[] LONG = new long[19];

    static {
        LONG[0] = 1;
        for (int i = 1; i < LONG.length; i++) {
            LONG[i] = LONG[i - 1] * 10;
        }
    }

    private PowersOfTen() {}

    /** The upper 63 bits of g(e). */
    public static long upper(int e) {
        return Approximations.UPPER[e - MIN_EXPONENT];
    }

    /** The lower 63 bits of g(e). */
    public static long lower(int e) {
        return Approximations.LOWER[e - MIN_EXPONENT];
    }

    /** floor(log2(10^e)) for |e| below some thousand. */
    public static int floorLog2OfPow10(int e) {
        return (int) (e * 913_124_641_741L >> 38); // log2(10) * 2^38
    }

    /** floor(log10(2^e)) for |e| below some thousand. */
    public static int floorLog10OfPow2(int e) {
        return (int) (e * 661_971_961_083L >> 41); // log10(2) * 2^41
    }

    /** floor(log10(3/4 * 2^e)) for |e| below some thousand. */
    public static int floorLog10OfThreeQuartersPow2(int e) {
        return (int) (e * 661_971_961_083L - 274_743_187_321L >> 41); // log10(4/3) * 2^41
    }

    /** Made when first asked for: the plain cases never do. */
    private static final class Approximations {
        static final long[] UPPER = new long[MAX_EXPONENT - MIN_EXPONENT + 1];
        static final long[] LOWER = new long[UPPER.length];

        static {
            BigInteger mask = BigInteger.ONE.shiftLeft(63).subtract(BigInteger.ONE);
            BigInteger power = BigInteger.ONE;
            for (int e = 0; e <= MAX_EXPONENT; e++) {
                put(e, scaled(power, 125 - floorLog2OfPow10(e)), mask);
                if (e > 0) {
                    int shift = 125 - floorLog2OfPow10(-e);
                    put(-e, BigInteger.ONE.shiftLeft(shift).divide(power), mask);
                }
                power = power.multiply(BigInteger.TEN);
            }
        }

        private static BigInteger scaled(BigInteger power, int shift) {
            return shift >= 0 ? power.shiftLeft(shift) : power.shiftRight(-shift);
        }

        private static void put(int e, BigInteger floor, BigInteger mask) {
            BigInteger g = floor.add(BigInteger.ONE);
            UPPER[e - MIN_EXPONENT] = g.shiftRight(63).longValueExact();
            LOWER[e - MIN_EXPONENT] = g.and(mask).longValueExact();
        }
    }
}
