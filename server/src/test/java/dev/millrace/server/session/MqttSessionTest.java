package dev.millrace.server.session;

import static dev.millrace.server.session.MqttStreams.becomes;
import static dev.millrace.server.session.MqttStreams.each;
import static dev.millrace.server.session.MqttStreams.newTopic;
import static dev.millrace.server.session.MqttStreams.send;
import static dev.millrace.server.session.MqttStreams.stream;
import static dev.millrace.server.session.MqttStreams.subscribed;
import static dev.millrace.server.session.MqttStreams.url;
import static dev.millrace.server.session.MqttStreams.view;
import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.millrace.testing.mqtt.Mosquitto;
import dev.millrace.testing.mqtt.MqttPeer;
import dev.millrace.testing.mqtt.WithMosquitto;
import dev.millrace.testing.net.Wire;
import dev.millrace.testing.time.Eventually;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a broker keeps for a database that is away, and the other way round. */
@Tag("peers")
@WithMosquitto
@Timeout(120)
class MqttSessionTest {
    @TempDir
    Path folder;

    @ParameterizedTest
    @CsvSource({"5,1", "5,2", "3.1.1,1", "3.1.1,2"})
    void whatIsSentWhileTheDatabaseIsAwayComesWhenItIsThere(String version, int qos) {
        String topic = newTopic();
        String options = ", version = '" + version + "', qos = " + qos;
        try (TestDatabase database = new TestDatabase(folder.resolve("data"))) {
            database.run(stream("s", topic, options));
            database.run(view("n", "s"));
            subscribed(database);
            send(topic, qos, 0, 100);
            becomes(database, "TABLE n", each(100));
            database.run("CHECKPOINT");
            send(topic, qos, 100, 150);
            becomes(database, "TABLE n", each(150));
        }
        send(topic, qos, 150, 200);
        try (TestDatabase again = new TestDatabase(folder.resolve("data"))) {
            becomes(again, "TABLE n", each(200));
            send(topic, qos, 200, 210);
            becomes(again, "TABLE n", each(210));
            again.run("DROP MATERIALIZED VIEW n; DROP STREAM s");
        }
    }

    @Test
    void ofACleanSessionNothingIsKept() {
        String topic = newTopic();
        try (TestDatabase database = new TestDatabase(folder.resolve("data"))) {
            database.run(stream("s", topic, ", session = 'clean'"));
            database.run(view("n", "s"));
            subscribed(database);
            send(topic, 1, 0, 10);
            becomes(database, "TABLE n", each(10));
        }
        send(topic, 1, 500, 510);
        try (TestDatabase again = new TestDatabase(folder.resolve("data"))) {
            subscribed(again);
            send(topic, 1, 10, 20);
            becomes(again, "TABLE n", each(20));
        }
    }

    /** A session that expires takes with it what the broker kept for it, which is told; one that does not expire is not told of. */
    @Test
    void whatASessionKeptThatExpiredIsToldToBeLost() {
        String topic = newTopic();
        String options = ", session.expiry = '1 s', client_id = 'of " + topic + "'";
        try (TestDatabase database = new TestDatabase(folder.resolve("data"))) {
            database.run(stream("s", topic, options));
            database.run(view("n", "s"));
            subscribed(database);
            send(topic, 1, 0, 10);
            becomes(database, "TABLE n", each(10));
            becomes(database, "SELECT reason FROM millrace.rejected_rows");
        }
        Eventually.holds("the session expires", () -> Mosquitto.shared().hasExpired("of " + topic));
        send(topic, 1, 500, 510);
        try (TestDatabase again = new TestDatabase(folder.resolve("data"))) {
            subscribed(again);
            send(topic, 1, 10, 20);
            becomes(again, "TABLE n", each(20));
            becomes(
                    again,
                    "SELECT origin, reason FROM millrace.rejected_rows",
                    topic + " at " + url() + "|the broker has forgotten the session, and with it messages that it kept"
                            + " while it was not connected");
        }
    }

