package dev.millrace.expressions.function.number;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.expressions.function.Int128;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.MathContext;
import java.math.RoundingMode;

/**
 * Exact numbers of up to 38 digits: unscaled 128-bit integers as two halves. A result of more digits is an error
 * (22003). What fits 64 bits, or has a divisor that does, never leaves registers; the rest is the JDK's.
 */
public final class Decimals {
    private static final int MOST_DIGITS = 38;
    private static final int LONG_DIGITS = 18;
    private static final BigInteger LIMIT = BigInteger.TEN.pow(MOST_DIGITS);
    private static final long[] TEN_TO = new long[LONG_DIGITS + 1];
    private static final long[] LIMIT_HIGH = new long[MOST_DIGITS + 1];
    private static final long[] LIMIT_LOW = new long[MOST_DIGITS + 1];
    private static final int REAL_DIGITS = 6;
    private static final int DOUBLE_DIGITS = 15;

    static {
        for (int i = 0; i <= MOST_DIGITS; i++) {
            BigInteger power = BigInteger.TEN.pow(i);
            LIMIT_HIGH[i] = power.shiftRight(64).longValue();
            LIMIT_LOW[i] = power.longValue();
            if (i <= LONG_DIGITS) {
                TEN_TO[i] = power.longValue();
            }
        }
    }

    private Decimals() {}

    static MillraceException overflow() {
        return MillraceException.user(SqlState.NUMERIC_VALUE_OUT_OF_RANGE, "numeric field overflow");
    }

    static BigInteger big(long high, long low) {
        if (high == low >> 63) {
            return BigInteger.valueOf(low);
        }
        BigInteger unsignedLow = BigInteger.valueOf(low >>> 1).shiftLeft(1).or(BigInteger.valueOf(low & 1));
        return BigInteger.valueOf(high).shiftLeft(64).or(unsignedLow);
    }

    static BigDecimal decimal(long high, long low, int scale) {
        return new BigDecimal(big(high, low), scale);
    }

    private static void set(BigInteger value, Int128 out) {
        if (value.abs().compareTo(LIMIT) >= 0) {
            throw overflow();
        }
        out.set(value.shiftRight(64).longValue(), value.longValue());
    }

    private static void checked(long high, long low, int precision, Int128 out) {
        long absHigh = high;
        long absLow = low;
        if (high < 0) {
            absLow = -low;
            absHigh = ~high + (low == 0 ? 1 : 0);
        }
        long limitHigh = LIMIT_HIGH[precision];
        boolean fits = absHigh >= 0
                && (absHigh < limitHigh
                        || (absHigh == limitHigh && Long.compareUnsigned(absLow, LIMIT_LOW[precision]) < 0));
        if (!fits) {
            throw overflow();
        }
        out.set(high, low);
    }

    public static int compare(long aHigh, long aLow, long bHigh, long bLow) {
        return aHigh != bHigh ? Long.compare(aHigh, bHigh) : Long.compareUnsigned(aLow, bLow);
    }

    public static int sign(long high, long low) {
        return high < 0 ? -1 : (high | low) == 0 ? 0 : 1;
    }

    public static void add(long aHigh, long aLow, long bHigh, long bLow, Int128 out) {
        long low = aLow + bLow;
        long carry = Long.compareUnsigned(low, aLow) < 0 ? 1 : 0;
        long high = aHigh + bHigh + carry;
        // Two numbers below 10^38 can reach past 2^127: then the signs tell.
        if (((aHigh ^ high) & (bHigh ^ high)) < 0) {
            throw overflow();
        }
        checked(high, low, MOST_DIGITS, out);
    }

    public static void subtract(long aHigh, long aLow, long bHigh, long bLow, Int128 out) {
        add(aHigh, aLow, ~bHigh + (bLow == 0 ? 1 : 0), -bLow, out);
    }

    public static void negate(long high, long low, Int128 out) {
        out.set(~high + (low == 0 ? 1 : 0), -low);
    }

    public static void abs(long high, long low, Int128 out) {
        if (high < 0) {
            negate(high, low, out);
        } else {
            out.set(high, low);
        }
    }

