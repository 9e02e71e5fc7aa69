package dev.millrace.scheduler.simulation;

import java.util.Arrays;
import java.util.SplittableRandom;

/** How late what is sent arrives, in nanoseconds. */
@FunctionalInterface
public interface Delays {
    long draw(SplittableRandom random);

    /** Evenly up to the greatest. */
    static Delays uniform(long mostNanos) {
        return random -> random.nextLong(mostNanos + 1);
    }

    /** The k-th of a thousand steps up to the greatest with a probability like k to the power of -exponent: mostly small. */
    static Delays zipf(double exponent, long mostNanos) {
        int steps = 1_000;
        double[] below = new double[steps];
        double sum = 0;
        for (int k = 0; k < steps; k++) {
            sum += Math.pow(k + 1, -exponent);
            below[k] = sum;
        }
        double all = sum;
        return random -> {
            int found = Arrays.binarySearch(below, random.nextDouble() * all);
            long step = found < 0 ? -found : found + 1L;
            return step * mostNanos / steps;
        };
    }
}
