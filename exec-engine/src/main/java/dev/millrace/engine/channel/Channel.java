package dev.millrace.engine.channel;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.millrace.engine.channel.Item.Rows;
import dev.millrace.time.Clock;
import java.util.ArrayDeque;
import java.util.Optional;

/**
 * A queue from one task (or the callers of {@code append}) to another, bounded in bytes by its producers' good manners:
 * whoever would put rows looks at {@link #isFull} first, puts at most what it is working on, and is told by
 * {@code onRoom}. It is full from above the high mark until below the low one, so that it does not oscillate (Neptune,
 * dissertation ch. 5.1). Signals are always welcome.
 */
public final class Channel implements AutoCloseable {
    private final long highBytes;
    private final long lowBytes;
    private final Clock clock;

    @GuardedBy("this") private final ArrayDeque<Item> items = new ArrayDeque<>();

    private Runnable onItem = () -> {}; // set before anything is put, then read by who puts
    private Runnable onRoom = () -> {}; // set before anything is put, then read by who takes

    @GuardedBy("this") private boolean closed;

    private final WaitTime waitTime = new WaitTime();
    private volatile long queuedBytes; // written under the lock, read by statistics and policies
    private volatile long queuedRows; // the same
    private volatile boolean full; // written under the lock, read by producers
    private volatile int size; // written under the lock, read by the consumer

    public Channel(long highBytes, long lowBytes, Clock clock) {
        this.clock = clock;
        this.highBytes = highBytes;
        this.lowBytes = lowBytes;
    }

    /** Who is told, without a lock held, that there is something; to be set before anything is put. */
    public void onItem(Runnable consumer) {
        onItem = consumer;
    }

    /** Who is told that the channel is not full any more; to be set before anything is put. */
    public void onRoom(Runnable producer) {
        onRoom = producer;
    }

    /** Takes over the item. */
    public void put(Item item) {
        synchronized (this) {
            if (!closed) {
                if (item instanceof Rows rows) {
                    queuedBytes += rows.batch().sizeInBytes();
                    queuedRows += rows.batch().rowCount();
                    waitTime.came(clock.nanoTime());
                    full |= queuedBytes > highBytes;
                }
                items.add(item);
                size++;
                item = Item.END; // handed over
            }
        }
        if (item instanceof Rows refused) {
            refused.batch().close();
        } else {
            onItem.run();
        }
    }

    /** The next item, which is the caller's. */
    public Optional<Item> poll() {
        if (size == 0) {
            return Optional.empty();
        }
        Item item;
        boolean room = false;
        synchronized (this) {
            item = items.poll();
            if (item == null) {
                return Optional.empty();
            }
            size--;
            if (item instanceof Rows rows) {
                queuedBytes -= rows.batch().sizeInBytes();
                queuedRows -= rows.batch().rowCount();
                waitTime.went(clock.nanoTime());
                room = full && (queuedBytes < lowBytes || queuedBytes == 0);
                full &= !room;
            }
        }
        if (room) {
            onRoom.run();
        }
        return Optional.of(item);
    }

    /** Whether producers should pause. */
    public boolean isFull() {
        return full;
    }

    public boolean isEmpty() {
        return size == 0;
    }

    public long queuedBytes() {
        return queuedBytes;
    }

    public long queuedRows() {
        return queuedRows;
    }

    /** Time for which rows waited here, each batch's own, in all; any thread. */
    public long waitNanos() {
        return waitTime.nanos(clock.nanoTime());
    }

    /** Frees what is queued, and from now on what is put; producers have room for ever. */
    @Override
    public void close() {
        ArrayDeque<Item> left;
        synchronized (this) {
            closed = true;
            left = new ArrayDeque<>(items);
            items.clear();
            size = 0;
            queuedBytes = 0;
            queuedRows = 0;
            waitTime.allWent(clock.nanoTime());
            full = false;
        }
        for (Item item : left) {
            if (item instanceof Rows rows) {
                rows.batch().close();
            }
        }
        onRoom.run();
    }
}