    /** The product, with {@code drop} digits less after the point, a half rounded away from zero. */
    public static void multiply(long aHigh, long aLow, long bHigh, long bLow, int drop, Int128 out) {
        if (aHigh == aLow >> 63 && bHigh == bLow >> 63) {
            long high = Math.multiplyHigh(aLow, bLow);
            long low = aLow * bLow;
            if (drop == 0) {
                checked(high, low, MOST_DIGITS, out);
            } else {
                divideByPower(high, low, drop, RoundingMode.HALF_UP, out);
            }
            return;
        }
        BigInteger product = big(aHigh, aLow).multiply(big(bHigh, bLow));
        set(
                drop == 0
                        ? product
                        : new BigDecimal(product, drop)
                                .setScale(0, RoundingMode.HALF_UP)
                                .unscaledValue(),
                out);
    }

    /** The value times ten to the {@code digits}, which is not negative. */
    public static void scaleUp(long high, long low, int digits, Int128 out) {
        if (digits <= LONG_DIGITS) {
            multiply(high, low, 0, TEN_TO[digits], 0, out);
        } else {
            set(big(high, low).multiply(BigInteger.TEN.pow(digits)), out);
        }
    }

    /** The same number with {@code moreDigits} (or fewer, rounded) after the point, in so many digits at most. */
    public static void rescale(long high, long low, int moreDigits, int precision, Int128 out) {
        if (moreDigits >= 0) {
            scaleUp(high, low, moreDigits, out);
        } else {
            divideByPower(high, low, -moreDigits, RoundingMode.HALF_UP, out);
        }
        checked(out.high, out.low, precision, out);
    }

    /** Divides by ten to the {@code digits}. */
    private static void divideByPower(long high, long low, int digits, RoundingMode rounding, Int128 out) {
        if (digits == 0) {
            checked(high, low, MOST_DIGITS, out);
            return;
        }
        if (high == low >> 63 && digits <= LONG_DIGITS) {
            long quotient = divideRounded(low, TEN_TO[digits], rounding);
            out.set(quotient >> 63, quotient);
            return;
        }
        set(new BigDecimal(big(high, low), digits).setScale(0, rounding).unscaledValue(), out);
    }

    private static long divideRounded(long value, long divisor, RoundingMode rounding) {
        long quotient = value / divisor;
        long rest = value - quotient * divisor;
        return switch (rounding) {
            case HALF_UP -> {
                long magnitude = Math.abs(rest);
                yield magnitude >= divisor - magnitude ? quotient + (value < 0 ? -1 : 1) : quotient;
            }
            case FLOOR -> rest < 0 ? quotient - 1 : quotient;
            case CEILING -> rest > 0 ? quotient + 1 : quotient;
            default -> quotient;
        };
    }

    /** The quotient times ten to the {@code moreDigits}, a half rounded away from zero. */
    public static void divide(long aHigh, long aLow, long bHigh, long bLow, int moreDigits, Int128 out) {
        if ((bHigh | bLow) == 0) {
            throw Numbers.divisionByZero();
        }
        boolean small = aHigh == aLow >> 63 && bHigh == bLow >> 63 && aLow != Long.MIN_VALUE && bLow != Long.MIN_VALUE;
        if (small && moreDigits >= 0 && moreDigits <= LONG_DIGITS) {
            long a = Math.abs(aLow);
            long b = Math.abs(bLow);
            long power = TEN_TO[moreDigits];
            divideUnsigned(Math.multiplyHigh(a, power), a * power, b, (aLow ^ bLow) < 0, out);
            return;
        }
        BigDecimal quotient = new BigDecimal(big(aHigh, aLow))
                .scaleByPowerOfTen(moreDigits)
                .divide(new BigDecimal(big(bHigh, bLow)), 0, RoundingMode.HALF_UP);
        set(quotient.unscaledValue().multiply(BigInteger.TEN.pow(-Math.min(0, quotient.scale()))), out);
    }

