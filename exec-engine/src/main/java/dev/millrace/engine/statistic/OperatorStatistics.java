package dev.millrace.engine.statistic;

/**
 * Counters of one operator, summed over its parallel instances.
 *
 * @param operator its number in the plan: inputs before those who read them
 * @param name of the plan node, such as {@code WindowAggregate}
 * @param detail what distinguishes it: the relation of a scan
 * @param instances how many work in parallel
 * @param pipeline the number of the pipeline it is in
 * @param cpuNanos spent in it, not in those it calls
 * @param stateBytes kept for state
 * @param stateEntries groups, rows or keys kept
 * @param forgotten groups or rows dropped since the start because they were kept for long enough
 * @param queuedBytes waiting in channels before it
 * @param turns those of its pipeline
 */
public record OperatorStatistics(
        int operator,
        String name,
        String detail,
        int pipeline,
        int instances,
        long rowsIn,
        long rowsOut,
        long batchesIn,
        long cpuNanos,
        long stateBytes,
        long stateEntries,
        long forgotten,
        long queuedBytes,
        long lateRows,
        TurnStatistics turns) {}
