package dev.millrace.sketch.query;

/**
 * An answer and how far the true one may be from it.
 *
 * @param value what the sketch says; NaN when no row takes part
 * @param low at most the true answer
 * @param high at least the true answer
 */
public record Estimate(double value, double low, double high) {
    /** Of no rows. */
    public static final Estimate NONE = new Estimate(Double.NaN, Double.NaN, Double.NaN);

    static Estimate of(double value, double low, double high) {
        return new Estimate(value, Math.min(low, value), Math.max(high, value));
    }

    /** Whether the answer is the true one. */
    public boolean isExact() {
        return low == high;
    }
}
