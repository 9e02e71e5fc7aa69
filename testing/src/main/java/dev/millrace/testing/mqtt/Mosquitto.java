package dev.millrace.testing.mqtt;

import dev.millrace.testing.net.TestKeys;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntFunction;
import java.util.stream.Stream;

/**
 * Eclipse Mosquitto, MQTT 5 and 3.1.1, in a process of its own, at ports that it keeps when it is begun again. What it keeps for sessions
 * is in the folder. Whoever names the user {@code u} must have the password {@link #PASSWORD}; who names none comes in, too. It takes
 * messages of all topics but those of two levels whose second is {@link #REFUSED}. For one thread at a time.
 */
public final class Mosquitto implements AutoCloseable {
    /** Of the user {@code u}. */
    public static final String PASSWORD = "open sesame";

    /** Not by patterns: with these it refuses clients whose ids have wildcards. */
    private static final String ALLOWED = "topic readwrite #\ntopic deny +/refused\n";

    /** The second level of topics that it refuses. */
    public static final String REFUSED = "refused";

    private static final long PATIENCE_SECONDS = 30;
    private static final String CONFIGURATION = """
            user %s
            max_inflight_messages %d
            persistence true
            persistence_location %s/
            password_file %s
            allow_anonymous true
            acl_file %s
            max_queued_messages 1000000
            listener %d 127.0.0.1
            """;
    private static final String TLS_LISTENER = """
            listener %d 127.0.0.1
            certfile %s
            keyfile %s
            cafile %s
            require_certificate %s
            """;

    private static Optional<Mosquitto> shared = Optional.empty();

    private final Path folder;
    private final int port = freePort();
    private final int tlsPort = freePort();
    private final int closedPort = freePort();
    private final TestKeys own;
    private final TestKeys client;
    private Process process;

    /** Whether it is installed. */
    public static boolean isInstalled() {
        return program("mosquitto").isPresent() && program("mosquitto_passwd").isPresent();
    }

    private static Optional<Path> program(String name) {
        return Stream.of("/usr/sbin", "/usr/bin", "/usr/local/sbin", "/usr/local/bin", "/opt/homebrew/sbin")
                .map(in -> Path.of(in, name))
                .filter(Files::isExecutable)
                .findFirst();
    }

    /** One that all tests of this process have until it ends; nobody stops it, and each test has topics of its own. */
    public static synchronized Mosquitto shared() {
        if (shared.isEmpty()) {
            try {
                Path folder = Files.createTempDirectory("millrace-mosquitto");
                shared = Optional.of(new Mosquitto(folder));
                Runtime.getRuntime().addShutdownHook(new Thread(() -> delete(folder), "delete " + folder));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
        return shared.get();
    }

    private static void delete(Path folder) {
        try (Stream<Path> all = Files.walk(folder)) {
            for (Path each : all.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(each);
            }
        } catch (IOException | UncheckedIOException e) {
            // the broker still writes to it: what is left is in a folder for what is temporary
        }
    }

    /** Starts one. @param folder for its files; it is made where it is not there, and else empty */
    public Mosquitto(Path folder) {
        this(folder, 0);
    }

    /** The same. @param mostInFlight messages to one client that are under way at QoS 1 and 2, 0 for as many as the client takes; as it is installed it has 20 */
    public Mosquitto(Path folder, int mostInFlight) {
        this.folder = folder;
        try {
            Files.createDirectories(folder);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        this.own = TestKeys.make(folder, "broker");
        this.client = TestKeys.make(folder, "client");
        try {
            Path passwords = Files.createFile(folder.resolve("passwords"));
            Process made = new ProcessBuilder(
                            program("mosquitto_passwd").orElseThrow().toString(),
                            "-b",
                            passwords.toString(),
                            "u",
                            PASSWORD)
                    .inheritIO()
                    .start();
            if (made.waitFor() != 0) {
                throw new IllegalStateException("no password could be set");
            }
            Path allowed = Files.writeString(folder.resolve("allowed"), ALLOWED + "user u\n" + ALLOWED);
            Files.writeString(
                    folder.resolve("configuration"),
                    CONFIGURATION.formatted(
                                    System.getProperty("user.name"), mostInFlight, folder, passwords, allowed, port)
                            + tlsListener(tlsPort, false)
                            + tlsListener(closedPort, true));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
        this.process = begun();
    }

    private String tlsListener(int at, boolean isClosed) throws IOException {
        return TLS_LISTENER.formatted(
                at,
                Files.writeString(folder.resolve("own.pem"), own.certificatePem()),
                Files.writeString(folder.resolve("own.key"), own.keyPem()),
                Files.writeString(folder.resolve("client.pem"), client.certificatePem()),
                isClosed);
    }

    private static int freePort() {
        try (ServerSocket any = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return any.getLocalPort();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private Process begun() {
        try {
            Process begun = new ProcessBuilder(
                            program("mosquitto").orElseThrow().toString(),
                            "-c",
                            folder.resolve("configuration").toString())
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.appendTo(
                            folder.resolve("output").toFile()))
                    .start();
            Runtime.getRuntime().addShutdownHook(new Thread(begun::destroyForcibly));
            long since = System.nanoTime();
            while (!answers()) {
                if (!begun.isAlive() || System.nanoTime() - since > TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS)) {
                    throw new IllegalStateException(
                            "the broker does not answer: " + Files.readString(folder.resolve("output")));
                }
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20));
            }
            return begun;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private boolean answers() {
        try {
            new Socket(InetAddress.getLoopbackAddress(), port).close();
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    /** Where it is: {@code mqtt://127.0.0.1:PORT}. */
    public String url() {
        return "mqtt://127.0.0.1:" + port;
    }

    /** Where it speaks TLS with all. */
    public int tlsPort() {
        return tlsPort;
    }

    /** The same: {@code mqtts://localhost:PORT}. */
    public String tlsUrl() {
        return "mqtts://localhost:" + tlsPort;
    }

    /** Where it speaks TLS with those who show the certificate of {@link #client}. */
    public int closedPort() {
        return closedPort;
    }

    /** The same: {@code mqtts://localhost:PORT}. */
    public String closedUrl() {
        return "mqtts://localhost:" + closedPort;
    }

    /** Its key. */
    public TestKeys own() {
        return own;
    }

    /** The key whose certificate it trusts. */
    public TestKeys client() {
        return client;
    }

    /**
     * Publishes messages at QoS 1 by another client; returns when the broker has all.
     *
     * @param payload of each, by its number from 0 on
     */
    public void publish(String topic, IntFunction<String> payload, int count) {
        try (MqttPeer publisher = new MqttPeer(url())) {
            for (int i = 0; i < count; i++) {
                publisher.send(topic, payload.apply(i), 1, false);
            }
        }
    }

    /** Whether it has given up the session of a client, which came not back in time. */
    public boolean hasExpired(String clientId) {
        try {
            return Files.readString(folder.resolve("output")).contains("Expiring client " + clientId + " ");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Stops it in order; it can be begun again. */
    public void stop() {
        process.destroy();
        try {
            if (!process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
                throw new IllegalStateException("the broker does not stop");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        } finally {
            process.destroyForcibly();
        }
    }

    /** Begins it again, with what it had kept. */
    public void restart() {
        process = begun();
    }

    /** Removes what it kept, of one that is stopped. */
    public void forget() {
        try {
            Files.deleteIfExists(folder.resolve("mosquitto.db"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        stop();
    }
}
