package dev.millrace.scheduler;

/**
 * What a policy knows of a runnable task. Times are by the clock's {@code nanoTime}.
 *
 * <p>Policies to come (klink, edgewise, highest_rate) need more than these; they are added here as they come.
 */
public interface TaskStatistics {
    /** Numbers tasks in order of their creation. */
    long id();

    /** Whose task it is. */
    String owner();

    int priority();

    /** Since when it has been runnable. */
    long readySinceNanos();

    /** When its last run ended; {@code Long.MIN_VALUE} before the first. */
    long lastRunNanos();

    /** Time it has run in all. */
    long cpuNanos();

    long runs();

    /** Bytes waiting for it. */
    long queuedBytes();
}
