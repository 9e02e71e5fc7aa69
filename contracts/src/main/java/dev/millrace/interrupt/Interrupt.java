package dev.millrace.interrupt;

import dev.millrace.error.MillraceException;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import org.jspecify.annotations.Nullable;

/**
 * Stops what a statement or a standing query has under way, wherever it is: a regular expression, pairs of a join, a sort,
 * the parser, the planner. One object serves all threads that work for the same thing.
 *
 * <p>{@link #stop} is called by any thread. The threads that work bind it for as long as they do, and every loop whose
 * length a client decides looks at it at least each millisecond or so:
 *
 * <pre>{@code
 * Interrupt interrupt = Interrupt.current(); // once per call: a look at a thread's own field
 * for (long step = 0; ..; step++) {
 *     if ((step & 1023) == 0) {
 *         interrupt.check(); // a volatile read
 *     }
 * }
 * }</pre>
 */
public final class Interrupt {
    private static final long LOOK_MILLIS = 20;
    private static final Interrupt NEVER = new Interrupt();
    private static final ThreadLocal<Interrupt> BOUND = ThreadLocal.withInitial(() -> NEVER);

    /** Ends a binding; on the thread that began it. */
    public interface Binding extends AutoCloseable {
        @Override
        void close();
    }

    private volatile @Nullable MillraceException cause; // written once, by who stops first; null while nobody has
    private volatile Turns.@Nullable Turn turn; // of the thread that works by turns; null where none does

    /** What the calling thread works for; one that is never stopped where nothing is bound. */
    public static Interrupt current() {
        return BOUND.get();
    }

    /** Throws if what the calling thread works for is stopped. In loops, keep {@link #current()} instead. */
    public static void checkCurrent() {
        BOUND.get().check();
    }

    /** The same for a loop that counts its steps from 0 or 1: looks at one in 1,024 of them. */
    public static void checkSometimes(int step) {
        if ((step & 1023) == 1023) {
            checkCurrent();
        }
    }

    /**
     * Before the calling thread waits for something: it works no more just now, so others have its turn, and what it does after
     * that begins anew.
     */
    public static void rest() {
        Turns.@Nullable Turn mine = BOUND.get().turn;
        if (mine != null) {
            mine.pause();
        }
    }

    /** The same in a loop that waits: throws if what the calling thread works for is stopped, and never waits for a turn. */
    public static void checkResting() {
        rest();
        MillraceException why = BOUND.get().cause;
        if (why != null) {
            throw why.again();
        }
    }

    /**
     * What the calling thread does until the binding is closed is done for others, as publishing an epoch of several queries
     * is, and must not end half way because of what the thread works for otherwise.
     */
    public static Binding shield() {
        return NEVER.bind();
    }

    /**
     * Takes a lock that others may hold for long, unless what the calling thread works for is stopped meanwhile. A thread that
     * is interrupted for another reason goes on waiting, and stays interrupted.
     */
    public static void lock(Lock lock) {
        boolean interrupted = false;
        try {
            while (true) {
                checkResting();
                try {
                    if (lock.tryLock(LOOK_MILLIS, TimeUnit.MILLISECONDS)) {
                        return;
                    }
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** What the calling thread does from now on is done for this, until the binding is closed. Bindings nest. */
    public Binding bind() {
        Interrupt before = BOUND.get();
        BOUND.set(this);
        return () -> BOUND.set(before);
    }

    /**
     * What the calling thread does from now on is done for this, until the binding is closed, and by turns with the work of others: a look
     * at the interrupt is a look at the turn, too. A thread that has bound it before waits for this one, and lets others have its turn.
     */
    public Binding bind(Turns turns) {
        Interrupt before = BOUND.get();
        Turns.@Nullable Turn waiting = turn;
        if (waiting != null) {
            waiting.rest();
        }
        Turns.Turn begun = turns.begin();
        turn = begun;
        BOUND.set(this);
        return () -> {
            BOUND.set(before);
            turn = waiting;
            begun.close();
        };
    }

    /** Has all that look at this throw {@code why}. Only the first call counts. */
    public void stop(MillraceException why) {
        Objects.requireNonNull(why);
        if (this == NEVER) {
            throw new IllegalStateException("nothing is bound to this thread that could be stopped");
        }
        synchronized (this) {
            if (cause == null) {
                cause = why;
            }
        }
    }

    /**
     * Throws the cause once stopped: each time another exception that says the same, since several may meet. Waits before that
     * where others have their turn.
     */
    public void check() {
        Turns.@Nullable Turn mine = turn;
        if (mine != null) {
            mine.look(this);
        }
        MillraceException why = cause;
        if (why != null) {
            throw why.again();
        }
    }

    /** Whether it is stopped; for those who have something to give back before they {@link #check}. */
    public boolean isStopped() {
        return cause != null;
    }

    /** Why it is stopped; empty while it is not. */
    public Optional<MillraceException> cause() {
        return Optional.ofNullable(cause);
    }
}
