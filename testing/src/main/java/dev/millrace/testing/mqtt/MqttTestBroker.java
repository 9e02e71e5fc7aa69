package dev.millrace.testing.mqtt;

import com.hivemq.configuration.service.InternalConfigurations;
import com.hivemq.embedded.EmbeddedExtension;
import com.hivemq.embedded.EmbeddedHiveMQ;
import com.hivemq.extension.sdk.api.ExtensionMain;
import com.hivemq.extension.sdk.api.auth.SimpleAuthenticator;
import com.hivemq.extension.sdk.api.auth.parameter.SimpleAuthInput;
import com.hivemq.extension.sdk.api.auth.parameter.SimpleAuthOutput;
import com.hivemq.extension.sdk.api.packets.general.Qos;
import com.hivemq.extension.sdk.api.parameter.ExtensionStartInput;
import com.hivemq.extension.sdk.api.parameter.ExtensionStartOutput;
import com.hivemq.extension.sdk.api.parameter.ExtensionStopInput;
import com.hivemq.extension.sdk.api.parameter.ExtensionStopOutput;
import com.hivemq.extension.sdk.api.services.Services;
import com.hivemq.extension.sdk.api.services.builder.Builders;
import com.hivemq.extension.sdk.api.services.publish.Publish;
import com.hivemq.extension.sdk.api.services.publish.PublishService;
import dev.millrace.testing.net.TestKeys;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.Optional;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.function.IntFunction;
import java.util.stream.Stream;

/**
 * HiveMQ's community edition, MQTT 5 and 3.1.1, at ports of its own that it keeps when it is started again. What it keeps for sessions is in
 * the folder. Whoever names a user must have the password {@link #PASSWORD}. For one thread at a time.
 */
public final class MqttTestBroker implements AutoCloseable {
    private static final int MOST_UNDER_WAY = 10_000;

    /** Of every user. */
    public static final String PASSWORD = "open sesame";

    private static final String CONFIGURATION = """
            <hivemq>
              <listeners>
                <tcp-listener><port>%d</port><bind-address>127.0.0.1</bind-address></tcp-listener>
                %s
              </listeners>
              <mqtt>
                <queued-messages><max-queue-size>1000000</max-queue-size><strategy>discard</strategy></queued-messages>
              </mqtt>
              <anonymous-usage-statistics><enabled>false</enabled></anonymous-usage-statistics>
            </hivemq>
            """;
    private static final String TLS_LISTENER = """
            <tls-tcp-listener><port>%d</port><bind-address>127.0.0.1</bind-address><tls>
              <keystore><path>%s</path><password>%s</password><private-key-password>%s</private-key-password></keystore>
              <truststore><path>%s</path><password>%s</password></truststore>
              <client-authentication-mode>%s</client-authentication-mode>
            </tls></tls-tcp-listener>
            """;

    private static Optional<MqttTestBroker> shared = Optional.empty();

    private final Path folder;
    private final int port;
    private final Optional<Tls> tls;
    private final Passwords inside = new Passwords();
    private EmbeddedHiveMQ server;

    /**
     * Its listeners for TLS.
     *
     * @param own its key
     * @param client whose certificate it trusts
     * @param port for all
     * @param closedPort for those who show that certificate
     */
    public record Tls(TestKeys own, TestKeys client, int port, int closedPort) {
        /** For whoever speaks TLS. */
        public String url() {
            return "mqtts://localhost:" + port;
        }

        /** For whoever shows the client's certificate. */
        public String closedUrl() {
            return "mqtts://localhost:" + closedPort;
        }

        private String listeners() {
            return listener(port, "NONE") + listener(closedPort, "REQUIRED");
        }

        private String listener(int at, String mode) {
            return TLS_LISTENER.formatted(
                    at, own.file(), TestKeys.PASSWORD, TestKeys.PASSWORD, client.trustStore(), TestKeys.PASSWORD, mode);
        }
    }

    private MqttTestBroker(Path folder, int port, Optional<Tls> tls) {
        this.folder = folder;
        this.port = port;
        this.tls = tls;
        this.server = started();
    }

