package dev.millrace.server.checkpoint;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.server.instance.Instance;
import dev.millrace.server.log.EventLog;

/** The thread {@code millrace-checkpoint}, which writes a checkpoint when the log has grown enough. */
public final class CheckpointThread implements AutoCloseable {
    private static final EventLog LOG = EventLog.named("storage");
    private static final long LOOK_MILLIS = 1_000;
    private static final long AFTER_FAILURE_MILLIS = 30_000;

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
        while (!closed) {
            try (Interrupt.Binding binding = interrupt.bind()) {
                Thread.sleep(pauseMillis);
                pauseMillis = LOOK_MILLIS;
                if (database.journal().isGrown()) {
                    new DatabaseCheckpoint(database).run();
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
