package dev.millrace.server.gateway;

import dev.millrace.error.MillraceException;
import dev.millrace.server.device.EdgeInlets;
import dev.millrace.server.pgwire.Authentication;
import dev.millrace.server.pgwire.Listeners;
import dev.millrace.server.pgwire.ServerThreads;
import dev.millrace.server.session.Database;
import dev.millrace.server.tls.Tls;
import dev.millrace.server.tls.TlsMode;
import dev.millrace.time.Clock;
import io.netty.channel.socket.SocketChannel;
import io.netty.handler.ssl.OptionalSslHandler;
import io.netty.handler.timeout.ReadTimeoutHandler;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Listens for devices. Any thread. */
public final class EdgeGateway implements AutoCloseable {
    private static final int SILENCE_SECONDS = 60;

    private final ServerThreads threads = ServerThreads.ofSockets(1, "millrace-edge", "millrace-edge-login");
    private final EdgeInlets inlets;
    private final DeviceAccess access;
    private final Clock clock;
    private final int mostConnections;
    private final Optional<Tls> tls;
    private final Listeners listeners;
    private final Set<EdgeConnection> connections = ConcurrentHashMap.newKeySet();
    private final Map<String, EdgeConnection> byDevice = new ConcurrentHashMap<>();
    private final Runnable onNewStream = () -> connections.forEach(EdgeConnection::tryAgain);
    private volatile boolean closed; // written by close, read by the event loop

    private EdgeGateway(
            Database database,
            Authentication authentication,
            List<String> addresses,
            int port,
            int mostConnections,
            Optional<Tls> tls) {
        this.inlets = database.edgeInlets();
        this.access = new DeviceAccess(database, authentication);
        this.clock = database.clock();
        this.mostConnections = mostConnections;
        this.tls = tls;
        this.listeners = bind(addresses, port);
        inlets.onNew(onNewStream);
    }

    /**
     * Begins to listen.
     *
     * @param port 0 for any that is free
     * @throws MillraceException if the port cannot be had
     */
    public static EdgeGateway listen(
            Database database,
            Authentication authentication,
            List<String> addresses,
            int port,
            int mostConnections,
            Optional<Tls> tls) {
        return new EdgeGateway(database, authentication, addresses, port, mostConnections, tls);
    }

    private Listeners bind(List<String> addresses, int port) {
        try {
            return Listeners.bind(threads.bootstrap(this::accept), addresses, port);
        } catch (MillraceException e) {
            threads.close();
            throw e.withHint("choose another port for devices with --edge-port");
        }
    }

    private void accept(SocketChannel channel) {
        if (closed || connections.size() >= mostConnections) {
            channel.close();
            return;
        }
        FrameDecoder decoder = new FrameDecoder();
        EdgeConnection connection = new EdgeConnection(this, channel, decoder);
        connections.add(connection);
        channel.closeFuture().addListener(gone -> connections.remove(connection));
        channel.pipeline().addLast(new ReadTimeoutHandler(SILENCE_SECONDS), decoder, new FrameEncoder(), connection);
        tls.ifPresent(with -> {
            channel.config().setAutoRead(false); // until the certificate is made
            with.whenReady(channel.eventLoop(), () -> beginTls(channel, with), channel::close);
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

    /** The port that devices connect to. */
    public int port() {
        return listeners.port();
    }

    EdgeInlets inlets() {
        return inlets;
    }

    DeviceAccess access() {
        return access;
    }

    Clock clock() {
        return clock;
    }

    /** Does what takes time. */
    void execute(Runnable work) {
        threads.execute(work);
    }

    /** A device is on this connection, and on no other. */
    void has(String device, EdgeConnection connection) {
        EdgeConnection before = byDevice.put(device, connection);
        if (before != null && before != connection) {
            before.end();
        }
    }

    void lost(String device, EdgeConnection connection) {
        byDevice.remove(device, connection);
    }

    @Override
    public void close() {
        closed = true;
        inlets.forget(onNewStream);
        listeners.close();
        connections.forEach(EdgeConnection::end);
        threads.close();
    }
}
