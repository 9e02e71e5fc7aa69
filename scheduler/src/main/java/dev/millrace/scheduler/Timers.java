package dev.millrace.scheduler;

import java.util.Comparator;
import java.util.Optional;
import java.util.PriorityQueue;

/** Actions to come, by time; of equal times the first scheduled is first. Not thread-safe, like {@link RunQueue}. */
public final class Timers {
    /** An action to come. */
    public static final class Timer {
        private final long atNanos;
        private final long sequence;
        private final Runnable action;
        private volatile boolean cancelled; // written by anyone, read by whoever runs timers

        Timer(long atNanos, long sequence, Runnable action) {
            this.atNanos = atNanos;
            this.sequence = sequence;
            this.action = action;
        }

        /** The action will not be run, unless it is being run. */
        public void cancel() {
            cancelled = true;
        }

        void run() {
            if (!cancelled) {
                action.run();
            }
        }
    }

    private final PriorityQueue<Timer> queue = new PriorityQueue<>(
            Comparator.comparingLong((Timer timer) -> timer.atNanos).thenComparingLong(timer -> timer.sequence));
    private long sequence;

    Timer schedule(long atNanos, Runnable action) {
        Timer timer = new Timer(atNanos, sequence++, action);
        queue.add(timer);
        return timer;
    }

    /** When the next is due; {@code Long.MAX_VALUE} if none is. */
    long nextNanos() {
        while (!queue.isEmpty() && queue.peek().cancelled) {
            queue.remove();
        }
        return queue.isEmpty() ? Long.MAX_VALUE : queue.peek().atNanos;
    }

    /** Takes out the next that is due. */
    Optional<Timer> takeDue(long nowNanos) {
        return nextNanos() <= nowNanos ? Optional.of(queue.remove()) : Optional.empty();
    }
}
