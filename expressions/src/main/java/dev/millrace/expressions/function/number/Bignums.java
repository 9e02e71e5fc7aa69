package dev.millrace.expressions.function.number;

import static dev.millrace.number.BignumBytes.UNFIT;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.expressions.function.Int128;
import dev.millrace.expressions.function.Text;
import dev.millrace.number.Bignum;
import dev.millrace.number.BignumBytes;
import dev.millrace.number.BignumFunctions;
import dev.millrace.number.Quotient;
import dev.millrace.text.TextBuffer;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;
import java.util.function.BinaryOperator;
import java.util.function.UnaryOperator;

/**
 * Functions of numbers of any size, as {@link BignumBytes} by address and length. What fits 64 bits is computed in registers and
 * written without allocating; the rest is {@link Bignum}'s.
 */
public final class Bignums {
    private static final int LONG_DIGITS = 18;
    private static final int EXACT_POWERS = 22;
    private static final long EXACT_DOUBLES = 1L << 53;

    private static final double[] POWERS = new double[EXACT_POWERS + 1];

    static {
        for (int i = 0; i < POWERS.length; i++) {
            POWERS[i] = Math.pow(10, i);
        }
    }

    private Bignums() {}

    private static void put(long mantissa, int scale, Text out) {
        TextBuffer buffer = out.begin();
        long at = buffer.room(BignumBytes.MOST_FIXED_BYTES);
        buffer.end(at + BignumBytes.write(at, mantissa, scale));
        out.written();
    }

    private static void put(long high, long low, int scale, Text out) {
        TextBuffer buffer = out.begin();
        long at = buffer.room(BignumBytes.MOST_FIXED_BYTES);
        buffer.end(at + BignumBytes.write(at, high, low, scale));
        out.written();
    }

    private static void put(Bignum number, Text out) {
        TextBuffer buffer = out.begin();
        long at = buffer.room(number.mostBytes());
        buffer.end(at + number.write(at));
        out.written();
    }

    private static void unary(UnaryOperator<Bignum> operation, long a, int aLength, Text out) {
        put(operation.apply(Bignum.at(a, aLength)), out);
    }

    private static void binary(BinaryOperator<Bignum> operation, long a, int aLength, long b, int bLength, Text out) {
        put(operation.apply(Bignum.at(a, aLength), Bignum.at(b, bLength)), out);
    }

    /** A mantissa, or {@link BignumBytes#UNFIT}, with so many digits more. */
    private static long scaled(long mantissa, int digits) {
        if (mantissa == UNFIT) {
            return UNFIT;
        }
        long scaled = BignumBytes.scaledUp(Math.abs(mantissa), digits);
        return scaled == UNFIT || mantissa >= 0 ? scaled : -scaled;
    }

    // ---- arithmetic ------------------------------------------------------------------------------------------------

    public static void add(long a, int aLength, long b, int bLength, Text out) {
        int aScale = BignumBytes.scale(a, aLength);
        int bScale = BignumBytes.scale(b, bLength);
        int scale = Math.max(aScale, bScale);
        long x = scaled(BignumBytes.mantissa(a, aLength), scale - aScale);
        long y = scaled(BignumBytes.mantissa(b, bLength), scale - bScale);
        long sum = x + y;
        if (x == UNFIT || y == UNFIT || ((x ^ sum) & (y ^ sum)) < 0) {
            binary(Bignum::add, a, aLength, b, bLength, out);
        } else {
            put(sum, scale, out);
        }
    }

    public static void subtract(long a, int aLength, long b, int bLength, Text out) {
        int aScale = BignumBytes.scale(a, aLength);
        int bScale = BignumBytes.scale(b, bLength);
        int scale = Math.max(aScale, bScale);
        long x = scaled(BignumBytes.mantissa(a, aLength), scale - aScale);
        long y = scaled(BignumBytes.mantissa(b, bLength), scale - bScale);
        long difference = x - y;
        if (x == UNFIT || y == UNFIT || ((x ^ y) & (x ^ difference)) < 0) {
            binary(Bignum::subtract, a, aLength, b, bLength, out);
        } else {
            put(difference, scale, out);
        }
    }

