package dev.millrace.scheduler.simulation;

/**
 * An operator of a simulated query.
 *
 * @param rowNanos what a row takes
 * @param selectivity rows given on for one that is taken; of a window, when it ends
 * @param windowNanos the length of its tumbling windows; 0 if it has none
 */
public record OperatorSpec(long rowNanos, double selectivity, long windowNanos) {
    public OperatorSpec {
        if (rowNanos < 0 || selectivity < 0 || windowNanos < 0) {
            throw new IllegalArgumentException("costs, selectivities and windows are not negative");
        }
    }
}
