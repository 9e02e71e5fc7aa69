package dev.millrace.engine.subscription;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.millrace.batch.Batch;
import dev.millrace.engine.statistic.SubscriberStatistics;
import dev.millrace.engine.subscription.SubscriptionOptions.WhenFull;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.scheduler.Signal;
import dev.millrace.scheduler.Workers;
import dev.millrace.type.Schema;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Optional;

/** A queue of epochs from a query's output to one subscriber. */
public final class LocalSubscription implements Subscription {
    private final Schema schema;
    private final SubscriptionOptions options;
    private final Workers workers;
    private volatile Runnable onRoom; // written by who moves it, at rest; read by the subscriber
    private volatile Runnable onClose; // written by who moves it, at rest; read by the subscriber
    private final Signal signal = new Signal();

    @GuardedBy("this") private final ArrayDeque<EpochChanges> queue = new ArrayDeque<>();

    @GuardedBy("this") private Optional<MillraceException> failure = Optional.empty();

    private volatile long queuedBytes; // written under the lock, read by the output

    @GuardedBy("this") private long droppedRows; // since the last epoch that was taken

    private volatile boolean overrun; // written under the lock, read by all
    private volatile boolean ended; // nothing will be added; written under the lock, read by all
    private volatile boolean closed; // written under the lock, read by all

    public LocalSubscription(
            Schema schema, SubscriptionOptions options, Workers workers, Runnable onRoom, Runnable onClose) {
        this.schema = schema;
        this.options = options;
        this.workers = workers;
        this.onRoom = onRoom;
        this.onClose = onClose;
    }

    /** Adds an epoch; the batches stay the caller's. */
    public void deliver(long epoch, long epochMicros, List<Batch> batches, boolean snapshot) {
        if (batches.isEmpty() && !options.progress() && !snapshot) {
            return;
        }
        synchronized (this) {
            if (ended || closed) {
                return;
            }
            long bytes = 0;
            for (Batch batch : batches) {
                bytes += batch.sizeInBytes();
            }
            if (options.whenFull() == WhenFull.DROP_OLDEST) {
                makeRoom(bytes);
            }
            if (options.whenFull() == WhenFull.END && !queue.isEmpty() && queuedBytes + bytes > options.queueBytes()) {
                overrun = true;
                failure = Optional.of(MillraceException.resources(
                                SqlState.CONFIGURATION_LIMIT_EXCEEDED,
                                "the subscriber is too slow: more than " + options.queueBytes() + " bytes wait for it")
                        .withHint("SUBSCRIBE WITH (on_slow = 'drop_oldest' | 'block', buffer = '64MB')"));
                ended = true;
            } else {
                batches.forEach(Batch::retain);
                queue.add(new EpochChanges(epoch, epochMicros, batches, snapshot));
                queuedBytes += bytes;
            }
        }
        signal.raise();
    }

    @GuardedBy("this") private void makeRoom(long bytes) {
        while (!queue.isEmpty() && queuedBytes + bytes > options.queueBytes()) {
            EpochChanges oldest = queue.remove();
            droppedRows += oldest.droppedRows();
            for (Batch batch : oldest.batches()) {
                droppedRows += batch.rowCount();
                queuedBytes -= batch.sizeInBytes();
            }
            oldest.close();
        }
    }

    /** How far these are behind. */
    public static SubscriberStatistics statistics(List<LocalSubscription> subscriptions, long nowMicros) {
        SubscriberStatistics all = SubscriberStatistics.NONE;
        for (LocalSubscription subscription : subscriptions) {
            all = subscription.addTo(all, nowMicros);
        }
        return all;
    }

    private synchronized SubscriberStatistics addTo(SubscriberStatistics others, long nowMicros) {
        long rows = 0;
        for (EpochChanges epoch : queue) {
            for (Batch batch : epoch.batches()) {
                rows += batch.rowCount();
            }
        }
        long waits = queue.isEmpty() ? 0 : Math.max(0, nowMicros - queue.peek().epochMicros());
        return others.plus(rows, queuedBytes, waits);
    }

    @Override
    public boolean isOverrun() {
        return overrun;
    }

    /** Goes on with another query's output. */
    public void moveTo(Runnable newOnRoom, Runnable newOnClose) {
        onRoom = newOnRoom;
        onClose = newOnClose;
    }

    /** Whether the query should pause. */
    public boolean isFull() {
        return !ended && options.whenFull() == WhenFull.WAIT && queuedBytes > options.queueBytes();
    }

    /** Rows that failed stop the query: nothing follows, unless it goes through stops. */
    public void stop(MillraceException why) {
        if (!options.throughStops()) {
            end(Optional.of(why));
        }
    }

    /** Nothing follows. */
    public void end(Optional<MillraceException> why) {
        synchronized (this) {
            if (!ended) {
                ended = true;
                failure = why;
            }
        }
        signal.raise();
    }

    @Override
    public Schema schema() {
        return schema;
    }

    @Override
    public Optional<EpochChanges> next(long timeoutMicros) {
        try {
            long nanos = timeoutMicros > Long.MAX_VALUE / 1_000 ? Long.MAX_VALUE : 1_000 * timeoutMicros;
            workers.await(signal, () -> closed || ended || hasNext(), nanos);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw MillraceException.user(SqlState.QUERY_CANCELED, "canceling statement due to user request");
        }
        EpochChanges changes;
        synchronized (this) {
            changes = queue.poll();
            if (changes == null) {
                if (failure.isPresent() && !closed) {
                    throw failure.get();
                }
                return Optional.empty();
            }
            for (Batch batch : changes.batches()) {
                queuedBytes -= batch.sizeInBytes();
            }
            if (droppedRows > 0) {
                changes = new EpochChanges(
                        changes.epoch(), changes.epochMicros(), changes.batches(), changes.snapshot(), droppedRows);
                droppedRows = 0;
            }
        }
        if (options.whenFull() == WhenFull.WAIT) {
            onRoom.run();
        }
        return Optional.of(changes);
    }

    private synchronized boolean hasNext() {
        return !queue.isEmpty();
    }

    @Override
    public boolean isFinished() {
        return (ended || closed) && !hasNext();
    }

    @Override
    public void close() {
        List<EpochChanges> left;
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
            left = List.copyOf(queue);
            queue.clear();
            queuedBytes = 0;
        }
        left.forEach(EpochChanges::close);
        onClose.run();
        onRoom.run();
        signal.raise();
    }
}
