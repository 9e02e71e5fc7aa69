package dev.millrace.engine.task;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/**
 * How long a thread has been at one step, by looks that another takes from time to time: the time in which it had a processor, and that in
 * which it waited by its own doing, as it sleeps or wants a lock. A thread that would run and is not let (others have the processors, the
 * disk brings a page or a file for state, the collector is at work) is given ten times as long: it is no fault of the step, but a step that waits within the
 * system for something that does not come looks the same. Of who looks.
 */
final class StepTime {
    private static final int NOT_LET = 10;
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    private long lastNanos;
    private long lastProcessorNanos;
    private long countedNanos;

    /** A step begins. @param processorNanos that its thread had so far, -1 if that is not known */
    void begin(long nowNanos, long processorNanos) {
        lastNanos = nowNanos;
        lastProcessorNanos = processorNanos;
        countedNanos = 0;
    }

    /**
     * It is the same step still.
     *
     * @param waits whether its thread waits by its own doing
     * @return how long the step has taken, as it counts
     */
    long look(long nowNanos, long processorNanos, boolean waits) {
        long passed = Math.max(0, nowNanos - lastNanos);
        boolean known = processorNanos >= 0 && lastProcessorNanos >= 0;
        if (waits || !known) {
            countedNanos += passed;
        } else {
            long ran = Math.min(passed, Math.max(0, processorNanos - lastProcessorNanos));
            countedNanos += ran + (passed - ran) / NOT_LET;
        }
        lastNanos = nowNanos;
        lastProcessorNanos = processorNanos;
        return countedNanos;
    }

    /** What a thread had of processors; -1 if that is not known, or it has ended. */
    static long processorNanos(Thread thread) {
        return THREADS.isThreadCpuTimeSupported() && THREADS.isThreadCpuTimeEnabled()
                ? THREADS.getThreadCpuTime(thread.getId())
                : -1;
    }

    /** Whether a thread waits by its own doing. */
    static boolean waits(Thread thread) {
        return thread.getState() != Thread.State.RUNNABLE && !Spilling.waitsForFile(thread);
    }
}
