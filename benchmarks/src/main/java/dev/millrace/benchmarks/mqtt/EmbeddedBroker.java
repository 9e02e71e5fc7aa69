package dev.millrace.benchmarks.mqtt;

import com.hivemq.configuration.service.InternalConfigurations;
import com.hivemq.embedded.EmbeddedExtension;
import com.hivemq.embedded.EmbeddedHiveMQ;
import com.hivemq.extension.sdk.api.ExtensionMain;
import com.hivemq.extension.sdk.api.auth.SimpleAuthenticator;
import com.hivemq.extension.sdk.api.packets.general.Qos;
import com.hivemq.extension.sdk.api.parameter.ExtensionStartInput;
import com.hivemq.extension.sdk.api.parameter.ExtensionStartOutput;
import com.hivemq.extension.sdk.api.parameter.ExtensionStopInput;
import com.hivemq.extension.sdk.api.parameter.ExtensionStopOutput;
import com.hivemq.extension.sdk.api.services.Services;
import com.hivemq.extension.sdk.api.services.builder.Builders;
import com.hivemq.extension.sdk.api.services.publish.Publish;
import com.hivemq.extension.sdk.api.services.publish.PublishService;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.function.IntFunction;

/**
 * HiveMQ's community edition, MQTT 5 and 3.1.1, in this process, with as many messages under way to a client as that allows. What it keeps for sessions
 * is in a folder. For one thread at a time, and for a process that has no other.
 */
public final class EmbeddedBroker implements AutoCloseable {
    private static final int MOST_UNDER_WAY = 10_000;
    private static final SimpleAuthenticator ALL = (input, output) -> output.authenticateSuccessfully();
    private static final String CONFIGURATION = """
            <hivemq>
              <listeners>
                <tcp-listener><port>%d</port><bind-address>127.0.0.1</bind-address></tcp-listener>
              </listeners>
              <mqtt>
                <queued-messages><max-queue-size>1000000</max-queue-size><strategy>discard</strategy></queued-messages>
              </mqtt>
              <anonymous-usage-statistics><enabled>false</enabled></anonymous-usage-statistics>
            </hivemq>
            """;

    private final int port;
    private final Inside inside = new Inside();
    private final EmbeddedHiveMQ server;

    /** Starts one, which takes some seconds. @param folder for its files */
    public EmbeddedBroker(Path folder) throws IOException {
        InternalConfigurations.MAX_INFLIGHT_WINDOW_SIZE_MESSAGES = MOST_UNDER_WAY;
        for (String name : new String[] {"conf", "data", "extensions"}) {
            Files.createDirectories(folder.resolve(name));
        }
        try (ServerSocket any = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            this.port = any.getLocalPort();
        }
        Files.writeString(folder.resolve("conf").resolve("config.xml"), CONFIGURATION.formatted(port));
        this.server = EmbeddedHiveMQ.builder()
                .withConfigurationFolder(folder.resolve("conf"))
                .withDataFolder(folder.resolve("data"))
                .withExtensionsFolder(folder.resolve("extensions"))
                .withEmbeddedExtension(EmbeddedExtension.builder()
                        .withId("inside")
                        .withName("inside")
                        .withVersion("1")
                        .withExtensionMain(inside)
                        .build())
                .withoutLoggingBootstrap()
                .build();
        server.start().join();
    }

    /** Gives what publishes within the broker. */
    private static final class Inside implements ExtensionMain {
        private volatile Optional<PublishService> publishing = Optional.empty(); // written when it starts

        @Override
        public void extensionStart(ExtensionStartInput input, ExtensionStartOutput output) {
            publishing = Optional.of(Services.publishService());
            Services.securityRegistry().setAuthenticatorProvider(asked -> ALL);
        }

        @Override
        public void extensionStop(ExtensionStopInput input, ExtensionStopOutput output) {}
    }

    /** Where it is: {@code mqtt://127.0.0.1:PORT}. */
    public String url() {
        return "mqtt://127.0.0.1:" + port;
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

    @Override
    public void close() {
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
}
