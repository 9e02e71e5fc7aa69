package dev.millrace.engine.statistic;

import java.util.OptionalDouble;

/**
 * How the tasks of a pipeline have their turns; all of its operators share them.
 *
 * @param queuedRows that wait before them
 * @param utilisation the share of time in which there was something to do, since they are there, the mean of the tasks
 *     (EdgeWise, section 5.1)
 * @param waitNanos time in which they waited for a worker while there was, in all (T_schedule)
 * @param queueNanos time for which batches waited before them, each batch's own, in all (T_queue, section 5.2)
 * @param slackNanos how long the query can do without a worker before its next window is late, of the task that has least; empty
 *     without windows whose end is known
 */
public record TurnStatistics(
        long queuedRows, double utilisation, long waitNanos, long queueNanos, OptionalDouble slackNanos) {
    /** Of what has no tasks. */
    public static final TurnStatistics NONE = new TurnStatistics(0, 0, 0, 0, OptionalDouble.empty());
}
