package dev.millrace.sketch.query;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;

/**
 * What to compute. NULLs are left out, as in SQL; NaN is larger than every number.
 *
 * @param function which
 * @param feature of which feature; empty for a count of rows
 * @param fraction PERCENTILE: from 0 to 1
 */
public record Aggregate(Function function, String feature, double fraction) {
    /** The functions. */
    public enum Function {
        COUNT,
        SUM,
        AVG,
        MIN,
        MAX,
        /** Of the population: divided by the number of values. */
        VARIANCE,
        /** The smallest value that at least a fraction of the values do not exceed. */
        PERCENTILE,
        /** How many values are different. */
        DISTINCT
    }

    public Aggregate {
        if (!(fraction >= 0 && fraction <= 1)) {
            throw MillraceException.user(
                    SqlState.INVALID_PARAMETER_VALUE, "a percentile is a fraction from 0 to 1, not " + fraction);
        }
    }

    /** Rows. */
    public static Aggregate count() {
        return new Aggregate(Function.COUNT, "", 0);
    }

    /** Values that are not NULL. */
    public static Aggregate count(String feature) {
        return new Aggregate(Function.COUNT, feature, 0);
    }

    public static Aggregate sum(String feature) {
        return new Aggregate(Function.SUM, feature, 0);
    }

    public static Aggregate avg(String feature) {
        return new Aggregate(Function.AVG, feature, 0);
    }

    public static Aggregate min(String feature) {
        return new Aggregate(Function.MIN, feature, 0);
    }

    public static Aggregate max(String feature) {
        return new Aggregate(Function.MAX, feature, 0);
    }

    public static Aggregate variance(String feature) {
        return new Aggregate(Function.VARIANCE, feature, 0);
    }

    public static Aggregate percentile(String feature, double fraction) {
        return new Aggregate(Function.PERCENTILE, feature, fraction);
    }

    public static Aggregate distinct(String feature) {
        return new Aggregate(Function.DISTINCT, feature, 0);
    }
}
