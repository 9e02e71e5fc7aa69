package dev.millrace.server.session;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.millrace.engine.checkpoint.Resumption;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.server.session.Restoration.NotSideBySide;
import java.util.Optional;

/**
 * The states of queries, which are read while rows come again, on a thread of its own where the database has such. Used by the thread that
 * opens the database.
 */
final class RestoredStates implements AutoCloseable {
    private static final long LOOK_MILLIS = 50;

    private final Optional<Resumption> resumption;
    private final Interrupt interrupt = new Interrupt(); // of the thread
    private Optional<Thread> thread = Optional.empty();
    private boolean awaited;

    @GuardedBy("this") private Optional<Throwable> failure = Optional.empty();

    private RestoredStates(Optional<Resumption> resumption) {
        this.resumption = resumption;
    }

    /** Without a checkpoint there are none. */
    static RestoredStates none() {
        return new RestoredStates(Optional.empty());
    }

    static RestoredStates of(Resumption resumption) {
        return new RestoredStates(Optional.of(resumption));
    }

    /**
     * All is declared: rows flow from now on, and states are read.
     *
     * @param aside whether they are by another thread; else they are when this returns
     */
    void begin(boolean aside) {
        resumption.ifPresent(states -> {
            if (!aside) {
                read(states); // nobody else does while rows wait
                rethrow();
            }
            states.declared();
            if (aside) {
                Thread reading = new Thread(() -> read(states), "millrace-restoring-states");
                reading.setDaemon(true);
                reading.start();
                thread = Optional.of(reading);
            }
        });
    }

    private void read(Resumption states) {
        try (Interrupt.Binding binding = interrupt.bind()) {
            states.await();
            requireWhole(states);
        } catch (RuntimeException | Error e) {
            synchronized (this) {
                failure = Optional.of(
                        e instanceof MillraceException why
                                        && states.failure().isEmpty()
                                        && interrupt.cause().isEmpty()
                                ? new NotSideBySide(why)
                                : e);
            }
        }
    }

    /** @throws MillraceException if something is damaged: else there would be a database without some of its rows */
    private static void requireWhole(Resumption states) {
        states.failure().ifPresent(why -> {
            throw why;
        });
    }

    /**
     * Waits until all have their state.
     *
     * @throws RuntimeException what reading them failed with, or why the caller is stopped; or an error
     */
    void await() {
        if (thread.isPresent() && !awaited) {
            try {
                while (thread.get().isAlive()) {
                    Interrupt.checkCurrent();
                    thread.get().join(LOOK_MILLIS);
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                rethrow();
                throw MillraceException.user(SqlState.QUERY_CANCELED, "opening the database was interrupted");
            }
        }
        awaited = true;
        rethrow();
    }

    /** Throws what reading them failed with, if it did. */
    synchronized void rethrow() {
        if (failure.isPresent()) {
            Throwable why = failure.get();
            if (why instanceof Error error) {
                throw error;
            }
            throw (RuntimeException) why;
        }
    }

    /** What is not read yet never is. */
    @Override
    public void close() {
        if (thread.filter(Thread::isAlive).isPresent()) {
            interrupt.stop(MillraceException.user(SqlState.ADMIN_SHUTDOWN, "the database is not opened"));
        }
        resumption.ifPresent(Resumption::close);
        boolean interrupted = false;
        while (thread.filter(Thread::isAlive).isPresent()) {
            try {
                thread.get().join();
            } catch (InterruptedException e) {
                interrupted = true; // it ends soon
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
