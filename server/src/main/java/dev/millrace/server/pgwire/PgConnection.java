package dev.millrace.server.pgwire;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.server.pgwire.message.ClientMessage;
import dev.millrace.server.pgwire.message.MessageDecoder;
import dev.millrace.server.pgwire.message.ServerMessages;
import dev.millrace.server.pgwire.message.ServerMessages.TransactionState;
import dev.millrace.server.session.Session;
import dev.millrace.server.settings.PassiveSettings;
import dev.millrace.server.settings.Setting;
import dev.millrace.server.tls.Tls;
import dev.millrace.server.tls.TlsMode;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.EventLoop;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.concurrent.ScheduledFuture;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * One client's connection, on its event loop: lets the client in, then answers what can be answered at once, and passes its
 * other messages to the session's thread.
 *
 * <pre>
 *   STARTING --Startup--> AUTHENTICATING --proof--> SERVING
 *       |                       |                      |
 *       +------- CancelRequest, refusal, farewell -----+--> closed
 * </pre>
 *
 * <p>An INSERT of constants is executed here as well where nobody has to be waited for, and answered when the log has written it
 * ({@link HeldAnswers}).
 *
 * <p>Long because it is a connection from its first byte to its last.
 */
final class PgConnection extends SimpleChannelInboundHandler<ClientMessage> implements OwnLoops.Owner {
    private static final int PROTOCOL_MAJOR = 3;

    /** What tools connect to that want any database. */
    private static final String USUAL_DATABASE = "postgres";

    private static final long FAREWELL_SECONDS = 5;
    private static final int MOST_TOGETHER = 64;

    /** A client writes alone if it did in so many statements, none of which came later than that after the one before. */
    private static final int MANY_ALONE = 32;

    private static final long ALONE_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

    /** {@code -c name=value} or {@code --name=value} in the startup packet. */
    private static final Pattern OPTION = Pattern.compile("(?:-c\\s*|--)([a-zA-Z_.-]+)=((?:\\\\.|[^\\s])*+)");

    private final PgServer server;
    private final MessageDecoder decoder;
    private final int secret;
    private int process; // of the session, once there is one

    private Optional<ScramExchange> scram = Optional.empty();
    private boolean scramBegun;
    private Map<String, String> startup = Map.of();

    @SuppressWarnings("NullAway.Init") // once it is among the channel's handlers
    private ChannelHandlerContext channelContext;

    /** What this read brought and cannot be answered at once; a session that sees Execute sees the Sync behind it as well. */
    private final List<ClientMessage> arrived = new ArrayList<>();

    /** An INSERT that is executed at once if the next message says that nothing is to take effect with it. */
    private Optional<ClientMessage.Execute> executing = Optional.empty();

    private int alone; // how many statements in a row it wrote with nobody beside it
    private boolean isOnOwnLoop; // where it may wait for the disk
    private volatile long wroteNanos; // when it wrote last; written by its loop, read by who wants that

    private Optional<HeldAnswer> held = Optional.empty(); // to what was accepted last, on its way to disk

    // From when the client is let in; written by the event loop, read also by who stops the server.
    private volatile Optional<Served> served = Optional.empty();

    /** What serves a client that was let in. */
    private record Served(Session session, Inbox inbox, Outgoing out, Conversation conversation) {}

    PgConnection(PgServer server, MessageDecoder decoder, int secret) {
        this.server = server;
        this.decoder = decoder;
        this.secret = secret;
    }

    @Override
    protected void channelRead0(ChannelHandlerContext context, ClientMessage message) {
        if (served.isPresent()) {
            take(served.get(), message);
            return;
        }
        try {
            admit(context, message);
        } catch (MillraceException e) {
            refuse(context, e);
        } finally {
            message.close();
        }
    }

    // ---- who it is -------------------------------------------------------------------------------------------------

    private void admit(ChannelHandlerContext context, ClientMessage message) {
        if (message instanceof ClientMessage.SslRequest) {
            answerTlsRequest(context);
        } else if (message instanceof ClientMessage.GssRequest) {
            context.writeAndFlush(Unpooled.wrappedBuffer(new byte[] {'N'}));
        } else if (message instanceof ClientMessage.CancelRequest cancel) {
            server.cancel(cancel.process(), cancel.secret());
            context.close();
        } else if (message instanceof ClientMessage.Startup begin && startup.isEmpty()) {
            begin(context, begin);
        } else if (message instanceof ClientMessage.Credentials credentials && scram.isPresent()) {
            prove(context, scram.get(), credentials.bytes());
        } else if (message instanceof ClientMessage.Malformed malformed) {
            throw MillraceException.user(SqlState.PROTOCOL_VIOLATION, malformed.reason());
        } else if (message instanceof ClientMessage.Terminate) {
            context.close();
        } else {
            throw MillraceException.user(
                    SqlState.PROTOCOL_VIOLATION, "a session begins with a startup packet and a proof of who you are");
        }
    }

