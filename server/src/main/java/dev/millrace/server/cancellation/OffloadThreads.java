package dev.millrace.server.cancellation;

import dev.millrace.interrupt.Turns;
import dev.millrace.server.heap.HeapShare;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The threads on which sessions have long statements planned, see {@link Offload}: as many as there are such statements, and a
 * few that were given up and are on their way to the end. Thread-safe.
 */
public final class OffloadThreads implements AutoCloseable {
    private static final int MOST_LEFT = 64;
    private static final long IDLE_SECONDS = 10;
    private static final long STOP_SECONDS = 2;
    private static final long STACK_BYTES = 32 << 20; // of addresses: statements are read by recursion

    /** Of the process: each of its first steps may be the one that loads classes and runs code for the first time. */
    private static final AtomicInteger COLD_STEPS = new AtomicInteger(2_000);

    private final Turns turns;
    private final HeapShare room;
    private final AtomicInteger coldSteps; // that are left
    private final AtomicInteger threadCount = new AtomicInteger();
    private final AtomicInteger left = new AtomicInteger(); // works that nobody waits for any more
    private final ThreadPoolExecutor threads = new ThreadPoolExecutor(
            0, Integer.MAX_VALUE, IDLE_SECONDS, TimeUnit.SECONDS, new SynchronousQueue<>(), this::newThread);

    /**
     * @param turns by which the threads work, with the sessions' own
     * @param room on the heap for what is planned
     */
    public OffloadThreads(Turns turns, HeapShare room) {
        this(turns, room, COLD_STEPS);
    }

    /** @param coldSteps how many steps are done here whatever they are; counted down */
    public OffloadThreads(Turns turns, HeapShare room, AtomicInteger coldSteps) {
        this.turns = turns;
        this.room = room;
        this.coldSteps = coldSteps;
    }

    private Thread newThread(Runnable work) {
        Thread thread = new Thread(null, work, "millrace-planning-" + threadCount.incrementAndGet(), STACK_BYTES);
        thread.setDaemon(true);
        return thread;
    }

    /** Whether a step about to be done is one of the first. */
    boolean areCold() {
        return coldSteps.get() > 0 && coldSteps.getAndDecrement() > 0;
    }

    Turns turns() {
        return turns;
    }

    HeapShare room() {
        return room;
    }

    /** Has a thread of its own do the work; false when the database is closed. */
    boolean start(Runnable work) {
        try {
            threads.execute(work);
            return true;
        } catch (RejectedExecutionException e) {
            return false;
        }
    }

    /** Whether another work may be left to itself, unfinished; then {@link #ended} follows when it ends. */
    boolean leave() {
        if (left.incrementAndGet() <= MOST_LEFT) {
            return true;
        }
        left.decrementAndGet();
        return false;
    }

    /** A work that was left has ended. */
    void ended() {
        left.decrementAndGet();
    }

    /** Waits a little for what is still on its way, which was stopped before. */
    @Override
    public void close() {
        threads.shutdownNow();
        try {
            threads.awaitTermination(STOP_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
