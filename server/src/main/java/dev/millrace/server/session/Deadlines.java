package dev.millrace.server.session;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.server.settings.SessionSettings;
import dev.millrace.server.settings.Setting;
import dev.millrace.time.Clock;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** When a session's statement, or its silence, has lasted too long. Set by the session's thread, checked by another. */
final class Deadlines {
    private static final long NONE = Long.MAX_VALUE;

    private final SessionSettings settings;
    private final Clock clock;
    private final Runnable onSet;
    private volatile long statementNanos = NONE; // written by the session's thread, and by who cancels
    private volatile long silenceNanos = NONE; // likewise
    private volatile boolean inTransaction; // written by the session's thread before the deadline

    Deadlines(SessionSettings settings, Clock clock, Runnable onSet) {
        this.settings = settings;
        this.clock = clock;
        this.onSet = onSet;
    }

    void statementBegins() {
        statementNanos = from(Setting.STATEMENT_TIMEOUT);
        arm(statementNanos);
    }

    void statementEnds() {
        if (statementNanos != NONE) {
            statementNanos = NONE;
        }
    }

    /** The client is heard. */
    void speaks() {
        if (silenceNanos != NONE) {
            silenceNanos = NONE;
        }
    }

    /** The client has its answer, and the word. */
    void listens(boolean withinTransaction) {
        inTransaction = withinTransaction;
        silenceNanos =
                from(withinTransaction ? Setting.IDLE_IN_TRANSACTION_SESSION_TIMEOUT : Setting.IDLE_SESSION_TIMEOUT);
        arm(silenceNanos);
    }

    private long from(Setting setting) {
        long millis = settings.millis(setting);
        return millis == 0 ? NONE : clock.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
    }

    private void arm(long nanos) {
        if (nanos != NONE) {
            onSet.run();
        }
    }

    /** Acts on what is over; returns whether a deadline is left. On the thread that watches. */
    boolean check(long now, Consumer<String> cancel, Consumer<MillraceException> end) {
        if (isOver(statementNanos, now)) {
            statementNanos = NONE;
            cancel.accept("statement timeout");
        }
        if (isOver(silenceNanos, now)) {
            silenceNanos = NONE;
            end.accept(
                    inTransaction
                            ? MillraceException.user(
                                    SqlState.IDLE_IN_TRANSACTION_SESSION_TIMEOUT,
                                    "terminating connection due to idle-in-transaction timeout")
                            : MillraceException.user(
                                    SqlState.IDLE_SESSION_TIMEOUT,
                                    "terminating connection due to idle-session timeout"));
        }
        return statementNanos != NONE || silenceNanos != NONE;
    }

    private static boolean isOver(long deadline, long now) {
        return deadline != NONE && now - deadline >= 0;
    }
}
