package dev.millrace.server.session;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.millrace.batch.Closing;
import dev.millrace.engine.subscription.EpochChanges;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.server.result.StatementResult;
import dev.millrace.server.result.StatementResults;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Flow;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * Delivers one subscription to one subscriber, by the rules of {@link Flow}: signals come one after the other, no more items
 * than requested, one end at most. All on a thread of its own, but for {@code onSubscribe}.
 *
 * <pre>
 *   begin -> DELIVERING --end of the query--> onComplete
 *                |  |------failure, bad request, closing of the database--> onError
 *                +---------cancel--> (nothing more)
 * </pre>
 */
final class ChangeDelivery<T extends AutoCloseable> implements Flow.Subscription {
    private static final long LOOK_MICROS = 200_000;
    private static final long SHUT_DOWN_MILLIS = 10_000;

    private final Flow.Subscriber<? super T> subscriber;
    private final Function<EpochChanges, List<T>> items;
    private final Consumer<ChangeDelivery<T>> onEnd;
    private final Deque<T> waiting = new ArrayDeque<>(); // the delivering thread's

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();

    @GuardedBy("lock") private long demand;

    @GuardedBy("lock") private boolean cancelled;

    @GuardedBy("lock") private Optional<RuntimeException> failure = Optional.empty(); // ends it from outside

    private volatile Optional<Session> session = Optional.empty(); // written by begin, read by who cancels
    private volatile Optional<Thread> thread = Optional.empty(); // written by begin, read by who shuts down

    ChangeDelivery(
            Flow.Subscriber<? super T> subscriber,
            Function<EpochChanges, List<T>> items,
            Consumer<ChangeDelivery<T>> onEnd) {
        this.subscriber = Objects.requireNonNull(subscriber);
        this.items = items;
        this.onEnd = onEnd;
    }

    /** Runs the statement, so that nothing from now on is missed, and starts to deliver. */
    void begin(Session own, String sql, List<?> parameters, String name) {
        session = Optional.of(own);
        Optional<StatementResult.Changes> changes = Optional.empty();
        try {
            StatementResults results = own.execute(sql, parameters);
            StatementResult result = results.next();
            if (result instanceof StatementResult.Changes found && !results.hasNext()) {
                changes = Optional.of(found);
            } else {
                results.close();
                throw MillraceException.user(SqlState.SYNTAX_ERROR, "one SUBSCRIBE is needed here");
            }
        } catch (RuntimeException e) {
            fail(e);
        }
        subscriber.onSubscribe(this);
        Optional<StatementResult.Changes> source = changes;
        Thread delivering = new Thread(() -> run(own, source), "millrace-" + name.replace(' ', '-'));
        delivering.setDaemon(true);
        thread = Optional.of(delivering);
        delivering.start();
    }

    @Override
    public void request(long count) {
        lock.lock();
        try {
            if (count <= 0) {
                fail(new IllegalArgumentException("the number of items requested is above 0, not " + count));
            } else {
                demand = demand + count < 0 ? Long.MAX_VALUE : demand + count;
            }
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void cancel() {
        lock.lock();
        try {
            cancelled = true;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
        session.ifPresent(Session::cancel);
    }

    private void fail(RuntimeException cause) {
        lock.lock();
        try {
            if (failure.isEmpty()) {
                failure = Optional.of(cause);
            }
            changed.signalAll();
        } finally {
            lock.unlock();
        }
        session.ifPresent(Session::cancel);
    }

    /** The database is being closed: ends with an error, and waits until nothing is held, unless a subscriber itself asks. */
    void shutDown() {
        fail(MillraceException.user(SqlState.ADMIN_SHUTDOWN, "the database is closed"));
        try {
            if (thread.isPresent() && thread.get() != Thread.currentThread()) {
                thread.get().join(SHUT_DOWN_MILLIS);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    // ---- on the delivering thread ----------------------------------------------------------------------------------

    private void run(Session own, Optional<StatementResult.Changes> source) {
        Optional<RuntimeException> end;
        try {
            if (source.isPresent()) {
                deliver(source.get());
            }
            end = failureIfAny();
        } catch (MillraceException e) {
            end = Optional.of(failureIfAny().orElse(e));
        } finally {
            Closing.all(waiting);
            waiting.clear();
            source.ifPresent(StatementResult::close);
            own.close();
            onEnd.accept(this);
        }
        if (isCancelled()) {
            return;
        }
        if (end.isPresent()) {
            subscriber.onError(end.get());
        } else {
            subscriber.onComplete();
        }
    }

    /** Returns at the end of the query, when cancelled, and when something failed outside. */
    private void deliver(StatementResult.Changes changes) {
        while (!isStopped()) {
            if (!waiting.isEmpty()) {
                if (awaitDemand()) {
                    subscriber.onNext(waiting.poll());
                }
                continue;
            }
            Optional<EpochChanges> next = changes.next(LOOK_MICROS);
            if (next.isPresent()) {
                waiting.addAll(items.apply(next.get()));
            } else if (changes.isFinished()) {
                return;
            }
        }
    }

    /** Takes one item's worth of demand; false if it ended first. */
    private boolean awaitDemand() {
        lock.lock();
        try {
            while (demand == 0 && !isStopped()) {
                changed.await(LOOK_MICROS, TimeUnit.MICROSECONDS);
            }
            if (isStopped()) {
                return false;
            }
            demand -= demand == Long.MAX_VALUE ? 0 : 1;
            return true;
        } catch (InterruptedException e) {
            return false; // a cancel that came while there was nothing to wait for in the session
        } finally {
            lock.unlock();
        }
    }

    private boolean isStopped() {
        lock.lock();
        try {
            return cancelled || failure.isPresent();
        } finally {
            lock.unlock();
        }
    }

    private boolean isCancelled() {
        lock.lock();
        try {
            return cancelled;
        } finally {
            lock.unlock();
        }
    }

    private Optional<RuntimeException> failureIfAny() {
        lock.lock();
        try {
            return failure;
        } finally {
            lock.unlock();
        }
    }
}