    private void answerTlsRequest(ChannelHandlerContext context) {
        if (isEncrypted(context)) {
            throw MillraceException.user(SqlState.PROTOCOL_VIOLATION, "the connection is encrypted already");
        }
        Optional<Tls> tls = server.options().tls();
        if (tls.isEmpty()) {
            context.writeAndFlush(Unpooled.wrappedBuffer(new byte[] {'N'}));
            return;
        }
        context.channel().config().setAutoRead(false); // what comes from now on is for TLS
        tls.get().whenReady(context.executor(), () -> beginTls(context, tls.get()), context::close);
    }

    private static void beginTls(ChannelHandlerContext context, Tls tls) {
        context.writeAndFlush(Unpooled.wrappedBuffer(new byte[] {'S'}));
        context.pipeline().addFirst(tls.postgresql().newHandler(context.alloc()));
        context.channel().config().setAutoRead(true);
    }

    private static boolean isEncrypted(ChannelHandlerContext context) {
        return context.pipeline().get(SslHandler.class) != null;
    }

    /** Who could have been overheard is not let in where encryption is required. */
    private void requireEncryption(ChannelHandlerContext context) {
        boolean required = server.options()
                .tls()
                .filter(tls -> tls.mode() == TlsMode.REQUIRE)
                .isPresent();
        if (required && !isEncrypted(context)) {
            throw MillraceException.user(SqlState.INVALID_AUTHORIZATION, "this server takes encrypted connections only")
                    .withHint("sslmode=require");
        }
    }

    private void begin(ChannelHandlerContext context, ClientMessage.Startup begin) {
        if (begin.majorVersion() != PROTOCOL_MAJOR) {
            throw MillraceException.user(
                    SqlState.FEATURE_NOT_SUPPORTED,
                    "unsupported frontend protocol " + begin.majorVersion() + "." + begin.minorVersion()
                            + ": server supports 3.0");
        }
        requireEncryption(context);
        startup = begin.parameters();
        String user = startup.getOrDefault("user", "");
        if (user.isEmpty()) {
            throw MillraceException.user(
                    SqlState.INVALID_AUTHORIZATION, "no PostgreSQL user name specified in startup packet");
        }
        List<String> unknown = startup.keySet().stream()
                .filter(name -> name.startsWith("_pq_."))
                .toList();
        server.requireStarted();
        if (!(server.options().authentication() instanceof Authentication.Scram)) {
            requireDatabase(); // else who has proved to be somebody is told
        }
        ByteBuf out = context.alloc().buffer();
        if (begin.minorVersion() > 0 || !unknown.isEmpty()) {
            ServerMessages.negotiateProtocolVersion(out, unknown);
        }
        if (server.options().authentication() instanceof Authentication.Scram required) {
            Optional<byte[]> endPoint =
                    server.options().tls().filter(tls -> isEncrypted(context)).map(Tls::endPoint);
            scram = Optional.of(new ScramExchange(user, required, endPoint));
            ServerMessages.authenticationSasl(out, scram.get().mechanisms());
            context.writeAndFlush(out);
        } else {
            welcomeOrRelease(context, out);
        }
    }

    private void prove(ChannelHandlerContext context, ScramExchange exchange, byte[] bytes) {
        ByteBuf out = context.alloc().buffer();
        try {
            if (!scramBegun) {
                scramBegun = true;
                ServerMessages.authenticationSaslContinue(out, begin(exchange, bytes));
                context.writeAndFlush(out);
            } else {
                String proof = exchange.last(new String(bytes, StandardCharsets.UTF_8));
                requireDatabase();
                ServerMessages.authenticationSaslFinal(out, proof);
                welcome(context, out);
            }
        } catch (RuntimeException | Error e) {
            out.release();
            throw e;
        }
    }

