package dev.millrace.scheduler;

/** Something that is run again and again for short times, by one worker at a time. */
public interface Task {
    /** What is to happen after a run. */
    enum Outcome {
        /** There is more to do at once. */
        READY,
        /** There is nothing to do before {@link ScheduledTask#wake}. */
        WAITING,
        /** Never run it again. */
        DONE
    }

    /**
     * Works until there is nothing to do, or a natural stop after {@code untilNanos} by the clock's {@code nanoTime}, or after
     * {@code mostRows}; always does at least one unit of work if there is one. Must not block or throw: what it throws is
     * reported as uncaught, and it is {@link Outcome#DONE}.
     */
    Outcome run(long untilNanos, long mostRows);

    /**
     * Called on another thread, some times a second, while a run lasts much longer than it was given: it may be on a step
     * that does not end.
     */
    default void runsLong() {}

    /** Whose task it is: a query's name. */
    String owner();

    /** Greater runs sooner, unless a lottery decides. */
    int priority();

    /** Whether it makes up for what is long past: then it runs when others have nothing to do, and else now and then. */
    default boolean isBackground() {
        return false;
    }

    /** What waits for it. The same one each time. */
    default Workload workload() {
        return Workload.UNKNOWN;
    }
}
