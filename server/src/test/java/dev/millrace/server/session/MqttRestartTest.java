package dev.millrace.server.session;

import static dev.millrace.server.session.MqttStreams.becomes;
import static dev.millrace.server.session.MqttStreams.each;
import static dev.millrace.server.session.MqttStreams.newTopic;
import static dev.millrace.server.session.MqttStreams.send;
import static dev.millrace.server.session.MqttStreams.stream;
import static dev.millrace.server.session.MqttStreams.subscribed;
import static dev.millrace.server.session.MqttStreams.view;

import dev.millrace.testing.mqtt.Mosquitto;
import dev.millrace.testing.mqtt.MqttPeer;
import dev.millrace.testing.mqtt.WithMosquitto;
import dev.millrace.testing.time.Eventually;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A broker that is stopped and started, under a stream of QoS 2. */
@WithMosquitto
@Timeout(120)
class MqttRestartTest {
    /** Without a bound Mosquitto 2.0 begins again with messages of QoS 2 that it had not heard the end of when it stopped: they come twice. */
    private static final int MOST_IN_FLIGHT = 20;

    @TempDir
    Path folder;

    /** With all that it kept, and then without. */
    @Test
    void aBrokerThatIsAwayIsWaitedForAndGoesOn() {
        String topic = newTopic();
        Mosquitto broker = new Mosquitto(folder.resolve("broker"), MOST_IN_FLIGHT);
        try (TestDatabase database = new TestDatabase(folder.resolve("data"))) {
            database.run(stream("s", broker.url(), topic, ", qos = 2"));
            database.run(view("n", "s"));
            subscribed(database);
            sendTo(broker, topic, 0, 10);
            becomes(database, "TABLE n", each(10));
            broker.stop();
            Eventually.holds(
                    "it says that it waits",
                    () -> !database.rows("SELECT 1 FROM millrace.sources WHERE waits_for LIKE 'mqtt:%' AND retries > 0"
                                    + " AND last_error IS NOT NULL")
                            .isEmpty());
            broker.restart();
            subscribed(database);
            sendTo(broker, topic, 10, 20);
            becomes(database, "TABLE n", each(20));
        } finally {
            broker.close();
        }
        broker.forget();
        broker.restart();
        try (TestDatabase database = new TestDatabase(folder.resolve("data"))) {
            subscribed(database);
            sendTo(broker, topic, 20, 30); // with ids that there were before
            becomes(database, "TABLE n", each(30));
        } finally {
            broker.close();
        }
    }

    private static void sendTo(Mosquitto broker, String topic, int from, int to) {
        try (MqttPeer peer = new MqttPeer(broker.url())) {
            send(peer, topic, 2, from, to);
        }
    }
}
