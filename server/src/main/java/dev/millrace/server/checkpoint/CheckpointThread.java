package dev.millrace.server.checkpoint;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.server.catalog.StreamInput;
import dev.millrace.server.instance.Instance;
import dev.millrace.server.log.EventLog;
import java.util.concurrent.TimeUnit;

/** The thread {@code millrace-checkpoint}, which writes a checkpoint when the log has grown enough, and every five minutes where there are sources. */
public final class CheckpointThread implements AutoCloseable {
    private static final EventLog LOG = EventLog.named("storage");
    private static final long LOOK_MILLIS = 1_000;
    private static final long AFTER_FAILURE_MILLIS = 30_000;
    private static final long LONGEST_NANOS =
            TimeUnit.MINUTES.toNanos(5); // of what a source gives, which the log does not have

    private final Instance database;
    private final Thread thread = new Thread(this::run, "millrace-checkpoint");
    private final Interrupt interrupt = new Interrupt(); // of whatever it waits for
    private volatile boolean closed; // written by who closes, read by the thread

    /** Begins, if anything is written. */
    public CheckpointThread(Instance database) {
        this.database = database;
        thread.setDaemon(true);
        if (database.journal().isWriting()) {
            thread.start();
        }
    }

    private void run() {
        long pauseMillis = LOOK_MILLIS;
        long lastNanos = database.clock().nanoTime();
        while (!closed) {
            try (Interrupt.Binding binding = interrupt.bind()) {
                Thread.sleep(pauseMillis);
                pauseMillis = LOOK_MILLIS;
                boolean isLong = database.clock().nanoTime() - lastNanos >= LONGEST_NANOS && hasSources();
                if (isLong || database.journal().isGrown()) {
                    new DatabaseCheckpoint(database).run();
                    lastNanos = database.clock().nanoTime();
                }
            } catch (InterruptedException e) {
                return;
            } catch (RuntimeException e) { // of any kind: the next one is tried all the same
                if (!closed) {
                    LOG.warning("no checkpoint", "reason", String.valueOf(e.getMessage()));
                }
                pauseMillis = AFTER_FAILURE_MILLIS;
            }
        }
    }

    /** Whether there are streams whose rows do not come from clients. */
    private boolean hasSources() {
        return database.catalog().objects().stream()
                .anyMatch(object -> object.input().flatMap(StreamInput::source).isPresent());
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
