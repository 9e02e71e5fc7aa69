package dev.millrace.cli.hostile;

import dev.millrace.testing.time.OwnThread;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * When the machine had no time for anybody: a thread that sleeps for 10 ms, and notes when it was woken much later. Safe on
 * any thread.
 */
final class Stalls implements AutoCloseable {
    private static final long NAP_NANOS = TimeUnit.MILLISECONDS.toNanos(10);
    private static final long SLACK_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

    private record Stall(long fromNanos, long toNanos) {}

    private final ConcurrentLinkedQueue<Stall> stalls = new ConcurrentLinkedQueue<>();
    private volatile long awakeNanos = System.nanoTime(); // written by the thread that naps, read by all
    private volatile boolean closed; // written by close, read by the thread that naps

    Stalls() {
        OwnThread.EACH.execute(this::watch);
    }

    private void watch() {
        while (!closed) {
            long from = System.nanoTime();
            LockSupport.parkNanos(NAP_NANOS);
            long now = System.nanoTime();
            if (now - from > NAP_NANOS + SLACK_NANOS) {
                stalls.add(new Stall(from + NAP_NANOS, now));
            }
            awakeNanos = now;
        }
    }

    /** For how long of a time the machine stood still, nanoseconds. */
    long within(long fromNanos, long toNanos) {
        long sum = 0;
        for (Stall stall : stalls) {
            sum += overlap(stall, fromNanos, toNanos);
        }
        long overdue = awakeNanos + NAP_NANOS + SLACK_NANOS; // who asks may be awake before the thread that naps is
        return sum + Math.max(0, Math.min(toNanos, System.nanoTime()) - Math.max(overdue, fromNanos));
    }

    private static long overlap(Stall stall, long fromNanos, long toNanos) {
        return Math.max(0, Math.min(stall.toNanos, toNanos) - Math.max(stall.fromNanos, fromNanos));
    }

    int count() {
        return stalls.size();
    }

    long totalMillis() {
        return TimeUnit.NANOSECONDS.toMillis(stalls.stream()
                .mapToLong(stall -> stall.toNanos - stall.fromNanos)
                .sum());
    }

    @Override
    public void close() {
        closed = true;
    }
}
