package dev.millrace.server.cancellation;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.server.settings.SessionSettings;
import dev.millrace.server.settings.Setting;
import dev.millrace.time.Clock;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

/** When a session's statement, or its silence, has lasted too long. Set by the session's thread, checked by another. */
public final class Deadlines {
    /** No deadline, as a time and as what is left of it. */
    public static final long NONE = Long.MAX_VALUE;

    private final SessionSettings settings;
    private final Clock clock;
    private final Runnable onSet;
    private final AtomicLong statementNanos =
            new AtomicLong(NONE); // written by the session's thread, and by who cancels
    private final AtomicLong silenceNanos = new AtomicLong(NONE); // written by the session's thread, and by who ends it
    private boolean prepared; // whether the statement's time began before it did; the session's thread's
    private volatile boolean inTransaction; // written by the session's thread before the deadline

    public Deadlines(SessionSettings settings, Clock clock, Runnable onSet) {
        this.settings = settings;
        this.clock = clock;
        this.onSet = onSet;
    }

    /** A text is read or described, of a statement that may follow: its time counts from here on. */
    public void statementPrepares() {
        statementGoesOn();
        prepared = true;
    }

    public void statementBegins() {
        if (!prepared || statementNanos.get() == NONE) {
            begin(statementNanos, Setting.STATEMENT_TIMEOUT);
        }
        prepared = false;
    }

    /** More of a result is asked for: it may take as long as a statement may. */
    public void statementGoesOn() {
        if (statementNanos.get() == NONE) {
            begin(statementNanos, Setting.STATEMENT_TIMEOUT);
        }
    }

    public void statementEnds() {
        clear(statementNanos);
        prepared = false;
    }

    /** The client is heard. */
    public void speaks() {
        clear(silenceNanos);
    }

    /** The client has its answer, and the word. */
    public void listens(boolean withinTransaction) {
        inTransaction = withinTransaction;
        begin(
                silenceNanos,
                withinTransaction ? Setting.IDLE_IN_TRANSACTION_SESSION_TIMEOUT : Setting.IDLE_SESSION_TIMEOUT);
    }

    private void begin(AtomicLong deadline, Setting setting) {
        long millis = settings.millis(setting);
        if (millis == 0) {
            clear(deadline);
            return;
        }
        deadline.set(clock.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis));
        onSet.run();
    }

    /** Spares the write where there is none, which is the rule. */
    private static void clear(AtomicLong deadline) {
        if (deadline.get() != NONE) {
            deadline.set(NONE);
        }
    }

    /** Acts on what is over; how many nanoseconds are left until the next deadline, or {@link #NONE}. On the thread that watches. */
    public long check(long now, Consumer<String> cancel, Consumer<MillraceException> end) {
        if (takeIfOver(statementNanos, now)) {
            cancel.accept("statement timeout");
        }
        if (takeIfOver(silenceNanos, now)) {
            end.accept(
                    inTransaction
                            ? MillraceException.user(
                                    SqlState.IDLE_IN_TRANSACTION_SESSION_TIMEOUT,
                                    "terminating connection due to idle-in-transaction timeout")
                            : MillraceException.user(
                                    SqlState.IDLE_SESSION_TIMEOUT,
                                    "terminating connection due to idle-session timeout"));
        }
        return Math.min(left(statementNanos.get(), now), left(silenceNanos.get(), now));
    }

    private static long left(long deadline, long now) {
        return deadline == NONE ? NONE : Math.max(0, deadline - now);
    }

    /** Whether it is over and not acted on; the next one, set meanwhile, is another. */
    private static boolean takeIfOver(AtomicLong deadline, long now) {
        long nanos = deadline.get();
        return nanos != NONE && now - nanos >= 0 && deadline.compareAndSet(nanos, NONE);
    }
}
