package dev.millrace.server.http;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.server.config.HttpLimits;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpStatusClass;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.ScheduledFuture;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Sees to it that a client sends what it began, in time and within bounds, before requests are put together. On the
 * connection's event loop.
 *
 * <pre>
 *   WAITING --headers--> READING --end of body--> ANSWERING --end of the answer--> WAITING
 *      | too long           | too long (408), too many bytes of all clients (503)
 *      +--------------------+--> closed
 * </pre>
 */
final class HttpGuard extends ChannelDuplexHandler {
    private final HttpLimits limits;
    private final AtomicLong bodyBytes; // of all connections' requests that are not answered
    private final long mostBodyBytes;

    private boolean first = true; // no request was whole yet
    private boolean reading; // a body
    private int unanswered;
    private long sinceNanos;
    private long received; // of the body under way
    private long held; // of bodyBytes, by this connection
    private boolean refused;
    private Optional<ScheduledFuture<?>> timer = Optional.empty();
    private long timerNanos; // when it is due

    HttpGuard(HttpLimits limits, AtomicLong bodyBytes, long mostBodyBytes) {
        this.limits = limits;
        this.bodyBytes = bodyBytes;
        this.mostBodyBytes = mostBodyBytes;
    }

    @Override
    public void handlerAdded(ChannelHandlerContext context) {
        sinceNanos = System.nanoTime();
        setTimer(context);
    }

    /** Has somebody look when what it waits for now is to be there, unless somebody will look before. */
    private void setTimer(ChannelHandlerContext context) {
        long allowed = allowedNanos();
        long due = sinceNanos + allowed;
        if (allowed == Long.MAX_VALUE || timer.isPresent() && timerNanos - due <= 0) {
            return;
        }
        timer.ifPresent(set -> set.cancel(false));
        timerNanos = due;
        timer = Optional.of(context.executor()
                .schedule(() -> look(context), Math.max(0, due - System.nanoTime()), TimeUnit.NANOSECONDS));
    }

    private void look(ChannelHandlerContext context) {
        timer = Optional.empty();
        if (!context.channel().isActive() || refused) {
            return;
        }
        if (System.nanoTime() - sinceNanos < allowedNanos()) {
            setTimer(context);
        } else if (reading) {
            refuse(
                    context,
                    HttpResponseStatus.REQUEST_TIMEOUT,
                    MillraceException.user(
                            SqlState.PROTOCOL_VIOLATION, "the body of the request did not come in time"));
        } else {
            context.close();
        }
    }

    /** How long what it waits for may take, from {@code sinceNanos} on. */
    private long allowedNanos() {
        if (unanswered > 0) {
            return Long.MAX_VALUE; // by now it waits for us
        }
        if (reading) {
            long more = TimeUnit.SECONDS.toNanos(received / HttpLimits.LEAST_BODY_BYTES);
            return limits.body().isZero() ? Long.MAX_VALUE : limits.body().toNanos() + more;
        }
        Duration allowed = first ? limits.headers() : limits.idle();
        return allowed.isZero() ? Long.MAX_VALUE : allowed.toNanos();
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        if (refused) {
            ReferenceCountUtil.release(message);
            return;
        }
        if (message instanceof HttpRequest) {
            reading = true;
            received = 0;
            sinceNanos = System.nanoTime();
        }
        if (message instanceof HttpContent content) {
            int bytes = content.content().readableBytes();
            received += bytes;
            held += bytes;
            if (bodyBytes.addAndGet(bytes) > mostBodyBytes) {
                ReferenceCountUtil.release(message);
                refuse(
                        context,
                        HttpResponseStatus.SERVICE_UNAVAILABLE,
                        MillraceException.resources(
                                SqlState.TOO_MANY_CONNECTIONS, "the requests of all clients together are too large"));
                return;
            }
            if (message instanceof LastHttpContent) {
                reading = false;
                first = false;
                unanswered++;
            }
        }
        context.fireChannelRead(message);
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext context) {
        if (reading) {
            setTimer(context);
        }
        context.fireChannelReadComplete();
    }

    @Override
    public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) {
        boolean isNotice = message instanceof HttpResponse response
                && response.status().codeClass() == HttpStatusClass.INFORMATIONAL;
        if (message instanceof LastHttpContent && !isNotice && unanswered > 0) {
            unanswered--;
            sinceNanos = System.nanoTime();
            if (unanswered == 0 && !reading) {
                release();
            }
            setTimer(context);
        }
        context.write(message, promise);
    }

    private void refuse(ChannelHandlerContext context, HttpResponseStatus status, MillraceException error) {
        refused = true;
        byte[] body = (HttpReply.error(error) + "\n").getBytes(StandardCharsets.UTF_8);
        FullHttpResponse response =
                new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, status, Unpooled.wrappedBuffer(body));
        response.headers()
                .set(HttpHeaderNames.CONTENT_TYPE, HttpReply.JSON)
                .set(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE)
                .setInt(HttpHeaderNames.CONTENT_LENGTH, body.length);
        context.writeAndFlush(response).addListener(ChannelFutureListener.CLOSE);
    }

    private void release() {
        bodyBytes.addAndGet(-held);
        held = 0;
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        release();
        timer.ifPresent(set -> set.cancel(false));
        context.fireChannelInactive();
    }
}
