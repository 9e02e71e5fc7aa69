package dev.millrace.server.host;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.interrupt.Interrupt;

/** A daemon thread of a database that does something now and then until it is closed. */
public final class BackgroundThread implements AutoCloseable {
    private final Thread thread;
    private final Step step;
    private final Interrupt interrupt = new Interrupt(); // of whatever it waits for
    private long pauseMillis; // the thread's, once it runs
    private volatile boolean closed; // written by who closes, read by the thread

    /** What is done each time. */
    public interface Step {
        /**
         * Does it, interruptibly.
         *
         * @return milliseconds until the next time
         */
        long run();

        /** It threw: says so, once for each reason that is news. @return milliseconds until it is tried again */
        long failed(RuntimeException why);
    }

    private BackgroundThread(String name, Step step) {
        this.thread = new Thread(this::run, name);
        this.step = step;
    }

    /** Begins. @param firstMillis until the first time */
    public static BackgroundThread start(String name, long firstMillis, Step step) {
        BackgroundThread started = new BackgroundThread(name, step);
        started.pauseMillis = firstMillis;
        started.thread.setDaemon(true);
        started.thread.start();
        return started;
    }

    private void run() {
        while (!closed) {
            try (Interrupt.Binding binding = interrupt.bind()) {
                Thread.sleep(pauseMillis);
                pauseMillis = step.run();
            } catch (InterruptedException e) {
                return;
            } catch (RuntimeException e) { // of any kind: it is tried again
                if (!closed) {
                    pauseMillis = step.failed(e);
                }
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
