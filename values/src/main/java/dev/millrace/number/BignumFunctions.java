package dev.millrace.number;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.MathContext;
import java.math.RoundingMode;

/** Functions whose results have endlessly many digits, or very many: to as many of them as PostgreSQL 15 gives, with its errors. */
public final class BignumFunctions {
    private static final int GUARD = 12;
    private static final int MOST_FACTORIAL = 32_177; // of the next one there are too many digits
    private static final BigDecimal FARTHEST =
            BigDecimal.valueOf(6000); // exponents of e beyond it overflow, or are nothing

    private BignumFunctions() {}

    public static Bignum sqrt(Bignum number) {
        if (!number.isFinite() && number.signum() > 0) {
            return number;
        }
        if (number.signum() < 0) {
            throw MillraceException.user(
                    SqlState.INVALID_ARGUMENT_FOR_POWER_FUNCTION, "cannot take square root of a negative number");
        }
        return Bignum.of(PowerSeries.sqrt(number.value(), ResultScale.ofRoot(number.value())));
    }

    public static Bignum exp(Bignum exponent) {
        if (!exponent.isFinite()) {
            return exponent.signum() < 0 ? Bignum.ZERO : exponent;
        }
        BigDecimal value = exponent.value();
        int scale = ResultScale.ofExponential(value.doubleValue(), value.scale());
        return exponential(value, scale);
    }

    private static Bignum exponential(BigDecimal exponent, int scale) {
        if (exponent.abs().compareTo(FARTHEST) >= 0) {
            if (exponent.signum() > 0) {
                throw Bignum.overflow();
            }
            return Bignum.of(BigDecimal.valueOf(0, scale));
        }
        return Bignum.of(PowerSeries.exp(exponent, scale));
    }

    public static Bignum ln(Bignum number) {
        if (!number.isFinite() && number.signum() > 0) {
            return number;
        }
        checkLogarithm(number);
        BigDecimal value = number.value();
        int scale = ResultScale.of(ResultScale.weightOfLogarithm(value), value.scale());
        return Bignum.of(PowerSeries.ln(value, scale));
    }

    /** The logarithm of a number to a base. */
    public static Bignum log(Bignum base, Bignum number) {
        if (base.isNan() || number.isNan()) {
            return Bignum.NAN;
        }
        checkLogarithm(base);
        checkLogarithm(number);
        if (base.isInfinite()) {
            return number.isInfinite() ? Bignum.NAN : Bignum.ZERO;
        }
        if (number.isInfinite()) {
            return Bignum.INFINITY;
        }
        int ofBase = ResultScale.weightOfLogarithm(base.value());
        int ofNumber = ResultScale.weightOfLogarithm(number.value());
        int scale = ResultScale.of(ofNumber - ofBase, Math.max(base.scale(), number.scale()));
        int places = scale + GUARD + Math.max(0, ofNumber) + 2 * Math.max(0, -ofBase);
        BigDecimal divisor = PowerSeries.ln(base.value(), places);
        if (divisor.signum() == 0) {
            throw Bignum.divisionByZero();
        }
        return Bignum.of(PowerSeries.ln(number.value(), places).divide(divisor, scale, RoundingMode.HALF_UP));
    }

    private static void checkLogarithm(Bignum number) {
        if (number.signum() <= 0) {
            throw MillraceException.user(
                    SqlState.INVALID_ARGUMENT_FOR_LOGARITHM,
                    number.signum() == 0
                            ? "cannot take logarithm of zero"
                            : "cannot take logarithm of a negative number");
        }
    }

    public static Bignum power(Bignum base, Bignum exponent) {
        if (base.isNan()) {
            return exponent.signum() == 0 ? Bignum.ONE : Bignum.NAN;
        }
        if (exponent.isNan()) {
            return base.compareTo(Bignum.ONE) == 0 ? Bignum.ONE : Bignum.NAN;
        }
        if (base.signum() == 0 && exponent.signum() < 0) {
            throw MillraceException.user(
                    SqlState.INVALID_ARGUMENT_FOR_POWER_FUNCTION, "zero raised to a negative power is undefined");
        }
        if (base.signum() < 0 && !exponent.isWhole()) {
            throw MillraceException.user(
                    SqlState.INVALID_ARGUMENT_FOR_POWER_FUNCTION,
                    "a negative number raised to a non-integer power yields a complex result");
        }
        if (!base.isFinite() || !exponent.isFinite()) {
            return powerOfInfinite(base, exponent);
        }
        if (exponent.isWhole() && exponent.value().precision() - exponent.scale() <= 10) {
            long whole = exponent.value().longValue();
            if (whole == (int) whole) {
                return wholePower(base.value(), (int) whole);
            }
        }
        return base.signum() == 0
                ? Bignum.of(BigDecimal.valueOf(0, ResultScale.of(0, 0)))
                : otherPower(base.value(), exponent);
    }

