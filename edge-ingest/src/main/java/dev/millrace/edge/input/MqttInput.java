package dev.millrace.edge.input;

import dev.millrace.connector.Options;
import dev.millrace.edge.mqtt.BrokerSocket;
import dev.millrace.edge.socket.RemoteHost;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.time.Clock;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Messages of a broker, by MQTT 5 at QoS 1, in a session that the broker keeps. Each is acknowledged when it is on disk, so that none is lost; who is killed between
 * the two, or loses the connection there, has the message twice. A thread connects, reads, and tries again.
 */
final class MqttInput implements Input {
    private static final int WAITING = 64; // messages that are read and not polled
    private static final int COMMIT = 10; // messages: some brokers have no more than 20 under way
    private static final long COMMIT_NANOS = 100_000_000L; // and some send no more before all is acknowledged
    private static final int UNDER_WAY = 1000;
    private static final int PACKET_OVERHEAD_BYTES = 70_000; // a topic, and what else is before the payload
    private static final long LEAST_PAUSE_MILLIS = 500;
    private static final long MOST_PAUSE_MILLIS = 30_000;
    private static final long DAY_MICROS = 24L * 3600 * 1_000_000;
    private static final long MOST_EXPIRY_SECONDS = 0xFFFF_FFFEL; // one more is for ever
    private static final int STACK_BYTES = 256 << 10;

    private final RemoteHost broker;
    private final BrokerSocket.Login login;
    private final BrokerSocket.Session session;
    private final List<String> topics;
    private final boolean hasLines;
    private final int mostBytes;
    private final ArrayBlockingQueue<Arrived> arrived = new ArrayBlockingQueue<>(WAITING);
    private final Deque<Arrived> polled = new ArrayDeque<>(); // and not acknowledged; the agent's
    private final Clock clock;
    private final AtomicLong tooLong = new AtomicLong();
    private final Thread thread;
    private long oldestNanos; // when the first of those was
    private long pauseMillis = LEAST_PAUSE_MILLIS; // the thread's
    private volatile Optional<String> problem = Optional.of("it is not connected yet"); // written by the thread
    private volatile Optional<BrokerSocket> connection = Optional.empty(); // written by the thread, read by close
    private volatile boolean closed; // written by close

    private record Arrived(byte[] payload, int id, BrokerSocket by) {}

    private MqttInput(
            RemoteHost broker,
            BrokerSocket.Login login,
            BrokerSocket.Session session,
            List<String> topics,
            boolean hasLines,
            int mostBytes,
            Clock clock) {
        this.clock = clock;
        this.broker = broker;
        this.login = login;
        this.session = session;
        this.topics = topics;
        this.hasLines = hasLines;
        this.mostBytes = mostBytes;
        this.thread = new Thread(null, this::run, "edge-mqtt", STACK_BYTES);
        thread.setDaemon(true);
        thread.start();
    }

    /**
     * Begins to connect.
     *
     * @param format of payloads: of CSV each line is a record, of others the whole
     * @throws MillraceException 22023 naming the option that is wrong
     */
    static MqttInput open(String format, Options options, int mostBytes, Clock clock) {
        List<String> topics = options.required("topics").lines().toList();
        if (topics.isEmpty() || topics.stream().anyMatch(String::isEmpty)) {
            throw Options.invalid(
                    "topics", String.join(", ", topics), "a topic filter such as plant/+/temp, or a list of them");
        }
        Optional<String> file = options.text("password_file");
        Optional<String> password = options.text("password");
        if (file.isPresent() && password.isPresent()) {
            throw MillraceException.user(
                    SqlState.INVALID_PARAMETER_VALUE, "options \"password\" and \"password_file\" exclude each other");
        }
        long expirySeconds = options.durationMicros("session_expiry", 7 * DAY_MICROS) / 1_000_000;
        return new MqttInput(
                broker(options),
                new BrokerSocket.Login(
                        options.required("client_id"),
                        options.text("user"),
                        file.map(MqttInput::secret).or(() -> password)),
                new BrokerSocket.Session(
                        Math.max(1, Math.min(expirySeconds, MOST_EXPIRY_SECONDS)),
                        UNDER_WAY,
                        mostBytes + PACKET_OVERHEAD_BYTES,
                        Optional.empty()),
                topics,
                format.equals("csv"),
                mostBytes,
                clock);
    }