    /** One that all tests of this process have, with TLS, until it ends; nobody stops it, and each test has topics of its own. */
    public static synchronized MqttTestBroker shared() {
        if (shared.isEmpty()) {
            try {
                Path folder = Files.createTempDirectory("millrace-mqtt-broker");
                shared = Optional.of(startWithTls(folder));
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
            // a broker still writes to it: what is left is in a folder for what is temporary
        }
    }

    /** Starts one, which takes some seconds. */
    public static MqttTestBroker start(Path folder) {
        return start(folder, Optional.empty());
    }

    /** Starts one that speaks TLS, too. */
    public static MqttTestBroker startWithTls(Path folder) {
        TestKeys own = TestKeys.make(folder, "broker");
        TestKeys client = TestKeys.make(folder, "client");
        return start(folder, Optional.of(new Tls(own, client, freePort(), freePort())));
    }

    /** Starts one that has as many messages under way to a client as that allows, and not fewer. For a process that has no other. */
    public static MqttTestBroker startWithWideWindow(Path folder) {
        InternalConfigurations.MAX_INFLIGHT_WINDOW_SIZE_MESSAGES = MOST_UNDER_WAY;
        return start(folder);
    }

    private static MqttTestBroker start(Path folder, Optional<Tls> tls) {
        try {
            for (String name : new String[] {"conf", "data", "extensions"}) {
                Files.createDirectories(folder.resolve(name));
            }
            int port = freePort();
            Files.writeString(
                    folder.resolve("conf").resolve("config.xml"),
                    CONFIGURATION.formatted(port, tls.map(Tls::listeners).orElse("")));
            return new MqttTestBroker(folder, port, tls);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static int freePort() {
        try (ServerSocket any = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return any.getLocalPort();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private EmbeddedHiveMQ started() {
        EmbeddedHiveMQ fresh = EmbeddedHiveMQ.builder()
                .withConfigurationFolder(folder.resolve("conf"))
                .withDataFolder(folder.resolve("data"))
                .withExtensionsFolder(folder.resolve("extensions"))
                .withEmbeddedExtension(EmbeddedExtension.builder()
                        .withId("passwords")
                        .withName("passwords")
                        .withVersion("1")
                        .withExtensionMain(inside)
                        .build())
                .withoutLoggingBootstrap()
                .build();
        fresh.start().join();
        return fresh;
    }

    /** Who names no user comes in, too. */
    private static final class Passwords implements ExtensionMain, SimpleAuthenticator {
        private volatile Optional<PublishService> publishing = Optional.empty(); // written when it starts

        @Override
        public void extensionStart(ExtensionStartInput input, ExtensionStartOutput output) {
            publishing = Optional.of(Services.publishService());
            Services.securityRegistry().setAuthenticatorProvider(asked -> this);
        }

        @Override
        public void extensionStop(ExtensionStopInput input, ExtensionStopOutput output) {}

        @Override
        public void onConnect(SimpleAuthInput input, SimpleAuthOutput output) {
            boolean isKnown = input.getConnectPacket()
                    .getPassword()
                    .map(password ->
                            StandardCharsets.UTF_8.decode(password).toString().equals(PASSWORD))
                    .orElse(false);
            if (isKnown || input.getConnectPacket().getUserName().isEmpty()) {
                output.authenticateSuccessfully();
            } else {
                output.failAuthentication();
            }
        }
    }

    /** Where it is: {@code mqtt://127.0.0.1:PORT}. */
    public String url() {
        return "mqtt://127.0.0.1:" + port;
    }

    /** How it speaks TLS. */
    public Tls tls() {
        return tls.orElseThrow();
    }

    /**
     * Has it send messages that come from nobody, some thousands ahead of what it has taken itself; returns when it has all.
     *
     * @param payload of each, by its number from 0 on
     */
    public void flood(String topic, IntFunction<byte[]> payload, int count, int qos) {
        PublishService publishing = inside.publishing.orElseThrow();
        Semaphore room = new Semaphore(MOST_UNDER_WAY);
        for (int i = 0; i < count; i++) {
            room.acquireUninterruptibly();
            Publish message = Builders.publish()
                    .topic(topic)
                    .qos(Qos.valueOf(qos))
                    .payload(ByteBuffer.wrap(payload.apply(i)))
                    .build();
            publishing.publish(message).whenComplete((taken, failure) -> room.release());
        }
        room.acquireUninterruptibly(MOST_UNDER_WAY);
    }

    /** Stops it; it can be started again. */
    public void stop() {
        try {
            server.stop().join();
            server.close();
        } catch (CompletionException e) {
            throw new IllegalStateException("the broker does not stop", e);
        } catch (ExecutionException e) {
            throw new IllegalStateException("the broker does not stop", e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Starts it again, with what it had kept. */
    public void restart() {
        server = started();
    }

    /** Another at the same port, of one that was stopped, which has none of what it kept. */
    public MqttTestBroker withoutWhatItKept() {
        delete(folder.resolve("data"));
        try {
            Files.createDirectories(folder.resolve("data"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return new MqttTestBroker(folder, port, tls);
    }

    @Override
    public void close() {
        stop();
    }
}
