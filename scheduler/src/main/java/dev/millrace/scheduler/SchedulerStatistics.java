package dev.millrace.scheduler;

/**
 * What workers did since they began.
 *
 * @param ready tasks that wait for a worker
 * @param running tasks on a worker
 * @param decisions how often a task was chosen
 * @param waitNanos how long those that were chosen had waited for a worker since they became runnable, in all
 */
public record SchedulerStatistics(int ready, int running, long decisions, long waitNanos) {
    /** The mean time from when a task becomes runnable until it runs. */
    public double meanWaitNanos() {
        return decisions == 0 ? 0 : (double) waitNanos / decisions;
    }
}
