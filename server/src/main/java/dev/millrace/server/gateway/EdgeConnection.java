package dev.millrace.server.gateway;

import dev.millrace.edge.wire.Message;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.server.device.DeviceSession;
import dev.millrace.server.device.EdgeInlet;
import dev.millrace.server.device.EdgeStatus;
import dev.millrace.server.log.EventLog;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;

/**
 * One connection of a device. On its channel's thread, but for what others are said to call.
 *
 * <pre>
 *   HELLO --role and token are right--> OPEN .. : streams, by their numbers
 *     +--- not --> REFUSED, closed       ^  each PING: is the role still one that may?
 * </pre>
 */
final class EdgeConnection {
    private static final EventLog LOG = EventLog.named("edge");
    private static final int MOST_STREAMS = 256;
    private static final int MOST_NAME = 200;

    private final EdgeGateway gateway;
    private final DeviceChannel channel;
    private final Map<Integer, Stream> streams = new HashMap<>();
    private final Map<Integer, Message.Open> waiting = new HashMap<>(); // for their streams to be there
    private Optional<Message.Hello> hello = Optional.empty();
    private boolean admitted;
    private int held; // streams that have no room for more
    private int checks; // that are made elsewhere

    EdgeConnection(EdgeGateway gateway, DeviceChannel channel) {
        this.gateway = gateway;
        this.channel = channel;
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
            update(status -> status.opened(
                    channel.address(), hello.map(Message.Hello::agent).orElse("")));
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
            channel.execute(() -> {
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
    void readOrWait() {
        channel.read(held == 0 && checks == 0 && channel.isWritable());
    }

    private void send(Message message) {
        channel.send(message);
    }

    void refuse(MillraceException why, boolean again) {
        channel.sendLast(new Message.Refused(why.sqlState().code(), String.valueOf(why.getMessage()), again));
    }

    /** Something has come. */
    void take(Message message) {
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
        if (!channel.mayBe(first.device())) {
            refuse(violation("device \"" + first.device() + "\" does not speak by the topic of its name"), false);
            return;
        }
        check(() -> gateway.access().admit(first.user(), first.token(), first.device()), () -> {
            admitted = true;
            channel.admit();
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
                channel.execute(() -> {
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
                onChannel(then);
            } catch (MillraceException e) {
                LOG.info(
                        "refuses a device",
                        "device",
                        hello.map(Message.Hello::device).orElse(""),
                        "address",
                        channel.address(),
                        "reason",
                        String.valueOf(e.getMessage()));
                channel.execute(() -> refuse(e, false));
            }
        });
    }

    /** Goes on here; not if it has ended meanwhile: the device may be back on another one, which this would take its streams from. */
    private void onChannel(Runnable then) {
        channel.execute(() -> {
            if (channel.isOpen()) {
                then.run();
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
                onChannel(() -> {
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
        onChannel(() -> new HashMap<>(waiting).values().forEach(this::open));
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

    /** The channel has ended. */
    void ended() {
        hello.ifPresent(who -> gateway.lost(who.device(), this));
        streams.values().forEach(stream -> stream.update(EdgeStatus::disconnected));
        streams.clear();
        waiting.clear();
    }

    /** Ends it. Any thread. */
    void end() {
        channel.close();
    }
}
