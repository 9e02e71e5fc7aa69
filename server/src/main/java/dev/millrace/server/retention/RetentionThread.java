package dev.millrace.server.retention;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.server.log.EventLog;
import java.util.function.LongPredicate;

/** The thread {@code millrace-retention}, which writes, merges and drops segments of streams. */
public final class RetentionThread implements AutoCloseable {
    private static final EventLog LOG = EventLog.named("storage");
    private static final long LOOK_MILLIS = 500;
    private static final long AFTER_FAILURE_MILLIS = 5_000;

    private final RetainedStreams streams;
    private final LongPredicate isDefined;
    private final Thread thread = new Thread(this::run, "millrace-retention");
    private final Interrupt interrupt = new Interrupt(); // of whatever it does
    private volatile boolean closed; // written by who closes, read by the thread

    /** Begins. @param isDefined whether a number is that of a definition on disk */
    public RetentionThread(RetainedStreams streams, LongPredicate isDefined) {
        this.streams = streams;
        this.isDefined = isDefined;
        thread.setDaemon(true);
        thread.start();
    }

    private void run() {
        String told = "";
        while (!closed) {
            try (Interrupt.Binding binding = interrupt.bind()) {
                Thread.sleep(told.isEmpty() ? LOOK_MILLIS : AFTER_FAILURE_MILLIS);
                streams.removeDropped(isDefined);
                streams.maintain();
                told = "";
            } catch (InterruptedException e) {
                return;
            } catch (RuntimeException e) { // of any kind: it is tried again
                String reason = String.valueOf(e.getMessage());
                if (!closed && !reason.equals(told)) {
                    LOG.warning("segments of streams cannot be written", "reason", reason);
                }
                told = reason;
            }
        }
    }

    /** Ends the thread, and waits for what it is at to notice. */
    @Override
    public void close() {
        closed = true;
        interrupt.stop(MillraceException.user(SqlState.ADMIN_SHUTDOWN, "the database is closed"));
        thread.interrupt();
        boolean interrupted = false;
        while (thread.isAlive()) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
