package dev.millrace.expressions.function.number;

/**
 * Intervals of doubles in SQL's order, NaN above all: what is known of a value that sketches show. A low end that is minus infinity and a high end
 * that is NaN say nothing. Rounding goes outward, or is the rounding that the value itself went through, which keeps the order. Nothing here fails: of
 * the interval's ends an error may be one that the value is not.
 */
public final class Bounds {
    private static final double WHOLE = 0x1p53; // below, doubles are exact whole numbers

    private Bounds() {}

    /** How far an exact value is off. */
    public static double error(double exact) {
        return 0;
    }

    /** An exact value as its own lower and upper bound. */
    public static double same(double exact) {
        return exact;
    }

    /** The lowest of what lies within an error of a value. */
    public static double low(double value, double error) {
        return error == 0 || Double.isNaN(value) || value == Double.POSITIVE_INFINITY
                ? value
                : Math.nextDown(value - error);
    }

    /** The highest. */
    public static double high(double value, double error) {
        if (error == 0 || Double.isNaN(value) || value == Double.NEGATIVE_INFINITY) {
            return value;
        }
        return error == Double.POSITIVE_INFINITY ? Double.NaN : Math.nextUp(value + error);
    }

    /** Of REALs, which were rounded to show them. */
    public static double realLow(double value, double error) {
        return error == 0 ? value : low(Math.nextDown((float) value), error);
    }

    public static double realHigh(double value, double error) {
        return error == 0 ? value : high(Math.nextUp((float) value), error);
    }

    /** An error that is a share of a value, and more; none of infinity is less than all, be the share 0. */
    public static double scaled(double value, double share, double more) {
        return Double.isFinite(value) ? Math.abs(value) * share + more : Double.POSITIVE_INFINITY;
    }

    /** A double that is not above a whole number of which it is the nearest. */
    public static double wholeLow(double nearest) {
        return Math.abs(nearest) < WHOLE ? nearest : Math.nextDown(nearest);
    }

    public static double wholeHigh(double nearest) {
        return Math.abs(nearest) < WHOLE ? nearest : Math.nextUp(nearest);
    }

    /** A value as a REAL is rounded. */
    public static double real(double value) {
        return (float) value;
    }

    /** The low end of what is negated, by its high end. */
    public static double negateLow(double high) {
        return Double.isNaN(high) ? Double.NEGATIVE_INFINITY : -high;
    }

    /** The high end, which is still NaN where the value may be. */
    public static double negateHigh(double low, double high) {
        return Double.isNaN(high) ? high : -low;
    }

    public static double addLow(double a, double b) {
        return a == Double.NEGATIVE_INFINITY || b == Double.NEGATIVE_INFINITY ? Double.NEGATIVE_INFINITY : a + b;
    }

    /** Where one may be infinity the other may be minus infinity, which makes NaN. */
    public static double addHigh(double a, double b) {
        return a == Double.POSITIVE_INFINITY || b == Double.POSITIVE_INFINITY ? Double.NaN : a + b;
    }

    public static double multiplyLow(double aLow, double aHigh, double bLow, double bHigh) {
        return areFinite(aLow, aHigh, bLow, bHigh)
                ? Math.min(Math.min(aLow * bLow, aLow * bHigh), Math.min(aHigh * bLow, aHigh * bHigh))
                : Double.NEGATIVE_INFINITY;
    }

    public static double multiplyHigh(double aLow, double aHigh, double bLow, double bHigh) {
        return areFinite(aLow, aHigh, bLow, bHigh)
                ? Math.max(Math.max(aLow * bLow, aLow * bHigh), Math.max(aHigh * bLow, aHigh * bHigh))
                : Double.NaN;
    }

    /** Of a divisor that may be zero nothing is known. */
    public static double divideLow(double aLow, double aHigh, double bLow, double bHigh) {
        return areFinite(aLow, aHigh, bLow, bHigh) && (bLow > 0 || bHigh < 0)
                ? Math.min(Math.min(aLow / bLow, aLow / bHigh), Math.min(aHigh / bLow, aHigh / bHigh))
                : Double.NEGATIVE_INFINITY;
    }

    public static double divideHigh(double aLow, double aHigh, double bLow, double bHigh) {
        return areFinite(aLow, aHigh, bLow, bHigh) && (bLow > 0 || bHigh < 0)
                ? Math.max(Math.max(aLow / bLow, aLow / bHigh), Math.max(aHigh / bLow, aHigh / bHigh))
                : Double.NaN;
    }

    private static boolean areFinite(double a, double b, double c, double d) {
        return Double.isFinite(a) && Double.isFinite(b) && Double.isFinite(c) && Double.isFinite(d);
    }

    public static double absLow(double low, double high) {
        return low >= 0 || Double.isNaN(low) ? low : high <= 0 ? -high : 0;
    }

    public static double absHigh(double low, double high) {
        return Double.isNaN(high) ? high : Math.max(Math.abs(low), Math.abs(high));
    }

    /** The root of what is not negative; other values have none. */
    public static double root(double value) {
        return value <= 0 ? 0 : Math.sqrt(value);
    }

    /** The low end of a sum, of the sum of low ends: where infinities met nothing is known. */
    public static double totalLow(double sum, double slack) {
        return Double.isNaN(sum) ? Double.NEGATIVE_INFINITY : low(sum, slack);
    }

    public static double totalHigh(double sum, double slack) {
        return sum == Double.POSITIVE_INFINITY ? Double.NaN : high(sum, slack);
    }

    /** How far a value may be off that lies in an interval. */
    public static double distance(double value, double low, double high) {
        if (Double.compare(low, high) == 0 && Double.compare(low, value) == 0 || low == high && low == value) {
            return 0;
        }
        double most = Math.max(high - value, value - low);
        return most >= 0 && most < Double.POSITIVE_INFINITY
                ? (most == 0 ? 0 : Math.nextUp(most))
                : Double.POSITIVE_INFINITY;
    }

    /** The high end as users see it: infinity where nothing is known. */
    public static double top(double low, double high) {
        return Double.isNaN(high) && !Double.isNaN(low) ? Double.POSITIVE_INFINITY : high;
    }
}
