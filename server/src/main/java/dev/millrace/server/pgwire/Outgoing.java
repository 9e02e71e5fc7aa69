package dev.millrace.server.pgwire;

import dev.millrace.batch.Memory;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.text.TextBuffer;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * What a connection sends: messages are gathered and leave together. A client that does not read makes its own session's
 * thread wait, and nobody else.
 *
 * <p>Used by the session's thread, but for {@link #writabilityChanged}, which the event loop calls, and
 * {@link #isEndless}.
 */
final class Outgoing implements AutoCloseable {
    private static final int CHUNK_BYTES = 64 << 10;

    private final Channel channel;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private ByteBuf buffer;
    private volatile boolean endless; // written by the session's thread, read by who stops the server

    Outgoing(Channel channel) {
        this.channel = channel;
        this.buffer = allocate();
    }

    private ByteBuf allocate() {
        return channel.alloc().directBuffer(1 << 10);
    }

    /** Where messages are written, whole ones. Valid until the next {@link #flush} or {@link #sendIfMuch}. */
    ByteBuf buffer() {
        return buffer;
    }

    /** Adds whole messages, and empties where they were. */
    void add(TextBuffer messages) {
        int length = Math.toIntExact(messages.length());
        buffer.ensureWritable(length);
        if (buffer.hasMemoryAddress()) {
            Memory.copy(messages.address(), buffer.memoryAddress() + buffer.writerIndex(), length);
            buffer.writerIndex(buffer.writerIndex() + length);
        } else {
            buffer.writeBytes(messages.toBytes());
        }
        messages.clear();
        sendIfMuch();
    }

    /** Sends what was gathered if it is worth it, and waits while the client is behind. */
    void sendIfMuch() {
        if (buffer.readableBytes() >= CHUNK_BYTES) {
            flush();
        }
    }

    /**
     * Sends what was gathered, and waits while the client is behind.
     *
     * @throws MillraceException if the client is gone
     */
    void flush() {
        if (buffer.isReadable()) {
            channel.writeAndFlush(buffer, channel.voidPromise());
            buffer = allocate();
        }
        if (!channel.isWritable()) {
            awaitWritable();
        }
    }

    private void awaitWritable() {
        lock.lock();
        try {
            while (!channel.isWritable() && channel.isActive()) {
                changed.awaitUninterruptibly();
            }
        } finally {
            lock.unlock();
        }
        if (!channel.isActive()) {
            throw MillraceException.external(SqlState.CONNECTION_FAILURE, "the client is gone", null);
        }
    }

    /** Says that rows of a subscription are being sent, or no longer. */
    void setEndless(boolean now) {
        endless = now;
    }

    /** Whether rows of a subscription are being sent, which end only when it is cancelled. On any thread. */
    boolean isEndless() {
        return endless;
    }

    /** The channel takes more, or is closed. */
    void writabilityChanged() {
        lock.lock();
        try {
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Sends what was gathered, and closes the connection behind it. */
    void hangUp() {
        if (channel.isActive()) {
            channel.writeAndFlush(buffer).addListener(ChannelFutureListener.CLOSE);
            buffer = allocate();
        }
    }

    @Override
    public void close() {
        buffer.release();
    }
}
