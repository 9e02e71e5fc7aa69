package dev.millrace.server.pgwire;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Buffers on their way from one side to the other inside this program. One side adds and the other takes; either may close.
 * The bytes are not copied, and how many may wait is bounded by whoever asks {@link #isFull} or waits in {@link #put}.
 */
final class Pipe {
    private static final long MOST_BYTES = 256 << 10;

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();

    @GuardedBy("lock") private final Deque<ByteBuf> buffers = new ArrayDeque<>();

    @GuardedBy("lock") private long bytes;

    @GuardedBy("lock") private boolean ended; // nothing more is added

    @GuardedBy("lock") private boolean abandoned; // nothing more is taken

    /** Whether the other side should be waited for. */
    boolean isFull() {
        lock.lock();
        try {
            return bytes >= MOST_BYTES && !abandoned;
        } finally {
            lock.unlock();
        }
    }

    /** Adds a buffer, taken over, however full the pipe is. */
    void add(ByteBuf buffer) {
        lock.lock();
        try {
            if (ended || abandoned) {
                buffer.release();
                return;
            }
            buffers.add(buffer);
            bytes += buffer.readableBytes();
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Adds a buffer, taken over, and waits first while the pipe is full.
     *
     * @throws IOException if the other side is gone
     */
    void put(ByteBuf buffer) throws IOException {
        lock.lock();
        try {
            while (bytes >= MOST_BYTES && !abandoned && !ended) {
                changed.awaitUninterruptibly();
            }
            if (abandoned || ended) {
                buffer.release();
                throw new IOException("the connection is closed");
            }
            buffers.add(buffer);
            bytes += buffer.readableBytes();
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** The next buffer, if there is one, which the caller releases. */
    Optional<ByteBuf> poll() {
        lock.lock();
        try {
            return next();
        } finally {
            lock.unlock();
        }
    }

    /**
     * The next buffer, which the caller releases; empty at the end. Waits for it.
     *
     * @param timeoutMillis 0 for as long as it takes
     */
    Optional<ByteBuf> take(int timeoutMillis) throws IOException {
        lock.lock();
        try {
            long leftNanos = TimeUnit.MILLISECONDS.toNanos(timeoutMillis);
            while (buffers.isEmpty() && !ended && !abandoned) {
                if (timeoutMillis == 0) {
                    changed.awaitUninterruptibly();
                } else if (leftNanos <= 0) {
                    throw new SocketTimeoutException("nothing came within " + timeoutMillis + " ms");
                } else {
                    leftNanos = changed.awaitNanos(leftNanos);
                }
            }
            if (abandoned) {
                throw new IOException("the connection is closed");
            }
            return next();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while waiting for the server", e);
        } finally {
            lock.unlock();
        }
    }

    @GuardedBy("lock") private Optional<ByteBuf> next() {
        Optional<ByteBuf> next = Optional.ofNullable(buffers.poll());
        if (next.isPresent()) {
            bytes -= next.get().readableBytes();
            changed.signalAll();
        }
        return next;
    }

    /** Whether nothing waits and nothing more is added. */
    boolean isAtEnd() {
        lock.lock();
        try {
            return ended && buffers.isEmpty();
        } finally {
            lock.unlock();
        }
    }

    /** Nothing more is added; what waits can still be taken. */
    void end() {
        lock.lock();
        try {
            ended = true;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Nothing more is taken: what waits is freed, and nobody waits for room. */
    void abandon() {
        lock.lock();
        try {
            abandoned = true;
            buffers.forEach(ByteBuf::release);
            buffers.clear();
            bytes = 0;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }
}