    /** The mechanism's name, a length, and the client's first message. */
    private static String begin(ScramExchange exchange, byte[] bytes) {
        ByteBuf in = Unpooled.wrappedBuffer(bytes);
        int end = in.bytesBefore((byte) 0);
        if (end < 0 || in.readableBytes() < end + 5) {
            throw MillraceException.user(SqlState.PROTOCOL_VIOLATION, "malformed SASL message");
        }
        String mechanism = in.readCharSequence(end, StandardCharsets.UTF_8).toString();
        in.skipBytes(1);
        int length = in.readInt();
        if (!exchange.mechanisms().contains(mechanism) || length != in.readableBytes()) {
            throw MillraceException.user(
                    SqlState.PROTOCOL_VIOLATION,
                    "the SASL mechanisms here are " + String.join(", ", exchange.mechanisms()));
        }
        return exchange.first(
                mechanism, in.readCharSequence(length, StandardCharsets.UTF_8).toString());
    }

    private void refuse(ChannelHandlerContext context, MillraceException error) {
        ByteBuf out = context.alloc().buffer();
        ServerMessages.error(out, "FATAL", error);
        context.writeAndFlush(out).addListener(ChannelFutureListener.CLOSE);
    }

    /** The one database goes by its own name, by that of its role, which clients take where none is given, and by another. */
    private void requireDatabase() {
        String user = startup.getOrDefault("user", "");
        String name = startup.getOrDefault("database", user);
        String own = Setting.DATABASE.defaultValue();
        if (!name.isEmpty() && !name.equals(user) && !name.equals(own) && !name.equals(USUAL_DATABASE)) {
            throw MillraceException.user(SqlState.INVALID_CATALOG_NAME, "database \"" + name + "\" does not exist")
                    .withHint("a server has one database, \"" + own + "\"; \"" + USUAL_DATABASE
                            + "\" and the name of the role mean it, too");
        }
    }

    private void welcomeOrRelease(ChannelHandlerContext context, ByteBuf out) {
        try {
            welcome(context, out);
        } catch (RuntimeException | Error e) {
            out.release();
            throw e;
        }
    }

    private void welcome(ChannelHandlerContext context, ByteBuf out) {
        server.requirePlace();
        Session session = server.database().login(startup.getOrDefault("user", ""));
        try {
            welcome(context, out, session);
        } catch (RuntimeException | Error e) {
            session.close();
            throw e;
        }
        context.writeAndFlush(out);
    }

    private void welcome(ChannelHandlerContext context, ByteBuf out, Session session) {
        session.servesClientAt(context.channel().remoteAddress());
        process = session.process();
        server.opened(process, secret, session, context.channel());
        applyStartup(session);
        ServerMessages.authenticationOk(out);
        ReportedSettings reported = new ReportedSettings(session.settings());
        reported.report(out);
        ServerMessages.backendKeyData(out, process, secret);
        ServerMessages.readyForQuery(out, TransactionState.IDLE);
        Inbox inbox = new Inbox(context.channel());
        Outgoing outgoing = new Outgoing(context.channel());
        served =
                Optional.of(new Served(session, inbox, outgoing, new Conversation(session, inbox, outgoing, reported)));
        session.onEnd(why -> end(context.channel(), why));
        decoder.authenticated(server.database().roomForMessages());
    }

    /** What a client asks for at its start and we do not have is passed over: it is told what holds instead. */
    private void applyStartup(Session session) {
        startup.forEach((name, value) -> {
            if (name.equals("database")) {
                session.settings().identify(Setting.DATABASE, value);
            } else if (name.equals("options")) {
                Matcher options = OPTION.matcher(value);
                while (options.find()) {
                    begin(session, options.group(1).replace('-', '_'), options.group(2));
                }
            } else if (!name.equals("user") && !name.equals("replication") && !name.startsWith("_pq_.")) {
                begin(session, name, value);
            }
        });
    }

    private static void begin(Session session, String name, String value) {
        try {
            if (PassiveSettings.isPassive(name)) {
                session.settings().setPassive(name, value, false);
                return;
            }
            Setting setting = Setting.named(name);
            if (!setting.isForSuperusers()) {
                session.settings().begin(setting, value);
            }
        } catch (MillraceException e) {
            // the value that holds is among the parameters reported
        }
    }

    /** Somebody else ends the session: its thread says so, unless the client does not read; then it is only cut off. */
    private void end(Channel channel, MillraceException why) {
        served.ifPresent(client -> serve(client, new ClientMessage.Ended(why)));
        channel.eventLoop().schedule(() -> channel.close(), FAREWELL_SECONDS, TimeUnit.SECONDS);
    }

    // ---- its end ---------------------------------------------------------------------------------------------------

    /** Says that the server stops: at once, or when what was asked before is done. On any thread. */
    void stop() {
        Channel channel = channelContext.channel();
        channel.eventLoop().execute(() -> {
            if (served.isPresent()) {
                serve(served.get(), new ClientMessage.Ended(serverStops()));
            } else if (channel.isActive()) {
                refuse(channelContext, serverStops());
            }
        });
    }