    /** Divides 128 bits, not negative, by 63, rounding a half up, and gives the result its sign. */
    private static void divideUnsigned(long high, long low, long divisor, boolean negative, Int128 out) {
        long quotientHigh = 0;
        long quotientLow;
        long rest;
        if (high == 0 && low >= 0) {
            quotientLow = low / divisor;
            rest = low - quotientLow * divisor;
        } else {
            quotientHigh = high / divisor;
            rest = high - quotientHigh * divisor;
            quotientLow = divideStep(rest, low, divisor);
            rest = low - quotientLow * divisor; // modulo 2^64, which is exact: the rest is below the divisor
        }
        if (rest >= divisor - rest) {
            quotientLow++;
            quotientHigh += quotientLow == 0 ? 1 : 0;
        }
        if (negative) {
            quotientHigh = ~quotientHigh + (quotientLow == 0 ? 1 : 0);
            quotientLow = -quotientLow;
        }
        checked(quotientHigh, quotientLow, MOST_DIGITS, out);
    }

    /**
     * The 64-bit quotient of (high, low) by a divisor above {@code high}, both below 2^63: schoolbook division in two
     * digits of 32 bits (D. Knuth, The Art of Computer Programming 2, 4.3.1, algorithm D).
     */
    private static long divideStep(long high, long low, long divisor) {
        int shift = Long.numberOfLeadingZeros(divisor);
        long d = divisor << shift;
        long dHigh = d >>> 32;
        long dLow = d & 0xffffffffL;
        long top = shift == 0 ? high : high << shift | low >>> (64 - shift);
        long rest = low << shift;
        long middle = rest >>> 32;
        long q1 = digit(top, middle, dHigh, dLow);
        long next = (top << 32 | middle) - q1 * d;
        long q0 = digit(next, rest & 0xffffffffL, dHigh, dLow);
        return (q1 << 32) + q0;
    }

    private static long digit(long top, long next, long dHigh, long dLow) {
        long quotient = Long.divideUnsigned(top, dHigh);
        long rest = top - quotient * dHigh;
        while (quotient > 0xffffffffL || Long.compareUnsigned(quotient * dLow, rest << 32 | next) > 0) {
            quotient--;
            rest += dHigh;
            if (rest > 0xffffffffL) {
                break;
            }
        }
        return quotient;
    }

    /** The remainder, of the dividend's sign, at the larger of the two scales. */
    public static void mod(long aHigh, long aLow, long bHigh, long bLow, int aScale, int bScale, Int128 out) {
        if ((bHigh | bLow) == 0) {
            throw Numbers.divisionByZero();
        }
        if (aScale == bScale && aHigh == aLow >> 63 && bHigh == bLow >> 63) {
            long rest = aLow % bLow;
            out.set(rest >> 63, rest);
            return;
        }
        BigDecimal rest = decimal(aHigh, aLow, aScale).remainder(decimal(bHigh, bLow, bScale));
        set(rest.setScale(Math.max(aScale, bScale), RoundingMode.UNNECESSARY).unscaledValue(), out);
    }

    /** The quotient without its fraction. */
    public static void div(long aHigh, long aLow, long bHigh, long bLow, int aScale, int bScale, Int128 out) {
        if ((bHigh | bLow) == 0) {
            throw Numbers.divisionByZero();
        }
        BigDecimal quotient = decimal(aHigh, aLow, aScale).divideToIntegralValue(decimal(bHigh, bLow, bScale));
        set(quotient.setScale(0, RoundingMode.UNNECESSARY).unscaledValue(), out);
    }

    public static void ceil(long high, long low, int drop, Int128 out) {
        divideByPower(high, low, drop, RoundingMode.CEILING, out);
    }

    public static void floor(long high, long low, int drop, Int128 out) {
        divideByPower(high, low, drop, RoundingMode.FLOOR, out);
    }

    /** A half goes away from zero. */
    public static void round(long high, long low, int drop, Int128 out) {
        divideByPower(high, low, drop, RoundingMode.HALF_UP, out);
    }

