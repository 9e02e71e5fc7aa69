package dev.millrace.engine.match;

import dev.millrace.engine.aggregate.number.Wide;
import dev.millrace.engine.state.RowCodec;
import dev.millrace.engine.state.RowOrder;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.memory.Memory;
import dev.millrace.number.Bignum;
import dev.millrace.plan.expression.AggregateCall.Function;
import dev.millrace.plan.expression.OrderKey;
import dev.millrace.plan.match.MatchValue;
import dev.millrace.type.DataType;
import dev.millrace.type.DataType.Kind;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;
import java.util.Arrays;
import java.util.List;

/**
 * One aggregate over the rows mapped to a symbol, with its value after each of them, so that going back costs nothing.
 * Sums are exact as elsewhere: 128 bits for exact types, doubles added in order of the rows.
 */
final class Accumulator {
    private static final BigInteger LIMIT = BigInteger.TEN.pow(DataType.MAX_NUMERIC_PRECISION);

    private final Function function;
    private final int column;
    private final int slot;
    private final DataType argument;
    private final DataType result;
    private final boolean inexact;
    private final boolean isOfAnySize; // a sum
    private final RowOrder order;
    // after each row: values that are not NULL; the sum, or in low the row of the extreme
    private long[] counts = new long[8];
    private long[] low = new long[8];
    private long[] high = new long[8];
    private Bignum[] sums; // of numbers of any size

    Accumulator(MatchValue.Aggregate aggregate, RowCodec codec, List<DataType> types) {
        this.function = aggregate.function();
        this.column = aggregate.argument().getAsInt();
        this.slot = codec.slot(column);
        this.argument = types.get(column);
        this.result = aggregate.type();
        this.inexact = argument.kind() == Kind.DOUBLE || argument.kind() == Kind.REAL;
        this.isOfAnySize = argument.kind() == Kind.BIGNUM && (function == Function.SUM || function == Function.AVG);
        this.sums = new Bignum[isOfAnySize ? counts.length : 0];
        this.order = new RowOrder(codec, types, List.of(new OrderKey(column, false, false)));
    }

    /** Whether the value is that of a row: MIN and MAX. */
    boolean isRow() {
        return function == Function.MIN || function == Function.MAX;
    }

    /** Adds the {@code size}-th row. */
    void push(long row, int size) {
        if (size == counts.length) {
            counts = Arrays.copyOf(counts, 2 * size);
            low = Arrays.copyOf(low, 2 * size);
            high = Arrays.copyOf(high, 2 * size);
            sums = Arrays.copyOf(sums, 2 * sums.length);
        }
        if (isOfAnySize) {
            sums[size] = size == 0 ? Bignum.ZERO : sums[size - 1];
        }
        long count = size == 0 ? 0 : counts[size - 1];
        long lowBefore = size == 0 ? 0 : low[size - 1];
        long highBefore = size == 0 ? 0 : high[size - 1];
        counts[size] = count;
        low[size] = lowBefore;
        high[size] = highBefore;
        if (RowCodec.isNull(row, column)) {
            return;
        }
        counts[size] = count + 1;
        switch (function) {
            case MIN -> low[size] = count == 0 || order.compare(row, lowBefore) < 0 ? row : lowBefore;
            case MAX -> low[size] = count == 0 || order.compare(row, lowBefore) > 0 ? row : lowBefore;
            case SUM, AVG -> addTo(size, row, lowBefore, highBefore);
            default -> {} // COUNT
        }
    }

    private void addBignum(int size, long row) {
        long bytes = row + slot;
        Bignum value = Bignum.at(row + Memory.getInt(bytes), Memory.getInt(bytes + 4));
        sums[size] = sums[size].add(value);
    }

    /** SUM or AVG over the first {@code size} rows, of which one is not NULL, if that is a number of any size. */
    Bignum number(int size) {
        Bignum sum = isOfAnySize
                ? sums[size - 1]
                : Bignum.of(new BigDecimal(wide(low[size - 1], high[size - 1]), argument.scale()));
        return function == Function.AVG ? sum.divide(Bignum.of(counts[size - 1])) : sum;
    }

    private void addTo(int size, long row, long lowBefore, long highBefore) {
        if (isOfAnySize) {
            addBignum(size, row);
            return;
        }
        if (inexact) {
            double sum = counts[size] == 1
                    ? Memory.getDouble(row + slot)
                    : Double.longBitsToDouble(lowBefore) + Memory.getDouble(row + slot);
            low[size] = Double.doubleToRawLongBits(sum);
            return;
        }
        long addedLow = Memory.getLong(row + slot);
        long addedHigh = argument.kind() == Kind.NUMERIC ? Memory.getLong(row + slot + 8) : addedLow >> 63;
        long newLow = lowBefore + addedLow;
        long newHigh = highBefore + addedHigh + (Long.compareUnsigned(newLow, addedLow) < 0 ? 1 : 0);
        if (((highBefore ^ newHigh) & (addedHigh ^ newHigh)) < 0) {
            throw Wide.outOfRange();
        }
        low[size] = newLow;
        high[size] = newHigh;
    }

    /** How many values there are among the first {@code size} rows. */
    long count(int size) {
        return size == 0 ? 0 : counts[size - 1];
    }

    /** The row with the extreme value among the first {@code size} rows; 0 when all are NULL. */
    long row(int size) {
        return count(size) == 0 ? 0 : low[size - 1];
    }

    /** Writes SUM or AVG over the first {@code size} rows, of which one is not NULL, in the vector form of its type. */
    void write(int size, long at) {
        long count = counts[size - 1];
        if (inexact) {
            double sum = Double.longBitsToDouble(low[size - 1]);
            double value = function == Function.AVG ? sum / count : sum;
            if (result.kind() == Kind.REAL) {
                Memory.putFloat(at, (float) value);
            } else {
                Memory.putDouble(at, value);
            }
            return;
        }
        long sumLow = low[size - 1];
        long sumHigh = high[size - 1];
        if (function == Function.AVG) {
            int digits = result.scale() - (argument.kind() == Kind.NUMERIC ? argument.scale() : 0);
            BigDecimal average = new BigDecimal(wide(sumLow, sumHigh))
                    .divide(BigDecimal.valueOf(count), digits, RoundingMode.HALF_UP);
            write(average.unscaledValue(), at);
        } else if (result.kind() == Kind.BIGINT) {
            if (sumHigh != sumLow >> 63) {
                throw MillraceException.user(SqlState.NUMERIC_VALUE_OUT_OF_RANGE, "bigint out of range");
            }
            Memory.putLong(at, sumLow);
        } else {
            write(wide(sumLow, sumHigh), at);
        }
    }

    private static BigInteger wide(long low, long high) {
        return high == low >> 63
                ? BigInteger.valueOf(low)
                : BigInteger.valueOf(high).shiftLeft(64).add(new BigInteger(Long.toUnsignedString(low)));
    }

    private static void write(BigInteger value, long at) {
        if (value.abs().compareTo(LIMIT) >= 0) {
            throw Wide.outOfRange();
        }
        Memory.putLong(at, value.longValue());
        Memory.putLong(at + 8, value.shiftRight(64).longValue());
    }
}