    private static MillraceException serverStops() {
        return MillraceException.user(SqlState.ADMIN_SHUTDOWN, "terminating connection due to administrator command");
    }

    /** Cancels what would not end by itself; everything if there is no time left. On any thread. */
    void cancelForStop(boolean everything) {
        served.filter(client -> everything || client.out().isEndless())
                .ifPresent(client -> client.session().cancel("the server's stop"));
    }

    @Override
    public void handlerAdded(ChannelHandlerContext context) {
        channelContext = context;
        long millis = server.options().authenticationTimeout().toMillis();
        if (millis > 0) {
            ScheduledFuture<?> timeout = context.executor()
                    .schedule(
                            () -> {
                                if (served.isEmpty()) {
                                    context.close();
                                }
                            },
                            millis,
                            TimeUnit.MILLISECONDS);
            context.channel().closeFuture().addListener(closed -> timeout.cancel(false));
        }
    }

    // ---- what it wants ---------------------------------------------------------------------------------------------

    /**
     * What can be answered without waiting is, here and now: handing it to another thread and the answer back would take
     * longer. All else goes to the session's thread, together with what was read with it.
     */
    private void take(Served client, ClientMessage message) {
        if (!(message instanceof ClientMessage.Sync)) {
            passOnExecute();
        }
        if (arrived.isEmpty() && client.inbox().claim()) {
            boolean isTaken = false;
            try {
                isTaken = takeHere(client, message);
            } finally { // also when memory is out: who ends the session finds it served by nobody
                if (held.isEmpty()) {
                    release(client);
                }
            }
            if (isTaken) {
                return;
            }
        }
        passOnExecute();
        arrived.add(message);
        if (arrived.size() >= MOST_TOGETHER) {
            serve(client, arrived);
        }
    }

    /** What is not executed here is by the session's thread. */
    private void passOnExecute() {
        executing.ifPresent(arrived::add);
        executing = Optional.empty();
    }

    /** By who has claimed the inbox; false if the session's thread is to answer. */
    private boolean takeHere(Served client, ClientMessage message) {
        if (executing.isEmpty() && client.conversation().answersAtOnce(message)) {
            client.conversation().answer(message);
            return true;
        }
        if (message instanceof ClientMessage.Execute execute
                && client.conversation().mayAccept(execute)) {
            executing = Optional.of(execute);
            return true;
        }
        OptionalLong entry = executing.isPresent()
                ? client.conversation().accept(executing.get())
                : client.conversation().accept(message);
        if (entry.isEmpty()) {
            client.out().passOn(); // what waits for more may wait long, and is behind it
            return false;
        }
        executing = Optional.empty();
        message.close();
        if (entry.getAsLong() == 0) {
            client.conversation().acknowledge();
            return true;
        }
        client.out().passOnWhole(); // what was answered before waits for no disk
        if (isOnOwnLoop) {
            channelContext.flush();
            wroteNanos = System.nanoTime();
            if (client.session().writesDurable(entry.getAsLong(), () -> acknowledge(client))) {
                return true;
            }
        }
        hold(client, entry.getAsLong());
        return true;
    }

    /** Answers at once what is on disk. A defect in that ends the connection: others wait for the thread. */
    private void acknowledge(Served client) {
        try {
            client.conversation().acknowledge();
            client.out().passOn();
        } catch (RuntimeException | Error e) {
            exceptionCaught(channelContext, e);
        }
        channelContext.flush();
    }

    private void hold(Served client, long entry) {
        held = Optional.of(new HeldAnswer(client));
        boolean isAlone = server.held(channelContext.executor()).add(client.session(), entry, held.get());
        long now = System.nanoTime();
        alone = isAlone && now - wroteNanos < ALONE_NANOS ? alone + 1 : 0;
        wroteNanos = now;
    }

    // ---- a loop of its own ------------------------------------------------------------------------------------------

    @Override
    public long wroteNanos() {
        return wroteNanos;
    }

    /** Goes to a loop of its own, if it has written alone for some time and there is one; the inbox is claimed. Whether it goes. */
    private boolean goesToOwnLoop(Served client) {
        if (alone < MANY_ALONE || !isAtRest() || !(channelContext.channel() instanceof NioSocketChannel)) {
            return false;
        }
        alone = 0;
        Optional<EventLoop> own = server.ownLoops().take(this);
        own.ifPresent(loop -> {
            isOnOwnLoop = true;
            move(client, loop, () -> {});
        });
        return own.isPresent();
    }

