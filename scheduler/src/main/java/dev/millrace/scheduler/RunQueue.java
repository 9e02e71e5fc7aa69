package dev.millrace.scheduler;

import dev.millrace.scheduler.ScheduledTask.State;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * The runnable tasks and the policy. Tasks in the background run when there are no others, or when one of them has waited for long, so that
 * they come to an end beside any number of others. Not thread-safe: its owner has the lock, or there is one thread only.
 */
final class RunQueue {
    /** How long a task in the background may wait for others. */
    private static final long MOST_WAIT_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

    /** After so many others one runs in the background, also where no time passes. */
    private static final int MOST_OTHERS = 1_000;

    private final List<ScheduledTask> ready = new ArrayList<>();
    private final List<ScheduledTask> background = new ArrayList<>();
    private int others; // that ran since one in the background did, while one was ready
    private SchedulingPolicy policy;

    RunQueue(SchedulingPolicy policy) {
        this.policy = policy;
    }

    void setPolicy(SchedulingPolicy newPolicy) {
        policy = newPolicy;
    }

    boolean isEmpty() {
        return ready.isEmpty() && background.isEmpty();
    }

    /** Returns whether a task became runnable that was not. */
    boolean wake(ScheduledTask task, long nowNanos) {
        switch (task.state) {
            case WAITING -> {
                task.becomesReady(nowNanos);
                add(task);
                return true;
            }
            case RUNNING -> task.state = State.WOKEN;
            case READY, WOKEN, DONE -> {}
        }
        return false;
    }

    /** Chooses a task and marks it running. */
    Optional<ScheduledTask> take(long nowNanos) {
        if (isEmpty()) {
            return Optional.empty();
        }
        boolean isBackground = ready.isEmpty() || isBackgroundDue(nowNanos);
        others = isBackground || background.isEmpty() ? 0 : others + 1;
        List<ScheduledTask> from = isBackground ? background : ready;
        ScheduledTask task = from.remove(from.size() == 1 ? 0 : policy.choose(nowNanos, from));
        task.state = State.RUNNING;
        return Optional.of(task);
    }

    private boolean isBackgroundDue(long nowNanos) {
        return others >= MOST_OTHERS
                || background.stream().anyMatch(task -> nowNanos - task.readySinceNanos() >= MOST_WAIT_NANOS);
    }

    private void add(ScheduledTask task) {
        (task.task().isBackground() ? background : ready).add(task);
    }

    /** A run is over. */
    void ran(ScheduledTask task, Task.Outcome outcome, long fromNanos, long toNanos) {
        task.ran(fromNanos, toNanos);
        if (task.removed || outcome == Task.Outcome.DONE) {
            task.state = State.DONE;
        } else if (outcome == Task.Outcome.READY || task.state == State.WOKEN) {
            task.becomesReady(toNanos);
            add(task);
        } else {
            task.state = State.WAITING;
        }
    }

    /** Returns whether the task is out already; if not it is running, and will be out after. */
    boolean remove(ScheduledTask task) {
        task.removed = true;
        if (task.state == State.RUNNING || task.state == State.WOKEN) {
            return false;
        }
        if (task.state == State.READY) {
            ready.remove(task);
            background.remove(task);
        }
        task.state = State.DONE;
        return true;
    }
}
