package dev.millrace.engine.aggregate.number;

import dev.millrace.memory.Memory;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;

/** Quotients and range of NUMERIC values. */
public final class DecimalResults {
    private static final BigInteger LIMIT = BigInteger.TEN.pow(38);
    private static final long STEP = 100_000_000L; // eight digits at a time fit a word with a count below 2^36
    private static final long MOST_FAST_COUNT = 1L << 36;

    private DecimalResults() {}

    /** Fails with 22003 unless the value has at most 38 digits. */
    public static void check(long low, long high) {
        check(Wide.toBigInteger(low, high));
    }

    private static void check(BigInteger value) {
        if (value.abs().compareTo(LIMIT) >= 0) {
            throw Wide.outOfRange();
        }
    }

    /** Writes {@code sum / count} with {@code digits} more digits than the sum has, rounded half away from zero. */
    public static void divide(long low, long high, long count, int digits, long at) {
        if (high == low >> 63 && low != Long.MIN_VALUE && digits == 16 && count < MOST_FAST_COUNT) {
            long sum = Math.abs(low);
            long whole = sum / count;
            long rest = sum % count * STEP;
            long first = rest / count;
            rest = rest % count * STEP;
            long second = rest / count;
            long fraction = first * STEP + second + (rest % count * 2 >= count ? 1 : 0);
            long unit = STEP * STEP;
            long resultLow = whole * unit;
            long resultHigh = Math.multiplyHigh(whole, unit);
            resultLow += fraction;
            resultHigh += Long.compareUnsigned(resultLow, fraction) < 0 ? 1 : 0;
            if (low < 0) {
                resultHigh = ~resultHigh + (resultLow == 0 ? 1 : 0);
                resultLow = -resultLow;
            }
            Memory.putLong(at, resultLow);
            Memory.putLong(at + 8, resultHigh);
            return;
        }
        divide(Wide.toBigInteger(low, high), count, digits, at);
    }

    /** Divides a sum of any size by a count. */
    public static void divide(BigInteger sum, long count, int digits, long at) {
        BigDecimal quotient = new BigDecimal(sum).divide(BigDecimal.valueOf(count), digits, RoundingMode.HALF_UP);
        write(quotient.unscaledValue(), at);
    }

    /** Writes a value's 128 bits; fails with 22003 if it has more than 38 digits. */
    public static void write(BigInteger value, long at) {
        check(value);
        Memory.putLong(at, value.longValue());
        Memory.putLong(at + 8, value.shiftRight(64).longValue());
    }
}
