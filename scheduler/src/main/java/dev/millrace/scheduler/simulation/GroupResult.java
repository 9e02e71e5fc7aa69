package dev.millrace.scheduler.simulation;

/**
 * What came of a simulation of groups.
 *
 * @param latencyNanos of each event, ascending: from when it came until it was processed
 * @param digest of which events each member had, in which order: the same for the same answers
 * @param parts how many parts there were at the end
 * @param greatestLoad of a worker when loads were measured last
 */
public record GroupResult(
        long[] latencyNanos, long digest, long moves, long splits, long merges, int parts, double greatestLoad) {
    /** @param share 0 to 1 */
    public long latencyNanos(double share) {
        return latencyNanos.length == 0
                ? 0
                : latencyNanos[(int) Math.min(latencyNanos.length - 1, (long) (share * latencyNanos.length))];
    }
}
