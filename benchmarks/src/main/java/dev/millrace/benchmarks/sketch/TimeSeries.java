package dev.millrace.benchmarks.sketch;

import java.util.Arrays;
import java.util.List;

/**
 * A set: times and features; NaN is a missing value.
 *
 * @param micros the time of each row
 * @param features by feature and row
 */
public record TimeSeries(String name, long[] micros, List<double[]> features) {
    public int rows() {
        return micros.length;
    }

    TimeSeries truncated(int rows) {
        int kept = Math.min(rows, rows());
        return new TimeSeries(
                name,
                Arrays.copyOf(micros, kept),
                features.stream().map(f -> Arrays.copyOf(f, kept)).toList());
    }

    /** Smallest and largest finite value. */
    static double[] range(double[] values) {
        double low = Double.POSITIVE_INFINITY;
        double high = Double.NEGATIVE_INFINITY;
        for (double value : values) {
            if (Double.isFinite(value)) {
                low = Math.min(low, value);
                high = Math.max(high, value);
            }
        }
        return new double[] {low, high};
    }

    /** The same rows one second apart. */
    public TimeSeries regular() {
        long[] ticks = new long[rows()];
        Arrays.setAll(ticks, i -> i * 1_000_000L);
        return new TimeSeries(name, ticks, features);
    }
}
