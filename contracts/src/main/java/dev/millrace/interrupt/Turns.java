package dev.millrace.interrupt;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Has threads that work long, as sessions do that plan large statements, work by turns: no more at a time than
 * {@code most}, a few milliseconds each. Beside dozens of them, each would have so small a share of a processor that it
 * reached the next look at its {@link Interrupt} only long after it was stopped, and so would those who never work long;
 * who waits for a turn is stopped at once.
 *
 * <p>A thread {@link #begin begins} before it works; whenever it looks at the interrupt that is bound to it, it also looks
 * whether its turn is over. Work that is done within {@value #FREE_MILLIS} ms never waits, and waiting for a lock or the disk is not work
 * ({@link Interrupt#rest}). Who does not look for
 * {@value #LOST_MILLIS} ms, as it waits for something else, loses its turn, so that nobody waits for long for a thread that
 * in turn waits for it. Thread-safe.
 */
public final class Turns {
    static final long FREE_MILLIS = 5;
    static final long TURN_MILLIS = 20;
    static final long LOST_MILLIS = 60;
    private static final long WAIT_MILLIS = 5; // after as long, who waits looks at its interrupt and for lost turns

    private final int most;

    @GuardedBy("this") private final List<Turn> having = new ArrayList<>();

    @GuardedBy("this") private final Deque<Turn> waiting = new ArrayDeque<>(); // who came first is served first

    /** @param most how many threads have a turn at a time, once they work long */
    public Turns(int most) {
        this.most = most;
    }

    /** The calling thread's work begins; to be closed by it when the work is done. */
    public Turn begin() {
        return new Turn();
    }

    /** How many threads wait for a turn just now. */
    public synchronized int waiting() {
        return waiting.size();
    }

    /** How many threads have a turn just now. */
    synchronized int having() {
        return having.size();
    }

    /** The work of one thread, between {@link Turns#begin} and its end. */
    public final class Turn implements AutoCloseable {
        private final Thread worker = Thread.currentThread();
        private long beganNanos = System.nanoTime(); // of the worker
        private long sinceNanos; // when it got its turn; of the worker
        private volatile boolean has; // written under the lock
        private volatile long lookedNanos;

        private Turn() {}

        /** Waits for a turn if this thread has none and has worked for long. Other threads than the worker pass. */
        void look(Interrupt interrupt) {
            if (Thread.currentThread() != worker) {
                return;
            }
            long now = System.nanoTime();
            if (!isLonger(now - beganNanos, FREE_MILLIS)) {
                return;
            }
            lookedNanos = now;
            if (!has || isLonger(now - sinceNanos, TURN_MILLIS)) {
                await(interrupt);
            }
        }

        private void await(Interrupt interrupt) {
            boolean interrupted = false;
            synchronized (Turns.this) {
                release(this);
                waiting.addLast(this);
                try {
                    while (!interrupt.isStopped() && !take()) {
                        try {
                            Turns.this.wait(WAIT_MILLIS);
                        } catch (InterruptedException e) {
                            interrupted = true;
                        }
                    }
                } finally {
                    waiting.remove(this);
                }
            }
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }

        @GuardedBy("Turns.this") private boolean take() {
            if (waiting.peekFirst() != this) {
                return false;
            }
            long now = System.nanoTime();
            having.removeIf(turn -> {
                turn.has = !isLonger(now - turn.lookedNanos, LOST_MILLIS);
                return !turn.has;
            });
            if (having.size() >= most) {
                return false;
            }
            having.add(this);
            has = true;
            sinceNanos = now;
            lookedNanos = now;
            return true;
        }

        /** The worker waits for something, which is no work: what it does after that is new. Other threads than the worker pass. */
        void pause() {
            if (Thread.currentThread() == worker) {
                beganNanos = System.nanoTime();
                close();
            }
        }

        /** The worker waits for something, and needs no turn until its next look. By any thread. */
        void rest() {
            close();
        }

        @Override
        public void close() {
            if (has) {
                synchronized (Turns.this) {
                    release(this);
                }
            }
        }
    }

    @GuardedBy("this") private void release(Turn turn) {
        if (having.remove(turn)) {
            turn.has = false;
            notifyAll();
        }
    }

    private static boolean isLonger(long nanos, long millis) {
        return nanos > TimeUnit.MILLISECONDS.toNanos(millis);
    }
}
