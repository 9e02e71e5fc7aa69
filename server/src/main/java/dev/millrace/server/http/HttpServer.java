package dev.millrace.server.http;

import dev.millrace.error.MillraceException;
import dev.millrace.server.metrics.DatabaseMetrics;
import dev.millrace.server.pgwire.Listeners;
import dev.millrace.server.session.Database;
import dev.millrace.server.tls.Tls;
import dev.millrace.server.tls.TlsMode;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.ssl.OptionalSslHandler;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Listens for HTTP/1.1 clients of one database. Safe on any thread.
 *
 * <pre>
 *   try (HttpServer server = HttpServer.listen(database, HttpOptions.local(5434))) { ... }   // curl localhost:5434/health
 * </pre>
 */
public final class HttpServer implements AutoCloseable {
    private static final int LOW_WATER_BYTES = 128 << 10;
    private static final int HIGH_WATER_BYTES = 512 << 10;
    private static final long IDLE_SECONDS = 30;
    private static final long STOP_SECONDS = 5;
    private static final long POLL_MILLIS = 10;

    private final Database database;
    private final HttpOptions options;
    private final DatabaseMetrics metrics;
    private final EventLoopGroup loops;
    private final ExecutorService threads;
    private final Map<Channel, HttpConnection> connections = new ConcurrentHashMap<>();
    private final Listeners listeners;
    private volatile boolean stopping; // written by who stops the server, read by requests

    private HttpServer(Database database, HttpOptions options) {
        this.database = database;
        this.options = options;
        this.metrics = new DatabaseMetrics(database);
        this.loops = new MultiThreadIoEventLoopGroup(
                1, new DefaultThreadFactory("millrace-http", true), NioIoHandler.newFactory());
        this.threads = new ThreadPoolExecutor(
                0,
                Integer.MAX_VALUE, // each serves a connection, whose number is bounded
                IDLE_SECONDS,
                TimeUnit.SECONDS,
                new SynchronousQueue<>(),
                new DefaultThreadFactory("millrace-request", true));
        this.listeners = bind();
    }

    /** @throws MillraceException if the port cannot be had */
    public static HttpServer listen(Database database, HttpOptions options) {
        return new HttpServer(database, options);
    }

    private Listeners bind() {
        ServerBootstrap bootstrap = new ServerBootstrap()
                .group(loops)
                .channel(NioServerSocketChannel.class)
                .option(ChannelOption.SO_REUSEADDR, true)
                .childOption(ChannelOption.TCP_NODELAY, true)
                .childOption(
                        ChannelOption.WRITE_BUFFER_WATER_MARK,
                        new WriteBufferWaterMark(LOW_WATER_BYTES, HIGH_WATER_BYTES))
                .childHandler(new ChannelInitializer<SocketChannel>() {
                    @Override
                    protected void initChannel(SocketChannel channel) {
                        accept(channel);
                    }
                });
        try {
            return Listeners.bind(bootstrap, options.addresses(), options.port());
        } catch (MillraceException e) {
            loops.shutdownGracefully();
            threads.shutdown();
            throw e.withHint("choose another port for HTTP with --http-port, or none with --no-http");
        }
    }

    private void accept(SocketChannel channel) {
        if (connections.size() >= options.mostConnections() || stopping) {
            channel.close();
            return;
        }
        HttpConnection connection = new HttpConnection(this);
        connections.put(channel, connection);
        channel.closeFuture().addListener(closed -> connections.remove(channel));
        channel.pipeline()
                .addLast(new HttpServerCodec(), new HttpObjectAggregator(options.mostBodyBytes(), true), connection);
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
        return database;
    }

    HttpOptions options() {
        return options;
    }

    DatabaseMetrics metrics() {
        return metrics;
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
        loops.shutdownGracefully(0, STOP_SECONDS, TimeUnit.SECONDS).awaitUninterruptibly();
        threads.shutdown();
        try {
            threads.awaitTermination(STOP_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
