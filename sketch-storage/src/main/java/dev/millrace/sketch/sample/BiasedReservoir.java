package dev.millrace.sketch.sample;

import java.util.Arrays;
import java.util.SplittableRandom;

/**
 * Favours recent values exponentially by their number (C. Aggarwal, "On biased reservoir sampling in the presence of stream
 * evolution", VLDB 2006, algorithm 2.1): every value goes in; with the probability that the reservoir is full it takes the
 * place of a random one, else it is added.
 */
public final class BiasedReservoir implements Reservoir {
    private final double[] values;
    private final SplittableRandom random;
    private int used;

    public BiasedReservoir(int capacity, long seed) {
        values = new double[capacity];
        random = new SplittableRandom(seed);
    }

    @Override
    public void offer(double value, long ticks) {
        if (random.nextInt(values.length) < used) {
            values[random.nextInt(used)] = value;
        } else {
            values[used++] = value;
        }
    }

    @Override
    public double[] sample() {
        return Arrays.copyOf(values, used);
    }
}
