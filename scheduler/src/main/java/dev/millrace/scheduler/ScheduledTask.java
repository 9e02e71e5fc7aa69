package dev.millrace.scheduler;

/**
 * A task in a run queue, and its statistics.
 *
 * <pre>
 *   WAITING -wake-> READY -taken-> RUNNING -run returned-> READY, WAITING, DONE
 *                                  RUNNING -wake-> WOKEN -run returned-> READY, DONE
 * </pre>
 */
public final class ScheduledTask implements TaskStatistics {
    enum State {
        WAITING,
        READY,
        RUNNING,
        WOKEN,
        DONE
    }

    private final Task task;
    private final long id;
    private final Workers workers;

    // All written with the run queue's lock held; state also read without it, by wake().
    volatile State state = State.WAITING;
    boolean removed;
    private long readySinceNanos;
    private long lastRunNanos = Long.MIN_VALUE;
    private volatile long cpuNanos; // read by statistics
    private volatile long runs; // read by statistics

    ScheduledTask(Task task, long id, Workers workers) {
        this.task = task;
        this.id = id;
        this.workers = workers;
    }

    /** There is something to do. Cheap when it is already known; safe on any thread, also while the task runs. */
    public void wake() {
        // Whoever wakes has published the work before: if READY is seen here, the run that follows sees the work.
        if (state != State.READY && state != State.DONE) {
            workers.wake(this);
        }
    }

    /**
     * Takes the task out for good: no other run begins. Waits for a run under way, but only for so long, unless called from
     * within it.
     *
     * @return what is left of the time; negative if a run goes on, which {@link #awaitOut} waits for
     */
    public long remove(long waitNanos) {
        return workers.remove(this, waitNanos);
    }

    /** Waits for the end of the run under way, if need be for ever, when the task was removed. Not on a worker. */
    public void awaitOut() {
        workers.awaitOut(this);
    }

    Task task() {
        return task;
    }

    void becomesReady(long nowNanos) {
        state = State.READY;
        readySinceNanos = nowNanos;
    }

    void ran(long fromNanos, long toNanos) {
        lastRunNanos = toNanos;
        cpuNanos += toNanos - fromNanos;
        runs++;
    }

    @Override
    public long id() {
        return id;
    }

    @Override
    public String owner() {
        return task.owner();
    }

    @Override
    public int priority() {
        return task.priority();
    }

    @Override
    public long readySinceNanos() {
        return readySinceNanos;
    }

    @Override
    public long lastRunNanos() {
        return lastRunNanos;
    }

    @Override
    public long cpuNanos() {
        return cpuNanos;
    }

    @Override
    public long runs() {
        return runs;
    }

    @Override
    public long queuedBytes() {
        return task.queuedBytes();
    }
}
