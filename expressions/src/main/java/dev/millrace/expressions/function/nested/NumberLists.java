package dev.millrace.expressions.function.nested;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.expressions.function.Int128;
import dev.millrace.expressions.function.Text;
import dev.millrace.expressions.function.number.Decimals;
import dev.millrace.memory.Memory;
import dev.millrace.nested.Images;
import dev.millrace.number.Bignum;
import dev.millrace.type.DataType;
import java.util.Arrays;

/** Functions of arrays of doubles: those that are of one array leave NULLs out, those of two take none. */
public final class NumberLists {
    private NumberLists() {}

    private static double[] values(long array) {
        double[] values = new double[Images.count(array)];
        int count = 0;
        long element = Images.elements(array);
        for (int left = values.length; left > 0; left--) {
            if (!Images.isNull(element)) {
                values[count++] = Memory.getDouble(element + 1);
            }
            element = Images.behind(DataType.DOUBLE, element);
        }
        return Arrays.copyOf(values, count);
    }

    public static double sumDouble(long array, int length) {
        double sum = 0;
        for (double value : values(array)) {
            sum += value;
        }
        return sum;
    }

    /** Of a BIGINT array. */
    public static void sumWhole(long array, int length, Int128 out) {
        out.high = 0;
        out.low = 0;
        long element = Images.elements(array);
        for (int left = Images.count(array); left > 0; left--) {
            if (!Images.isNull(element)) {
                long value = Memory.getLong(element + 1);
                Decimals.add(out.high, out.low, value >> 63, value, out);
            }
            element = Images.behind(DataType.BIGINT, element);
        }
    }

    /** Of a NUMERIC array, at the scale of its elements. */
    public static void sumNumeric(long array, int length, Int128 out) {
        out.high = 0;
        out.low = 0;
        long element = Images.elements(array);
        for (int left = Images.count(array); left > 0; left--) {
            boolean isNull = Images.isNull(element);
            if (!isNull) {
                Decimals.add(out.high, out.low, Memory.getLong(element + 9), Memory.getLong(element + 1), out);
            }
            element += isNull ? 1 : 17;
        }
    }

    /** Of an array of numbers of any size. */
    public static void sumNumeric(long array, int length, Text out) {
        Bignum sum = Bignum.ZERO;
        for (long element : Images.places(DataType.BIGNUM, array)) {
            if (!Images.isNull(element)) {
                sum = sum.add(Bignum.at(element + 5, Memory.getInt(element + 1)));
            }
        }
        out.begin().append(sum.toBytes());
        out.written();
    }

    /** In order of the values: the same however they came. */
    public static double product(long array, int length) {
        double[] values = values(array);
        Arrays.sort(values);
        double product = 1;
        for (double value : values) {
            product *= value;
        }
        return product;
    }

    /** The median distance from the median; NaN of none. */
    public static double medianDeviation(long array, int length) {
        double[] values = values(array);
        double median = median(values);
        for (int i = 0; i < values.length; i++) {
            values[i] = Math.abs(values[i] - median);
        }
        return median(values);
    }

    private static double median(double[] values) {
        if (values.length == 0) {
            return Double.NaN;
        }
        Arrays.sort(values);
        int middle = values.length / 2;
        return values.length % 2 == 1
                ? values[middle]
                : values[middle - 1] + (values[middle] - values[middle - 1]) * 0.5;
    }

    /** How far a counter went: what it grew by, and where it was set back to nothing, what it has grown to since. */
    public static double increase(long array, int length) {
        double[] values = values(array);
        double increase = 0;
        for (int i = 1; i < values.length; i++) {
            increase += values[i] >= values[i - 1] ? values[i] - values[i - 1] : values[i];
        }
        return increase;
    }

    /** The mean of values that hold from their time to the next one's; where no time passes, that of the values. NaN of none. */
    public static double weightedByTime(long array, int arrayLength, long timesArray, int timesLength) {
        double[][] both = both(array, timesArray);
        double[] values = both[0];
        double[] times = both[1];
        double sum = 0;
        double plain = 0;
        for (int i = 0; i < values.length; i++) {
            plain += values[i];
            sum += i + 1 < values.length ? values[i] * (times[i + 1] - times[i]) : 0;
        }
        double passed = values.length == 0 ? 0 : times[values.length - 1] - times[0];
        return passed > 0 ? sum / passed : plain / values.length;
    }

    private static double[][] both(long a, long b) {
        double[][] both = {values(a), values(b)};
        if (both[0].length != Images.count(a) || both[1].length != Images.count(b)) {
            throw MillraceException.user(SqlState.NULL_VALUE_NOT_ALLOWED, "a vector must not contain NULLs");
        }
        if (both[0].length != both[1].length) {
            throw MillraceException.user(
                    SqlState.INVALID_PARAMETER_VALUE,
                    "vectors must have the same length, not " + both[0].length + " and " + both[1].length);
        }
        return both;
    }

    public static double dot(long a, int aLength, long b, int bLength) {
        double[][] both = both(a, b);
        return dot(both[0], both[1]);
    }

    private static double dot(double[] a, double[] b) {
        double sum = 0;
        for (int i = 0; i < a.length; i++) {
            sum += a[i] * b[i];
        }
        return sum;
    }

    /** The cosine of the angle between two vectors. */
    public static double cosine(long a, int aLength, long b, int bLength) {
        double[][] both = both(a, b);
        double cosine = dot(both[0], both[1]) / (Math.sqrt(dot(both[0], both[0])) * Math.sqrt(dot(both[1], both[1])));
        return Math.max(-1, Math.min(1, cosine));
    }

    /** The Euclidean distance. */
    public static double distance(long a, int aLength, long b, int bLength) {
        double[][] both = both(a, b);
        double sum = 0;
        for (int i = 0; i < both[0].length; i++) {
            double apart = both[0][i] - both[1][i];
            sum += apart * apart;
        }
        return Math.sqrt(sum);
    }
}
