package dev.millrace.server.http;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.memory.CheckedMemory;
import dev.millrace.memory.Memory;
import dev.millrace.text.TextBuffer;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The answer to one request: whole, or a stream of unknown length. A client that does not read makes the thread that answers
 * wait, and nobody else. Used by that thread, but for {@link #writabilityChanged} and {@link #isGone}.
 */
final class HttpReply implements AutoCloseable {
    static final String JSON = "application/json";
    private static final ObjectMapper MAPPER = new ObjectMapper();
    private static final long LOOK_MILLIS = 500;
    private static final long FAREWELL_SECONDS = 5;

    private final Channel channel;
    private final Optional<String> corsOrigin;
    private final boolean keepAlive;
    private final long patienceNanos; // with a client that does not read; 0 for ever
    private final boolean chunked;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private boolean linewise;
    private boolean begun;
    private boolean ended;

    /** @param mayStay whether the client may ask more on the same connection */
    HttpReply(Channel channel, HttpRequest request, HttpOptions options, boolean mayStay) {
        this.channel = channel;
        this.keepAlive = mayStay && HttpUtil.isKeepAlive(request);
        this.patienceNanos = options.limits().idle().toNanos();
        this.chunked = request.protocolVersion().equals(HttpVersion.HTTP_1_1);
        String origin = request.headers().get(HttpHeaderNames.ORIGIN, "");
        this.corsOrigin = options.corsOrigin().filter(allowed -> allowed.equals("*") || allowed.equals(origin));
    }

    /** A whole answer. */
    void send(HttpResponseStatus status, String type, String text) {
        send(status, type, text.getBytes(StandardCharsets.UTF_8));
    }

    void send(HttpResponseStatus status, String type, byte[] body) {
        FullHttpResponse response =
                new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, status, Unpooled.wrappedBuffer(body));
        headers(response.headers(), type);
        if (status.equals(HttpResponseStatus.UNAUTHORIZED)) {
            response.headers().set(HttpHeaderNames.WWW_AUTHENTICATE, "Basic realm=\"millrace\", charset=\"UTF-8\"");
        }
        response.headers().setInt(HttpHeaderNames.CONTENT_LENGTH, body.length);
        begun = true;
        ended = true;
        finish(channel.writeAndFlush(response));
    }

    /** What a browser asks before it lets a page use the API. */
    void sendPreflight() {
        FullHttpResponse response =
                new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.NO_CONTENT, Unpooled.EMPTY_BUFFER);
        headers(response.headers(), "");
        response.headers()
                .set(HttpHeaderNames.ACCESS_CONTROL_ALLOW_METHODS, "GET, POST")
                .set(
                        HttpHeaderNames.ACCESS_CONTROL_ALLOW_HEADERS,
                        "authorization, content-type, accept, last-event-id");
        begun = true;
        ended = true;
        finish(channel.writeAndFlush(response));
    }

    private void headers(HttpHeaders headers, String type) {
        if (!type.isEmpty()) {
            headers.set(HttpHeaderNames.CONTENT_TYPE, type);
        }
        headers.set(HttpHeaderNames.CACHE_CONTROL, HttpHeaderValues.NO_STORE).set("x-content-type-options", "nosniff");
        corsOrigin.ifPresent(origin -> headers.set(HttpHeaderNames.ACCESS_CONTROL_ALLOW_ORIGIN, origin)
                .set(HttpHeaderNames.VARY, HttpHeaderNames.ORIGIN));
        if (!keepAlive || !chunked) {
            headers.set(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
        }
    }

    /** Begins an answer whose end is not known yet. */
    void begin(String type) {
        linewise = !type.equals(ArrowResponse.TYPE);
        HttpResponse response = new DefaultHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK);
        headers(response.headers(), type);
        if (chunked) {
            HttpUtil.setTransferEncodingChunked(response, true);
        }
        begun = true;
        channel.writeAndFlush(response, channel.voidPromise());
    }

    boolean isBegun() {
        return begun;
    }

    /**
     * More of it; waits while the client is behind.
     *
     * @throws MillraceException if the client is gone, or took nothing for too long, or what is sent is of a statement that was
     *     cancelled meanwhile
     */
    void write(TextBuffer text) {
        int length = Math.toIntExact(text.length());
        if (length > 0) {
            ByteBuf bytes = channel.alloc().directBuffer(length);
            if (CheckedMemory.isOn()) { // which does not know Netty's
                bytes.writeBytes(text.toBytes());
            } else {
                Memory.copy(text.address(), bytes.memoryAddress(), length);
                bytes.writerIndex(length);
            }
            text.clear();
            write(bytes);
        }
    }

    void write(byte[] bytes) {
        write(Unpooled.wrappedBuffer(bytes));
    }

    private void write(ByteBuf bytes) {
        channel.writeAndFlush(new DefaultHttpContent(bytes), channel.voidPromise());
        awaitWritable();
        if (isGone()) {
            throw MillraceException.external(SqlState.CONNECTION_FAILURE, "the client is gone");
        }
    }

    private void awaitWritable() {
        Interrupt interrupt = Interrupt.current();
        long fromNanos = System.nanoTime();
        lock.lock();
        try {
            while (!channel.isWritable() && channel.isActive()) {
                interrupt.check(); // what is sent is of a statement that may be cancelled
                if (patienceNanos > 0 && System.nanoTime() - fromNanos >= patienceNanos) {
                    channel.close();
                    throw MillraceException.external(SqlState.CONNECTION_FAILURE, "the client does not read");
                }
                try {
                    changed.await(LOOK_MILLIS, TimeUnit.MILLISECONDS);
                } catch (InterruptedException e) {
                    interrupt.check(); // it was meant for a step that ended, if this does not throw
                }
            }
        } finally {
            lock.unlock();
        }
    }

    boolean isGone() {
        return !channel.isActive();
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

    /** The end of an answer that was begun. */
    void end() {
        ended = true;
        finish(channel.writeAndFlush(LastHttpContent.EMPTY_LAST_CONTENT));
    }

    private void finish(ChannelFuture last) {
        if (!keepAlive || !chunked) {
            last.addListener(ChannelFutureListener.CLOSE);
        }
    }

    /** An error as the whole answer; or, if rows were sent before, as the last line; if there are no lines, the answer breaks off. */
    void fail(MillraceException error) {
        if (isGone() || ended || begun && !linewise) {
            return;
        }
        String json = error(error);
        if (begun) {
            channel.writeAndFlush(
                    new DefaultHttpContent(Unpooled.wrappedBuffer((json + "\n").getBytes(StandardCharsets.UTF_8))),
                    channel.voidPromise());
            end();
            hangUpIfBehind();
        } else {
            send(status(error.sqlState()), JSON, json + "\n");
        }
    }

    /** A client that does not read cannot be told: it has some time to begin again. */
    private void hangUpIfBehind() {
        if (!channel.isWritable()) {
            channel.eventLoop()
                    .schedule(
                            () -> {
                                if (!channel.isWritable()) {
                                    channel.close();
                                }
                            },
                            FAREWELL_SECONDS,
                            TimeUnit.SECONDS);
        }
    }

    static String error(MillraceException error) {
        ObjectNode root = MAPPER.createObjectNode();
        ObjectNode body = root.putObject("error");
        body.put("sqlstate", error.sqlState().code()).put("message", error.getMessage());
        error.hint().ifPresent(hint -> body.put("hint", hint));
        error.position().ifPresent(position -> body.put("position", position));
        return root.toString();
    }

    private static HttpResponseStatus status(SqlState state) {
        String code = state.code();
        if (code.startsWith("28")) {
            return HttpResponseStatus.UNAUTHORIZED;
        }
        return switch (code) {
            case "42501" -> HttpResponseStatus.FORBIDDEN;
            case "42P01", "42704" -> HttpResponseStatus.NOT_FOUND;
            case "0A000" -> HttpResponseStatus.NOT_IMPLEMENTED;
            case "53300", "57P01", "57P03" -> HttpResponseStatus.SERVICE_UNAVAILABLE;
            case "57014" -> HttpResponseStatus.REQUEST_TIMEOUT;
            case "55006" -> HttpResponseStatus.CONFLICT;
            case "72000" -> HttpResponseStatus.GONE;
            case "54000" -> HttpResponseStatus.REQUEST_ENTITY_TOO_LARGE;
            default ->
                code.startsWith("53") || code.startsWith("58") || code.startsWith("XX")
                        ? HttpResponseStatus.INTERNAL_SERVER_ERROR
                        : HttpResponseStatus.BAD_REQUEST;
        };
    }

    @Override
    public void close() {
        if (begun && !ended) {
            channel.close(); // cut off in the middle, so that the client does not take it for whole
        }
    }
}