    private static Bignum powerOfInfinite(Bignum base, Bignum exponent) {
        int ofOne = base.abs().compareTo(Bignum.ONE);
        if (exponent.signum() == 0 || base.isFinite() && base.compareTo(Bignum.ONE) == 0) {
            return Bignum.ONE;
        }
        if (base.signum() == 0) {
            return Bignum.ZERO;
        }
        if (exponent.isInfinite()) {
            return ofOne == 0 ? Bignum.ONE : ofOne > 0 == exponent.signum() > 0 ? Bignum.INFINITY : Bignum.ZERO;
        }
        if (exponent.signum() < 0) {
            return Bignum.ZERO;
        }
        boolean odd =
                exponent.value().setScale(0, RoundingMode.DOWN).unscaledValue().testBit(0);
        return base.signum() < 0 && odd ? Bignum.NEGATIVE_INFINITY : Bignum.INFINITY;
    }

    /** By squaring. */
    private static Bignum wholePower(BigDecimal base, int exponent) {
        int scale = ResultScale.of(0, base.scale());
        if (base.signum() == 0 && exponent != 0) {
            return Bignum.of(BigDecimal.valueOf(0, scale));
        }
        double weight = exponent == 0 ? 0 : exponent * ResultScale.logarithm(base.abs()) / Math.log(10);
        if (weight > Bignum.MOST_WHOLE_DIGITS + 1) {
            throw Bignum.overflow();
        }
        if (weight < -scale - 2) {
            return Bignum.of(BigDecimal.valueOf(0, scale));
        }
        MathContext context = new MathContext(Math.max(0, (int) weight) + scale + GUARD + 12, RoundingMode.HALF_EVEN);
        BigDecimal power = BigDecimal.ONE;
        BigDecimal square = base;
        for (long left = Math.abs((long) exponent); left > 0; left >>= 1) {
            if ((left & 1) != 0) {
                power = power.multiply(square, context);
            }
            square = left > 1 ? square.multiply(square, context) : square;
        }
        BigDecimal result = exponent < 0 ? BigDecimal.ONE.divide(power, context) : power;
        return Bignum.of(result.setScale(scale, RoundingMode.HALF_UP));
    }

    /** By the logarithm of the base. */
    private static Bignum otherPower(BigDecimal base, Bignum exponent) {
        BigDecimal power = exponent.value();
        boolean odd = base.signum() < 0
                && power.setScale(0, RoundingMode.DOWN).unscaledValue().testBit(0);
        BigDecimal size = base.abs();
        double estimate = ResultScale.logarithm(size) * power.doubleValue();
        if (Math.abs(estimate) > 1.01 * FARTHEST.doubleValue()) {
            if (estimate > 0) {
                throw Bignum.overflow();
            }
            return Bignum.of(BigDecimal.valueOf(0, ResultScale.MOST));
        }
        int scale = ResultScale.ofExponential(estimate, Math.max(base.scale(), power.scale()));
        int before = Math.max(0, power.precision() - power.scale());
        int places = scale + GUARD + before + Math.max(0, (int) (estimate / Math.log(10)) + 1);
        BigDecimal product = PowerSeries.ln(size, places).multiply(power);
        Bignum result = exponential(product, scale);
        return odd ? result.negate() : result;
    }

    /** The product of the whole numbers from one on. */
    public static Bignum factorial(long number) {
        if (number < 0) {
            throw MillraceException.user(
                    SqlState.NUMERIC_VALUE_OUT_OF_RANGE, "factorial of a negative number is undefined");
        }
        if (number > MOST_FACTORIAL) {
            throw Bignum.overflow();
        }
        return Bignum.of(new BigDecimal(product(2, (int) number)));
    }

    private static BigInteger product(int from, int to) {
        if (to - from < 8) {
            BigInteger product = BigInteger.ONE;
            for (int factor = from; factor <= to; factor++) {
                product = product.multiply(BigInteger.valueOf(factor));
            }
            return product;
        }
        int middle = (from + to) >>> 1;
        return product(from, middle).multiply(product(middle + 1, to));
    }

    /**
     * The variance of numbers of which so many have a sum and a sum of squares.
     *
     * @param sample whether they stand for more than they are
     * @param root whether its square root is asked for
     */
    public static Bignum variance(long count, Bignum sum, Bignum squares, boolean sample, boolean root) {
        if (!sum.isFinite() || !squares.isFinite()) {
            return Bignum.NAN;
        }
        BigDecimal numbers = BigDecimal.valueOf(count);
        int places = 2 * sum.scale();
        BigDecimal distance = numbers.multiply(squares.value())
                .subtract(sum.value().multiply(sum.value()))
                .setScale(places, RoundingMode.HALF_UP);
        if (distance.signum() <= 0) {
            return Bignum.ZERO;
        }
        BigDecimal divisor = numbers.multiply(sample ? BigDecimal.valueOf(count - 1) : numbers);
        int scale = ResultScale.ofQuotient(distance, divisor);
        BigDecimal variance = distance.divide(divisor, scale, RoundingMode.HALF_UP);
        return Bignum.of(root ? PowerSeries.sqrt(variance, scale) : variance);
    }
}
