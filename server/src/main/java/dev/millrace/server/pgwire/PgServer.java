package dev.millrace.server.pgwire;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.server.pgwire.message.MessageDecoder;
import dev.millrace.server.session.Database;
import dev.millrace.server.session.Session;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.net.Socket;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * Listens for PostgreSQL clients of one database. Safe on any thread.
 *
 * <pre>
 *   try (PgServer server = PgServer.listen(database, PgServerOptions.local(5433))) { ... }   // psql -h localhost -p 5433 -U millrace
 * </pre>
 */
public final class PgServer implements AutoCloseable {
    private static final int EVENT_LOOPS = 2;
    static final int RECEIVED_BYTES = 256 << 10;
    private static final int BACKLOG = 512;
    private static final long STOP_POLL_MILLIS = 10;
    private static final long LAST_WORDS_MILLIS = 200;
    private static final long CLOSE_SECONDS = 1;

    private final Supplier<String> progress;
    private volatile PgServerOptions options; // written by who starts the server, read by all
    private volatile Optional<Database> database = Optional.empty(); // likewise, behind the options
    private final ServerThreads threads;
    private final ChannelGroup connections = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE);
    private final Startups startups;
    private final Map<Channel, PgConnection> clients = new ConcurrentHashMap<>();
    private final Map<EventExecutor, HeldAnswers> held = new ConcurrentHashMap<>(); // by event loop
    private final OwnLoops ownLoops = new OwnLoops();
    private final Map<Integer, Cancellable> sessions = new ConcurrentHashMap<>();
    private final SecureRandom random = new SecureRandom();
    private final Listeners listeners;
    private volatile boolean stopping; // written by who stops the server, read by the event loops

    /** A session that another connection may cancel if it knows the secret. */
    private record Cancellable(int secret, Session session) {}

    private PgServer(PgServerOptions options, Supplier<String> progress, boolean listens) {
        this.progress = progress;
        this.options = options;
        this.startups = new Startups(options.mostConnections());
        this.threads = listens
                ? ServerThreads.ofSockets(EVENT_LOOPS, "millrace-pgwire", "millrace-session")
                : ServerThreads.ofPipes("millrace-pgwire", "millrace-session");
        this.listeners = listens ? bind() : Listeners.none();
    }

    /** @throws MillraceException if the port cannot be had */
    public static PgServer listen(Database database, PgServerOptions options) {
        PgServer server = starting(options, () -> "");
        server.serve(database, options.authentication());
        return server;
    }

    /**
     * Listens before there is a database: clients are told that the server is starting and how far it is (57P03).
     *
     * @param progress a sentence; asked on any thread
     * @throws MillraceException if the port cannot be had
     */
    public static PgServer starting(PgServerOptions options, Supplier<String> progress) {
        return new PgServer(options, progress, true);
    }

    /** A server for clients in this program only, which come by {@link #connect}; it has no port. */
    public static PgServer inProcess(Database database, PgServerOptions options) {
        PgServer server = new PgServer(options, () -> "", false);
        server.serve(database, options.authentication());
        return server;
    }

    /** From now on lets clients into a database that is open. Once. */
    public void serve(Database opened, Authentication authentication) {
        options = options.withAuthentication(authentication);
        database = Optional.of(opened);
    }

    /**
     * The client's end of a new connection that does not leave this program. It is a socket only in form: no file
     * descriptor and no port is used, and both sides wait for each other as they would over a network.
     */
    public Socket connect() {
        PipeChannel channel = new PipeChannel();
        channel.config().setWriteBufferWaterMark(ServerThreads.WATER_MARKS);
        channel.pipeline().addLast(new ChannelInitializer<PipeChannel>() {
            @Override
            protected void initChannel(PipeChannel registered) {
                accept(registered);
            }
        });
        threads.register(channel);
        return new PipeSocket(channel);
    }

    private Listeners bind() {
        ServerBootstrap bootstrap = threads.bootstrap(channel -> {
                    channel.config().setReceiveBufferSize(RECEIVED_BYTES);
                    accept(channel);
                })
                .option(ChannelOption.SO_BACKLOG, BACKLOG)
                .childOption(ChannelOption.SO_KEEPALIVE, true);
        try {
            return Listeners.bind(bootstrap, options.addresses(), options.port());
        } catch (MillraceException e) {
            threads.close();
            throw e.withHint("another server may have the port; choose one with --port");
        }
    }

    private void accept(Channel channel) {
        connections.add(channel);
        startups.add(channel);
        channel.closeFuture().addListener(closed -> startups.remove(channel));
        MessageDecoder decoder = new MessageDecoder(options.mostMessageBytes());
        options.tls().ifPresent(tls -> channel.pipeline().addLast(new DirectTls(tls)));
        PgConnection connection = new PgConnection(this, decoder, random.nextInt());
        channel.pipeline().addLast(decoder, connection);
        clients.put(channel, connection);
        channel.closeFuture().addListener(closed -> clients.remove(channel));
        if (stopping) {
            connection.stop(); // it came too late to be among those that are told
        }
    }

    /** The port that clients connect to; 0 if there is none. */
    public int port() {
        return listeners.port();
    }

    /** Whether clients are told to go. */
    boolean isStopping() {
        return stopping;
    }

    PgServerOptions options() {
        return options;
    }

    /** The database; of a server that has started. */
    Database database() {
        return database.orElseThrow();
    }

    /** Before a client is asked who it is: whether there is a database that knows. */
    void requireStarted() {
        if (database.isEmpty()) {
            throw MillraceException.resources(SqlState.CANNOT_CONNECT_NOW, "the database system is starting up")
                    .withHint(progress.get());
        }
    }

    /** The answers that wait on an event loop. */
    HeldAnswers held(EventExecutor loop) {
        return held.computeIfAbsent(loop, HeldAnswers::new);
    }

    /** Loops for clients that write alone. */
    OwnLoops ownLoops() {
        return ownLoops;
    }

    /** A loop that clients share. */
    EventLoop sharedLoop() {
        return threads.loop();
    }

    void execute(Runnable work) {
        threads.execute(work);
    }

    /** Before a client is let in: whether there is a place for it. */
    void requirePlace() {
        if (sessions.size() >= options.mostConnections()) {
            throw MillraceException.resources(SqlState.TOO_MANY_CONNECTIONS, "sorry, too many clients already");
        }
    }

    void opened(int process, int secret, Session session, Channel channel) {
        sessions.put(process, new Cancellable(secret, session));
        startups.remove(channel);
    }

    void closed(int process) {
        sessions.remove(process);
    }

    /** Cancels what a session does, if the secret is right; whoever asks is not told. */
    void cancel(int process, int secret) {
        Cancellable target = sessions.get(process);
        if (target != null && target.secret() == secret) {
            target.session().cancel();
        }
    }

    /**
     * Takes no more clients, and ends the sessions of those that are there (57P01): at once where nothing is under way,
     * else when it is done. What is not done in time is cancelled; subscriptions, which would never be, are at once.
     */
    public void stop(Duration timeout) {
        stopping = true;
        listeners.close();
        long end = System.nanoTime() + timeout.toNanos();
        clients.values().forEach(PgConnection::stop);
        boolean late = false;
        while (!clients.isEmpty() && !late) {
            late = System.nanoTime() - end >= 0;
            for (PgConnection client : clients.values()) {
                client.cancelForStop(late);
            }
            pause(late ? LAST_WORDS_MILLIS : STOP_POLL_MILLIS);
        }
    }

    private static void pause(long millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Takes no more clients and ends the sessions of those that are there, at once. */
    @Override
    public void close() {
        listeners.close();
        connections.close().awaitUninterruptibly(CLOSE_SECONDS, TimeUnit.SECONDS); // one may be in the disk
        ownLoops.settle(); // what their clients leave is handed to a thread below
        threads.close();
        ownLoops.close();
    }
}