    public static void multiply(long a, int aLength, long b, int bLength, Text out) {
        long x = BignumBytes.mantissa(a, aLength);
        long y = BignumBytes.mantissa(b, bLength);
        int scale = BignumBytes.scale(a, aLength) + BignumBytes.scale(b, bLength);
        if (x == UNFIT || y == UNFIT || scale > Bignum.MOST_SCALE) {
            binary(Bignum::multiply, a, aLength, b, bLength, out);
        } else {
            put(Math.multiplyHigh(x, y), x * y, scale, out);
        }
    }

    public static void divide(long a, int aLength, long b, int bLength, Text out) {
        TextBuffer buffer = out.begin();
        long at = buffer.room(BignumBytes.MOST_FIXED_BYTES);
        int length = Quotient.write(
                at,
                BignumBytes.mantissa(a, aLength),
                BignumBytes.scale(a, aLength),
                BignumBytes.mantissa(b, bLength),
                BignumBytes.scale(b, bLength));
        if (length == 0) {
            binary(Bignum::divide, a, aLength, b, bLength, out);
        } else {
            buffer.end(at + length);
            out.written();
        }
    }

    public static void mod(long a, int aLength, long b, int bLength, Text out) {
        int aScale = BignumBytes.scale(a, aLength);
        int bScale = BignumBytes.scale(b, bLength);
        int scale = Math.max(aScale, bScale);
        long x = scaled(BignumBytes.mantissa(a, aLength), scale - aScale);
        long y = scaled(BignumBytes.mantissa(b, bLength), scale - bScale);
        if (x == UNFIT || y == UNFIT || y == 0) {
            binary(Bignum::mod, a, aLength, b, bLength, out);
        } else {
            put(x % y, scale, out);
        }
    }

    public static void div(long a, int aLength, long b, int bLength, Text out) {
        binary(Bignum::quotient, a, aLength, b, bLength, out);
    }

    public static void gcd(long a, int aLength, long b, int bLength, Text out) {
        binary(Bignum::gcd, a, aLength, b, bLength, out);
    }

    public static void lcm(long a, int aLength, long b, int bLength, Text out) {
        binary(Bignum::lcm, a, aLength, b, bLength, out);
    }

    public static void negate(long a, int aLength, Text out) {
        long x = BignumBytes.mantissa(a, aLength);
        if (x == UNFIT) {
            unary(Bignum::negate, a, aLength, out);
        } else {
            put(-x, BignumBytes.scale(a, aLength), out);
        }
    }

    public static void abs(long a, int aLength, Text out) {
        if (BignumBytes.sign(a) < 0) {
            negate(a, aLength, out);
        } else {
            out.slice(a, aLength);
        }
    }

    /** NaN of NaN. */
    public static void sign(long a, int aLength, Text out) {
        if (BignumBytes.isNan(a)) {
            out.slice(a, aLength);
        } else {
            put(BignumBytes.sign(a), 0, out);
        }
    }

    // ---- digits ----------------------------------------------------------------------------------------------------

    public static void ceil(long a, int aLength, Text out) {
        rounded(a, aLength, 0, RoundingMode.CEILING, out);
    }

    public static void floor(long a, int aLength, Text out) {
        rounded(a, aLength, 0, RoundingMode.FLOOR, out);
    }

    /** A half goes away from zero. */
    public static void round(long a, int aLength, Text out) {
        rounded(a, aLength, 0, RoundingMode.HALF_UP, out);
    }

    /** To so many digits after the point, or before it when negative. */
    public static void round(long a, int aLength, int digits, Text out) {
        rounded(a, aLength, digits, RoundingMode.HALF_UP, out);
    }

