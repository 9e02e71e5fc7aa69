package dev.millrace.scheduler;

import dev.millrace.time.Clock;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.function.BooleanSupplier;
import java.util.function.DoubleSupplier;

/**
 * Runs tasks on the calling thread, one unit of work per step, in an order drawn from a seed: a whole engine in one thread
 * from one seed. Used by one thread.
 */
public final class SteppedWorkers extends Workers {
    private static final int OTHERS_ONE_IN = 8;
    private static final int MOST_PAUSES = 60; // of one wait

    private final Clock clock;
    private final RunQueue queue;
    private final Timers timers = new Timers();
    private final SplittableRandom random;
    private final BooleanSupplier others;
    private final Runnable pause;
    private long nextId;

    public SteppedWorkers(long seed, Clock clock) {
        this(seed, clock, () -> false, () -> {});
    }

    /**
     * With somebody beside the tasks: called in the midst of them, and when none can run.
     *
     * @param others does a part of its work; false if it has none
     * @param pause lets time pass for who waits while nobody has anything to do before some timer
     */
    public SteppedWorkers(long seed, Clock clock, BooleanSupplier others, Runnable pause) {
        this.pause = pause;
        this.clock = clock;
        this.random = new SplittableRandom(seed);
        this.others = others;
        this.queue = new RunQueue((LotteryPolicy) (nowNanos, ready) -> random.nextInt(ready), 1);
    }

    /** The order is a policy's: a queue without threads, to measure. */
    public SteppedWorkers(SchedulingPolicy policy, Clock clock) {
        this.clock = clock;
        this.random = new SplittableRandom(0);
        this.others = () -> false;
        this.pause = () -> {};
        this.queue = new RunQueue(policy, 1);
    }

    /** Runs a timer that is due, one task, or a part of what others do; false if there is none of these. */
    public boolean step() {
        boolean first = random.nextInt(OTHERS_ONE_IN) == 0;
        return first && others.getAsBoolean() || stepTasks() || !first && others.getAsBoolean();
    }

    private boolean stepTasks() {
        Optional<Timers.Timer> due = timers.takeDue(clock.nanoTime());
        if (due.isPresent()) {
            due.get().run();
            return true;
        }
        Optional<ScheduledTask> next = queue.take(clock.nanoTime());
        next.ifPresent(task -> {
            Task.Outcome outcome = Task.Outcome.DONE;
            long from = clock.nanoTime();
            try {
                outcome = task.task().run(Long.MIN_VALUE, Long.MAX_VALUE);
            } finally {
                queue.ran(task, outcome, from, clock.nanoTime());
            }
        });
        return next.isPresent();
    }

    /** When the next timer is due; {@code Long.MAX_VALUE} if there is none. */
    public long nextTimerNanos() {
        return timers.nextNanos();
    }

    @Override
    public ScheduledTask add(Task task) {
        return new ScheduledTask(task, nextId++, this, clock.nanoTime());
    }

    @Override
    void wake(ScheduledTask task) {
        queue.wake(task, clock.nanoTime());
    }

    @Override
    long remove(ScheduledTask task, long waitNanos) {
        queue.remove(task);
        return waitNanos;
    }

    @Override
    void awaitOut(ScheduledTask task) {}

    @Override
    public int replaced() {
        return 0;
    }

    /** The order is the seed's: no effect. */
    @Override
    public void setPolicy(SchedulingPolicy policy) {}

    /** The order is the seed's: no effect. */
    @Override
    public void measureMemory(DoubleSupplier share) {}

    @Override
    public SchedulerStatistics statistics() {
        return queue.statistics();
    }

    @Override
    public Timers.Timer schedule(long atNanos, Runnable action) {
        return timers.schedule(atNanos, action);
    }

    /** Steps until the condition holds or nothing is left to run, whatever time passes; the timeout does not matter. */
    @Override
    public boolean await(Signal signal, BooleanSupplier condition, long timeoutNanos) {
        int pauses = 0;
        while (!condition.getAsBoolean()) {
            if (!step()) {
                if (timers.nextNanos() == Long.MAX_VALUE || pauses++ == MOST_PAUSES) {
                    return condition.getAsBoolean();
                }
                pause.run();
            }
        }
        return true;
    }

    @Override
    public void close() {}
}
