package dev.millrace.engine.checkpoint;

import java.util.List;

/**
 * What a checkpoint is, and cost.
 *
 * @param number greater than those of all before
 * @param bytes written
 * @param nanos from the cut until all was written
 * @param barrierNanos the longest that one task was at writing what it keeps, and so at no rows
 * @param begunAnew queries that are in it without their state: those that cannot go on will begin anew
 */
public record CheckpointSummary(long number, long bytes, long nanos, long barrierNanos, List<String> begunAnew) {
    public CheckpointSummary {
        begunAnew = List.copyOf(begunAnew);
    }
}