    @Override
    public void leave() {
        try {
            channelContext.channel().eventLoop().execute(this::leaveOwnLoop);
        } catch (RejectedExecutionException e) {
            // the server is closed, and this client with it
        }
    }

    private void leaveOwnLoop() {
        if (isOnOwnLoop
                && served.isPresent()
                && isAtRest()
                && served.get().inbox().claim()) {
            isOnOwnLoop = false;
            move(served.get(), server.sharedLoop(), () -> server.ownLoops().giveBack(this));
        }
    }

    /** Whether nothing is on its way through the loop, in or out. */
    private boolean isAtRest() {
        ChannelOutboundBuffer unsent = channelContext.channel().unsafe().outboundBuffer();
        return held.isEmpty() && arrived.isEmpty() && executing.isEmpty() && unsent != null && unsent.isEmpty();
    }

    /** Moves the connection to another loop; the inbox is claimed until it is there, so that nobody sends meanwhile. */
    private void move(Served client, EventLoop loop, Runnable then) {
        Channel channel = channelContext.channel();
        channel.deregister()
                .addListener(left -> loop.register(channel).addListener(moved -> {
                    then.run();
                    if (!moved.isSuccess()) { // closed meanwhile, which is told on no loop
                        channel.close();
                        ended();
                    }
                    release(client);
                }));
    }

    private void release(Served client) {
        if (client.inbox().release()) {
            server.execute(() -> converse(client));
        }
    }

    /** The answer to rows that are on their way to disk. While there is one the inbox is claimed for it. */
    private final class HeldAnswer implements HeldAnswers.Client {
        private final Served client;

        HeldAnswer(Served client) {
            this.client = client;
        }

        @Override
        public void answer() {
            if (end()) {
                acknowledge(client);
                if (!goesToOwnLoop(client)) {
                    release(client);
                }
            }
        }

        @Override
        public void leave() {
            if (end()) {
                server.execute(() -> {
                    client.conversation().awaitDisk();
                    converse(client);
                });
            }
        }

        /** Whether it was still held: the client is there. */
        private boolean end() {
            boolean isHeld = held.filter(held -> held == this).isPresent();
            held = Optional.empty();
            return isHeld;
        }
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext context) {
        passOnExecute();
        if (!arrived.isEmpty()) {
            serve(served.orElseThrow(), arrived);
        } else if (served.isPresent()) {
            passOn(served.get());
        }
        context.flush();
        context.fireChannelReadComplete();
    }

    /** What was answered here leaves, unless another thread serves: before it began to, all had left. */
    private void passOn(Served client) {
        if (client.inbox().claim()) {
            client.out().passOn();
            release(client);
        }
    }

    /** Has a session thread answer messages, which are taken out of the list, when those before them are. */
    private void serve(Served client, List<ClientMessage> messages) {
        if (client.inbox().add(messages)) {
            server.execute(() -> converse(client));
        }
        messages.clear();
    }

    private void serve(Served client, ClientMessage message) {
        serve(client, new ArrayList<>(List.of(message)));
    }

    /** Answers what has arrived, and ends the session after a farewell; on a session thread. */
    private static void converse(Served client) {
        boolean goesOn = false;
        try {
            goesOn = answerAll(client);
        } finally {
            if (!goesOn) { // also when memory is out: a client is not left waiting
                client.out().hangUp();
                client.conversation().close();
                client.inbox().close();
            }
        }
    }

    private static boolean answerAll(Served client) {
        for (Optional<ClientMessage> next = client.inbox().poll();
                next.isPresent();
                next = client.inbox().poll()) {
            if (!client.conversation().answer(next.get())) {
                return false;
            }
        }
        return true;
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext context) {
        served.ifPresent(client -> client.out().writabilityChanged());
        context.fireChannelWritabilityChanged();
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        ended();
        context.fireChannelInactive();
    }

    private void ended() {
        server.closed(process);
        server.ownLoops().giveBack(this);
        executing = Optional.empty();
        arrived.forEach(ClientMessage::close);
        arrived.clear();
        served.ifPresent(client -> {
            client.session().cancel("loss of the connection");
            client.out().writabilityChanged();
            if (held.isPresent()) { // nobody is to be answered
                held = Optional.empty();
                release(client);
            }
            if (client.inbox().close()) {
                server.execute(() -> converse(client)); // it finds the client's farewell
            }
        });
    }

    /** Broken TLS, a reset: the connection ends, quietly, as the network is not ours. */
    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        context.close();
    }
}
