package dev.millrace.expressions.function.number;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.expressions.function.Int128;
import dev.millrace.expressions.function.Text;
import dev.millrace.memory.Memory;
import dev.millrace.nested.Images;
import dev.millrace.type.DataType;
import java.math.BigDecimal;
import java.math.BigInteger;

/** Integers and floating-point numbers: overflow, underflow and division by zero are errors, as in PostgreSQL. */
public final class Numbers {
    private static final double TWO_POW_63 = 0x1p63;
    private static final long BELOW_INFINITY = (Double.doubleToRawLongBits(Double.POSITIVE_INFINITY) << 1) - 1;

    private Numbers() {}

    static MillraceException outOfRange(String type) {
        return MillraceException.user(SqlState.NUMERIC_VALUE_OUT_OF_RANGE, type + " out of range");
    }

    public static MillraceException divisionByZero() {
        return MillraceException.user(SqlState.DIVISION_BY_ZERO, "division by zero");
    }

    private static MillraceException floatOutOfRange(boolean overflow) {
        return MillraceException.user(
                SqlState.NUMERIC_VALUE_OUT_OF_RANGE, "value out of range: " + (overflow ? "overflow" : "underflow"));
    }

    // Integers.

    /** A SMALLINT computed in 32 bits. */
    public static int smallint(int value) {
        if (value != (short) value) {
            throw outOfRange("smallint");
        }
        return value;
    }

    public static int toSmallint(long value) {
        if (value != (short) value) {
            throw outOfRange("smallint");
        }
        return (int) value;
    }

    public static int toInteger(long value) {
        if (value != (int) value) {
            throw outOfRange("integer");
        }
        return (int) value;
    }

    /** Rounds a half to even. */
    public static int toSmallint(double value) {
        double rounded = Math.rint(value);
        if (!(rounded >= Short.MIN_VALUE && rounded <= Short.MAX_VALUE)) {
            throw outOfRange("smallint");
        }
        return (int) rounded;
    }

    /** Rounds a half to even. */
    public static int toInteger(double value) {
        double rounded = Math.rint(value);
        if (!(rounded >= Integer.MIN_VALUE && rounded <= Integer.MAX_VALUE)) {
            throw outOfRange("integer");
        }
        return (int) rounded;
    }

    /** Rounds a half to even. */
    public static long toBigint(double value) {
        double rounded = Math.rint(value);
        if (!(rounded >= -TWO_POW_63 && rounded < TWO_POW_63)) {
            throw outOfRange("bigint");
        }
        return (long) rounded;
    }

    public static int divide(int a, int b) {
        if (b == -1) {
            return negate(a); // the one quotient that overflows is among these
        }
        return a / b;
    }

    public static long divide(long a, long b) {
        if (b == -1) {
            return negate(a);
        }
        return a / b;
    }

    public static int negate(int a) {
        if (a == Integer.MIN_VALUE) {
            throw outOfRange("integer");
        }
        return -a;
    }

    public static long negate(long a) {
        if (a == Long.MIN_VALUE) {
            throw outOfRange("bigint");
        }
        return -a;
    }

    public static int abs(int a) {
        return a < 0 ? negate(a) : a;
    }

    public static long abs(long a) {
        return a < 0 ? negate(a) : a;
    }

    public static int gcd(int a, int b) {
        return toInteger(greatestDivisor(a, b));
    }

    public static long gcd(long a, long b) {
        long divisor = greatestDivisor(a, b);
        if (divisor < 0) {
            throw outOfRange("bigint");
        }
        return divisor;
    }

    /** Negative only when the result is 2^63. */
    private static long greatestDivisor(long a, long b) {
        long x = a;
        long y = b;
        while (y != 0) {
            long rest = y == -1 ? 0 : x % y;
            x = y;
            y = rest;
        }
        return x < 0 ? -x : x;
    }

    public static int lcm(int a, int b) {
        long divisor = greatestDivisor(a, b);
        return divisor == 0 ? 0 : toInteger(Math.abs((long) a / divisor * b));
    }

    public static long lcm(long a, long b) {
        if (a == 0 || b == 0) {
            return 0;
        }
        return abs(Math.multiplyExact(a / greatestDivisor(a, b), b));
    }

    public static int compareUnsigned(long aHigh, long aLow, long bHigh, long bLow) {
        int high = Long.compareUnsigned(aHigh, bHigh);
        return high != 0 ? high : Long.compareUnsigned(aLow, bLow);
    }

    // Floating point. Comparisons of REAL are those of the same numbers as DOUBLE.

