package dev.millrace.server.session;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.interrupt.Interrupt;
import java.util.Optional;
import java.util.function.Consumer;

/** The thread {@code millrace-restoring}, which opens a database that others have already. */
final class RestoringThread implements AutoCloseable {
    private static final long LOOK_MILLIS = 50;

    private final Thread thread;
    private final Interrupt interrupt = new Interrupt(); // of whatever it waits for
    private volatile Optional<Throwable> failure = Optional.empty(); // written by the thread

    private RestoringThread(Runnable work, Consumer<MillraceException> failed) {
        this.thread = new Thread(
                () -> {
                    try (Interrupt.Binding binding = interrupt.bind()) {
                        work.run();
                    } catch (RuntimeException | Error e) {
                        failure = Optional.of(e);
                        failed.accept(explained(e));
                    }
                },
                "millrace-restoring");
    }

    /** @param failed told on the thread why the database does not open, when that is known to {@link #await} */
    static RestoringThread start(Runnable work, Consumer<MillraceException> failed) {
        RestoringThread started = new RestoringThread(work, failed);
        started.thread.setDaemon(true);
        started.thread.start();
        return started;
    }

    private static MillraceException explained(Throwable why) {
        if (why instanceof MillraceException known) {
            return known;
        }
        return why instanceof Restoration.NotSideBySide
                ? MillraceException.resources(SqlState.CANNOT_CONNECT_NOW, "the database is opened once more")
                : MillraceException.internal("the database does not open: " + why, why);
    }

    /**
     * Waits until it has done all.
     *
     * @throws RuntimeException what it failed with, or why the caller is stopped; or an error
     */
    void await() {
        try {
            while (thread.isAlive()) {
                Interrupt.checkCurrent();
                thread.join(LOOK_MILLIS);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw MillraceException.user(SqlState.QUERY_CANCELED, "waiting for the database was interrupted");
        }
        if (failure.isPresent()) {
            Throwable why = failure.get();
            if (why instanceof Error error) {
                throw error;
            }
            throw (RuntimeException) why;
        }
    }

    /** Has it end, and waits until it has. */
    @Override
    public void close() {
        interrupt.stop(MillraceException.user(SqlState.ADMIN_SHUTDOWN, "the database is closed"));
        boolean interrupted = false;
        while (thread.isAlive()) {
            try {
                thread.interrupt();
                thread.join(LOOK_MILLIS);
            } catch (InterruptedException e) {
                interrupted = true; // it ends soon
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
