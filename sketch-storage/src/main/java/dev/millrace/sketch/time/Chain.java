package dev.millrace.sketch.time;

import java.util.Optional;

/**
 * Times within a bound of the true ones: each row is where the row before it leads to, one period on, unless that is too
 * far off; then it is set right. Times in order stay in order.
 *
 * @param period whole ticks of the period, not negative
 * @param fraction the rest of it, in 1/2^20
 * @param misses by how many ticks each row was set right; mostly 0
 */
record Chain(long period, int fraction, long[] misses) {
    private static final int FRACTION_BITS = Times.Regular.FRACTION_BITS;
    private static final int FRACTION = 1 << FRACTION_BITS;

    /** Follows times; empty where they lie so far apart that longs are too short for it. */
    static Optional<Chain> of(long[] ticks, int rows, long bound) {
        try {
            return Optional.of(exactly(ticks, rows, bound));
        } catch (ArithmeticException e) {
            return Optional.empty();
        }
    }

    private static Chain exactly(long[] ticks, int rows, long bound) {
        double mean = Math.max(0, ((double) ticks[rows - 1] - ticks[0]) / (rows - 1));
        if (mean > 1L << 50) {
            mean = 0;
        }
        long period = (long) mean;
        int fraction = (int) ((mean - period) * FRACTION);
        long[] misses = new long[rows];
        long anchor = ticks[0];
        long rest = 0; // fractions of a tick since the anchor
        for (int i = 1; i < rows; i++) {
            long before = anchor;
            rest += fraction;
            anchor = Math.addExact(anchor, period + (rest >> FRACTION_BITS));
            rest &= FRACTION - 1;
            long miss = Math.subtractExact(ticks[i], anchor);
            if (miss > bound || miss < -bound) {
                // In order as the true times are: the row before may be late within its bound.
                long right = ticks[i] >= ticks[i - 1] ? Math.max(ticks[i], before) : ticks[i];
                misses[i] = Math.subtractExact(right, anchor);
                anchor = right;
                rest = 0;
            }
        }
        return new Chain(period, fraction, misses);
    }

    static long[] follow(long[] misses, long start, long period, int fraction) {
        long[] ticks = new long[misses.length];
        long anchor = start;
        long rest = 0;
        ticks[0] = start;
        for (int i = 1; i < ticks.length; i++) {
            rest += fraction;
            anchor += period + (rest >> FRACTION_BITS) + misses[i];
            rest &= FRACTION - 1;
            if (misses[i] != 0) {
                rest = 0;
            }
            ticks[i] = anchor;
        }
        return ticks;
    }
}
