package dev.millrace.server.gateway;

import dev.millrace.edge.wire.Message;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.server.device.DeviceSession;
import dev.millrace.server.device.EdgeInlet;
import dev.millrace.server.device.EdgeStatus;
import dev.millrace.server.log.EventLog;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.handler.codec.DecoderException;
import io.netty.handler.timeout.ReadTimeoutException;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;

/**
 * One connection of a device. On its event loop, but for what others are said to call.
 *
 * <pre>
 *   HELLO --role and token are right--> OPEN .. : streams, by their numbers
 *     +--- not --> REFUSED, closed       ^  each PING: is the role still one that may?
 * </pre>
 */
final class EdgeConnection extends SimpleChannelInboundHandler<Message> {
    private static final EventLog LOG = EventLog.named("edge");
    private static final int MOST_STREAMS = 256;
    private static final int MOST_NAME = 200;

    private final EdgeGateway gateway;
    private final SocketChannel channel;
    private final FrameDecoder decoder;
    private final Map<Integer, Stream> streams = new HashMap<>();
    private final Map<Integer, Message.Open> waiting = new HashMap<>(); // for their streams to be there
    private Optional<Message.Hello> hello = Optional.empty();
    private boolean admitted;
    private int held; // streams that have no room for more
    private int checks; // that are made elsewhere

    EdgeConnection(EdgeGateway gateway, SocketChannel channel, FrameDecoder decoder) {
        this.gateway = gateway;
        this.channel = channel;
        this.decoder = decoder;
    }

    /** A stream of it; told by the stream's thread. */
    private final class Stream implements DeviceSession {
        private final int number;
        private final String device;
        private final long identity;
        private final EdgeInlet inlet;
        private boolean isHeld; // the loop's

        Stream(int number, Message.Hello of, EdgeInlet inlet) {
            this.number = number;
            this.device = of.device();
            this.identity = of.identity();
            this.inlet = inlet;
        }

        @Override
        public String device() {
            return device;
        }

        @Override
        public long identity() {
            return identity;
        }

        @Override
        public void opened(long acknowledged) {
            update(status ->
                    status.opened(address(), hello.map(Message.Hello::agent).orElse("")));
            send(new Message.Opened(number, acknowledged, ""));
        }

        @Override
        public void waitsFor(String what) {
            send(new Message.Opened(number, 0, what));
        }

        @Override
        public void acknowledged(long upTo) {
            send(new Message.Acknowledged(number, upTo));
        }

        @Override
        public void needVersions() {
            send(new Message.NeedVersions(number));
        }

        @Override
        public void set(long settings, String text) {
            send(new Message.Set(number, settings, text));
        }

        @Override
        public void room() {
            channel.eventLoop().execute(() -> {
                if (isHeld) {
                    isHeld = false;
                    held--;
                    readOrWait();
                }
            });
        }

        void offer(Message message) {
            if (!inlet.offer(this, message) && !isHeld) {
                isHeld = true;
                held++;
                readOrWait();
            }
        }

        void update(UnaryOperator<EdgeStatus> change) {
            inlet.update(device, change);
        }
    }

    /** Nothing is read while streams have no room, something is checked, or the device does not read its answers: all of these would pile up. */
    private void readOrWait() {
        channel.config().setAutoRead(held == 0 && checks == 0 && channel.isWritable());
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext context) {
        readOrWait();
        context.fireChannelWritabilityChanged();
    }

    private String address() {
        return channel.remoteAddress() == null
                ? ""
                : channel.remoteAddress().getAddress().getHostAddress() + ":"
                        + channel.remoteAddress().getPort();
    }

    private void send(Message message) {
        channel.writeAndFlush(message);
    }

    private void refuse(MillraceException why, boolean again) {
        channel.writeAndFlush(new Message.Refused(why.sqlState().code(), String.valueOf(why.getMessage()), again))
                .addListener(ChannelFutureListener.CLOSE);
    }

    @Override
    protected void channelRead0(ChannelHandlerContext context, Message message) {
        if (message instanceof Message.Hello first && hello.isEmpty()) {
            hello = Optional.of(first);
            greet(first);
        } else if (!admitted) {
            refuse(violation("a device says first who it is"), false);
        } else if (message instanceof Message.Open open) {
            open(open);
        } else if (message instanceof Message.Rows rows) {
            of(rows.stream()).ifPresent(stream -> stream.offer(rows));
        } else if (message instanceof Message.Version version) {
            of(version.stream()).ifPresent(stream -> stream.offer(version));
        } else if (message instanceof Message.Status status) {
            of(status.stream())
                    .ifPresent(stream -> stream.update(
                            before -> before.withTold(status, gateway.clock().epochMicros())));
        } else if (message instanceof Message.SetDone done) {
            of(done.stream())
                    .ifPresent(stream -> stream.update(before -> before.withSettingsDone(done.number(), done.error())));
        } else if (message instanceof Message.Ping ping) {
            ping(ping);
        } else {
            refuse(violation("a message that no device sends"), false);
        }
    }

