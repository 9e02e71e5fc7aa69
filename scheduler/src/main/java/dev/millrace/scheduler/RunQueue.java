package dev.millrace.scheduler;

import dev.millrace.scheduler.ScheduledTask.State;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The runnable tasks and the policy. Not thread-safe: its owner has the lock, or there is one thread only. */
final class RunQueue {
    private final List<ScheduledTask> ready = new ArrayList<>();
    private SchedulingPolicy policy;

    RunQueue(SchedulingPolicy policy) {
        this.policy = policy;
    }

    void setPolicy(SchedulingPolicy newPolicy) {
        policy = newPolicy;
    }

    boolean isEmpty() {
        return ready.isEmpty();
    }

    /** Returns whether a task became runnable that was not. */
    boolean wake(ScheduledTask task, long nowNanos) {
        switch (task.state) {
            case WAITING -> {
                task.becomesReady(nowNanos);
                ready.add(task);
                return true;
            }
            case RUNNING -> task.state = State.WOKEN;
            case READY, WOKEN, DONE -> {}
        }
        return false;
    }

    /** Chooses a task and marks it running. */
    Optional<ScheduledTask> take(long nowNanos) {
        if (ready.isEmpty()) {
            return Optional.empty();
        }
        ScheduledTask task = ready.remove(ready.size() == 1 ? 0 : policy.choose(nowNanos, ready));
        task.state = State.RUNNING;
        return Optional.of(task);
    }

    /** A run is over. */
    void ran(ScheduledTask task, Task.Outcome outcome, long fromNanos, long toNanos) {
        task.ran(fromNanos, toNanos);
        if (task.removed || outcome == Task.Outcome.DONE) {
            task.state = State.DONE;
        } else if (outcome == Task.Outcome.READY || task.state == State.WOKEN) {
            task.becomesReady(toNanos);
            ready.add(task);
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
        }
        task.state = State.DONE;
        return true;
    }
}