    public static void trunc(long high, long low, int drop, Int128 out) {
        divideByPower(high, low, drop, RoundingMode.DOWN, out);
    }

    /** Rounds to {@code digits} after the point, or before it when negative; the result has {@code drop} digits less. */
    public static void roundTo(long high, long low, int scale, int digits, int drop, Int128 out) {
        to(high, low, scale, digits, drop, RoundingMode.HALF_UP, out);
    }

    /** Cuts to {@code digits} after the point. */
    public static void truncTo(long high, long low, int scale, int digits, int drop, Int128 out) {
        to(high, low, scale, digits, drop, RoundingMode.DOWN, out);
    }

    private static void to(long high, long low, int scale, int digits, int drop, RoundingMode rounding, Int128 out) {
        int cut = (int) Math.min((long) scale - digits, Integer.MAX_VALUE);
        if (cut <= 0) {
            divideByPower(high, low, drop, RoundingMode.DOWN, out);
            return;
        }
        if (cut > MOST_DIGITS) {
            out.set(0, 0);
            return;
        }
        divideByPower(high, low, cut, rounding, out);
        rescale(out.high, out.low, cut - drop, MOST_DIGITS, out);
    }

    // Conversions.

    public static void fromLong(long value, int precision, int scale, Int128 out) {
        rescale(value >> 63, value, scale, precision, out);
    }

    /** Through 15 significant digits, as PostgreSQL. */
    public static void fromDouble(double value, int precision, int scale, Int128 out) {
        fromFloating(value, DOUBLE_DIGITS, precision, scale, out);
    }

    /** Through 6 significant digits, as PostgreSQL. */
    public static void fromReal(float value, int precision, int scale, Int128 out) {
        fromFloating(value, REAL_DIGITS, precision, scale, out);
    }

    private static void fromFloating(double value, int digits, int precision, int scale, Int128 out) {
        if (Double.isNaN(value) || Double.isInfinite(value)) {
            throw MillraceException.notAvailableYet("NUMERIC " + (Double.isNaN(value) ? "NaN" : "infinity"));
        }
        BigDecimal rounded = new BigDecimal(value, new MathContext(digits, RoundingMode.HALF_EVEN))
                .setScale(scale, RoundingMode.HALF_UP);
        if (rounded.precision() > precision && rounded.signum() != 0) {
            throw overflow();
        }
        set(rounded.unscaledValue(), out);
    }

    /** The nearest double. */
    public static double toDouble(long high, long low, int scale) {
        if (high == low >> 63 && scale < TEN_TO.length && Math.abs(low) <= 1L << 53) {
            return (double) low / TEN_TO[scale]; // both exact, so the quotient is rounded once: 10^18 < 2^53 * 5^18
        }
        return decimal(high, low, scale).doubleValue();
    }

    /** Rounds a half away from zero. */
    public static long toBigint(long high, long low, int scale) {
        return toLong(high, low, scale, "bigint", Long.MIN_VALUE, Long.MAX_VALUE);
    }

    /** Rounds a half away from zero. */
    public static int toInteger(long high, long low, int scale) {
        return (int) toLong(high, low, scale, "integer", Integer.MIN_VALUE, Integer.MAX_VALUE);
    }

    /** Rounds a half away from zero. */
    public static int toSmallint(long high, long low, int scale) {
        return (int) toLong(high, low, scale, "smallint", Short.MIN_VALUE, Short.MAX_VALUE);
    }

    private static long toLong(long high, long low, int scale, String type, long least, long most) {
        long value;
        if (high == low >> 63 && scale <= LONG_DIGITS) {
            value = divideRounded(low, TEN_TO[scale], RoundingMode.HALF_UP);
        } else {
            BigInteger rounded =
                    decimal(high, low, scale).setScale(0, RoundingMode.HALF_UP).unscaledValue();
            if (rounded.bitLength() > 63) {
                throw Numbers.outOfRange(type);
            }
            value = rounded.longValue();
        }
        if (value < least || value > most) {
            throw Numbers.outOfRange(type);
        }
        return value;
    }
}
