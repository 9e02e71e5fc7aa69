package dev.millrace.engine.statistic;

import dev.millrace.error.MillraceException;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Whether a query runs, and why not if it does not. Safe on any thread; each change is by one caller, who then does what follows
 * from it.
 *
 * <pre>
 *   RUNNING -- pause, resume --> PAUSED
 *   RUNNING, PAUSED -- its input ended --> FINISHED
 *   RUNNING, PAUSED, FINISHED -- it failed, or gives way --> FAILED
 *   any -- it is dropped --> DROPPED
 * </pre>
 */
public final class QueryLife {
    private static final System.Logger LOG = System.getLogger(QueryLife.class.getPackageName());

    private final Supplier<String> name;
    private volatile QueryState state = QueryState.RUNNING; // written under the lock, read by all
    private volatile Optional<MillraceException> failure = Optional.empty(); // likewise

    public QueryLife(Supplier<String> name) {
        this.name = name;
    }

    public QueryState state() {
        return state;
    }

    public boolean isAlive() {
        return state.isAlive();
    }

    /** Why it failed; never empty for who saw that it did. */
    public Optional<MillraceException> failure() {
        return failure;
    }

    /** Returns whether it had neither failed before nor been dropped. */
    public boolean fail(MillraceException why) {
        synchronized (this) {
            if (state == QueryState.FAILED || state == QueryState.DROPPED) {
                return false;
            }
            failure = Optional.of(why); // before the state: who sees that asks why
            state = QueryState.FAILED;
        }
        log(why);
        return true;
    }

    /** What it holds could not be freed, sinks among it, after it had come to an end or was about to. */
    public void failAtEnd(MillraceException why) {
        synchronized (this) {
            if (state != QueryState.RUNNING && state != QueryState.FINISHED) {
                return;
            }
            failure = Optional.of(why);
            state = QueryState.FAILED;
        }
        log(why);
    }

    /** Once, and without the message, which may quote values of rows: who may read the query finds it with the query. */
    public void log(MillraceException why) {
        log(name.get(), why);
    }

    public static void log(String name, MillraceException why) {
        LOG.log(
                System.Logger.Level.WARNING,
                "query \"" + name + "\" failed: SQLSTATE " + why.sqlState().code());
    }

    /** Returns whether it ran until now. */
    public synchronized boolean finish() {
        if (!state.isAlive()) {
            return false;
        }
        state = QueryState.FINISHED;
        return true;
    }

    /** It is paused from the start. */
    public synchronized void beginPaused() {
        state = QueryState.PAUSED;
    }

    /** Returns whether it was in that state, and is in the other now. */
    public synchronized boolean change(QueryState from, QueryState to) {
        boolean changes = state == from;
        state = changes ? to : state;
        return changes;
    }

    /** Returns whether nobody had dropped it. */
    public synchronized boolean drop() {
        boolean first = state != QueryState.DROPPED;
        state = QueryState.DROPPED;
        return first;
    }
}
