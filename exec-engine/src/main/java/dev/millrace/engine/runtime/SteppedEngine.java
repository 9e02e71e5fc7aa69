package dev.millrace.engine.runtime;

/**
 * An engine without threads: tasks run when the owner says so, on the calling thread, in an order drawn from a seed. For
 * tests. Calls of {@link Engine} that wait run steps until what they wait for has happened, and fail with
 * {@code AssertionError} when nothing is left to run; time passes only by the injected clock.
 */
public interface SteppedEngine extends Engine {
    /** Runs one task for one quantum, or a timer that is due; false if there was nothing to do. */
    boolean step();

    /** Steps until nothing is runnable and no timer is due. */
    default void runUntilIdle() {
        while (step()) {
            // the condition does the work
        }
    }

    /** When the next timer is due, by the clock's {@code nanoTime}; {@code Long.MAX_VALUE} if there is none. */
    long nextTimerNanos();
}
