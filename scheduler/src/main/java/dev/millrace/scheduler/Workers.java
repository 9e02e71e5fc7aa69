package dev.millrace.scheduler;

import java.util.function.BooleanSupplier;
import java.util.function.DoubleSupplier;

/** Runs tasks and timers. Safe on any thread. */
public abstract sealed class Workers implements AutoCloseable permits WorkerThreads, SteppedWorkers, SimulatedWorkers {
    Workers() {}

    /** Takes a task in; it runs once it is woken. */
    public abstract ScheduledTask add(Task task);

    abstract void wake(ScheduledTask task);

    /** Returns what is left of the time to wait for a run under way; negative if it goes on. */
    abstract long remove(ScheduledTask task, long waitNanos);

    abstract void awaitOut(ScheduledTask task);

    /** How many workers are on a run that others do not wait for any more: each has another in its place. */
    public abstract int replaced();

    /** Takes effect at the next choice. */
    public abstract void setPolicy(SchedulingPolicy policy);

    /**
     * Says what policies are told of memory.
     *
     * @param share how much of what there may be is used, 0 to 1: on any thread, for each decision, without locks
     */
    public abstract void measureMemory(DoubleSupplier share);

    /** What was done so far. */
    public abstract SchedulerStatistics statistics();

    /** Calls {@code action} once at {@code atNanos} by the clock's {@code nanoTime}. It must be short. */
    public abstract Timers.Timer schedule(long atNanos, Runnable action);

    /**
     * Waits until {@code condition} holds. Whoever makes it true raises {@code signal} after.
     *
     * @return whether it holds; false after {@code timeoutNanos}
     * @throws InterruptedException if the thread is interrupted; never if the condition holds
     */
    public abstract boolean await(Signal signal, BooleanSupplier condition, long timeoutNanos)
            throws InterruptedException;

    /** Stops after the runs under way. Tasks not removed before are forgotten. */
    @Override
    public abstract void close();
}
