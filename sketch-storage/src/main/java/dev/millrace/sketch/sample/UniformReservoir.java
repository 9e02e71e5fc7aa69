package dev.millrace.sketch.sample;

import java.util.Arrays;
import java.util.SplittableRandom;

/** Every value of the stream is in the sample with the same probability (J. Vitter, algorithm R, 1985). */
public final class UniformReservoir implements Reservoir {
    private final double[] values;
    private final SplittableRandom random;
    private long seen;

    public UniformReservoir(int capacity, long seed) {
        values = new double[capacity];
        random = new SplittableRandom(seed);
    }

    @Override
    public void offer(double value, long ticks) {
        seen++;
        if (seen <= values.length) {
            values[(int) seen - 1] = value;
            return;
        }
        long at = random.nextLong(seen);
        if (at < values.length) {
            values[(int) at] = value;
        }
    }

    @Override
    public double[] sample() {
        return Arrays.copyOf(values, (int) Math.min(seen, values.length));
    }
}