    public static void trunc(long a, int aLength, Text out) {
        rounded(a, aLength, 0, RoundingMode.DOWN, out);
    }

    public static void trunc(long a, int aLength, int digits, Text out) {
        rounded(a, aLength, digits, RoundingMode.DOWN, out);
    }

    private static void rounded(long a, int aLength, int digits, RoundingMode mode, Text out) {
        long x = BignumBytes.mantissa(a, aLength);
        int drop = BignumBytes.scale(a, aLength) - digits;
        if (x == UNFIT || digits < 0 || digits > LONG_DIGITS || drop < 0 || drop > LONG_DIGITS) {
            put(Bignum.at(a, aLength).round(digits, mode), out);
            return;
        }
        long unit = BignumBytes.scaledUp(1, drop);
        long quotient = x / unit;
        long rest = x - quotient * unit;
        boolean away = switch (mode) {
            case CEILING -> rest > 0;
            case FLOOR -> rest < 0;
            case HALF_UP -> Math.abs(rest) >= unit - Math.abs(rest);
            default -> false;
        };
        put(away ? quotient + (x < 0 ? -1 : 1) : quotient, digits, out);
    }

    public static void trimScale(long a, int aLength, Text out) {
        out.slice(a, BignumBytes.keyLength(aLength)); // a key is a number that shows no zeros at its end
    }

    /** With the digits that a column of so many has; 22003 if it has more before the point. */
    public static void limit(long a, int aLength, int precision, int scale, Text out) {
        put(Bignum.at(a, aLength).limited(precision, scale).orElseThrow(Decimals::overflow), out);
    }

    // ---- functions -------------------------------------------------------------------------------------------------

    public static void sqrt(long a, int aLength, Text out) {
        unary(BignumFunctions::sqrt, a, aLength, out);
    }

    public static void exp(long a, int aLength, Text out) {
        unary(BignumFunctions::exp, a, aLength, out);
    }

    public static void ln(long a, int aLength, Text out) {
        unary(BignumFunctions::ln, a, aLength, out);
    }

    public static void log10(long a, int aLength, Text out) {
        put(BignumFunctions.log(Bignum.of(10), Bignum.at(a, aLength)), out);
    }

    public static void log(long a, int aLength, long b, int bLength, Text out) {
        binary(BignumFunctions::log, a, aLength, b, bLength, out);
    }

    public static void power(long a, int aLength, long b, int bLength, Text out) {
        binary(BignumFunctions::power, a, aLength, b, bLength, out);
    }

    public static void factorial(long number, Text out) {
        put(BignumFunctions.factorial(number), out);
    }

    /** In which of {@code count} buckets of equal width between two bounds a number lies: 0 below, count + 1 above. */
    public static int widthBucket(
            long operand, int operandLength, long low, int lowLength, long high, int highLength, int count) {
        if (count <= 0) {
            throw bucketError("count must be greater than zero");
        }
        if (BignumBytes.isNan(operand) || BignumBytes.isNan(low) || BignumBytes.isNan(high)) {
            throw bucketError("operand, lower bound, and upper bound cannot be NaN");
        }
        if (!BignumBytes.isFinite(low) || !BignumBytes.isFinite(high)) {
            throw bucketError("lower and upper bounds must be finite");
        }
        int direction = Integer.signum(BignumBytes.compare(high, highLength, low, lowLength));
        if (direction == 0) {
            throw bucketError("lower bound cannot equal upper bound");
        }
        if (direction * BignumBytes.compare(operand, operandLength, low, lowLength) < 0) {
            return 0;
        }
        if (direction * BignumBytes.compare(operand, operandLength, high, highLength) >= 0) {
            return Math.addExact(count, 1);
        }
        BigDecimal from = Bignum.at(low, lowLength).value();
        BigDecimal width = Bignum.at(high, highLength).value().subtract(from);
        BigDecimal distance = Bignum.at(operand, operandLength).value().subtract(from);
        return distance.multiply(BigDecimal.valueOf(count))
                        .divide(width, 0, RoundingMode.DOWN)
                        .intValue()
                + 1;
    }