    /** NaN equals itself. */
    public static boolean equal(double a, double b) {
        return a == b | (Double.isNaN(a) & Double.isNaN(b));
    }

    /** NaN is above all other numbers. */
    public static boolean less(double a, double b) {
        return a < b | (Double.isNaN(b) & !Double.isNaN(a));
    }

    public static double add(double a, double b) {
        return checkedSum(a + b, a, b);
    }

    public static double subtract(double a, double b) {
        return checkedSum(a - b, a, b);
    }

    private static double checkedSum(double result, double a, double b) {
        boolean infinite = Math.abs(result) == Double.POSITIVE_INFINITY;
        if (infinite && !Double.isInfinite(a) && !Double.isInfinite(b)) {
            throw floatOutOfRange(true);
        }
        return result;
    }

    public static double multiply(double a, double b) {
        double result = a * b;
        return isOrdinary(result) ? result : checkedProduct(result, a, b);
    }

    /** Whether a number is neither zero, infinite nor NaN: one comparison, for the loops. */
    private static boolean isOrdinary(double value) {
        long exponentAndFraction = Double.doubleToRawLongBits(value) << 1;
        return Long.compareUnsigned(exponentAndFraction - 1, BELOW_INFINITY) < 0;
    }

    private static double checkedProduct(double result, double a, double b) {
        if (Double.isInfinite(result) && !Double.isInfinite(a) && !Double.isInfinite(b)) {
            throw floatOutOfRange(true);
        }
        if (result == 0 && a != 0 && b != 0) {
            throw floatOutOfRange(false);
        }
        return result;
    }

    public static double divide(double a, double b) {
        if (b == 0 && !Double.isNaN(a)) {
            throw divisionByZero();
        }
        double result = a / b;
        return isOrdinary(result) ? result : checkedQuotient(result, a, b);
    }

    private static double checkedQuotient(double result, double a, double b) {
        if (Double.isInfinite(result) && !Double.isInfinite(a)) {
            throw floatOutOfRange(true);
        }
        if (result == 0 && a != 0 && !Double.isInfinite(b)) {
            throw floatOutOfRange(false);
        }
        return result;
    }

    public static float add(float a, float b) {
        return real((double) a + b);
    }

    public static float subtract(float a, float b) {
        return real((double) a - b);
    }

    public static float multiply(float a, float b) {
        return real((double) a * b);
    }

    public static float divide(float a, float b) {
        if (b == 0 && !Float.isNaN(a)) {
            throw divisionByZero();
        }
        return real((double) a / b);
    }

    /** A REAL computed as DOUBLE, which is exact enough for one operation to be rounded only once. */
    private static float real(double value) {
        return toReal(value);
    }

    public static float toReal(double value) {
        float result = (float) value;
        if (Float.isInfinite(result) && !Double.isInfinite(value)) {
            throw floatOutOfRange(true);
        }
        if (result == 0 && value != 0) {
            throw floatOutOfRange(false);
        }
        return result;
    }

    public static double ceil(double a) {
        return Math.ceil(a);
    }

    public static double floor(double a) {
        return Math.floor(a);
    }

    /** A half goes to even. */
    public static double round(double a) {
        return Math.rint(a);
    }

    public static double trunc(double a) {
        return a < 0 ? Math.ceil(a) : Math.floor(a);
    }

    public static double sign(double a) {
        return a > 0 ? 1 : a < 0 ? -1 : Double.isNaN(a) ? a : 0;
    }

    public static double sqrt(double a) {
        if (a < 0) {
            throw MillraceException.user(
                    SqlState.INVALID_ARGUMENT_FOR_POWER_FUNCTION, "cannot take square root of a negative number");
        }
        return Math.sqrt(a);
    }

    public static double cbrt(double a) {
        return Math.cbrt(a);
    }

    public static double exp(double a) {
        return checkedResult(Math.exp(a), a == Double.NEGATIVE_INFINITY, Double.isInfinite(a));
    }

    private static double checkedResult(double result, boolean zeroIsExact, boolean infinityIsExact) {
        if (Double.isInfinite(result) && !infinityIsExact) {
            throw floatOutOfRange(true);
        }
        if (result == 0 && !zeroIsExact) {
            throw floatOutOfRange(false);
        }
        return result;
    }

    public static double ln(double a) {
        checkLogarithm(a);
        return Math.log(a);
    }

    public static double log10(double a) {
        checkLogarithm(a);
        return Math.log10(a);
    }

    /** The logarithm of {@code a} to a base. */
    public static double log(double base, double a) {
        double ofBase = ln(base);
        double ofA = ln(a);
        return divide(ofA, ofBase);
    }

