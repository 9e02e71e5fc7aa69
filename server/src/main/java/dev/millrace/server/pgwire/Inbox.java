package dev.millrace.server.pgwire;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.millrace.error.MillraceException;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.server.heap.HeapShare;
import dev.millrace.server.pgwire.message.ClientMessage;
import io.netty.channel.Channel;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Messages on their way from a connection's event loop to its session's thread. When many wait, the connection is not read
 * any more, so that the client has to wait as well.
 */
final class Inbox {
    private static final int MANY = 256;
    private static final int FEW = 32;
    private static final int MANY_BYTES = 4 << 20;

    private final Channel channel;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition arrived = lock.newCondition();

    @GuardedBy("lock") private final Deque<ClientMessage> messages = new ArrayDeque<>();

    @GuardedBy("lock") private long bytes;

    @GuardedBy("lock") private boolean paused;

    @GuardedBy("lock") private boolean closed;

    @GuardedBy("lock") private boolean served;

    @GuardedBy("lock") private Optional<HeapShare.Held> room = Optional.empty(); // of the message that is being answered

    Inbox(Channel channel) {
        this.channel = channel;
    }

    /** Adds messages; true when a thread has to be found to serve them. */
    boolean add(List<ClientMessage> read) {
        lock.lock();
        try {
            if (closed) {
                read.forEach(ClientMessage::close);
                return false;
            }
            for (ClientMessage message : read) {
                messages.add(message);
                bytes += message.size();
            }
            if (!paused && (messages.size() >= MANY || bytes >= MANY_BYTES)) {
                paused = true;
                channel.config().setAutoRead(false);
            }
            arrived.signal();
            boolean unserved = !served;
            served = true;
            return unserved;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Makes who asks the one that serves, if nobody does and so nothing waits: it may answer a message itself. It calls
     * {@link #release} after that.
     */
    boolean claim() {
        lock.lock();
        try {
            if (closed || served) {
                return false;
            }
            served = true;
            return true;
        } finally {
            lock.unlock();
        }
    }

    /** Serves no longer; true when a thread has to be found to go on, as messages came meanwhile, or the client went. */
    boolean release() {
        lock.lock();
        try {
            served = closed || !messages.isEmpty();
            return served;
        } finally {
            lock.unlock();
        }
    }

    /**
     * The next message if there is one; if not, the thread that asks serves no longer. When the client is gone this is its
     * farewell, once and for all.
     */
    Optional<ClientMessage> poll() {
        lock.lock();
        try {
            giveBack();
            if (closed) {
                return Optional.of(new ClientMessage.Terminate());
            }
            served = !messages.isEmpty();
            return next();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Waits for the next message; empty when the client is gone. For the thread that serves.
     *
     * @throws MillraceException if what the thread works for is stopped meanwhile
     */
    Optional<ClientMessage> take() {
        lock.lock();
        try {
            giveBack();
            while (messages.isEmpty() && !closed) {
                await();
            }
            return next();
        } finally {
            lock.unlock();
        }
    }

    @GuardedBy("lock") private void await() {
        try {
            arrived.await();
        } catch (InterruptedException e) {
            Interrupt.checkCurrent(); // it was meant for a step that ended, if this does not throw
        }
    }

    /** Whether a Sync is the next message, and has arrived. */
    boolean isSyncNext() {
        lock.lock();
        try {
            return messages.peek() instanceof ClientMessage.Sync;
        } finally {
            lock.unlock();
        }
    }

    /** The messages that arrived and are next, not more than so many; they stay where they are. */
    List<ClientMessage> waiting(int most) {
        lock.lock();
        try {
            return messages.stream().limit(most).toList();
        } finally {
            lock.unlock();
        }
    }

    @GuardedBy("lock") private Optional<ClientMessage> next() {
        Optional<ClientMessage> next = Optional.ofNullable(messages.poll());
        bytes -= next.map(ClientMessage::size).orElse(0L);
        if (paused && messages.size() <= FEW && bytes < MANY_BYTES) {
            paused = false;
            channel.config().setAutoRead(true);
        }
        if (next.isPresent() && next.get() instanceof ClientMessage.Large large) {
            room = Optional.of(large.room());
            return Optional.of(large.message());
        }
        return next;
    }

    /** Whoever asks for the next message has answered the one before. */
    @GuardedBy("lock") private void giveBack() {
        room.ifPresent(HeapShare.Held::close);
        room = Optional.empty();
    }

    /** The client is gone: what waits is freed. True when no thread serves, so that one has to be found to end the session. */
    boolean close() {
        lock.lock();
        try {
            closed = true;
            messages.forEach(ClientMessage::close);
            messages.clear();
            bytes = 0;
            arrived.signal();
            boolean unserved = !served;
            served = true;
            return unserved;
        } finally {
            lock.unlock();
        }
    }
}
