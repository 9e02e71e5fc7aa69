package dev.millrace.sketch.bins;

/**
 * Values put into bins.
 *
 * @param scale what the bins' numbers stand for
 * @param error how far values in bins may be off; 0 when they are exact
 * @param bins per value
 * @param exact per value whether it fits no bin and is to be kept as it is; empty when all fit
 */
public record Binned(Scale scale, double error, long[] bins, boolean[] exact) {
    private static final boolean[] ALL_FIT = {};

    /** All in bins. */
    public static Binned fitting(Scale scale, double error, long[] bins) {
        return new Binned(scale, error, bins, ALL_FIT);
    }

    public boolean isExact(int index) {
        return exact.length > 0 && exact[index];
    }

    public boolean hasExact() {
        return exact.length > 0;
    }
}
