package dev.millrace.scheduler;

import dev.millrace.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;

/** A fixed number of threads that run tasks, and one for timers. All sleep when there is nothing to do. */
public final class WorkerThreads extends Workers {
    /** How long a task runs before others have their turn: long against the cost of a switch, short against latency. */
    private static final long STACK_BYTES = 16 << 20; // of addresses: expressions are compiled by recursion

    private static final long QUANTUM_NANOS = TimeUnit.MILLISECONDS.toNanos(2);

    private final Clock clock;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition runnable = lock.newCondition();
    private final Condition stopped = lock.newCondition(); // a run of a removed task ended
    private final Condition timersChanged = lock.newCondition();
    private final RunQueue queue; // guarded by lock
    private final Timers timers = new Timers(); // guarded by lock
    private final List<Thread> threads = new ArrayList<>();
    private final ThreadLocal<ScheduledTask> running = new ThreadLocal<>();
    private long nextId; // guarded by lock
    private int sleepers; // guarded by lock
    private boolean closed; // guarded by lock

    public WorkerThreads(int workers, SchedulingPolicy policy, Clock clock) {
        this.clock = clock;
        this.queue = new RunQueue(policy);
        for (int i = 0; i < workers; i++) {
            threads.add(new Thread(null, this::work, "millrace-worker-" + i, STACK_BYTES));
        }
        threads.add(new Thread(this::keepTime, "millrace-timer"));
        for (Thread thread : threads) {
            thread.setDaemon(true);
            thread.start();
        }
    }

    private void work() {
        lock.lock();
        try {
            while (!closed) {
                Optional<ScheduledTask> next = queue.take(clock.nanoTime());
                if (next.isPresent()) {
                    run(next.get());
                } else {
                    sleepers++;
                    runnable.awaitUninterruptibly();
                    sleepers--;
                }
            }
        } finally {
            lock.unlock();
        }
    }

    /** Called with the lock held, which it gives up while the task runs. */
    private void run(ScheduledTask task) {
        Task.Outcome outcome = Task.Outcome.DONE;
        long from = clock.nanoTime();
        lock.unlock();
        running.set(task);
        try {
            outcome = task.task().run(from + QUANTUM_NANOS);
        } catch (Throwable e) {
            Thread thread = Thread.currentThread();
            thread.getUncaughtExceptionHandler().uncaughtException(thread, e);
        } finally {
            running.remove();
            lock.lock();
        }
        queue.ran(task, outcome, from, clock.nanoTime());
        if (task.removed) {
            stopped.signalAll();
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
            return new ScheduledTask(task, nextId++, this);
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
    void remove(ScheduledTask task) {
        lock.lock();
        try {
            boolean out = queue.remove(task);
            while (!out && running.get() != task && task.state != ScheduledTask.State.DONE) {
                stopped.awaitUninterruptibly();
            }
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void setPolicy(SchedulingPolicy policy) {
        lock.lock();
        try {
            queue.setPolicy(policy);
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

    @Override
    public void close() {
        lock.lock();
        try {
            closed = true;
            runnable.signalAll();
            timersChanged.signalAll();
        } finally {
            lock.unlock();
        }
        boolean interrupted = false;
        for (Thread thread : threads) {
            while (thread.isAlive() && thread != Thread.currentThread()) {
                try {
                    thread.join();
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
