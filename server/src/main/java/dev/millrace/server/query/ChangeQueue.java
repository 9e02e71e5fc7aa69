package dev.millrace.server.query;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.connector.Sink;
import dev.millrace.engine.subscription.EpochChanges;
import dev.millrace.engine.subscription.SubscriptionOptions.WhenFull;
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
 * first row on. When more wait than may, the query waits, or what is oldest is dropped, or the subscription ends.
 */
final class ChangeQueue implements Sink {
    private final Clock clock;
    private final WhenFull whenFull;
    private final long mostBytes;

    @GuardedBy("lock") private long droppedRows; // since the last epoch that was taken

    private volatile boolean overrun; // written under the lock, read by all
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();

    @GuardedBy("lock") private final List<Batch> epochUnderWay = new ArrayList<>();

    @GuardedBy("lock") private final Deque<EpochChanges> queue = new ArrayDeque<>();

    @GuardedBy("lock") private long queuedBytes;

    @GuardedBy("lock") private boolean abandoned;

    /** @param mostBytes that may wait; a single epoch may be more */
    ChangeQueue(Clock clock, WhenFull whenFull, long mostBytes) {
        this.clock = clock;
        this.whenFull = whenFull;
        this.mostBytes = mostBytes;
    }

    @Override
    public void write(Batch batch) {
        lock.lock();
        try {
            while (whenFull == WhenFull.WAIT && queuedBytes > mostBytes && !abandoned) {
                changed.awaitUninterruptibly();
            }
            if (!abandoned && !overrun) {
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
            long bytes = bytes(epochUnderWay);
            boolean full = !queue.isEmpty() && queuedBytes + bytes > mostBytes;
            if (full && whenFull == WhenFull.DROP_OLDEST) {
                makeRoom(bytes);
            }
            if (overrun || full && whenFull == WhenFull.END) {
                overrun = true;
                Closing.all(epochUnderWay);
            } else {
                queue.add(new EpochChanges(epoch, clock.epochMicros(), epochUnderWay, false));
                queuedBytes += bytes;
            }
            epochUnderWay.clear();
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    @GuardedBy("lock") private void makeRoom(long bytes) {
        while (!queue.isEmpty() && queuedBytes + bytes > mostBytes) {
            EpochChanges oldest = queue.remove();
            droppedRows += oldest.batches().stream().mapToLong(Batch::rowCount).sum();
            queuedBytes -= bytes(oldest.batches());
            oldest.close();
        }
    }

    /** Whether the subscription ended because its subscriber is too slow. */
    boolean isOverrun() {
        return overrun;
    }

    /** The next epoch, which the caller closes; waits at most so long. */
    Optional<EpochChanges> next(long timeoutMicros) {
        lock.lock();
        try {
            long leftNanos = TimeUnit.MICROSECONDS.toNanos(timeoutMicros);
            while (queue.isEmpty() && !overrun && leftNanos > 0) {
                leftNanos = changed.awaitNanos(leftNanos);
            }
            if (queue.isEmpty() && overrun) {
                throw MillraceException.resources(
                                SqlState.CONFIGURATION_LIMIT_EXCEEDED,
                                "the subscriber is too slow: more than " + mostBytes + " bytes wait for it")
                        .withHint("SUBSCRIBE WITH (on_slow = 'drop_oldest' | 'block', buffer = '64MB')");
            }
            Optional<EpochChanges> next = Optional.ofNullable(queue.poll());
            if (next.isPresent() && droppedRows > 0) {
                EpochChanges taken = next.get();
                next = Optional.of(new EpochChanges(
                        taken.epoch(), taken.epochMicros(), taken.batches(), taken.snapshot(), droppedRows));
                droppedRows = 0;
            }
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

    @GuardedBy("lock") private void freeAll() {
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
