package dev.millrace.server.gateway;

import dev.millrace.error.MillraceException;
import dev.millrace.server.config.EdgeBroker;
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

/** Where devices send to: a port, a broker, or both. Any thread. */
public final class EdgeGateway implements AutoCloseable {
    static final int SILENCE_SECONDS = 60;

    private final ServerThreads threads = ServerThreads.ofSockets(1, "millrace-edge", "millrace-edge-login");
    private final EdgeInlets inlets;
    private final DeviceAccess access;
    private final Clock clock;
    private final int mostConnections;
    private final Optional<Tls> tls;
    private Optional<Listeners> listeners = Optional.empty(); // written before anybody has it
    private Optional<BrokerGateway> broker = Optional.empty(); // likewise
    private final Set<EdgeConnection> connections = ConcurrentHashMap.newKeySet();
    private final Map<String, EdgeConnection> byDevice = new ConcurrentHashMap<>();
    private final Runnable onNewStream = () -> connections.forEach(EdgeConnection::tryAgain);
    private volatile boolean closed; // written by close, read by the event loop

    private EdgeGateway(Database database, Authentication authentication, int mostConnections, Optional<Tls> tls) {
        this.inlets = database.edgeInlets();
        this.access = new DeviceAccess(database, authentication);
        this.clock = database.clock();
        this.mostConnections = mostConnections;
        this.tls = tls;
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
        EdgeGateway gateway = new EdgeGateway(database, authentication, mostConnections, tls);
        try {
            gateway.listeners =
                    Optional.of(Listeners.bind(gateway.threads.bootstrap(gateway::accept), addresses, port));
            return gateway;
        } catch (MillraceException e) {
            gateway.close();
            throw e.withHint("choose another port for devices with --edge-port");
        }
    }

    /** Listens at a broker alone, or says why not until it does. @throws MillraceException naming what is wrong with an option */
    public static EdgeGateway atBroker(
            Database database, Authentication authentication, int mostConnections, EdgeBroker broker) {
        return new EdgeGateway(database, authentication, mostConnections, Optional.empty()).andAt(broker);
    }

    /** At a broker, too. Once; before others have it. @throws MillraceException naming what is wrong with an option: then it is closed */
    public EdgeGateway andAt(EdgeBroker at) {
        try {
            broker = Optional.of(new BrokerGateway(this, at));
            return this;
        } catch (MillraceException e) {
            close();
            throw e;
        }
    }

    private void accept(SocketChannel channel) {
        FrameDecoder decoder = new FrameDecoder();
        SocketDevice device = new SocketDevice(this, channel, decoder);
        if (!has(device.connection())) {
            channel.close();
            return;
        }
        channel.closeFuture().addListener(gone -> left(device.connection()));
        channel.pipeline().addLast(new ReadTimeoutHandler(SILENCE_SECONDS), decoder, new FrameEncoder(), device);
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

    /** The port that devices connect to; -1 if they send by a broker alone. */
    public int port() {
        return listeners.map(Listeners::port).orElse(-1);
    }

    /** The broker that devices send by, for users. */
    public Optional<String> broker() {
        return broker.map(BrokerGateway::toString);
    }

    /** Counts a connection. @return false if there are as many as may be */
    boolean has(EdgeConnection connection) {
        return !closed && connections.size() < mostConnections && connections.add(connection);
    }

    void left(EdgeConnection connection) {
        connections.remove(connection);
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
        listeners.ifPresent(Listeners::close);
        connections.forEach(EdgeConnection::end);
        broker.ifPresent(BrokerGateway::close);
        threads.close();
    }
}
