package dev.millrace.server.session;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.connector.Sink;
import dev.millrace.engine.runtime.EpochChanges;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.time.Clock;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Carries the epochs of a query that was started for one subscriber from the engine to the subscriber's thread, from the
 * first row on. When more than {@link #MOST_BYTES} wait, the query waits.
 */
final class ChangeQueue implements Sink {
    private static final long MOST_BYTES = 16L << 20;

    private final Clock clock;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final List<Batch> epochUnderWay = new ArrayList<>(); // guarded by lock
    private final Deque<EpochChanges> queue = new ArrayDeque<>(); // guarded by lock
    private long queuedBytes; // guarded by lock
    private boolean abandoned; // guarded by lock

    ChangeQueue(Clock clock) {
        this.clock = clock;
    }

    @Override
    public void write(Batch batch) {
        lock.lock();
        try {
            while (queuedBytes > MOST_BYTES && !abandoned) {
                changed.awaitUninterruptibly();
            }
            if (!abandoned) {
                epochUnderWay.add(batch.retain());
            }
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void commit(long epoch) {
        lock.lock();
        try {
            queue.add(new EpochChanges(epoch, clock.epochMicros(), epochUnderWay, false));
            queuedBytes += bytes(epochUnderWay);
            epochUnderWay.clear();
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** The next epoch, which the caller closes; waits at most so long. */
    Optional<EpochChanges> next(long timeoutMicros) {
        lock.lock();
        try {
            long leftNanos = TimeUnit.MICROSECONDS.toNanos(timeoutMicros);
            while (queue.isEmpty() && leftNanos > 0) {
                leftNanos = changed.awaitNanos(leftNanos);
            }
            Optional<EpochChanges> next = Optional.ofNullable(queue.poll());
            next.ifPresent(epoch -> queuedBytes -= bytes(epoch.batches()));
            changed.signalAll();
            return next;
        } catch (InterruptedException e) {
            throw MillraceException.user(SqlState.QUERY_CANCELED, "canceling statement due to user request");
        } finally {
            lock.unlock();
        }
    }

    boolean isEmpty() {
        lock.lock();
        try {
            return queue.isEmpty();
        } finally {
            lock.unlock();
        }
    }

    /** The subscriber goes: what waits is freed, and the query waits for nobody any more. */
    void abandon() {
        lock.lock();
        try {
            abandoned = true;
            changed.signalAll();
            freeAll();
        } finally {
            lock.unlock();
        }
    }

    /** Called by the engine when the query ends; what was committed can still be taken. */
    @Override
    public void close() {
        lock.lock();
        try {
            Closing.all(epochUnderWay);
            epochUnderWay.clear();
            if (abandoned) {
                freeAll();
            }
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    private void freeAll() {
        Closing.all(queue);
        queue.clear();
        Closing.all(epochUnderWay);
        epochUnderWay.clear();
        queuedBytes = 0;
    }

    private static long bytes(List<Batch> batches) {
        return batches.stream().mapToLong(Batch::sizeInBytes).sum();
    }
}
