package dev.millrace.number;

import java.math.BigDecimal;

/**
 * How many digits after the point PostgreSQL's functions give of numbers that have endlessly many: sixteen significant ones
 * at least, and no fewer after the point than the arguments show, by an estimate of the result's size. These are the rules
 * of {@code numeric} in PostgreSQL 15, which counts digits to the base 10,000; they are part of what its users see.
 */
public final class ResultScale {
    /** The most digits after the point that a result has which is not exact. */
    public static final int MOST = 1000;

    private static final int SIGNIFICANT = 16;
    private static final int GROUP = 4;
    private static final double LN_10 = 2.302585092994046;

    private ResultScale() {}

    /** Of sixteen digits, of which {@code weight} are before the point, but at least so many. */
    static int of(int weight, int least) {
        return Math.min(Math.max(SIGNIFICANT - weight, Math.max(least, 0)), MOST);
    }

    /** Of a quotient. */
    public static int ofQuotient(BigDecimal dividend, BigDecimal divisor) {
        return ofQuotient(
                weight(dividend),
                firstGroup(dividend),
                dividend.scale(),
                weight(divisor),
                firstGroup(divisor),
                divisor.scale());
    }

    /** The same of unscaled values that fit 63 bits. */
    public static int ofQuotient(long dividend, int dividendScale, long divisor, int divisorScale) {
        int a = digits(dividend) - dividendScale - 1;
        int b = digits(divisor) - divisorScale - 1;
        int aWeight = dividend == 0 ? 0 : Math.floorDiv(a, GROUP);
        int bWeight = Math.floorDiv(b, GROUP);
        return ofQuotient(
                aWeight,
                firstGroup(dividend, a - GROUP * aWeight + 1),
                dividendScale,
                bWeight,
                firstGroup(divisor, b - GROUP * bWeight + 1),
                divisorScale);
    }

    private static int ofQuotient(int aWeight, int aFirst, int aScale, int bWeight, int bFirst, int bScale) {
        int weight = aWeight - bWeight - (aFirst <= bFirst ? 1 : 0);
        return of(GROUP * weight, Math.max(aScale, bScale));
    }

    /** Of a square root. */
    static int ofRoot(BigDecimal number) {
        return of(GROUP / 2 * weight(number) + 1, number.scale());
    }

    /** Of a power of e with this exponent, which is an estimate. */
    static int ofExponential(double exponent, int least) {
        double weight = Math.max(-2000, Math.min(2000, exponent * 0.434294481903252));
        return of((int) weight, least);
    }

    /** Decimal digits that a logarithm to the base e has before the point; negative if there are zeros behind it. */
    static int weightOfLogarithm(BigDecimal number) {
        BigDecimal distance = number.subtract(BigDecimal.ONE);
        if (distance.abs().compareTo(new BigDecimal("0.1")) <= 0) { // 0.9 to 1.1
            return distance.signum() == 0 ? 0 : GROUP * weight(distance) + (int) Math.log10(firstGroup(distance));
        }
        double logarithm = logarithm(number);
        return (int) Math.log10(Math.abs(logarithm));
    }

    /** An estimate of a logarithm to the base e, of a number greater than zero. */
    static double logarithm(BigDecimal number) {
        int weight = number.precision() - number.scale() - 1;
        return Math.log(number.movePointLeft(weight).doubleValue()) + weight * LN_10;
    }

    /** The exponent of a number's first digit to the base 10,000; 0 of zero. */
    private static int weight(BigDecimal number) {
        return number.signum() == 0 ? 0 : Math.floorDiv(number.precision() - number.scale() - 1, GROUP);
    }

    /** The first digit of a number to the base 10,000; 0 of zero. */
    private static int firstGroup(BigDecimal number) {
        return number.movePointLeft(GROUP * weight(number)).abs().intValue();
    }

    private static int firstGroup(long number, int digits) {
        long group = Math.abs(number);
        int more = digits - digits(number);
        for (; more < 0; more++) {
            group /= 10;
        }
        for (; more > 0; more--) {
            group *= 10;
        }
        return (int) group;
    }

    private static int digits(long number) {
        int digits = 1;
        for (long left = Math.abs(number); left >= 10; left /= 10) {
            digits++;
        }
        return digits;
    }
}
