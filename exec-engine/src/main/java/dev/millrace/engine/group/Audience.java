package dev.millrace.engine.group;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.engine.subscription.ChangeHistory;
import dev.millrace.engine.subscription.LocalSubscription;
import dev.millrace.error.MillraceException;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.arrow.memory.BufferAllocator;

/**
 * Who listens to one member, from its first subscriber on, and the newest epochs for those who come again, if its history was begun. Rows are collected and delivered by who publishes; subscribers come
 * while nothing is published, and go at any time.
 */
public final class Audience implements AutoCloseable {
    private final Schema schema;
    private final BufferAllocator allocator;
    private final ChangeHistory history;
    private volatile List<LocalSubscription> subscriptions = List.of(); // replaced under the lock, read by all
    private final PickedRows rows = new PickedRows();
    private final List<Batch> parts = new ArrayList<>(); // of the epoch

    Audience(Schema schema, BufferAllocator allocator) {
        this.schema = schema;
        this.allocator = allocator;
        this.history = new ChangeHistory(schema, allocator);
    }

    public ChangeHistory history() {
        return history;
    }

    public List<LocalSubscription> subscriptions() {
        return subscriptions;
    }

    public synchronized void add(LocalSubscription subscription) {
        List<LocalSubscription> more = new ArrayList<>(subscriptions);
        more.add(subscription);
        subscriptions = List.copyOf(more);
    }

    public synchronized void remove(LocalSubscription subscription) {
        List<LocalSubscription> fewer = new ArrayList<>(subscriptions);
        fewer.remove(subscription);
        subscriptions = List.copyOf(fewer);
    }

    /** Lets the subscribers go without an end. While nothing is published. */
    public synchronized List<LocalSubscription> release() {
        List<LocalSubscription> released = subscriptions;
        subscriptions = List.of();
        return released;
    }

    /** Whether somebody has the query wait. */
    boolean isFull() {
        List<LocalSubscription> current = subscriptions;
        for (int i = 0; i < current.size(); i++) {
            if (current.get(i).isFull()) {
                return true;
            }
        }
        return false;
    }

    /** A row of the batch at hand is the member's. @return whether it is the first of the batch */
    boolean collect(int row) {
        return rows.add(row);
    }

    /** Copies what was collected of a batch. */
    void copy(Batch batch) {
        parts.add(rows.copy(batch, schema, allocator));
    }

    /** Tells of an epoch, with what was copied of it. */
    void deliver(long epoch, long micros) {
        try {
            List<LocalSubscription> current = subscriptions;
            for (int i = 0; i < current.size(); i++) {
                current.get(i).deliver(epoch, micros, List.copyOf(parts), false);
            }
            history.add(epoch, micros, parts);
        } finally {
            drop();
        }
    }

    /** Forgets what was copied. */
    void drop() {
        List<Batch> all = List.copyOf(parts);
        parts.clear();
        Closing.all(all);
    }

    void stop(MillraceException why) {
        subscriptions.forEach(subscription -> subscription.stop(why));
    }

    public void end(Optional<MillraceException> why) {
        subscriptions.forEach(subscription -> subscription.end(why));
    }

    @Override
    public void close() {
        drop();
        history.close();
    }
}
