package dev.millrace.server.http;

import dev.millrace.error.MillraceException;
import dev.millrace.server.session.Session;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.local.LocalAddress;
import io.netty.handler.codec.http.FullHttpRequest;
import java.net.SocketAddress;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import java.util.concurrent.RejectedExecutionException;

/**
 * One client's connection, on its event loop: requests are answered one after the other, each on a thread that may wait. A
 * client that goes away cancels what it asked for.
 */
final class HttpConnection extends SimpleChannelInboundHandler<FullHttpRequest> {
    private static final int MANY = 4;

    private final HttpServer server;
    private final boolean ordinary;
    private final Deque<FullHttpRequest> waiting = new ArrayDeque<>(); // on the event loop
    private volatile Optional<HttpReply> answering = Optional.empty(); // written on the event loop, read by who stops
    private volatile Optional<Session> session = Optional.empty(); // written by the thread that answers, read by all
    private volatile boolean endless; // the same
    private volatile SocketAddress address = new LocalAddress("unknown"); // written on the event loop, read by all

    /** @param ordinary false where only the server's health is told */
    HttpConnection(HttpServer server, boolean ordinary) {
        this.server = server;
        this.ordinary = ordinary;
    }

    @Override
    protected void channelRead0(ChannelHandlerContext context, FullHttpRequest request) {
        address = context.channel().remoteAddress();
        waiting.add(request.retain());
        if (waiting.size() >= MANY) {
            context.channel().config().setAutoRead(false);
        }
        answerNext(context);
    }

    private void answerNext(ChannelHandlerContext context) {
        if (answering.isPresent() || waiting.isEmpty()) {
            return;
        }
        FullHttpRequest request = waiting.remove();
        if (waiting.size() < MANY) {
            context.channel().config().setAutoRead(true);
        }
        HttpReply reply = new HttpReply(context.channel(), request, server.options(), ordinary);
        answering = Optional.of(reply);
        long start = System.nanoTime();
        server.execute(() -> {
            try {
                new Endpoints(server, this).answer(request, reply);
            } catch (MillraceException e) {
                reply.fail(e);
            } catch (RuntimeException | Error e) {
                reply.fail(MillraceException.internal("unexpected: " + e, e));
            } finally {
                if (server.hasStarted()) {
                    server.metrics().requested(Endpoints.name(request), System.nanoTime() - start);
                }
                request.release();
                reply.close();
                session = Optional.empty();
                answered(context);
            }
        });
    }

    private void answered(ChannelHandlerContext context) {
        try {
            context.channel().eventLoop().execute(() -> {
                answering = Optional.empty();
                answerNext(context);
            });
        } catch (RejectedExecutionException e) {
            answering = Optional.empty(); // the server is closed, and nobody asks any more
        }
    }

    /** Says whose work is under way, so that it can be cancelled. */
    void working(Session with, boolean withoutEnd) {
        session = Optional.of(with);
        endless = withoutEnd;
        answering.filter(HttpReply::isGone).ifPresent(reply -> with.cancel("loss of the connection"));
    }

    /** Whether all may be asked, not only the server's health. */
    boolean isOrdinary() {
        return ordinary;
    }

    /** Where the client is. */
    SocketAddress address() {
        return address;
    }

    boolean isBusy() {
        return answering.isPresent();
    }

    /** A subscription ends when it is cancelled only. */
    void cancelIfEndless() {
        if (endless) {
            session.ifPresent(with -> with.cancel("the server's stop"));
        }
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext context) {
        answering.ifPresent(HttpReply::writabilityChanged);
        context.fireChannelWritabilityChanged();
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        waiting.forEach(FullHttpRequest::release);
        waiting.clear();
        answering.ifPresent(HttpReply::writabilityChanged);
        session.ifPresent(with -> with.cancel("loss of the connection"));
        context.fireChannelInactive();
    }

    /** Broken TLS, a reset: the connection ends, quietly, as the network is not ours. */
    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        context.close();
    }
}
