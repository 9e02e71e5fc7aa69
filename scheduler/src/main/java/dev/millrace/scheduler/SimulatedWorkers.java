package dev.millrace.scheduler;

import java.util.Comparator;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.DoubleSupplier;

/**
 * Any number of workers in virtual time: the run queue and the policies of {@link WorkerThreads}, and tasks that say how long
 * their runs would take. A day of a thousand queries passes in seconds, and from one seed always in the same way. Used by one thread.
 */
public final class SimulatedWorkers extends Workers {
    /** A task whose runs take time that it says. */
    public interface SimulatedTask extends Task {
        /**
         * A run begins: says what it will take, in nanoseconds. What it does is done when it is over, by {@link #run} with the same
         * arguments.
         */
        long begin(long untilNanos, long mostRows);
    }

    private record Run(ScheduledTask task, long fromNanos, long toNanos, long mostRows, long number) {}

    private final int count;
    private final long quantumNanos;
    private final RunQueue queue;
    private final Timers timers = new Timers();
    private final PriorityQueue<Run> runs =
            new PriorityQueue<>(Comparator.comparingLong(Run::toNanos).thenComparingLong(Run::number));
    private long now;
    private long started;
    private long nextId;
    private long busyNanos;

    /** @param quantumNanos how long a task runs before others have their turn */
    public SimulatedWorkers(int count, long quantumNanos, SchedulingPolicy policy) {
        this.count = count;
        this.quantumNanos = quantumNanos;
        this.queue = new RunQueue(policy, count);
    }

    /** The virtual time. */
    public long nowNanos() {
        return now;
    }

    /** Time that workers were at a task, in all. */
    public long busyNanos() {
        return busyNanos;
    }

    /** Goes on until nothing more happens up to {@code untilNanos}. */
    public void runUntil(long untilNanos) {
        while (true) {
            begin();
            long next = Math.min(runs.isEmpty() ? Long.MAX_VALUE : runs.peek().toNanos(), timers.nextNanos());
            long pause = runs.size() < count ? queue.backgroundInNanos(now) : Long.MAX_VALUE;
            next = pause < next - now ? now + pause : next;
            if (next > untilNanos) {
                now = untilNanos;
                return;
            }
            now = Math.max(now, next);
            Optional<Timers.Timer> due = timers.takeDue(now);
            if (due.isPresent()) {
                due.get().run();
            } else if (!runs.isEmpty() && runs.peek().toNanos() <= now) {
                end(runs.remove());
            }
        }
    }

    private void begin() {
        while (runs.size() < count) {
            Optional<ScheduledTask> next = queue.take(now);
            if (next.isEmpty()) {
                return;
            }
            long mostRows = queue.mostRows(next.get());
            long nanos = ((SimulatedTask) next.get().task()).begin(now + quantumNanos, mostRows);
            runs.add(new Run(next.get(), now, now + nanos, mostRows, started++));
        }
    }

    private void end(Run run) {
        busyNanos += run.toNanos() - run.fromNanos();
        Task.Outcome outcome = run.task().task().run(run.fromNanos() + quantumNanos, run.mostRows());
        queue.ran(run.task(), outcome, run.fromNanos(), run.toNanos());
    }

    /** Takes in a {@link SimulatedTask}. */
    @Override
    public ScheduledTask add(Task task) {
        return new ScheduledTask(task, nextId++, this, now);
    }

    @Override
    void wake(ScheduledTask task) {
        queue.wake(task, now);
    }

    @Override
    long remove(ScheduledTask task, long waitNanos) {
        return queue.remove(task) ? waitNanos : -1;
    }

    @Override
    void awaitOut(ScheduledTask task) {
        while (task.state != ScheduledTask.State.DONE) {
            end(runs.remove());
        }
    }

    @Override
    public int replaced() {
        return 0;
    }

    @Override
    public void setPolicy(SchedulingPolicy policy) {
        queue.setPolicy(policy, now);
    }

    @Override
    public void measureMemory(DoubleSupplier share) {
        queue.measureMemory(share);
    }

    @Override
    public SchedulerStatistics statistics() {
        return queue.statistics();
    }

    @Override
    public Timers.Timer schedule(long atNanos, Runnable action) {
        return timers.schedule(atNanos, action);
    }

    /** Lets time pass until the condition holds, or for so long. */
    @Override
    public boolean await(Signal signal, BooleanSupplier condition, long timeoutNanos) {
        long until = now + timeoutNanos;
        while (!condition.getAsBoolean() && now < until) {
            runUntil(Math.min(until, now + TimeUnit.MILLISECONDS.toNanos(1)));
        }
        return condition.getAsBoolean();
    }

    @Override
    public void close() {}
}
