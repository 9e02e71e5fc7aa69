package dev.millrace.engine.aggregate.number;

import dev.millrace.engine.state.Hashing;
import dev.millrace.memory.Memory;

/**
 * Sums of doubles at addresses, and doubles as ordered integers. A sum is two doubles that do not overlap, some 106 bits
 * (Dekker's double-double, with Knuth's two-sum and a fused two-product), so that retracting what was added leaves
 * nothing behind and the order of rows does not show.
 */
public final class Doubles {
    private static final int NAN = 16;
    private static final int POSITIVE = 24;
    private static final int NEGATIVE = 32;

    private Doubles() {}

    /** Adds a value. Once the sum is not finite it stays so, and its second part is meaningless. */
    public static void add(long sum, double value) {
        double high = Memory.getDouble(sum);
        double total = high + value;
        if (!(Math.abs(total) <= Double.MAX_VALUE)) {
            Memory.putDouble(sum, total);
            return;
        }
        double part = total - high;
        double error = (high - (total - part)) + (value - part);
        double low = Memory.getDouble(sum + 8) + error;
        double newHigh = total + low;
        Memory.putDouble(sum, newHigh);
        Memory.putDouble(sum + 8, low - (newHigh - total));
    }

    /** Adds {@code value * weight}. */
    public static void add(long sum, double value, long weight) {
        if (weight == 1) {
            add(sum, value);
        } else {
            double factor = weight;
            double product = value * factor;
            add(sum, product);
            if (Double.isFinite(product)) {
                add(sum, Math.fma(value, factor, -product));
            }
        }
    }

    /** Adds a value to a sum that counts what is not finite apart. */
    public static void addRetractable(long sum, double value, long weight) {
        if (Double.isFinite(value)) {
            add(sum, value, weight);
        } else {
            long count = sum + (Double.isNaN(value) ? NAN : value > 0 ? POSITIVE : NEGATIVE);
            Memory.putLong(count, Memory.getLong(count) + weight);
        }
    }

    /** Adds the square of a value, unless it is not finite: the plain sum knows of those. */
    public static void addSquare(long sum, double value, long weight) {
        if (!Double.isFinite(value)) {
            return;
        }
        double square = value * value;
        add(sum, square, weight);
        if (Double.isFinite(square)) {
            add(sum, Math.fma(value, value, -square), weight);
        }
    }

    /** Adds a sum to a sum. */
    public static void addSum(long sum, double high, double low) {
        add(sum, high);
        if (Double.isFinite(high)) {
            add(sum, low);
        }
    }

    /** The value of a sum. */
    public static double value(long sum) {
        return Memory.getDouble(sum);
    }

    /** The value of a sum that counts what is not finite apart. */
    public static double retractableValue(long sum) {
        boolean positive = Memory.getLong(sum + POSITIVE) > 0;
        boolean negative = Memory.getLong(sum + NEGATIVE) > 0;
        if (Memory.getLong(sum + NAN) > 0 || positive && negative) {
            return Double.NaN;
        }
        return positive ? Double.POSITIVE_INFINITY : negative ? Double.NEGATIVE_INFINITY : Memory.getDouble(sum);
    }

    /** An integer that orders as the double does: NaN greatest, zeros equal. */
    public static long ordered(double value) {
        long bits = Hashing.canonical(value);
        return bits ^ (bits >> 63 & Long.MAX_VALUE);
    }

    /** The double of {@link #ordered}. */
    public static double fromOrdered(long ordered) {
        return Double.longBitsToDouble(ordered ^ (ordered >> 63 & Long.MAX_VALUE));
    }
}
