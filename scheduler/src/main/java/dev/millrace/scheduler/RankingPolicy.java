package dev.millrace.scheduler;

/**
 * Gives each task a rank when it becomes runnable, and the least runs next. Greater priorities come before lesser ones whatever
 * their ranks are, and whoever has waited for long has a turn now and then whatever its rank is: see {@link ReadyTasks}.
 *
 * <p>Called with the run queue's lock held: some additions and multiplications, no loop over tasks.
 */
@FunctionalInterface
public non-sealed interface RankingPolicy extends SchedulingPolicy {
    /** For {@link #cycleNanos}: the rank of a runnable task does not change. */
    long FOR_GOOD = Long.MAX_VALUE;

    /**
     * The rank of a task that is runnable.
     *
     * @param nowNanos by the clock's {@code nanoTime}
     * @param memoryShare how much of the memory that there may be is used, 0 to 1
     */
    long rank(long nowNanos, double memoryShare, TaskStatistics task);

    /** After how long the rank of a task that still waits is asked for again. */
    default long cycleNanos() {
        return FOR_GOOD;
    }

    /** How many of its rows a task may take when its turn has come; it stops at the end of a batch. */
    default long mostRows(TaskStatistics task) {
        return Long.MAX_VALUE;
    }
}
