package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpServer;
import dev.millrace.connectors.webhook.PostedRequest;
import dev.millrace.testing.document.DocumentPage;
import dev.millrace.testing.mqtt.Mosquitto;
import dev.millrace.testing.mqtt.WithMosquitto;
import dev.millrace.testing.time.Eventually;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.eclipse.paho.mqttv5.client.MqttClient;
import org.eclipse.paho.mqttv5.client.persist.MemoryPersistence;
import org.eclipse.paho.mqttv5.common.MqttMessage;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What docs/connectors.md says of sources that others push to, and of their sinks, is so: its examples run. */
@Tag("peers")
@Timeout(180)
class PushedDocumentTest {
    private static final DocumentPage PAGE = DocumentPage.connectors();

    @TempDir
    Path folder;

    private static int freePort() throws IOException {
        try (ServerSocket any = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return any.getLocalPort();
        }
    }

    @Test
    @WithMosquitto
    void theExamplesOfMqttRun() throws Exception {
        try (Mosquitto broker = new Mosquitto(folder.resolve("broker"));
                TestDatabase database = new TestDatabase(folder.resolve("data"))) {
            Stream.of(PAGE.statements("Source `mqtt`"), PAGE.statements("Sink `mqtt`"))
                    .flatMap(List::stream)
                    .forEach(statement -> database.run(statement.replace("mqtt://localhost:1883", broker.url())));
            Eventually.holds(
                    "all are subscribed",
                    () -> database.rows("SELECT 1 FROM millrace.sources WHERE position IS DISTINCT FROM 'subscribed'")
                            .isEmpty());
            MqttClient client =
                    new MqttClient(broker.url().replace("mqtt:", "tcp:"), "tester", new MemoryPersistence());
            client.connect();
            for (String celsius : List.of("20", "31")) {
                client.publish(
                        "home/attic/temperature",
                        new MqttMessage(("{\"celsius\": " + celsius + ", \"at\": \"2026-01-01 12:00Z\"}")
                                .getBytes(StandardCharsets.UTF_8)));
            }
            List<String> alarms = new CopyOnWriteArrayList<>();
            client.subscribe(
                    new org.eclipse.paho.mqttv5.common.MqttSubscription[] {
                        new org.eclipse.paho.mqttv5.common.MqttSubscription("alarms/+", 1)
                    },
                    new org.eclipse.paho.mqttv5.client.IMqttMessageListener[] {
                        (topic, message) ->
                                alarms.add(topic + " " + new String(message.getPayload(), StandardCharsets.UTF_8))
                    });
            Eventually.holds(
                    "the alarm is there, and not " + alarms,
                    () -> alarms.equals(List.of(
                            "alarms/attic {\"topic\":\"home/attic/temperature\",\"room\":\"attic\",\"celsius\":31}")));
            Eventually.holds(
                    "what came is kept",
                    () -> database.rows("SELECT celsius FROM temperatures").equals(List.of("20", "31")));
            client.disconnect();
            client.close();
        }
    }

    @Test
    void theExamplesOfWebhooksAndOfPostsRun() throws Exception {
        List<String> posted = new CopyOnWriteArrayList<>();
        AtomicInteger asked = new AtomicInteger();
        HttpServer other = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        other.createContext("/alarms", exchange -> {
            try (InputStream body = exchange.getRequestBody()) {
                String text = new String(body.readAllBytes(), StandardCharsets.UTF_8);
                boolean isFirst = asked.incrementAndGet() == 1;
                posted.add(exchange.getRequestHeaders().getFirst("X-Source") + " "
                        + exchange.getRequestHeaders().getFirst("Idempotency-Key") + " " + text);
                exchange.sendResponseHeaders(isFirst ? 503 : 200, -1); // the first is to be sent again
                exchange.close();
            }
        });
        other.start();
        try (TestDatabase database = new TestDatabase()) {
            Stream.of(PAGE.statements("Source `webhook`"), PAGE.statements("Sink `http`"))
                    .flatMap(List::stream)
                    .forEach(statement -> database.run(statement.replace(
                            "localhost:8080", "localhost:" + other.getAddress().getPort())));
            byte[] body = "[{\"meter\": \"m\", \"kwh\": 2000}, {\"meter\": \"n\", \"kwh\": 1}]"
                    .getBytes(StandardCharsets.UTF_8);
            assertEquals(
                    2,
                    database.database()
                            .webhooks()
                            .at("meters")
                            .orElseThrow()
                            .take(new PostedRequest(Map.of(), body, 0))
                            .accepted());
            Eventually.holds("it was sent again", () -> posted.size() == 2);
            assertTrue(posted.get(0).startsWith("millrace millrace-"), () -> "" + posted);
            assertTrue(posted.get(0).endsWith(" {\"meter\":\"m\",\"kwh\":2000}\n"), () -> "" + posted);
            assertEquals(posted.get(0), posted.get(1)); // with the same key
            Eventually.holds(
                    "it is taken",
                    () -> database.rows("SELECT records FROM millrace.sinks").equals(List.of("1")));
        } finally {
            other.stop(0);
        }
    }

    @Test
    void theExamplesOfSocketsRun() throws IOException {
        String first = "127.0.0.1:" + freePort();
        String second = "127.0.0.1:" + freePort();
        try (TestDatabase database = new TestDatabase()) {
            for (String statement : PAGE.statements("Sources `tcp` and `udp`")) {
                database.run(statement.replace("127.0.0.1:7000", first).replace("127.0.0.1:7001", second));
            }
            database.run("CREATE MATERIALIZED VIEW all_lines AS SELECT level, message FROM lines");
            try (Socket socket = new Socket("127.0.0.1", Integer.parseInt(first.substring(first.indexOf(':') + 1)))) {
                socket.getOutputStream()
                        .write("{\"level\": \"info\", \"message\": \"hello\"}\n".getBytes(StandardCharsets.UTF_8));
            }
            Eventually.holds(
                    "the line is there", () -> database.rows("TABLE all_lines").equals(List.of("info|hello")));
        }
    }

    @Test
    void theExampleOfPipesRuns() throws IOException {
        InputStream before = System.in;
        System.setIn(new ByteArrayInputStream(
                ("{\"city\": \"Bern\", \"visits\": 2}\n{\"city\": \"Bern\", \"visits\": 3}\nno JSON"
                                + "\n{\"city\": \"Basel\", \"visits\": 1}")
                        .getBytes(StandardCharsets.UTF_8)));
        try (TestDatabase database = new TestDatabase()) {
            for (String statement : PAGE.statements("Source `stdin`")) {
                database.run(statement.replace("'stdin')", "'stdin', on_error = 'skip')"));
            }
            List<String> lines =
                    Stream.of(database.printed().split("\n")).sorted().toList();
            assertTrue(lines.contains("+,Bern,5"), database::printed);
            assertTrue(lines.contains("+,Basel,1"), database::printed);
        } finally {
            System.setIn(before);
        }
    }
}
