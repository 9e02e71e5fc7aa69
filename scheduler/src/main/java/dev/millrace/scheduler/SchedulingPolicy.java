package dev.millrace.scheduler;

import java.util.List;

/**
 * Chooses which task runs next. A pure function of the statistics: it keeps nothing between calls, so that it can be
 * changed while tasks run and tested without threads. Called with the run queue's lock held: to be quick.
 */
@FunctionalInterface
public interface SchedulingPolicy {
    /**
     * @param runnable at least one, in the order in which they became runnable
     * @return the index of the chosen one
     */
    int choose(long nowNanos, List<? extends TaskStatistics> runnable);
}
