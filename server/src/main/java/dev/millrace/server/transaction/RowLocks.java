package dev.millrace.server.transaction;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.interrupt.Interrupt;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Stream;

/** Which transaction holds which rows, and who waits for whom, of one database. Safe on any thread. */
public final class RowLocks {
    /** In the place of a key: all rows of a table without one. */
    static final String ALL_ROWS = "";

    /** In the place of a key, with the number of a transaction: rows of a table without one that nobody else sees. */
    private static final String ADDS = "\0adds ";

    /** Before a key that is taken away. */
    private static final String REMOVES = "\0removes ";

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition released = lock.newCondition();

    private final AtomicLong numbers = new AtomicLong(); // of the transactions that got one, the last

    /**
     * Makes sure that no other transaction holds one of these rows.
     *
     * @param taker who holds them from now on; none only asks, for a statement that takes effect at once
     * @throws RowsHeld if another transaction holds one; then nothing was taken
     */
    void claim(TableKeys table, Collection<String> keys, Optional<Transaction> taker) {
        lock.lock();
        try {
            if (!table.holders.isEmpty()) {
                for (String key : keys) {
                    Transaction holder = table.holders.get(key);
                    if (holder != null && (taker.isEmpty() || taker.get() != holder)) {
                        throw new RowsHeld(holder);
                    }
                }
            }
            taker.ifPresent(transaction -> {
                keys.forEach(key -> table.holders.put(key, transaction));
                transaction
                        .held
                        .computeIfAbsent(table, unknown -> new ArrayList<>())
                        .addAll(keys);
            });
        } finally {
            lock.unlock();
        }
    }

    /** A transaction adds rows to a table without a key: no other one's are in its way, but the table stays as it is. */
    void hold(TableKeys table, Transaction taker) {
        lock.lock();
        try {
            String mark = ADDS + taker.number(this);
            if (table.holders.put(mark, taker) == null) {
                taker.held.computeIfAbsent(table, unknown -> new ArrayList<>()).add(mark);
            }
        } finally {
            lock.unlock();
        }
    }

    /**
     * A transaction references keys of a table, which nobody takes away before it ends.
     *
     * @throws RowsHeld if another transaction has taken one away
     */
    void share(TableKeys table, Collection<String> known, Transaction taker) {
        lock.lock();
        try {
            for (String key : known) {
                Transaction holder = table.holders.get(REMOVES + key);
                if (holder != null && holder != taker) {
                    throw new RowsHeld(holder);
                }
            }
            for (String key : known) {
                if (table.sharers
                        .computeIfAbsent(key, unknown -> new HashSet<>())
                        .add(taker)) {
                    taker.shared
                            .computeIfAbsent(table, unknown -> new ArrayList<>())
                            .add(key);
                }
            }
        } finally {
            lock.unlock();
        }
    }

    /**
     * A transaction takes keys of a table away, which nobody references before it ends.
     *
     * @throws RowsHeld if another transaction references one, or takes it away; then nothing was taken
     */
    void remove(TableKeys table, Collection<String> known, Transaction taker) {
        lock.lock();
        try {
            for (String key : known) {
                Optional<Transaction> other = table.sharers.getOrDefault(key, Set.of()).stream()
                        .filter(sharer -> sharer != taker)
                        .findFirst();
                if (other.isPresent()) {
                    throw new RowsHeld(other.get());
                }
            }
            claim(table, known.stream().map(key -> REMOVES + key).toList(), Optional.of(taker));
        } finally {
            lock.unlock();
        }
    }

    /** A number that no other transaction has. */
    long nextNumber() {
        return numbers.incrementAndGet();
    }

    /** Whether another transaction than one's own holds rows of a table. */
    public boolean isHeld(TableKeys table, Optional<Transaction> own) {
        lock.lock();
        try {
            return Stream.concat(
                            table.holders.values().stream(),
                            table.sharers.values().stream().flatMap(Set::stream))
                    .anyMatch(holder -> own.isEmpty() || own.get() != holder);
        } finally {
            lock.unlock();
        }
    }

    /**
     * A transaction is going to wait for another, for something else than rows.
     *
     * @throws MillraceException 40P01 if that waits for it
     */
    void waits(Transaction waiter, Transaction holder) {
        lock.lock();
        try {
            requireNoCircle(holder, Optional.of(waiter));
            waiter.waitsFor = Optional.of(holder);
        } finally {
            lock.unlock();
        }
    }

    void waitsNoMore(Transaction waiter) {
        lock.lock();
        try {
            waiter.waitsFor = Optional.empty();
        } finally {
            lock.unlock();
        }
    }

    /** The transaction ended: its rows are free, and who waits for it looks again. */
    void release(Transaction transaction) {
        lock.lock();
        try {
            for (Map.Entry<TableKeys, List<String>> entry : transaction.held.entrySet()) {
                Map<String, Transaction> holders = entry.getKey().holders;
                entry.getValue().forEach(key -> holders.remove(key, transaction));
            }
            transaction.held.clear();
            transaction.shared.forEach((table, keys) -> keys.forEach(key -> table.sharers.computeIfPresent(
                    key, (known, sharers) -> sharers.remove(transaction) && sharers.isEmpty() ? null : sharers)));
            transaction.shared.clear();
            transaction.ended = true;
            released.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Waits until a transaction has ended. The caller holds no table's lock.
     *
     * @param waiter who waits, if it holds rows itself
     * @param timeoutMillis 0 for ever
     * @throws MillraceException 40P01 if that waits for the waiter; 55P03 when the time is over; 57014 when interrupted
     */
    public void await(Transaction holder, Optional<Transaction> waiter, long timeoutMillis) {
        Interrupt.rest();
        lock.lock();
        try {
            waiter.ifPresent(transaction -> transaction.waitsFor = Optional.of(holder));
            requireNoCircle(holder, waiter);
            long nanos = timeoutMillis == 0 ? Long.MAX_VALUE : TimeUnit.MILLISECONDS.toNanos(timeoutMillis);
            while (!holder.ended) {
                if (nanos <= 0) {
                    throw MillraceException.user(
                            SqlState.LOCK_NOT_AVAILABLE, "canceling statement due to lock timeout");
                }
                nanos = released.awaitNanos(nanos);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw MillraceException.user(SqlState.QUERY_CANCELED, "canceling statement due to user request");
        } finally {
            waiter.ifPresent(transaction -> transaction.waitsFor = Optional.empty());
            lock.unlock();
        }
    }

    private static void requireNoCircle(Transaction holder, Optional<Transaction> waiter) {
        Optional<Transaction> next = Optional.of(holder);
        while (next.isPresent()) {
            if (waiter.isPresent() && next.get() == waiter.get()) {
                throw MillraceException.user(SqlState.DEADLOCK_DETECTED, "deadlock detected")
                        .withHint("two transactions wait for what the other one changed; try this one again");
            }
            next = next.get().waitsFor;
        }
    }
}
