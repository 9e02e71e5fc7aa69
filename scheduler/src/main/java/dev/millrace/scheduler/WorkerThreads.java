package dev.millrace.scheduler;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.millrace.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.DoubleSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A number of threads that run tasks, one for timers, and one that looks after the others. All sleep when there is nothing to
 * do. A worker whose run does not end in time is replaced, and is gone once it does: the rest goes on at its usual pace
 * whatever a task is at.
 */
public final class WorkerThreads extends Workers {
    private static final long STACK_BYTES = 16 << 20; // of addresses: expressions are compiled by recursion

    /** How long a task runs before others have their turn: long against the cost of a switch, short against latency. */
    private static final long QUANTUM_NANOS = TimeUnit.MILLISECONDS.toNanos(2);

    /** The same in the background: others come when this is over. */
    private static final long BACKGROUND_QUANTUM_NANOS = QUANTUM_NANOS / 8;

    /** How often it is looked for runs that last too long. */
    private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    /** A run that lasts so long has its worker replaced: rare, since even large steps are shorter. */
    private static final long LONG_NANOS = TimeUnit.SECONDS.toNanos(1);

    private static final int MOST_REPLACED = 64; // at a time
    private static final long CLOSE_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** A thread and what it is at; all of it read and written with the lock held. */
    private final class Worker implements Runnable {
        private @Nullable ScheduledTask task; // null between runs
        private long sinceNanos;
        private boolean isReplaced;

        @Override
        public void run() {
            work(this);
        }
    }

    private final Clock clock;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition runnable = lock.newCondition();
    private final Condition stopped = lock.newCondition(); // a run of a removed task ended
    private final Condition watch = lock.newCondition();
    private final Condition timersChanged = lock.newCondition();

    @GuardedBy("lock") private final RunQueue queue;

    @GuardedBy("lock") private final Timers timers = new Timers();

    @GuardedBy("lock") private final List<Thread> threads = new ArrayList<>();

    @GuardedBy("lock") private final List<Worker> workers = new ArrayList<>();

    @GuardedBy("lock") private int startedWorkers;

    @GuardedBy("lock") private int replaced;

    private final ThreadLocal<ScheduledTask> running = new ThreadLocal<>();

    @GuardedBy("lock") private long nextId;

    @GuardedBy("lock") private int sleepers;

    @GuardedBy("lock") private boolean closed;

    public WorkerThreads(int count, SchedulingPolicy policy, Clock clock) {
        this.clock = clock;
        this.queue = new RunQueue(policy, count);
        lock.lock();
        try {
            for (int i = 0; i < count; i++) {
                startWorker();
            }
            start(new Thread(this::keepTime, "millrace-timer"));
            start(new Thread(this::lookAfterWorkers, "millrace-watch"));
        } finally {
            lock.unlock();
        }
    }

    @GuardedBy("lock") private void startWorker() {
        Worker worker = new Worker();
        workers.add(worker);
        start(new Thread(null, worker, "millrace-worker-" + startedWorkers++, STACK_BYTES));
    }

    @GuardedBy("lock") private void start(Thread thread) {
        threads.add(thread);
        thread.setDaemon(true);
        thread.start();
    }

    private void lookAfterWorkers() {
        lock.lock();
        try {
            while (!closed) {
                try {
                    watch.awaitNanos(LOOK_NANOS);
                    lookOnce();
                } catch (InterruptedException e) {
                    // nobody interrupts it to stop it: close() wakes it
                } catch (OutOfMemoryError e) {
                    // there is nobody else to look: it looks again
                }
            }
        } finally {
            lock.unlock();
        }
    }

    /** Replaces workers whose run does not end, and tells their tasks. With the lock held, which it gives up meanwhile. */
    @GuardedBy("lock") private void lookOnce() {
        long now = clock.nanoTime();
        List<ScheduledTask> late = new ArrayList<>();
        for (Worker worker : List.copyOf(workers)) {
            ScheduledTask task = worker.task;
            if (task != null && now - worker.sinceNanos > LOOK_NANOS) {
                late.add(task);
                boolean stuck = now - worker.sinceNanos > LONG_NANOS || task.removed;
                if (stuck && !worker.isReplaced && replaced < MOST_REPLACED && !closed) {
                    worker.isReplaced = true;
                    replaced++;
                    startWorker();
                }
            }
        }
        if (!late.isEmpty()) {
            lock.unlock();
            try {
                late.forEach(each -> each.task().runsLong());
            } finally {
                lock.lock();
            }
        }
    }

    private void work(Worker self) {
        lock.lock();
        try {
            workUntilReplaced(self);
        } finally {
            lock.unlock();
        }
    }

    @GuardedBy("lock") private void workUntilReplaced(Worker self) {
        try {
            while (!closed && !self.isReplaced) {
                Optional<ScheduledTask> next = queue.take(clock.nanoTime());
                if (next.isPresent()) {
                    self.task = next.get();
                    self.sinceNanos = clock.nanoTime();
                    run(next.get());
                    self.task = null;
                } else {
                    sleepers++;
                    sleep(queue.backgroundInNanos(clock.nanoTime()));
                    sleepers--;
                }
            }
        } finally {
            workers.remove(self);
            threads.remove(Thread.currentThread());
            if (self.isReplaced) {
                replaced--;
                runnable.signal(); // its task may have more to do, which is another's now
            }
        }
    }

    @GuardedBy("lock") private void sleep(long nanos) {
        if (nanos == Long.MAX_VALUE) {
            runnable.awaitUninterruptibly();
        } else {
            try {
                runnable.awaitNanos(nanos);
            } catch (InterruptedException e) {
                // nobody interrupts a worker to stop it: close() wakes it
            }
        }
    }

