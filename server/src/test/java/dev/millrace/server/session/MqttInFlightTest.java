package dev.millrace.server.session;

import static dev.millrace.server.session.MqttStreams.becomes;
import static dev.millrace.server.session.MqttStreams.each;
import static dev.millrace.server.session.MqttStreams.stream;
import static dev.millrace.server.session.MqttStreams.subscribed;
import static dev.millrace.server.session.MqttStreams.view;

import dev.millrace.testing.mqtt.Mosquitto;
import dev.millrace.testing.mqtt.MqttPeer;
import dev.millrace.testing.mqtt.WithMosquitto;
import java.nio.file.Path;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A broker that has few messages under way at a time, as Mosquitto has when it is installed, and many more that wait. */
@WithMosquitto
@Tag("peers")
@Timeout(120)
class MqttInFlightTest {
    private static final int MOST_IN_FLIGHT = 20;
    private static final int PEERS = 4;
    private static final int MESSAGES = 500;

    @TempDir
    private static Path brokerFolder;

    private static Mosquitto broker;

    @TempDir
    Path folder;

    @BeforeAll
    static void start() {
        broker = new Mosquitto(brokerFolder, MOST_IN_FLIGHT);
    }

    @AfterAll
    static void stop() {
        broker.close();
    }

    private static void send(String topic, int peer) {
        try (MqttPeer sender = new MqttPeer(broker.url())) {
            for (int i = peer; i < MESSAGES; i += PEERS) {
                sender.send(topic, "{\"v\": " + i + "}", 2, false);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"5", "3.1.1"})
    void messagesOfQos2ThatComeFasterThanTheyAreUnderWayAllComeOnce(String version) {
        String topic = "fast" + version;
        try (TestDatabase database = new TestDatabase(folder.resolve("data"))) {
            database.run(stream("s", broker.url(), topic, ", qos = 2, version = '" + version + "'"));
            database.run(view("n", "s"));
            subscribed(database);
            IntStream.range(0, PEERS).parallel().forEach(peer -> send(topic, peer));
            becomes(database, "TABLE n", each(MESSAGES));
        }
    }
}
