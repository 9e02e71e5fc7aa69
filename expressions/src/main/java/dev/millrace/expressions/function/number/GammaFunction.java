package dev.millrace.expressions.function.number;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;

/**
 * The gamma function and the logarithm of its absolute value, with the errors of PostgreSQL 18. Large arguments are computed by
 * Stirling's series, smaller ones from them by the recurrence {@code gamma(x + 1) = x gamma(x)}, negative ones by the reflection formula
 * (NIST Handbook of Mathematical Functions, sections 5.5 and 5.11); relative errors are some 1e-15. Stateless.
 */
public final class GammaFunction {
    private static final double HALF_LOG_TWO_PI = 0.918938533204672741780;
    private static final double ROOT_TWO_PI = 2.506628274631000502416;
    private static final double FIRST_LARGE = 20; // from here on the series has all digits
    private static final double LAST_FINITE = 171.624376956302; // of gamma

    /** B(2k) / (2k (2k - 1)), for k from 1. */
    private static final double[] STIRLING = {
        1 / 12.0, -1 / 360.0, 1 / 1260.0, -1 / 1680.0, 1 / 1188.0, -691 / 360360.0, 1 / 156.0
    };

    private GammaFunction() {}

    public static double gamma(double value) {
        if (Double.isNaN(value) || value == Double.POSITIVE_INFINITY) {
            return value;
        }
        if (value == Math.rint(value)) {
            return ofWhole(value);
        }
        if (value > LAST_FINITE) {
            throw outOfRange("overflow");
        }
        double result = value > 0
                ? ofPositive(value)
                : Math.PI
                        / sineOfHalfTurns(value)
                        / (1 - value > LAST_FINITE ? Double.POSITIVE_INFINITY : ofPositive(1 - value));
        if (result == 0) {
            throw outOfRange("underflow");
        }
        if (Double.isInfinite(result)) {
            throw outOfRange("overflow");
        }
        return result;
    }

    /** The factorial of the number before it, exact as far as a double is. */
    private static double ofWhole(double value) {
        if (value <= 0 || value > LAST_FINITE) {
            throw outOfRange("overflow");
        }
        double product = 1;
        for (int factor = 2; factor < value; factor++) {
            product *= factor;
        }
        return product;
    }

    public static double lgamma(double value) {
        if (Double.isNaN(value)) {
            return value;
        }
        if (Double.isInfinite(value)) {
            return Double.POSITIVE_INFINITY;
        }
        if (value == 1 || value == 2) {
            return 0;
        }
        if (value <= 0 && value == Math.rint(value)) {
            throw outOfRange("overflow");
        }
        double result = value > 0
                ? logOfPositive(value)
                : Math.log(Math.PI / Math.abs(sineOfHalfTurns(value))) - logOfPositive(1 - value);
        if (Double.isInfinite(result)) {
            throw outOfRange("overflow");
        }
        return result;
    }

    /** By powers and not by the logarithm, whose error would grow with the result. */
    private static double ofPositive(double value) {
        double shifted = value;
        double product = 1;
        while (shifted < FIRST_LARGE) {
            product *= shifted++;
        }
        double root = Math.pow(shifted, shifted / 2 - 0.25); // of a power that would overflow
        return root * Math.exp(-shifted) * root * ROOT_TWO_PI * Math.exp(series(shifted)) / product;
    }

    private static double logOfPositive(double value) {
        double shifted = value;
        double product = 1;
        while (shifted < FIRST_LARGE) {
            product *= shifted++;
        }
        return (shifted - 0.5) * Math.log(shifted) - shifted + HALF_LOG_TWO_PI + series(shifted) - Math.log(product);
    }

    private static double series(double value) {
        double inverse = 1 / value;
        double square = inverse * inverse;
        double sum = 0;
        for (int term = STIRLING.length - 1; term >= 0; term--) {
            sum = sum * square + STIRLING[term];
        }
        return sum * inverse;
    }

    private static double sineOfHalfTurns(double halfTurns) {
        return Math.sin(Math.PI * (halfTurns % 2));
    }

    private static MillraceException outOfRange(String how) {
        return MillraceException.user(SqlState.NUMERIC_VALUE_OUT_OF_RANGE, "value out of range: " + how);
    }
}