    /** Called with the lock held, which it gives up while the task runs. */
    @GuardedBy("lock") private void run(ScheduledTask task) {
        Task.Outcome outcome = Task.Outcome.DONE;
        long from = clock.nanoTime();
        long mostRows = queue.mostRows(task);
        lock.unlock();
        running.set(task);
        try {
            long quantum = task.task().isBackground() ? BACKGROUND_QUANTUM_NANOS : QUANTUM_NANOS;
            outcome = task.task().run(from + quantum, mostRows);
        } catch (Throwable e) {
            report(e);
        } finally {
            running.remove();
            lock.lock();
        }
        long to = clock.nanoTime();
        queue.ran(task, outcome, from, to);
        if (sleepers > 0 && queue.backgroundInNanos(to) < Long.MAX_VALUE) {
            runnable.signal(); // others had to end first, or were there
        }
        if (task.removed) {
            stopped.signalAll();
        }
    }

    /** Says what a thread survives, if there is memory to say it. */
    private static void report(Throwable failure) {
        try {
            Thread thread = Thread.currentThread();
            thread.getUncaughtExceptionHandler().uncaughtException(thread, failure);
        } catch (Throwable e) {
            // an OutOfMemoryError's own report may fail for the same reason
        }
    }

    private void keepTime() {
        lock.lock();
        try {
            while (!closed) {
                long now = clock.nanoTime();
                Optional<Timers.Timer> due = timers.takeDue(now);
                if (due.isPresent()) {
                    lock.unlock();
                    try {
                        due.get().run();
                    } catch (Throwable e) {
                        report(e); // nobody else keeps the time
                    } finally {
                        lock.lock();
                    }
                } else {
                    sleepUntil(timers.nextNanos(), now);
                }
            }
        } finally {
            lock.unlock();
        }
    }

    private void sleepUntil(long atNanos, long nowNanos) {
        try {
            if (atNanos == Long.MAX_VALUE) {
                timersChanged.await();
            } else {
                timersChanged.awaitNanos(atNanos - nowNanos);
            }
        } catch (InterruptedException e) {
            // Nobody interrupts the timer thread to stop it: close() wakes it.
        }
    }

    @Override
    public ScheduledTask add(Task task) {
        lock.lock();
        try {
            return new ScheduledTask(task, nextId++, this, clock.nanoTime());
        } finally {
            lock.unlock();
        }
    }

    @Override
    void wake(ScheduledTask task) {
        lock.lock();
        try {
            if (queue.wake(task, clock.nanoTime()) && sleepers > 0) {
                runnable.signal();
            }
        } finally {
            lock.unlock();
        }
    }

    @Override
    long remove(ScheduledTask task, long waitNanos) {
        boolean interrupted = false;
        long left = waitNanos;
        lock.lock();
        try {
            boolean out = queue.remove(task) || running.get() == task;
            while (!out && task.state != ScheduledTask.State.DONE) {
                if (left <= 0) {
                    return -1;
                }
                try {
                    left = stopped.awaitNanos(left);
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
            return Math.max(0, left);
        } finally {
            lock.unlock();
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    @Override
    void awaitOut(ScheduledTask task) {
        lock.lock();
        try {
            while (task.state != ScheduledTask.State.DONE) {
                stopped.awaitUninterruptibly();
            }
        } finally {
            lock.unlock();
        }
    }

    @Override
    public int replaced() {
        lock.lock();
        try {
            return replaced;
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void setPolicy(SchedulingPolicy policy) {
        lock.lock();
        try {
            queue.setPolicy(policy, clock.nanoTime());
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void measureMemory(DoubleSupplier share) {
        lock.lock();
        try {
            queue.measureMemory(share);
        } finally {
            lock.unlock();
        }
    }

    @Override
    public SchedulerStatistics statistics() {
        lock.lock();
        try {
            return queue.statistics();
        } finally {
            lock.unlock();
        }
    }

    @Override
    public Timers.Timer schedule(long atNanos, Runnable action) {
        lock.lock();
        try {
            boolean earlier = atNanos < timers.nextNanos();
            Timers.Timer timer = timers.schedule(atNanos, action);
            if (earlier) {
                timersChanged.signal();
            }
            return timer;
        } finally {
            lock.unlock();
        }
    }

    @Override
    public boolean await(Signal signal, BooleanSupplier condition, long timeoutNanos) throws InterruptedException {
        assert running.get() == null : "a worker must not wait";
        long from = clock.nanoTime();
        signal.enter();
        try {
            while (!condition.getAsBoolean()) {
                long left = timeoutNanos - (clock.nanoTime() - from);
                if (left <= 0) {
                    return false;
                }
                if (Thread.interrupted()) {
                    throw new InterruptedException();
                }
                LockSupport.parkNanos(this, left);
            }
            return true;
        } finally {
            signal.leave();
        }
    }

    /** Waits for runs under way, but only for so long: a thread that does not come back is a daemon, and left to itself. */
    @Override
    public void close() {
        List<Thread> left;
        lock.lock();
        try {
            closed = true;
            runnable.signalAll();
            timersChanged.signalAll();
            watch.signalAll();
            left = List.copyOf(threads);
        } finally {
            lock.unlock();
        }
        boolean interrupted = false;
        long millis = TimeUnit.NANOSECONDS.toMillis(CLOSE_NANOS);
        for (Thread thread : left) {
            if (thread == Thread.currentThread()) {
                continue;
            }
            try {
                thread.join(millis);
            } catch (InterruptedException e) {
                interrupted = true;
            }
            millis = thread.isAlive() ? 1 : millis; // one does not end, and its time was all that there is
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
