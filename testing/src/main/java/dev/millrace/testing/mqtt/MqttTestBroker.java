package dev.millrace.testing.mqtt;

import com.hivemq.embedded.EmbeddedHiveMQ;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;

/**
 * HiveMQ's community edition, MQTT 5 and 3.1.1, at a port of its own that it keeps when it is started again. What it keeps for sessions is in
 * the folder. For one thread at a time.
 */
public final class MqttTestBroker implements AutoCloseable {
    private static final String CONFIGURATION = """
            <hivemq>
              <listeners><tcp-listener><port>%d</port><bind-address>127.0.0.1</bind-address></tcp-listener></listeners>
              <mqtt>
                <queued-messages><max-queue-size>100000</max-queue-size><strategy>discard</strategy></queued-messages>
              </mqtt>
              <anonymous-usage-statistics><enabled>false</enabled></anonymous-usage-statistics>
            </hivemq>
            """;

    private final Path folder;
    private final int port;
    private EmbeddedHiveMQ server;

    private MqttTestBroker(Path folder, int port) {
        this.folder = folder;
        this.port = port;
        this.server = started();
    }

    /** Starts one, which takes some seconds. */
    public static MqttTestBroker start(Path folder) {
        try {
            for (String name : new String[] {"conf", "data", "extensions"}) {
                Files.createDirectories(folder.resolve(name));
            }
            int port;
            try (ServerSocket any = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
                port = any.getLocalPort();
            }
            Files.writeString(folder.resolve("conf").resolve("config.xml"), CONFIGURATION.formatted(port));
            return new MqttTestBroker(folder, port);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private EmbeddedHiveMQ started() {
        EmbeddedHiveMQ fresh = EmbeddedHiveMQ.builder()
                .withConfigurationFolder(folder.resolve("conf"))
                .withDataFolder(folder.resolve("data"))
                .withExtensionsFolder(folder.resolve("extensions"))
                .withoutLoggingBootstrap()
                .build();
        fresh.start().join();
        return fresh;
    }

    /** Where it is: {@code mqtt://127.0.0.1:PORT}. */
    public String url() {
        return "mqtt://127.0.0.1:" + port;
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

    @Override
    public void close() {
        stop();
    }
}
