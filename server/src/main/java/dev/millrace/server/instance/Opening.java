package dev.millrace.server.instance;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.server.catalog.CatalogObject;
import dev.millrace.server.catalog.DatabaseCatalog;
import dev.millrace.server.catalog.StreamInput;
import dev.millrace.sql.statement.Statement.ObjectKind;
import java.util.Collection;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.LongUnaryOperator;
import java.util.function.ToLongFunction;

/**
 * How far a database is that is being opened, and what can be read of it already. Safe on any thread; changed by the one that opens it.
 *
 * <pre>
 *   DECLARING  what the checkpoint has is declared; nobody has the database
 *   RESTORING  states are read and rows come again; what is complete can be read
 *   OPEN       all is there
 *   FAILED     it will not be, and nothing was changed; whoever waits hears why
 * </pre>
 */
public final class Opening {
    private static final long LOOK_MILLIS = 50;

    /** What the log has behind all that came again: nothing. */
    public static final long ALL = Long.MAX_VALUE;

    private enum State {
        DECLARING,
        RESTORING,
        OPEN,
        FAILED
    }

    private final DatabaseCatalog catalog;
    private final Recovery recovery;
    private final ToLongFunction<String> numbers;
    private final LongUnaryOperator lastRecords;
    private volatile Thread restorer = Thread.currentThread(); // written by itself, before others have the database
    private volatile State state = State.DECLARING; // written with this locked
    private volatile long after; // the record up to which the checkpoint has all; written before RESTORING
    private volatile boolean isCatalogComplete; // likewise, and when it is
    private volatile long taken; // up to which record rows came again

    @GuardedBy("this") private Optional<MillraceException> failure = Optional.empty();

    /**
     * @param numbers of relations, by which the log knows their rows
     * @param lastRecords of each such number the last record that has rows of it; 0 if none has
     */
    Opening(DatabaseCatalog catalog, Recovery recovery, ToLongFunction<String> numbers, LongUnaryOperator lastRecords) {
        this.catalog = catalog;
        this.recovery = recovery;
        this.numbers = numbers;
        this.lastRecords = lastRecords;
    }

    // ---- by who opens it -------------------------------------------------------------------------------------------

    /** The calling thread is the one whose statements wait for nothing, as they make what others wait for. */
    public void restoresOnThisThread() {
        restorer = Thread.currentThread();
    }

    /**
     * What the checkpoint has is declared.
     *
     * @param checkpointed the last record of the log that is in it; 0 if there is none
     * @param complete whether no definition came after
     */
    public void declared(long checkpointed, boolean complete) {
        after = checkpointed;
        taken = Math.max(taken, checkpointed);
        isCatalogComplete = complete;
        become(State.RESTORING);
    }

    /** All rows up to a record came again. */
    public void took(long record) {
        taken = record;
    }

    /** All definitions are there. */
    public void hasAllDefinitions() {
        isCatalogComplete = true;
    }

    public void over() {
        become(State.OPEN);
    }

    /** It does not open; the first failure counts. */
    public synchronized void fail(MillraceException why) {
        if (state != State.FAILED) {
            failure = Optional.of(why);
            become(State.FAILED);
        }
    }

    private synchronized void become(State next) {
        state = next;
        notifyAll();
    }

    // ---- by all ----------------------------------------------------------------------------------------------------

    /** Whether all is there. */
    public boolean isOver() {
        return state == State.OPEN;
    }

    /** Whether the calling thread has nothing to wait for. */
    public boolean letsPass() {
        return isOver() || Thread.currentThread() == restorer;
    }

    /** Whether all definitions are there. */
    public boolean isCatalogComplete() {
        return isCatalogComplete || isOver();
    }

    /**
     * Waits until what the checkpoint has is declared.
     *
     * @throws MillraceException why that does not come
     */
    public void awaitDeclared() {
        await(() -> state != State.DECLARING);
    }

    /**
     * Waits until all is there.
     *
     * @throws MillraceException why that does not come, or why the caller is stopped
     */
    public void await() {
        await(() -> state == State.OPEN);
    }

    private void await(BooleanSupplier condition) {
        boolean interrupted = false;
        try {
            synchronized (this) {
                while (state == State.FAILED || !condition.getAsBoolean()) {
                    if (failure.isPresent()) {
                        throw failure.get().again();
                    }
                    Interrupt.checkResting();
                    try {
                        wait(LOOK_MILLIS);
                    } catch (InterruptedException e) {
                        interrupted = true; // what stops the caller is its interrupt
                    }
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /**
     * Waits until some relations can be read as they were, though others cannot; their rows may have to be waited for where they are read.
     *
     * @return false if all has to be there first
     * @throws MillraceException as {@link #await()}
     */
    public boolean awaitReadable(Collection<String> relations) {
        for (String relation : relations) {
            if (!isReadableSoon(relation)) {
                return false;
            }
        }
        for (String relation : relations) {
            long last = lastRecord(relation);
            await(() -> taken >= last || isOver());
        }
        return true;
    }

    private boolean isReadableSoon(String name) {
        Optional<CatalogObject> object = catalog.object(name);
        if (object.isEmpty()) {
            return catalog.systemRelation(name).isPresent() && (isCatalogComplete() || name.equals(Recovery.RELATION));
        }
        return switch (object.get().kind()) {
            case STREAM -> // it has no rows but those of its past, or is what a query gives
                object.get().input().filter(StreamInput::isDerived).isEmpty() || isAsItWas(object.get());
            case TABLE -> isOfCheckpoint(name);
            case MATERIALIZED_VIEW -> isAsItWas(object.get());
            default -> false;
        };
    }

    private boolean isAsItWas(CatalogObject ofQuery) {
        return isOfCheckpoint(ofQuery.name()) && hasNothingToCome(ofQuery, new HashSet<>());
    }

    private boolean isOfCheckpoint(String name) {
        Recovery.Outcome outcome = recovery.outcomes().get(name);
        return outcome != null && outcome.way() == Recovery.Way.CHECKPOINT;
    }

    /** Whether nothing of what an answer is made of came after the checkpoint. */
    private boolean hasNothingToCome(CatalogObject object, Set<String> seen) {
        for (String read : object.reads()) {
            if (seen.add(read)) {
                Optional<CatalogObject> input = catalog.object(read);
                if (input.isEmpty() || lastRecord(read) > after || !hasNothingToCome(input.get(), seen)) {
                    return false;
                }
            }
        }
        return true;
    }

    /** Of a stream or table; 0 for others. */
    private long lastRecord(String name) {
        boolean hasRows = catalog.object(name)
                .filter(object -> object.kind() == ObjectKind.STREAM || object.kind() == ObjectKind.TABLE)
                .isPresent();
        long number = hasRows ? numbers.applyAsLong(name) : 0;
        return number == 0 ? 0 : lastRecords.applyAsLong(number);
    }

    /** The database is closed before it was open. */
    public void close() {
        if (!isOver()) {
            fail(MillraceException.user(SqlState.ADMIN_SHUTDOWN, "the database is closed"));
        }
    }
}
