package dev.millrace.sketch.sum;

import java.math.BigDecimal;

/**
 * A sum of doubles in twice their precision, and how far it may be from the true one (Ogita, Rump and Oishi, Accurate sum and
 * dot product, SIAM J. Sci. Comput. 26, 2005: Dot2). What cancels out leaves nothing behind. Not thread-safe.
 */
public final class Sum {
    private static final double UNIT = 0x1p-104; // four times the square of the rounding of one operation

    private static final double LEAST = 0x1p-1030; // more than what products lose that are too small for doubles

    private double high;
    private double low;
    private double size; // sum of absolute values
    private long terms;

    /** Adds a finite number {@code weight} times. */
    public void add(double value, double weight) {
        if (value == 0) {
            return;
        }
        double product = value * weight;
        double rest = Math.fma(value, weight, -product);
        double sum = high + product;
        double part = sum - high;
        low += high - (sum - part) + (product - part) + rest;
        high = sum;
        size += Math.abs(product);
        terms++;
    }

    /** Adds a whole number, all its bits. */
    public void addWhole(long value, double weight) {
        add((double) value, weight);
        double rest = restOf(value);
        if (rest != 0) {
            add(rest, weight);
        }
    }

    public void add(Sum other) {
        add(other, 1);
    }

    public void subtract(Sum other) {
        add(other, -1);
    }

    private void add(Sum other, int sign) {
        if (other.terms == 0) {
            return;
        }
        long all = terms + other.terms + 2;
        double sizes = size + other.size;
        add(sign * other.high, 1);
        add(sign * other.low, 1);
        terms = all;
        size = sizes;
    }

    /** Adds a number that was computed from another sum, and is off as that is. */
    public void add(Sum other, BigDecimal computed) {
        long all = terms + other.terms + 4;
        double near = computed.doubleValue();
        if (Double.isInfinite(near)) {
            becomeTooLarge();
            return;
        }
        double sizes = size + Math.max(other.size, Math.abs(near));
        add(near, 1);
        add(computed.subtract(new BigDecimal(near)).doubleValue(), 1);
        terms = all;
        size = sizes;
    }

    public void becomeTooLarge() {
        size = Double.POSITIVE_INFINITY;
    }

    /** All bits, of a sum that is not too large. */
    public BigDecimal exactly() {
        return new BigDecimal(high).add(new BigDecimal(low));
    }

    public double value() {
        return high + low;
    }

    public boolean isTooLarge() {
        return !(size < Double.MAX_VALUE);
    }

    /** How far {@link #exactly} may be from the true sum. */
    public double error() {
        return size * UNIT * terms * terms + terms * LEAST;
    }

    /** At most the true sum. */
    public double atLeast() {
        return isTooLarge() ? Double.NEGATIVE_INFINITY : size == 0 ? 0 : Math.nextDown(value() - error());
    }

    /** At least the true sum. */
    public double atMost() {
        return isTooLarge() ? Double.POSITIVE_INFINITY : size == 0 ? 0 : Math.nextUp(value() + error());
    }

    /** What a whole number leaves when it becomes a double. */
    public static double restOf(long whole) {
        double near = (double) whole;
        return near >= 0x1p63 ? whole - Long.MAX_VALUE - 1 : whole - (long) near;
    }
}
