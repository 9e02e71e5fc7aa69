package dev.millrace.engine.task;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.millrace.scheduler.ScheduledTask;
import java.util.Collection;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Steps of tasks that were stopped but do not come back: nobody waits for them, and what their tasks hold is freed when they
 * do. Safe on any thread.
 */
public final class AbandonedSteps {
    /** How long whoever stops tasks waits for their steps: far longer than any loop goes on without looking. */
    private static final long WAIT_NANOS = TimeUnit.MILLISECONDS.toNanos(250);

    private static final long CLOSE_MILLIS = 1_000;
    private static final System.Logger LOG = System.getLogger(AbandonedSteps.class.getPackageName());

    private final Executor threads;

    @GuardedBy("this") private int underWay;

    @GuardedBy("this") private Optional<Long> lastNanos = Optional.empty(); // to wait until, once all is closed

    /** @param threads may wait */
    AbandonedSteps(Executor threads) {
        this.threads = threads;
    }

    /**
     * Has no other run of tasks begin, waits a little for those under way, and frees what they hold: here, or, if a step goes
     * on, on another thread once it has ended. Not from within one of the tasks.
     *
     * @param owner whose tasks they are
     * @param detach has nobody wait for the tasks; called first, when a step goes on
     */
    public void end(String owner, Collection<ScheduledTask> tasks, Runnable detach, Runnable free) {
        long left = waitNanos();
        boolean all = true;
        for (ScheduledTask task : tasks) {
            long after = task.remove(left);
            all &= after >= 0;
            left = Math.max(0, after);
        }
        if (all) {
            free.run();
            return;
        }
        LOG.log(
                System.Logger.Level.WARNING,
                "query \"" + owner + "\" was stopped, but a step of it goes on; what it holds is freed when that ends");
        detach.run();
        add(1);
        threads.execute(() -> {
            try {
                tasks.forEach(ScheduledTask::awaitOut);
                free.run();
            } finally {
                add(-1);
            }
        });
    }

    /**
     * Frees what a call from outside may still hold: here, or, if one goes on, when it has come back.
     *
     * @param whenBack runs something then
     */
    public void when(boolean goesOn, Consumer<Runnable> whenBack, Runnable free) {
        if (!goesOn) {
            free.run();
            return;
        }
        add(1);
        whenBack.accept(() -> {
            try {
                free.run();
            } finally {
                add(-1);
            }
        });
    }

    /** All tasks are stopped from now on: what is waited for the steps of one is waited for those of all. */
    public synchronized void beginClosing() {
        lastNanos = Optional.of(System.nanoTime() + WAIT_NANOS);
    }

    private synchronized long waitNanos() {
        return lastNanos
                .map(last -> Math.min(WAIT_NANOS, Math.max(0, last - System.nanoTime())))
                .orElse(WAIT_NANOS);
    }

    private synchronized void add(int change) {
        underWay += change;
        notifyAll();
    }

    /** How many queries have one. */
    public synchronized int count() {
        return underWay;
    }

    /** Closes what they hold parts of, unless they keep those for longer than is waited here: then until the process ends. */
    public void closeAfter(MemoryScopes memory) {
        if (await()) {
            memory.close();
        }
    }

    private synchronized boolean await() {
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(CLOSE_MILLIS);
        boolean interrupted = false;
        for (long left = CLOSE_MILLIS; underWay > 0 && left > 0; ) {
            try {
                wait(left);
            } catch (InterruptedException e) {
                interrupted = true;
            }
            left = TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime());
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        return underWay == 0;
    }
}