    private static MillraceException bucketError(String message) {
        return MillraceException.user(SqlState.INVALID_PARAMETER_VALUE, message);
    }

    // ---- conversions -----------------------------------------------------------------------------------------------

    public static void ofLong(long value, Text out) {
        put(value, 0, out);
    }

    /** The unscaled value of a NUMERIC. */
    public static void ofNumeric(long high, long low, int scale, Text out) {
        put(high, low, scale, out);
    }

    /** Through 15 significant digits, as PostgreSQL. */
    public static void ofDouble(double value, Text out) {
        if (value == (long) value && Math.abs(value) < 1e15) {
            put((long) value, 0, out);
        } else {
            put(Bignum.of(value), out);
        }
    }

    /** Through 6 significant digits, as PostgreSQL. */
    public static void ofReal(float value, Text out) {
        put(Bignum.of(value), out);
    }

    /** The nearest double. */
    public static double toDouble(long a, int aLength) {
        long x = BignumBytes.mantissa(a, aLength);
        int scale = BignumBytes.scale(a, aLength);
        if (x != UNFIT && Math.abs(x) <= EXACT_DOUBLES && scale <= EXACT_POWERS) {
            return (double) x / POWERS[scale]; // both exact, so the quotient is rounded once
        }
        return Bignum.at(a, aLength).toDouble();
    }

    /** The nearest float. */
    public static float toReal(long a, int aLength) {
        Bignum number = Bignum.at(a, aLength);
        float nearest = number.isFinite() ? number.value().floatValue() : (float) number.toDouble();
        if (number.isFinite() && Float.isInfinite(nearest)) {
            throw MillraceException.user(SqlState.NUMERIC_VALUE_OUT_OF_RANGE, "real out of range");
        }
        return nearest;
    }

    /** Rounds a half away from zero. */
    public static long toBigint(long a, int aLength) {
        return toLong(a, aLength, "bigint", Long.MIN_VALUE, Long.MAX_VALUE);
    }

    /** Rounds a half away from zero. */
    public static int toInteger(long a, int aLength) {
        return (int) toLong(a, aLength, "integer", Integer.MIN_VALUE, Integer.MAX_VALUE);
    }

    /** Rounds a half away from zero. */
    public static int toSmallint(long a, int aLength) {
        return (int) toLong(a, aLength, "smallint", Short.MIN_VALUE, Short.MAX_VALUE);
    }

    private static long toLong(long a, int aLength, String type, long least, long most) {
        long x = BignumBytes.mantissa(a, aLength);
        return x != UNFIT && x >= least && x <= most && BignumBytes.scale(a, aLength) == 0
                ? x
                : Bignum.at(a, aLength).toLong(type, least, most);
    }

    /** A NUMERIC of so many digits, a half rounded away from zero; 22003 if it does not fit. */
    public static void toNumeric(long a, int aLength, int precision, int scale, Int128 out) {
        long x = BignumBytes.mantissa(a, aLength);
        if (x != UNFIT) {
            Decimals.rescale(x >> 63, x, scale - BignumBytes.scale(a, aLength), precision, out);
            return;
        }
        Bignum number = Bignum.at(a, aLength);
        if (number.isNan()) {
            throw MillraceException.notAvailableYet("NaN in a NUMERIC of declared digits")
                    .withHint("NUMERIC without digits holds it");
        }
        if (number.isInfinite()) {
            throw Decimals.overflow();
        }
        BigDecimal rounded = number.value().setScale(scale, RoundingMode.HALF_UP);
        if (rounded.precision() > precision && rounded.signum() != 0) {
            throw Decimals.overflow();
        }
        BigInteger unscaled = rounded.unscaledValue();
        out.set(unscaled.shiftRight(64).longValue(), unscaled.longValue());
    }
}