    /** No end of the connection is heard of: after keep_alive it is given up, and made anew. */
    @ParameterizedTest
    @CsvSource({"5", "3.1.1"})
    void aBrokerThatIsSilentIsGivenUp(String version) {
        String topic = newTopic();
        try (Wire wire = new Wire(url());
                TestDatabase database = new TestDatabase(folder.resolve("data"))) {
            database.run(stream("s", wire.url(), topic, ", keep_alive = '1 s', version = '" + version + "'"));
            database.run(view("n", "s"));
            subscribed(database);
            wire.silence();
            send(topic, 1, 0, 10);
            Eventually.holds(
                    "it is noticed, and not " + database.rows("TABLE millrace.sources"),
                    () -> database.rows("SELECT last_error FROM millrace.sources WHERE waits_for IS NOT NULL")
                            .equals(List.of("it has not answered a PINGREQ")));
            wire.cut(); // what was tried meanwhile
            wire.mend();
            subscribed(database);
            becomes(database, "TABLE n", each(10));
        }
    }

    /** The directory is what a crash leaves, at moments that chance chooses; the broker sends what it has no acknowledgement of. */
    @ParameterizedTest
    @CsvSource({"5,1", "5,2", "3.1.1,2"})
    void aCrashLosesNothingAndAtQos2DoublesNothing(String version, int qos) {
        String topic = newTopic();
        int count = 300;
        try (Wire wire = new Wire(url())) {
            try (TestDatabase database = new TestDatabase(folder.resolve("data"))) {
                database.run(stream("s", wire.url(), topic, ", version = '" + version + "', qos = " + qos));
                database.run(view("n", "s"));
                subscribed(database);
                Thread sending = new Thread(() -> send(topic, qos, 0, count));
                sending.start();
                Eventually.holds(
                        "some are there",
                        () -> !database.rows("SELECT n FROM n WHERE n > 50").isEmpty());
                wire.cut(); // from here on no acknowledgement comes to the broker
                DirectoryImage.copy(folder.resolve("data"), folder.resolve("crashed"));
                assertDoesNotThrow(() -> sending.join());
            }
            wire.mend();
            try (TestDatabase again = new TestDatabase(folder.resolve("crashed"))) {
                Eventually.holds(
                        "all are there, and not " + again.rows("TABLE n"),
                        () -> again.rows("SELECT different FROM n").equals(List.of("" + count)));
                if (qos == 2) {
                    becomes(again, "TABLE n", each(count));
                }
                again.run("DROP MATERIALIZED VIEW n; DROP STREAM s");
            }
        }
    }

    /** The will is told when the connection breaks off, and not when the database is closed. */
    @Test
    void aLastWillIsToldWhenTheConnectionBreaksOff() {
        String topic = newTopic();
        try (MqttPeer peer = new MqttPeer(url())) {
            List<MqttPeer.Heard> heard = peer.hear(topic + "/+/will", 2);
            for (String version : List.of("5", "3.1.1")) {
                String options = ", version = '" + version + "', will.topic = '" + topic + "/" + version
                        + "/will', will.payload = 'gone', will.qos = 1";
                try (TestDatabase database = new TestDatabase()) {
                    database.run(stream("s", topic, options));
                    subscribed(database);
                }
                try (Wire wire = new Wire(url());
                        TestDatabase database = new TestDatabase()) {
                    database.run(stream("s", wire.url(), topic, options));
                    subscribed(database);
                    wire.cut();
                    MqttPeer.Heard will = new MqttPeer.Heard(topic + "/" + version + "/will", "gone", 1, false);
                    Eventually.holds("the will is told, and not " + heard, () -> heard.contains(will));
                }
            }
            Eventually.settles("what is heard", heard::size);
            assertEquals(2, heard.size(), heard::toString);
        }
    }
}