    private static void checkLogarithm(double a) {
        if (a == 0) {
            throw MillraceException.user(SqlState.INVALID_ARGUMENT_FOR_LOGARITHM, "cannot take logarithm of zero");
        }
        if (a < 0) {
            throw MillraceException.user(
                    SqlState.INVALID_ARGUMENT_FOR_LOGARITHM, "cannot take logarithm of a negative number");
        }
    }

    public static double power(double a, double b) {
        if (a == 0 && b < 0) {
            throw MillraceException.user(
                    SqlState.INVALID_ARGUMENT_FOR_POWER_FUNCTION, "zero raised to a negative power is undefined");
        }
        if (a < 0 && !Double.isInfinite(a) && Math.floor(b) != b && !Double.isNaN(b)) {
            throw MillraceException.user(
                    SqlState.INVALID_ARGUMENT_FOR_POWER_FUNCTION,
                    "a negative number raised to a non-integer power yields a complex result");
        }
        if (a == 1 || b == 0) {
            return 1; // also of NaN and infinity
        }
        boolean infinite = Double.isInfinite(a) || Double.isInfinite(b);
        double result = Math.abs(a) == 1 && Double.isInfinite(b) ? 1 : Math.pow(a, b);
        return checkedResult(result, infinite || a == 0, infinite);
    }

    /** In which of {@code count} buckets of equal width between two bounds a number lies: 0 below, count + 1 above. */
    public static int widthBucket(double operand, double low, double high, int count) {
        if (count <= 0) {
            throw bucketError("count must be greater than zero");
        }
        if (Double.isNaN(operand) || Double.isNaN(low) || Double.isNaN(high)) {
            throw bucketError("operand, lower bound, and upper bound cannot be NaN");
        }
        if (Double.isInfinite(low) || Double.isInfinite(high)) {
            throw bucketError("lower and upper bounds must be finite");
        }
        if (low == high) {
            throw bucketError("lower bound cannot equal upper bound");
        }
        boolean ascending = low < high;
        if (ascending ? operand < low : operand > low) {
            return 0;
        }
        if (ascending ? operand >= high : operand <= high) {
            return Math.addExact(count, 1);
        }
        double share = (operand - low) / (high - low);
        return (int) Math.min(count, (long) (count * share) + 1);
    }

    private static MillraceException bucketError(String message) {
        return MillraceException.user(SqlState.INVALID_PARAMETER_VALUE, message);
    }

    /** True, or 21000: what a sub-query used as a value must give. */
    public static boolean atMostOneRow(long rows) {
        if (rows > 1) {
            throw MillraceException.user(
                    SqlState.CARDINALITY_VIOLATION, "more than one row returned by a subquery used as an expression");
        }
        return true;
    }

    /** The place of an array's first element that is greater: the array holds the lower bounds of buckets. */
    public static int widthBucket(double operand, long thresholds, int length) {
        int count = Images.count(thresholds);
        long element = Images.elements(thresholds);
        int bucket = 0;
        for (int i = 0; i < count; i++) {
            if (Images.isNull(element)) {
                throw MillraceException.user(
                        SqlState.NULL_VALUE_NOT_ALLOWED, "thresholds array must not contain NULLs");
            }
            if (!less(operand, Memory.getDouble(element + 1))) {
                bucket = i + 1;
            }
            element = Images.behind(DataType.DOUBLE, element);
        }
        return bucket;
    }

    /** Of any size. */
    public static void factorial(long n, Text out) {
        Bignums.factorial(n, out);
    }

    public static void factorial(long n, Int128 out) {
        if (n < 0) {
            throw MillraceException.user(
                    SqlState.NUMERIC_VALUE_OUT_OF_RANGE, "factorial of a negative number is undefined");
        }
        if (n > 33) {
            throw MillraceException.user(
                    SqlState.NUMERIC_VALUE_OUT_OF_RANGE, "factorial of " + n + " has more than 38 digits");
        }
        BigInteger product = BigInteger.ONE;
        for (long factor = 2; factor <= n; factor++) {
            product = product.multiply(BigInteger.valueOf(factor));
        }
        out.set(product.shiftRight(64).longValue(), product.longValue());
    }

    public static int scale(long high, long low, int scale) {
        return scale;
    }

    /** How many digits behind the point a number needs. */
    public static int leastScale(long high, long low, int scale) {
        BigInteger value = BigInteger.valueOf(high).shiftLeft(64).or(new BigInteger(Long.toUnsignedString(low)));
        return Math.max(0, new BigDecimal(value, scale).stripTrailingZeros().scale());
    }
}
