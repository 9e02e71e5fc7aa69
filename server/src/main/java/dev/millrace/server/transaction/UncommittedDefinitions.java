package dev.millrace.server.transaction;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.interrupt.Interrupt;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * Which transaction has changed definitions and has not ended, one of a database at a time, and what: others do not see what it made, and
 * wait for its end before they look at what it altered or dropped, as in PostgreSQL. Changed with the lock of definitions held; safe on any
 * thread.
 */
public final class UncommittedDefinitions {
    private static final long LOOK_MILLIS = 20;

    private final RowLocks locks;

    private volatile boolean areThere; // written under the lock of this, read by all

    @GuardedBy("this") private Optional<Transaction> owner = Optional.empty();

    @GuardedBy("this") private final Set<String> made = new HashSet<>(); // names

    @GuardedBy("this") private final Set<String> changed = new HashSet<>(); // likewise

    public UncommittedDefinitions(RowLocks locks) {
        this.locks = locks;
    }

    /** Whether there are any. */
    public boolean areThere() {
        return areThere;
    }

    /** Whether there are any of another transaction than one's own. */
    public boolean areOfAnother(Optional<Transaction> own) {
        return areThere && another(own).isPresent();
    }

    private synchronized Optional<Transaction> another(Optional<Transaction> own) {
        return owner.filter(other -> own.isEmpty() || own.get() != other);
    }

    // ---- by the one ------------------------------------------------------------------------------------------------

    /** A transaction changes definitions, as no other does. */
    public synchronized void begin(Transaction transaction) {
        assert owner.isEmpty() || owner.get() == transaction : "another transaction has changed definitions";
        owner = Optional.of(transaction);
        areThere = true;
    }

    /** It made something of this name. */
    public synchronized void made(String name) {
        made.add(name);
    }

    /** It altered or dropped what has this name. */
    public synchronized void changed(String name) {
        changed.add(name);
    }

    /** What it changed is there for all, or undone. */
    public synchronized void end() {
        owner = Optional.empty();
        made.clear();
        changed.clear();
        areThere = false;
        notifyAll();
    }

    // ---- by others -------------------------------------------------------------------------------------------------

    /**
     * Whether what has a name is there for a transaction, or for a statement without one; waits for the end of another that has altered or
     * dropped it.
     *
     * @param timeoutMillis 0 for ever
     * @throws MillraceException as {@link #await}
     */
    public boolean sees(String name, Optional<Transaction> own, long timeoutMillis) {
        if (!areOfAnother(own)) {
            return true;
        }
        synchronized (this) {
            if (!changed.contains(name)) {
                return !made.contains(name);
            }
        }
        await(own, timeoutMillis);
        return true;
    }

    /** Whether another transaction than one's own has made, altered or dropped what has a name. Waits for nobody. */
    public boolean involves(String name, Optional<Transaction> own) {
        if (!areOfAnother(own)) {
            return false;
        }
        synchronized (this) {
            return made.contains(name) || changed.contains(name);
        }
    }

    /**
     * Waits until no other transaction has changed definitions. The caller holds no lock.
     *
     * @param timeoutMillis 0 for ever
     * @throws MillraceException 40P01 if the other waits for the caller; 55P03 when the time is over; why the statement under way is stopped
     */
    public void await(Optional<Transaction> own, long timeoutMillis) {
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMillis);
        for (Optional<Transaction> other = another(own); other.isPresent(); other = another(own)) {
            if (timeoutMillis > 0 && System.nanoTime() - end >= 0) {
                throw MillraceException.user(SqlState.LOCK_NOT_AVAILABLE, "canceling statement due to lock timeout");
            }
            Transaction holder = other.get();
            own.ifPresent(waiter -> locks.waits(waiter, holder));
            try {
                look();
            } finally {
                own.ifPresent(locks::waitsNoMore);
            }
        }
    }

    private synchronized void look() {
        Interrupt.checkResting();
        try {
            if (areThere) {
                wait(LOOK_MILLIS);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            Interrupt.checkResting();
            throw MillraceException.user(SqlState.QUERY_CANCELED, "canceling statement due to user request");
        }
    }
}
