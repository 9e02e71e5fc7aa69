package dev.millrace.server.pgwire;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.memory.CheckedMemory;
import dev.millrace.memory.Memory;
import dev.millrace.server.pgwire.message.ServerMessages;
import dev.millrace.text.TextBuffer;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import org.apache.arrow.memory.BufferAllocator;

/**
 * What a connection sends: messages are gathered and leave together. A client that does not read makes its own session's
 * thread wait, and nobody else.
 *
 * <p>Used by the thread that serves the session, but for {@link #writabilityChanged}, which the event loop calls, and
 * {@link #isEndless}.
 */
final class Outgoing implements AutoCloseable {
    private static final int CHUNK_BYTES = 64 << 10;
    private static final int ROOM_FOR_ROWS = 2 << 10;
    private static final int MOST_KEPT = 4 << 10; // bytes of rows that room is kept for
    private static final long LOOK_MILLIS = 500;
    private static final long FAREWELL_SECONDS = 5;
    private static final BooleanSupplier NEVER = () -> false;

    private final Channel channel;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final AtomicInteger unsent = new AtomicInteger(); // writes of session threads that are not done
    private final ChannelFutureListener sent = this::sent;
    private Optional<TextBuffer> rows = Optional.empty();
    private BooleanSupplier isCut = NEVER;
    private boolean cutting;
    private ByteBuf buffer;
    private boolean isWhole; // what is in the buffer is an answer that the client waits for, or ends in one
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

    /** Where rows are written on their way to {@link #add}, kept for the next ones; empty. */
    TextBuffer rows(BufferAllocator allocator) {
        if (rows.isEmpty()) {
            rows = Optional.of(new TextBuffer(allocator, ROOM_FOR_ROWS));
        }
        rows.get().clear();
        return rows.get();
    }

    /** Adds whole messages, and empties where they were. */
    void add(TextBuffer messages) {
        int length = Math.toIntExact(messages.length());
        buffer.ensureWritable(length);
        if (buffer.hasMemoryAddress() && !CheckedMemory.isOn()) {
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
            if (channel.eventLoop().inEventLoop()) {
                passOn();
            } else {
                flush();
            }
        }
    }

    /**
     * Sends what was gathered, and waits while the client is behind; but not on the event loop, where only short answers are
     * given to clients that keep up, and all of them leave together with {@link #passOn}.
     *
     * @throws MillraceException if the client is gone, or what is sent is of a statement that was cancelled meanwhile
     */
    void flush() {
        if (channel.eventLoop().inEventLoop()) {
            isWhole = true;
            return;
        }
        isWhole = false;
        if (buffer.isReadable()) {
            unsent.incrementAndGet();
            channel.writeAndFlush(buffer).addListener(sent);
            buffer = allocate();
        }
        if (!channel.isWritable()) {
            awaitWritable();
        }
    }

    /**
     * Gives the channel the answers to all that was read together, which leave with its next flush. On the event loop, by who
     * serves the session there: before another thread does, and when there is no more to be read. While what another thread sent
     * is on its way through the loop, what follows it waits: that is the thread's as well, which goes on at the next message.
     */
    void passOn() {
        if (buffer.isReadable() && unsent.get() == 0) {
            channel.write(buffer, channel.voidPromise());
            buffer = allocate();
            isWhole = false;
        }
    }

    /** The same, unless no answer is whole: what belongs to the one that is to come soon leaves with it, and not in a packet of its own. */
    void passOnWhole() {
        if (isWhole) {
            passOn();
        }
    }

    /**
     * Whether a short answer can be sent on the event loop: the client keeps up, and what other threads sent before is with the
     * system, no longer on its way through the loop, where an answer of now would overtake it.
     */
    boolean keepsUp() {
        return unsent.get() == 0 && channel.isWritable();
    }

    private void sent(ChannelFuture writing) {
        unsent.decrementAndGet();
        if (!writing.isSuccess()) {
            channel.close();
        }
    }

    private void awaitWritable() {
        lock.lock();
        try {
            while (!channel.isWritable() && channel.isActive()) {
                if (!cutting && isCut.getAsBoolean()) {
                    cut();
                }
                try {
                    changed.await(LOOK_MILLIS, TimeUnit.MILLISECONDS);
                } catch (InterruptedException e) {
                    Interrupt.checkCurrent(); // what is sent is of a statement that is cancelled; else it is awaited
                }
            }
        } finally {
            lock.unlock();
        }
        if (!channel.isActive()) {
            throw MillraceException.external(SqlState.CONNECTION_FAILURE, "the client is gone");
        }
    }

    /** Says that rows are being sent, which end only when they are cancelled if {@code now}, or no longer. */
    void setEndless(boolean now) {
        endless = now;
        isCut = NEVER; // what was sent before is not held any more, and cuts nobody off
    }

    /** Whether rows of a subscription are being sent, which end only when it is cancelled. On any thread. */
    boolean isEndless() {
        return endless;
    }

    /** While a client is waited for, asks now and then whether it is to be cut off. */
    void cutIf(BooleanSupplier condition) {
        isCut = condition;
    }

    /** Says why, in case that the client reads again, and hangs up soon. */
    private void cut() {
        cutting = true;
        ByteBuf why = allocate();
        ServerMessages.error(
                why,
                "FATAL",
                MillraceException.resources(
                        SqlState.CONFIGURATION_LIMIT_EXCEEDED,
                        "terminating connection because its subscription is too far behind"));
        channel.writeAndFlush(why, channel.voidPromise());
        channel.eventLoop().schedule(() -> channel.close(), FAREWELL_SECONDS, TimeUnit.SECONDS);
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

    /** Rows were sent: a client's long ones are not paid for by all the others. */
    void rowsSent() {
        if (rows.isPresent() && rows.get().capacity() > MOST_KEPT) {
            rows.get().close();
            rows = Optional.empty();
        }
    }

    @Override
    public void close() {
        buffer.release();
        rows.ifPresent(TextBuffer::close);
        rows = Optional.empty();
    }
}
