package dev.millrace.scheduler;

import dev.millrace.scheduler.ScheduledTask.State;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.DoubleSupplier;

/**
 * The runnable tasks and the policy. Tasks in the background run when there are no others, or when one of them has waited for long, so that
 * they come to an end beside any number of others. While there are others now and then, one of several workers is kept free of the background, and the
 * rest take pauses as long as its runs: whoever wakes finds a processor, clients included. Not thread-safe: its owner has the lock, or there is one thread only. What is not runnable is
 * not here and costs nothing.
 */
final class RunQueue {
    /** How long a task in the background may wait for others. */
    private static final long MOST_WAIT_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

    /** After so many others one runs in the background, also where no time passes. */
    private static final int MOST_OTHERS = 1_000;

    /** How long after a task that was not in the background processors are kept free for the next. */
    private static final long KEPT_FREE_NANOS = TimeUnit.SECONDS.toNanos(1);

    private static final long MOST_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

    private final int workers;
    private DoubleSupplier memoryShare = () -> 0;
    private long decisions;
    private long waitNanos;
    private ReadyTasks ready;
    private ReadyTasks background;
    private int others; // that ran since one in the background did, while one was ready
    private int running;
    private int runningInBackground;
    private boolean hadOthers;
    private long lastOtherNanos; // when one that is not in the background began, if one did
    private boolean isPausing; // the background, until a time
    private long pauseUntilNanos;
    private SchedulingPolicy policy;

    /** @param workers how many take tasks */
    RunQueue(SchedulingPolicy policy, int workers) {
        this.policy = policy;
        this.workers = workers;
        this.ready = new ReadyTasks(policy, this::memoryShare);
        this.background = new ReadyTasks(policy, this::memoryShare);
    }

    /** See {@link Workers#measureMemory}. */
    void measureMemory(DoubleSupplier share) {
        memoryShare = share;
    }

    private double memoryShare() {
        return memoryShare.getAsDouble();
    }

    /** Takes effect at the next decision. */
    void setPolicy(SchedulingPolicy newPolicy, long nowNanos) {
        policy = newPolicy;
        ready = moved(ready, nowNanos);
        background = moved(background, nowNanos);
    }

    private ReadyTasks moved(ReadyTasks from, long nowNanos) {
        ReadyTasks to = new ReadyTasks(policy, this::memoryShare);
        for (ScheduledTask task = from.oldest(); task != null; task = from.oldest()) {
            from.remove(task);
            to.add(task, nowNanos);
        }
        return to;
    }

    /** How long until a worker may take a task in the background: 0 for now, {@code Long.MAX_VALUE} if others have to end first, or there is none. */
    long backgroundInNanos(long nowNanos) {
        if (background.size() == 0) {
            return Long.MAX_VALUE;
        }
        if (!keepsFree(nowNanos)) {
            return 0;
        }
        if (runningInBackground >= workers - 1) {
            return Long.MAX_VALUE;
        }
        return isPausing ? Math.max(0, pauseUntilNanos - nowNanos) : 0;
    }

    /** Whether there are others now and then. */
    private boolean keepsFree(long nowNanos) {
        return workers > 1 && hadOthers && nowNanos - lastOtherNanos < KEPT_FREE_NANOS;
    }

    /** Returns whether a task became runnable that was not. */
    boolean wake(ScheduledTask task, long nowNanos) {
        switch (task.state) {
            case WAITING -> {
                task.becomesReady(nowNanos);
                add(task, nowNanos);
                return true;
            }
            case RUNNING -> task.state = State.WOKEN;
            case READY, WOKEN, DONE -> {}
        }
        return false;
    }

    /** Chooses a task and marks it running; empty if there is none that may run now. */
    Optional<ScheduledTask> take(long nowNanos) {
        boolean mayBeBackground = backgroundInNanos(nowNanos) == 0;
        if (ready.size() == 0 && !mayBeBackground) {
            return Optional.empty();
        }
        boolean isBackground = mayBeBackground && (ready.size() == 0 || isBackgroundDue(nowNanos));
        others = isBackground || background.size() == 0 ? 0 : others + 1;
        ScheduledTask task = (isBackground ? background : ready).take(nowNanos);
        if (isBackground) {
            runningInBackground++;
        } else {
            hadOthers = true;
            lastOtherNanos = nowNanos;
        }
        task.begins(nowNanos);
        decisions++;
        waitNanos += nowNanos - task.readySinceNanos();
        running++;
        return Optional.of(task);
    }

    /** How many rows a task may take, whose turn has come. */
    long mostRows(ScheduledTask task) {
        return policy instanceof RankingPolicy ranking ? ranking.mostRows(task) : Long.MAX_VALUE;
    }

    private boolean isBackgroundDue(long nowNanos) {
        ScheduledTask oldest = background.oldest();
        return oldest != null && (others >= MOST_OTHERS || nowNanos - oldest.readySinceNanos() >= MOST_WAIT_NANOS);
    }

    private void add(ScheduledTask task, long nowNanos) {
        task.place.inBackground = task.task().isBackground(); // which may change before it runs
        (task.place.inBackground ? background : ready).add(task, nowNanos);
    }

    /** A run is over. */
    void ran(ScheduledTask task, Task.Outcome outcome, long fromNanos, long toNanos) {
        running--;
        if (task.place.inBackground) { // as when it was taken
            runningInBackground--;
            isPausing = true;
            pauseUntilNanos = toNanos + Math.min(MOST_PAUSE_NANOS, toNanos - fromNanos);
        }
        task.ran(fromNanos, toNanos);
        if (task.removed || outcome == Task.Outcome.DONE) {
            task.state = State.DONE;
        } else if (outcome == Task.Outcome.READY || task.state == State.WOKEN) {
            task.becomesReady(toNanos);
            add(task, toNanos);
        } else {
            task.waits(toNanos);
        }
    }

    /** Returns whether the task is out already; if not it is running, and will be out after. */
    boolean remove(ScheduledTask task) {
        task.removed = true;
        if (task.state == State.RUNNING || task.state == State.WOKEN) {
            return false;
        }
        if (task.state == State.READY) {
            (task.place.inBackground ? background : ready).remove(task);
        }
        task.state = State.DONE;
        return true;
    }

    SchedulerStatistics statistics() {
        return new SchedulerStatistics(ready.size() + background.size(), running, decisions, waitNanos);
    }
}