    private static RemoteHost broker(Options options) {
        String url = options.required("url");
        try {
            URI address = URI.create(url);
            String scheme = String.valueOf(address.getScheme()).toLowerCase(Locale.ROOT);
            boolean tls = scheme.equals("mqtts");
            if (address.getHost() != null && address.getUserInfo() == null && (tls || scheme.equals("mqtt"))) {
                int port = address.getPort() < 0 ? tls ? 8883 : 1883 : address.getPort();
                String host = address.getHost().replaceAll("[\\[\\]]", "");
                return new RemoteHost(host, port, tls, options.text("authority").map(Path::of));
            }
        } catch (IllegalArgumentException e) {
            // falls through to the one message for both
        }
        throw Options.invalid("url", url, "mqtt://host:1883, or mqtts://host:8883 for TLS");
    }

    private static String secret(String file) {
        try {
            return Files.readString(Path.of(file)).strip();
        } catch (IOException e) {
            throw MillraceException.user(
                    SqlState.INVALID_PARAMETER_VALUE, "option \"password_file\" cannot be read: " + e.getMessage());
        }
    }

    // ---- the thread's
    // ------------------------------------------------------------------------------------------------

    private void run() {
        try {
            while (!closed) {
                try (BrokerSocket open = BrokerSocket.open(broker, login, session)) {
                    connection = Optional.of(open);
                    if (closed) {
                        return; // while it connected
                    }
                    open.subscribe(topics); // of a session that is there, too: they may be others
                    open.read(new Listening(open));
                } catch (IOException | GeneralSecurityException | RuntimeException e) { // of an authority that is none
                    problem = Optional.of("broker " + broker.host() + ": " + broker.reason(e));
                }
                Thread.sleep(closed ? 0 : pauseMillis);
                pauseMillis = Math.min(MOST_PAUSE_MILLIS, 2 * pauseMillis);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // it is closed
        }
    }

    private final class Listening implements BrokerSocket.Listener {
        private final BrokerSocket by;

        Listening(BrokerSocket by) {
            this.by = by;
        }

        @Override
        public void arrived(String topic, byte[] payload, int id) throws IOException, InterruptedException {
            if (payload.length > mostBytes) {
                tooLong.incrementAndGet();
                arrived.put(new Arrived(new byte[0], id, by));
                return;
            }
            if (!hasLines) {
                for (int i = 0; i < payload.length; i++) {
                    payload[i] = payload[i] == '\n' || payload[i] == '\r' ? (byte) ' ' : payload[i]; // between tokens
                }
            }
            arrived.put(new Arrived(payload, id, by));
        }

        @Override
        public void subscribed() {
            pauseMillis = LEAST_PAUSE_MILLIS; // all is well
            problem = Optional.empty();
        }

        @Override
        public void published(boolean anybody) {}
    }

    // ---- the agent's
    // -------------------------------------------------------------------------------------------------

    @Override
    public boolean poll(LineMemory into) {
        Arrived next = arrived.poll();
        if (next == null) {
            return false;
        }
        if (next.payload().length > 0) {
            into.add(next.payload(), 0, next.payload().length);
        }
        if (next.id() != 0) {
            oldestNanos = polled.isEmpty() ? clock.nanoTime() : oldestNanos;
            polled.add(next);
        }
        return true;
    }

    @Override
    public boolean wantsCommit() {
        return polled.size() >= COMMIT || !polled.isEmpty() && clock.nanoTime() - oldestNanos >= COMMIT_NANOS;
    }

    @Override
    public void committed() {
        for (Arrived next = polled.poll(); next != null; next = polled.poll()) {
            try {
                next.by().acknowledge(next.id());
            } catch (IOException e) {
                // the connection is gone: it comes again on another
            }
        }
    }

    @Override
    public boolean isFinished() {
        return false;
    }

    @Override
    public long tooLong() {
        return tooLong.get();
    }

    @Override
    public Optional<String> problem() {
        return problem;
    }

    @Override
    public void close() {
        closed = true;
        thread.interrupt();
        connection.ifPresent(open -> {
            try {
                open.close();
            } catch (IOException e) {
                // nobody looks any more
            }
        });
    }
}
