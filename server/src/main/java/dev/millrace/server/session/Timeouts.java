package dev.millrace.server.session;

import dev.millrace.server.cancellation.Deadlines;
import dev.millrace.time.Clock;
import java.util.Collection;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Looks at all sessions' deadlines some hundred times a second, as long as there is one. Sessions only write when theirs is;
 * nobody takes a lock.
 */
final class Timeouts implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger(Timeouts.class.getPackageName());
    private static final long PERIOD_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

    private final Collection<Session> sessions;
    private final Clock clock;
    private final Thread thread;
    private volatile boolean started; // written under the lock of this
    private volatile boolean resting; // written by the thread, read by those who set deadlines
    private volatile boolean closed; // written by close, read by the thread

    Timeouts(Collection<Session> sessions, Clock clock) {
        this.sessions = sessions;
        this.clock = clock;
        this.thread = new Thread(this::watch, "millrace-timeouts");
        thread.setDaemon(true);
    }

    /** A deadline was set. */
    void arm() {
        if (!started) {
            start();
        }
        if (resting) {
            LockSupport.unpark(thread);
        }
    }

    private synchronized void start() {
        if (!started && !closed) {
            started = true;
            thread.start();
        }
    }

    private void watch() {
        while (!closed) {
            long left = look();
            if (left != Deadlines.NONE) {
                LockSupport.parkNanos(Math.min(left, PERIOD_NANOS));
                continue;
            }
            resting = true;
            if (look() == Deadlines.NONE && !closed) { // one that was set before it could be seen that nobody looks
                LockSupport.park();
            }
            resting = false;
        }
    }

    /** How many nanoseconds are left until a session's next deadline, or {@link Deadlines#NONE}. */
    private long look() {
        long now = clock.nanoTime();
        long left = Deadlines.NONE;
        for (Session session : sessions) {
            try {
                left = Math.min(left, session.steps().checkDeadlines(now));
            } catch (RuntimeException e) { // who ends the session may be gone himself; the others' deadlines stand
                LOG.log(System.Logger.Level.WARNING, "a session that lasts too long could not be stopped", e);
                left = Math.min(left, PERIOD_NANOS);
            }
        }
        return left;
    }

    @Override
    public void close() {
        closed = true;
        LockSupport.unpark(thread);
    }
}
