package dev.millrace.scheduler;

import java.util.Optional;

/** What a policy knows of a task. Times are by the clock's {@code nanoTime}. Read by any thread, about right is enough. */
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

    /** Rows waiting for it. */
    long queuedRows();

    /** Time a row takes, of late; 0 before the first. */
    double rowNanos();

    /** Rows it gives on for one that it takes; 1 before the first. */
    double selectivity();

    /** Who takes its rows, if that is one task. */
    Optional<? extends TaskStatistics> downstream();

    /** When the query's next answer is due, if it has windows. */
    Optional<WindowProgress> progress();
}
