package dev.millrace.server.pgwire;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.AbstractChannel;
import io.netty.channel.ChannelConfig;
import io.netty.channel.ChannelMetadata;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelPromise;
import io.netty.channel.DefaultChannelConfig;
import io.netty.channel.EventLoop;
import java.io.IOException;
import java.net.SocketAddress;
import java.util.Optional;

/**
 * The server's end of a connection that does not leave this program: what {@code PgConnection} sits on in place of a
 * socket's channel. The client's end is a {@link PipeSocket}.
 *
 * <p>A client that does not read makes the outgoing pipe fill, then Netty's outbound buffer above its water mark, and so the
 * session wait, as with a socket. A server that does not read makes the incoming pipe fill and the client wait.
 */
final class PipeChannel extends AbstractChannel {
    private static final ChannelMetadata METADATA = new ChannelMetadata(false);
    private static final int BUFFERS_PER_TURN = 16;

    private static final SocketAddress ADDRESS = new SocketAddress() {
        private static final long serialVersionUID = 1;

        @Override
        public String toString() {
            return "in-process";
        }
    };

    private final Pipe incoming = new Pipe();
    private final Pipe outgoing = new Pipe();
    private final ChannelConfig config = new DefaultChannelConfig(this) {
        @Override
        protected void autoReadCleared() {
            readWanted = false;
        }
    };
    private volatile boolean open = true; // written by the event loop, read by any thread
    private volatile boolean
            readWanted; // written by the event loop and whoever clears auto read, read by the event loop
    private volatile boolean writesWait; // written by the event loop, read by the client's thread

    PipeChannel() {
        super(null);
    }

    // ---- the client's side, on its threads -------------------------------------------------------------------------

    ByteBufAllocator clientAllocator() {
        return config.getAllocator();
    }

    /** Sends bytes to the server; waits while it has enough to do. */
    void send(ByteBuf buffer) throws IOException {
        incoming.put(buffer);
        eventLoop().execute(this::deliver);
    }

    /** The next bytes from the server, which the caller releases; empty when it hung up. */
    Optional<ByteBuf> receive(int timeoutMillis) throws IOException {
        Optional<ByteBuf> next = outgoing.take(timeoutMillis);
        if (writesWait) {
            eventLoop().execute(unsafe()::flush);
        }
        return next;
    }

    /** The client goes: the server reads what it sent, then finds the end. */
    void hangUp() {
        incoming.end();
        outgoing.abandon();
        eventLoop().execute(() -> {
            unsafe().flush(); // into nothing
            deliver();
        });
    }

    // ---- the server's side, on the event loop ----------------------------------------------------------------------

    private void deliver() {
        if (!open || !readWanted) {
            return;
        }
        int delivered = 0;
        for (Optional<ByteBuf> next = incoming.poll(); next.isPresent(); next = incoming.poll()) {
            readWanted = false;
            pipeline().fireChannelRead(next.get());
            if (++delivered == BUFFERS_PER_TURN) {
                break;
            }
        }
        if (delivered > 0) {
            pipeline().fireChannelReadComplete(); // which asks for more, unless auto read is off
        } else if (incoming.isAtEnd()) {
            unsafe().close(voidPromise());
        }
    }

    @Override
    protected void doBeginRead() {
        readWanted = true;
        eventLoop().execute(this::deliver);
    }

    @Override
    protected void doWrite(ChannelOutboundBuffer buffers) {
        writesWait = true; // before the pipe is looked at, so that whoever empties it from now on calls again
        for (Object next = buffers.current(); next != null; next = buffers.current()) {
            if (outgoing.isFull()) {
                return;
            }
            outgoing.add(((ByteBuf) next).retain());
            buffers.remove();
        }
        writesWait = false;
    }

    @Override
    protected void doClose() {
        open = false;
        outgoing.end();
        incoming.abandon();
    }

    @Override
    protected AbstractUnsafe newUnsafe() {
        return new AbstractUnsafe() {
            @Override
            public void connect(SocketAddress remote, SocketAddress local, ChannelPromise promise) {
                promise.setFailure(new UnsupportedOperationException("a pipe is connected from the start"));
            }
        };
    }

    @Override
    protected void doBind(SocketAddress local) {
        throw new UnsupportedOperationException("a pipe is connected from the start");
    }

    @Override
    protected void doDisconnect() {
        doClose();
    }

    @Override
    protected boolean isCompatible(EventLoop loop) {
        return true;
    }

    @Override
    protected SocketAddress localAddress0() {
        return ADDRESS;
    }

    @Override
    protected SocketAddress remoteAddress0() {
        return ADDRESS;
    }

    @Override
    public ChannelConfig config() {
        return config;
    }

    @Override
    public boolean isOpen() {
        return open;
    }

    @Override
    public boolean isActive() {
        return open;
    }

    @Override
    public ChannelMetadata metadata() {
        return METADATA;
    }
}
