package dev.millrace.scheduler.simulation;

import java.util.Arrays;

/**
 * What came of a simulation, without the time in which it warmed up. Times are virtual.
 *
 * @param latencyNanos of each answer, ascending: of a query with windows from a window's end until its watermark is through, of others from when
 *     rows were sent until they are
 * @param rowsPerSecond taken by all operators together
 * @param sourceRowsPerSecond taken by first operators
 * @param answersPerSecond rows at the end of queries without windows, windows of others
 * @param mostQueuedRows at a time, in all queues
 * @param meanQueuedRows the same, in the mean over time
 * @param utilisationVariation the coefficient of variation of the utilisation of operators (EdgeWise, Fig. 8)
 * @param workersBusy share of the time in which workers had a task
 * @param estimates how often the time of a sweeping watermark was foretold
 * @param hits how often it came in time
 * @param decisions how often a task was chosen
 */
public record SimulationResult(
        double[] latencyNanos,
        double rowsPerSecond,
        double sourceRowsPerSecond,
        double answersPerSecond,
        long mostQueuedRows,
        double meanQueuedRows,
        double utilisationVariation,
        double workersBusy,
        long estimates,
        long hits,
        long decisions) {
    public double meanLatencyNanos() {
        return Arrays.stream(latencyNanos).average().orElse(Double.NaN);
    }

    /** @param share 0 to 1 */
    public double latencyNanos(double share) {
        return latencyNanos.length == 0
                ? Double.NaN
                : latencyNanos[(int) Math.min(latencyNanos.length - 1, (long) (share * latencyNanos.length))];
    }
}
