package dev.millrace.scheduler.simulation;

import java.util.List;

/**
 * A simulated query: what it reads, and its operators in order.
 *
 * @param rowsPerSecond of its source, in the mean
 * @param burst how many times that it is for a tenth of the time, less for the rest; 1 for an even stream
 * @param tickNanos rows come in batches, one for each tick
 * @param watermarkNanos a watermark is sent so often
 * @param delays how late each batch and watermark is
 */
public record QuerySpec(
        double rowsPerSecond,
        double burst,
        long tickNanos,
        long watermarkNanos,
        Delays delays,
        List<OperatorSpec> operators) {
    public QuerySpec {
        operators = List.copyOf(operators);
        if (rowsPerSecond < 0
                || burst < 1
                || burst > 10
                || tickNanos <= 0
                || watermarkNanos <= 0
                || operators.isEmpty()) {
            throw new IllegalArgumentException(
                    "a query has rows, ticks, watermarks and operators; bursts are 1 to 10 times");
        }
    }
}
