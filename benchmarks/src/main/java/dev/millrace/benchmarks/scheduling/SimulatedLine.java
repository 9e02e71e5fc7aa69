package dev.millrace.benchmarks.scheduling;

import dev.millrace.scheduler.simulation.SimulationResult;
import java.util.Locale;

/** A simulation's figures as a line of JSON. */
final class SimulatedLine {
    private static final double NANOS_PER_MILLI = 1e6;

    private SimulatedLine() {}

    static void print(
            String workload,
            String policy,
            String delays,
            int cores,
            int queries,
            double load,
            SimulationResult result) {
        System.out.printf(
                Locale.ROOT,
                "{\"simulated\":\"%s\",\"policy\":\"%s\",\"delays\":\"%s\",\"cores\":%d,\"queries\":%d,\"load\":%.2f,"
                        + "\"mean_ms\":%.1f,\"p50_ms\":%.1f,\"p99_ms\":%.1f,\"answers_per_second\":%.1f,"
                        + "\"rows_per_second\":%.0f,\"mean_queued_rows\":%.0f,\"most_queued_rows\":%d,"
                        + "\"utilisation_cv\":%.3f,\"busy\":%.3f,\"estimates\":%d,\"estimates_right\":%d}%n",
                workload,
                policy,
                delays,
                cores,
                queries,
                load,
                result.meanLatencyNanos() / NANOS_PER_MILLI,
                result.latencyNanos(.5) / NANOS_PER_MILLI,
                result.latencyNanos(.99) / NANOS_PER_MILLI,
                result.answersPerSecond(),
                result.sourceRowsPerSecond(),
                result.meanQueuedRows(),
                result.mostQueuedRows(),
                result.utilisationVariation(),
                result.workersBusy(),
                result.estimates(),
                result.hits());
    }
}
