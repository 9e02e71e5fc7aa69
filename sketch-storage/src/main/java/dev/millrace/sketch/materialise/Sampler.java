package dev.millrace.sketch.materialise;

import java.util.SplittableRandom;

/** Which observations a sample takes. Called once per row, in order, by one thread. */
@FunctionalInterface
public interface Sampler {
    boolean takes(Observation observation);

    /** Every {@code n}-th. */
    static Sampler every(int n) {
        return observation -> observation.row() % n == 0;
    }

    /** Each with the same probability. */
    static Sampler share(double probability, long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        return observation -> random.nextDouble() < probability;
    }
}
