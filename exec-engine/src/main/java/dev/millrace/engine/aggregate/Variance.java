package dev.millrace.engine.aggregate;

import static dev.millrace.engine.aggregate.AggregateLayout.StateSlot;

import dev.millrace.engine.aggregate.number.DecimalResults;
import dev.millrace.engine.aggregate.number.Wide;
import dev.millrace.memory.Memory;
import dev.millrace.plan.expression.AggregateCall.Function;
import dev.millrace.plan.node.AggregateState.Kind;
import dev.millrace.type.DataType;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.MathContext;
import java.math.RoundingMode;
import java.util.List;
import org.apache.arrow.vector.FieldVector;

/**
 * Variances and standard deviations from a count, a sum and a sum of squares: exact for exact types; for doubles the sums
 * have 106 bits each, which keeps what the subtraction of large squares would lose.
 */
final class Variance {
    private static final MathContext DIGITS = new MathContext(45);

    private Variance() {}

    /** Whether the function divides by the count less one, and so is NULL over one value. */
    static boolean isSample(Function function) {
        return function == Function.VAR_SAMP || function == Function.STDDEV_SAMP;
    }

    static boolean isDeviation(Function function) {
        return function == Function.STDDEV_POP || function == Function.STDDEV_SAMP;
    }

    /** Marks the results NULL that a sample function has none for. */
    static void clearSingles(int counted, long[] groups, int count, FieldVector vector) {
        long validity = vector.getValidityBufferAddress();
        for (int i = 0; i < count; i++) {
            if (Memory.getLong(groups[i] + counted) == 1) {
                Memory.clearBit(validity, i);
            }
        }
    }

    static void write(Function function, List<StateSlot> slots, DataType type, long group, long data, int index) {
        long n = Memory.getLong(group + slots.get(0).offset());
        long divisor = isSample(function) ? n - 1 : n;
        if (divisor <= 0) {
            return;
        }
        StateSlot sum = slots.get(1);
        long squares = group + slots.get(2).offset();
        if (slots.get(2).state().kind() == Kind.SQUARES_DOUBLE) {
            double variance = inexact(sum, group, squares, n, divisor);
            Results.putDouble(type, data, index, isDeviation(function) ? Math.sqrt(variance) : variance);
            return;
        }
        BigInteger total = sum.state().kind() == Kind.SUM_LONG
                ? BigInteger.valueOf(Memory.getLong(group + sum.offset()))
                : sum.state().kind() == Kind.SUM_CARRIED
                        ? Wide.carried(group + sum.offset())
                        : Results.wide(group + sum.offset());
        BigInteger numerator =
                Wide.squares(squares).multiply(BigInteger.valueOf(n)).subtract(total.multiply(total));
        BigInteger denominator = BigInteger.valueOf(n).multiply(BigInteger.valueOf(divisor));
        int scale = sum.argumentType().scale();
        BigDecimal variance;
        if (isDeviation(function)) {
            variance = new BigDecimal(numerator, 2 * scale)
                    .divide(new BigDecimal(denominator), DIGITS)
                    .sqrt(DIGITS)
                    .setScale(type.scale(), RoundingMode.HALF_UP);
        } else {
            variance = new BigDecimal(numerator, 2 * scale)
                    .divide(new BigDecimal(denominator), type.scale(), RoundingMode.HALF_UP);
        }
        DecimalResults.write(variance.unscaledValue(), data + 16L * index);
    }

    /** {@code (squares - sum * sum / n) / divisor}, with 106 bits up to the subtraction. */
    private static double inexact(StateSlot sum, long group, long squares, long n, long divisor) {
        double total = Results.doubleSum(sum, group);
        double squaresHigh = Memory.getDouble(squares);
        if (!Double.isFinite(total) || !Double.isFinite(squaresHigh)) {
            return Double.NaN;
        }
        double low = Memory.getDouble(group + sum.offset() + 8);
        double product = total * total;
        double productLow = Math.fma(total, total, -product) + 2 * total * low;
        double quotient = product / n;
        double quotientLow = (Math.fma(-quotient, (double) n, product) + productLow) / n;
        double difference = (squaresHigh - quotient) + (Memory.getDouble(squares + 8) - quotientLow);
        return Math.max(difference, 0) / divisor;
    }
}
