package dev.millrace.server.http;

import dev.millrace.error.MillraceException;
import dev.millrace.server.metrics.DatabaseMetrics;
import dev.millrace.server.pgwire.Authentication;
import dev.millrace.server.pgwire.Listeners;
import dev.millrace.server.pgwire.ServerThreads;
import dev.millrace.server.session.Database;
import dev.millrace.server.tls.Tls;
import dev.millrace.server.tls.TlsMode;
import io.netty.channel.Channel;
import io.netty.channel.socket.SocketChannel;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.ssl.OptionalSslHandler;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;

/**
 * Listens for HTTP/1.1 clients of one database. Safe on any thread.
 *
 * <pre>
 *   try (HttpServer server = HttpServer.listen(database, HttpOptions.local(5434))) { ... }   // curl localhost:5434/health
 * </pre>
 */
public final class HttpServer implements AutoCloseable {
    private static final long POLL_MILLIS = 10;
    private static final long MOST_BODIES = 8; // of the largest size, in memory at once
    private static final int PROBE_BYTES = 4096;

    /** What is behind the port once the server has started. */
    private record Serving(Database database, DatabaseMetrics metrics) {}

    private final Supplier<String> progress;
    private volatile HttpOptions options; // written by who starts the server, read by all
    private volatile Optional<Serving> serving =
            Optional.empty(); // written by who starts and stops the server, read by all
    private final ServerThreads threads = ServerThreads.ofSockets(1, "millrace-http", "millrace-request");
    private final HttpPlaces places;
    private final AtomicLong bodyBytes = new AtomicLong(); // of requests that are not answered
    private final Map<Channel, HttpConnection> connections = new ConcurrentHashMap<>();
    private final Listeners listeners;
    private volatile boolean stopping; // written by who stops the server, read by requests

    private HttpServer(HttpOptions options, Supplier<String> progress) {
        this.options = options;
        this.progress = progress;
        this.places = new HttpPlaces(options.mostConnections(), options.limits().mostPerAddress());
        this.listeners = bind();
    }

    /** @throws MillraceException if the port cannot be had */
    public static HttpServer listen(Database database, HttpOptions options) {
        HttpServer server = starting(options, () -> "{}");
        server.serve(database, options.authentication());
        return server;
    }

    /**
     * Listens before there is a database: {@code /health} says that the server lives and is not ready, and how far it is; all else is
     * refused (503).
     *
     * @param progress a JSON object; asked on any thread
     * @throws MillraceException if the port cannot be had
     */
    public static HttpServer starting(HttpOptions options, Supplier<String> progress) {
        return new HttpServer(options, progress);
    }

    /** From now on answers for a database that is open. */
    public void serve(Database database, Authentication authentication) {
        options = options.withAuthentication(authentication);
        serving = Optional.of(new Serving(database, new DatabaseMetrics(database)));
    }

    /** Whether there is a database to be asked. */
    boolean hasStarted() {
        return serving.isPresent();
    }

    /** How far the start is, as a JSON object. */
    String progress() {
        return progress.get();
    }

    private Listeners bind() {
        try {
            return Listeners.bind(threads.bootstrap(this::accept), options.addresses(), options.port());
        } catch (MillraceException e) {
            threads.close();
            throw e.withHint("choose another port for HTTP with --http-port, or none with --no-http");
        }
    }

    private void accept(SocketChannel channel) {
        if (stopping) {
            channel.close();
            return;
        }
        boolean ordinary = places.take(channel);
        HttpConnection connection = new HttpConnection(this, ordinary);
        connections.put(channel, connection);
        channel.closeFuture().addListener(closed -> connections.remove(channel));
        channel.pipeline()
                .addLast(
                        new HttpServerCodec(),
                        new HttpGuard(options.limits(), bodyBytes, MOST_BODIES * (long) options.mostBodyBytes()),
                        new HttpObjectAggregator(
                                ordinary ? options.mostBodyBytes() : Math.min(PROBE_BYTES, options.mostBodyBytes()),
                                true),
                        connection);
        options.tls().ifPresent(tls -> {
            channel.config().setAutoRead(false); // until the certificate is made
            tls.whenReady(channel.eventLoop(), () -> beginTls(channel, tls), channel::close);
        });
    }

    private static void beginTls(SocketChannel channel, Tls tls) {
        channel.pipeline()
                .addFirst(
                        tls.mode() == TlsMode.REQUIRE
                                ? tls.http().newHandler(channel.alloc())
                                : new OptionalSslHandler(tls.http()));
        channel.config().setAutoRead(true);
    }

    /** The port that clients connect to. */
    public int port() {
        return listeners.port();
    }

    Database database() {
        return serving.orElseThrow().database();
    }

    HttpOptions options() {
        return options;
    }

    DatabaseMetrics metrics() {
        return serving.orElseThrow().metrics();
    }

    boolean isStopping() {
        return stopping;
    }

    void execute(Runnable work) {
        threads.execute(work);
    }

    /** Takes no more clients, ends subscriptions, and waits for answers under way, but no longer than this. */
    public void stop(Duration timeout) {
        stopping = true;
        listeners.close();
        long end = System.nanoTime() + timeout.toNanos();
        boolean busy = true;
        while (busy && System.nanoTime() - end < 0) {
            busy = false;
            for (HttpConnection connection : connections.values()) {
                busy |= connection.isBusy();
                connection.cancelIfEndless();
            }
            try {
                Thread.sleep(POLL_MILLIS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return;
            }
        }
    }

    /** Takes no more clients and closes the connections of those that are there. */
    @Override
    public void close() {
        stopping = true;
        listeners.close();
        connections.keySet().forEach(channel -> channel.close().awaitUninterruptibly());
        threads.close();
    }
}
