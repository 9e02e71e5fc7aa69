package dev.millrace.testing.time;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;

/**
 * Waits for what other threads are about to do, as long as a busy machine may need for it. A test that uses these instead of
 * a sleep depends on no machine's speed: it goes on as soon as it can, and fails only when nothing comes at all. Benchmarks wait with it
 * too, where there is no JUnit.
 */
public final class Eventually {
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final Duration PAUSE = Duration.ofMillis(2);
    private static final Duration STILL = Duration.ofMillis(200);
    private static final Duration REPEAT = Duration.ofMillis(100);

    private Eventually() {}

    /** What is waited for. */
    @FunctionalInterface
    public interface Condition {
        boolean holds() throws Throwable;
    }

    /** What is repeated. */
    @FunctionalInterface
    public interface Action {
        void run() throws Throwable;
    }

    /** Waits until the condition holds; fails with what was waited for if it does not within a minute. */
    public static void holds(String what, Condition condition) {
        long since = System.nanoTime();
        while (!isTrue(condition)) {
            if (System.nanoTime() - since > LIMIT.toNanos()) {
                throw new AssertionError("waited " + LIMIT.toSeconds() + " s in vain: " + what);
            }
            LockSupport.parkNanos(PAUSE.toNanos());
        }
    }

    private static boolean isTrue(Condition condition) {
        try {
            return condition.holds();
        } catch (Error e) {
            throw e;
        } catch (Throwable e) {
            throw new AssertionError(e.toString(), e);
        }
    }

    private static void run(Action action) {
        isTrue(() -> {
            action.run();
            return true;
        });
    }

    /** Waits until the thread waits for something; fails if it ends first. */
    public static void waits(Thread thread) {
        holds(thread.getName() + " waits", () -> switch (thread.getState()) {
            case BLOCKED, WAITING, TIMED_WAITING -> true;
            case NEW, RUNNABLE -> false;
            case TERMINATED -> throw new AssertionError(thread.getName() + " ended");
        });
    }

    /** Waits until the number has not changed for a fifth of a second; returns it. */
    public static long settles(String what, LongSupplier number) {
        long[] last = {number.getAsLong(), System.nanoTime()};
        holds(what + " settles", () -> {
            long now = number.getAsLong();
            if (now != last[0]) {
                last[0] = now;
                last[1] = System.nanoTime();
            }
            return System.nanoTime() - last[1] > STILL.toNanos();
        });
        return last[0];
    }

    /**
     * Repeats an action on a thread of its own, ten times a second, until it is closed: for what has no effect before another
     * thread has come to a certain place, such as a cancel before its statement has begun.
     */
    public static Repeated repeat(Action action) {
        return new Repeated(action);
    }

    /** An action under way. Closing it waits for the last one. */
    public static final class Repeated implements AutoCloseable {
        private final Thread thread;
        private volatile boolean closed; // written by close, read by the thread

        private Repeated(Action action) {
            thread = new Thread(
                    () -> {
                        while (!closed) {
                            LockSupport.parkNanos(REPEAT.toNanos());
                            if (!closed) {
                                Eventually.run(action);
                            }
                        }
                    },
                    "repeated");
            thread.setDaemon(true);
            thread.start();
        }

        @Override
        public void close() {
            closed = true;
            LockSupport.unpark(thread);
            Eventually.run(() -> thread.join(LIMIT.toMillis()));
        }
    }
}
