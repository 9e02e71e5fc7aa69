package dev.millrace.scheduler;

import java.util.Optional;
import java.util.OptionalDouble;

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

    private static final double KEPT = .9; // of what runs before took, when another ended

    private final Task task;
    private final long id;
    private final Workers workers;
    private final long sinceNanos;

    // All written with the run queue's lock held; state also read without it, by wake().
    volatile State state = State.WAITING;
    boolean removed;
    final Place place = new Place(this);
    private final Workload workload;
    private long countedRows; // that it had taken before its last run
    private double recentRows; // the last runs weigh most
    private double recentNanos;

    // Read by statistics and policies without it.
    private volatile long readySinceNanos;
    private volatile long lastRunNanos = Long.MIN_VALUE;
    private volatile long cpuNanos;
    private volatile long waitNanos;
    private volatile long idleNanos;
    private volatile long idleSinceNanos; // while it waits
    private volatile long runs;
    private volatile double rowNanos;

    ScheduledTask(Task task, long id, Workers workers, long nowNanos) {
        this.task = task;
        this.id = id;
        this.workers = workers;
        this.workload = task.workload();
        this.idleSinceNanos = nowNanos;
        this.sinceNanos = nowNanos;
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
        if (state == State.WAITING) {
            idleNanos += nowNanos - idleSinceNanos;
        }
        state = State.READY;
        readySinceNanos = nowNanos;
    }

    void begins(long nowNanos) {
        state = State.RUNNING;
        waitNanos += nowNanos - readySinceNanos;
    }

    void ran(long fromNanos, long toNanos) {
        lastRunNanos = toNanos;
        cpuNanos += toNanos - fromNanos;
        runs++;
        long rows = workload.rowsIn();
        recentNanos = KEPT * recentNanos + (toNanos - fromNanos);
        recentRows = KEPT * recentRows + (rows - countedRows);
        countedRows = rows;
        rowNanos = recentRows > 0 ? recentNanos / recentRows : 0;
    }

    void waits(long nowNanos) {
        state = State.WAITING;
        idleSinceNanos = nowNanos;
    }

    /** Time it has waited for a worker while there was something to do. */
    public long waitNanos() {
        return waitNanos;
    }

    /** Time for which what came has waited for it, each batch's own. */
    public long queueNanos() {
        return workload.queueNanos();
    }

    /** The share of time in which there was something to do, since it is there (EdgeWise, section 5.1: 1 - T_empty / T). */
    public double utilisation(long nowNanos) {
        long idle = idleNanos + (state == State.WAITING ? Math.max(0, nowNanos - idleSinceNanos) : 0);
        return nowNanos <= sinceNanos ? 0 : Math.max(0, 1 - (double) idle / (nowNanos - sinceNanos));
    }

    /** How long its query can do without a worker before its next window is late; empty if no window's end is known. */
    public OptionalDouble slackNanos(long nowNanos) {
        Optional<WindowProgress> progress = progress().filter(WindowProgress::isKnown);
        return progress.isEmpty()
                ? OptionalDouble.empty()
                : OptionalDouble.of(progress.get().slackNanos(nowNanos, Path.workNanos(this)));
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
        return workload.queuedBytes();
    }

    @Override
    public long queuedRows() {
        return workload.queuedRows();
    }

    @Override
    public double rowNanos() {
        return rowNanos;
    }

    @Override
    public double selectivity() {
        long rows = workload.rowsIn();
        return rows <= 0 ? 1 : (double) workload.rowsOut() / rows;
    }

    @Override
    public Optional<ScheduledTask> downstream() {
        return workload.downstream();
    }

    @Override
    public Optional<WindowProgress> progress() {
        return workload.progress();
    }
}