    private static MillraceException violation(String what) {
        return MillraceException.user(SqlState.PROTOCOL_VIOLATION, what);
    }

    private Optional<Stream> of(int number) {
        return Optional.ofNullable(streams.get(number)); // nothing is said of those that are not open any more
    }

    private void greet(Message.Hello first) {
        if (first.version() != Message.VERSION) {
            refuse(
                    MillraceException.user(
                            SqlState.FEATURE_NOT_SUPPORTED,
                            "the device speaks version " + first.version() + " of the protocol, and the server "
                                    + Message.VERSION),
                    false);
            return;
        }
        if (first.device().isBlank() || first.device().length() > MOST_NAME) {
            refuse(violation("a device has a name of 1 to " + MOST_NAME + " characters"), false);
            return;
        }
        check(() -> gateway.access().admit(first.user(), first.token(), first.device()), () -> {
            admitted = true;
            decoder.admit();
            gateway.has(first.device(), this);
            send(new Message.Welcome(gateway.clock().epochMicros()));
        });
    }

    /** Has something done elsewhere, and goes on here; meanwhile nothing is read. */
    private void elsewhere(Runnable work) {
        checks++;
        readOrWait();
        gateway.execute(() -> {
            try {
                work.run();
            } finally {
                channel.eventLoop().execute(() -> {
                    checks--;
                    readOrWait();
                });
            }
        });
    }

    /** Checks something elsewhere, and goes on here; who may not is refused. */
    private void check(Runnable checked, Runnable then) {
        elsewhere(() -> {
            try {
                checked.run();
                channel.eventLoop().execute(then);
            } catch (MillraceException e) {
                LOG.info(
                        "refuses a device",
                        "device",
                        hello.map(Message.Hello::device).orElse(""),
                        "address",
                        address(),
                        "reason",
                        String.valueOf(e.getMessage()));
                channel.eventLoop().execute(() -> refuse(e, false));
            }
        });
    }

    private void open(Message.Open open) {
        if (open.stream() < 0 || open.stream() >= MOST_STREAMS || open.name().length() > MOST_NAME) {
            refuse(violation("a device has at most " + MOST_STREAMS + " streams"), false);
            return;
        }
        Optional<EdgeInlet> inlet = gateway.inlets().named(open.name());
        if (inlet.isEmpty()) {
            streams.remove(open.stream());
            waiting.put(open.stream(), open);
            send(new Message.Opened(
                    open.stream(), 0, "the server has no stream of connector edge for \"" + open.name() + "\""));
            return;
        }
        Message.Hello who = hello.orElseThrow();
        waiting.remove(open.stream());
        elsewhere(() -> {
            try {
                gateway.access().mayInsert(who.user(), inlet.get().stream());
                channel.eventLoop().execute(() -> {
                    Stream stream = new Stream(open.stream(), who, inlet.get());
                    streams.put(open.stream(), stream);
                    stream.offer(open);
                });
            } catch (MillraceException e) {
                send(new Message.Opened(open.stream(), 0, String.valueOf(e.getMessage())));
            }
        });
    }

    /** A stream has come that was not there: those that waited may be it. Any thread. */
    void tryAgain() {
        channel.eventLoop().execute(() -> {
            if (channel.isActive()) {
                new HashMap<>(waiting).values().forEach(this::open);
            }
        });
    }

    private void ping(Message.Ping ping) {
        long now = gateway.clock().epochMicros();
        send(new Message.Pong(ping.micros(), now));
        streams.values()
                .forEach(stream ->
                        stream.update(status -> status.withSeen(now, ping.offsetMicros(), ping.roundTripMicros())));
        String user = hello.orElseThrow().user();
        Map<Integer, Stream> open = new HashMap<>(streams);
        check(
                () -> {
                    gateway.access().mayLogIn(user);
                    open.values().forEach(stream -> gateway.access().mayInsert(user, stream.inlet.stream()));
                },
                () -> {});
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        hello.ifPresent(who -> gateway.lost(who.device(), this));
        streams.values().forEach(stream -> stream.update(EdgeStatus::disconnected));
        streams.clear();
        context.fireChannelInactive();
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        if (cause instanceof DecoderException && cause.getCause() instanceof MillraceException e) {
            refuse(e, true);
            return;
        }
        if (!(cause instanceof IOException) && !(cause instanceof ReadTimeoutException)) {
            LOG.warning("ends a connection of a device", "address", address(), "reason", String.valueOf(cause));
        }
        channel.close();
    }

    /** Ends it. Any thread. */
    void end() {
        channel.close();
    }
}
