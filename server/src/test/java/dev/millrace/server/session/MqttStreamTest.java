package dev.millrace.server.session;

import static dev.millrace.server.session.MqttStreams.becomes;
import static dev.millrace.server.session.MqttStreams.each;
import static dev.millrace.server.session.MqttStreams.newTopic;
import static dev.millrace.server.session.MqttStreams.send;
import static dev.millrace.server.session.MqttStreams.stream;
import static dev.millrace.server.session.MqttStreams.subscribed;
import static dev.millrace.server.session.MqttStreams.url;
import static dev.millrace.server.session.MqttStreams.view;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.error.MillraceException;
import dev.millrace.testing.mqtt.MqttPeer;
import dev.millrace.testing.mqtt.WithMosquitto;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What messages of a real broker become. */
@Tag("peers")
@WithMosquitto
@Timeout(120)
class MqttStreamTest {
    @TempDir
    Path folder;

    @ParameterizedTest
    @CsvSource({"5,0", "5,1", "5,2", "3.1.1,0", "3.1.1,1", "3.1.1,2"})
    void messagesAreRowsAndWhatCameWithThemIsColumns(String version, int qos) {
        String site = newTopic();
        try (TestDatabase database = new TestDatabase(folder.resolve("data"));
                MqttPeer peer = new MqttPeer(url())) {
            peer.send(site + "/attic/temp", "{\"v\": 7}", qos, true); // kept for who comes later
            database.run("CREATE STREAM s (v BIGINT, double BIGINT GENERATED ALWAYS AS (2 * v) STORED)"
                    + " INCLUDE TOPIC AS t, QOS AS q, RETAINED AS old, RECEIVED AS at, PROPERTIES AS p"
                    + " WITH (connector = 'mqtt', url = '" + url() + "', version = '" + version
                    + "', topic = '" + site + "/+/temp', qos = " + qos
                    + ", include.level2 = 'room', include.level9 = 'none', retention = '1 hour')");
            subscribed(database);
            peer.send(site + "/hall/temp", "{\"v\": 8}", qos, false);
            peer.send(site + "/hall/light", "{\"v\": 9}", qos, false);
            String unit = version.equals("5") ? "C" : "";
            becomes(
                    database,
                    "SELECT v, double, replace(t, '" + site + "', ''), q, old, room, none, p->>'unit' FROM s"
                            + " WHERE at > now() - INTERVAL '1 hour'",
                    "7|14|/attic/temp|" + qos + "|t|attic||" + unit,
                    "8|16|/hall/temp|" + qos + "|f|hall||" + unit);
            database.run("DROP STREAM s");
        }
    }

    @ParameterizedTest
    @CsvSource({"5,1", "5,2", "3.1.1,1", "3.1.1,2"})
    void whatIsNoRowIsKeptAndAcknowledged(String version, int qos) {
        String topic = newTopic();
        try (TestDatabase database = new TestDatabase(folder.resolve("data"));
                MqttPeer peer = new MqttPeer(url())) {
            database.run(stream("s", topic, ", version = '" + version + "', qos = " + qos + ", receive_maximum = 2"));
            database.run(view("n", "s"));
            subscribed(database);
            for (int i = 0; i < 5; i++) { // more than may be under way
                peer.send(topic, "no JSON", qos, false);
                peer.send(topic, "", qos, false);
            }
            send(peer, topic, qos, 0, 5);
            becomes(database, "TABLE n", each(5));
            becomes(
                    database,
                    "SELECT count(*), min(origin) FROM millrace.rejected_rows WHERE stream = 's'",
                    "10|" + topic);
            database.run("DROP MATERIALIZED VIEW n; DROP STREAM s");
        }
    }

    /** By 3.1.1 a broker does not know what is too large for us: that is rejected and acknowledged; by 5 it is not sent. */
    @ParameterizedTest
    @CsvSource({"5,1,0", "3.1.1,0,1", "3.1.1,1,1", "3.1.1,2,1"})
    void whatIsTooLargeHoldsUpNothing(String version, int qos, int rejected) {
        String topic = newTopic();
        try (TestDatabase database = new TestDatabase();
                MqttPeer peer = new MqttPeer(url())) {
            database.run(
                    stream("s", topic, ", version = '" + version + "', qos = " + qos + ", max_record_bytes = 100"));
            database.run(view("n", "s"));
            subscribed(database);
            peer.send(topic, " ".repeat(100_000) + "{\"v\": 100}", qos, false);
            send(peer, topic, qos, 0, 5);
            becomes(database, "TABLE n", each(5));
            assertEquals(
                    List.of("" + rejected),
                    database.rows("SELECT count(*) FROM millrace.rejected_rows WHERE stream = 's'"));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"drop_oldest", "drop_newest"})
    void ofQos0SomeIsThrownAwayAndCountedWhenMoreComesThanWaits(String overload) {
        String topic = newTopic();
        int count = 2_000;
        try (TestDatabase database = new TestDatabase();
                MqttPeer peer = new MqttPeer(url())) {
            database.run(stream("s", topic, ", qos = 0, buffer_bytes = 1024, overload = '" + overload + "'"));
            database.run(view("n", "s"));
            subscribed(database);
            send(peer, topic, 0, 0, count);
            peer.send(topic, "{\"v\": 1}", 1, false); // which is not before the others
            becomes(
                    database,
                    "SELECT n + shed_records FROM n, millrace.sources WHERE stream = 's' AND lag_records = 0",
                    "" + (count + 1));
        }
    }

    @Test
    void whatIsWrongIsSaidAtOnce() {
        try (TestDatabase database = new TestDatabase()) {
            String[] wrong = {
                ", qos = 3",
                ", version = '4'",
                ", topic_ = 'x'",
                ", session = 'x'",
                ", password = 'open'",
                ", on_error = 'fail'",
                ", will.topic = 'a/#'",
                ", will.qos = 3",
                ", keep_alive = '0s'",
                ", receive_maximum = 0"
            };
            for (String options : wrong) {
                MillraceException refused =
                        assertThrows(MillraceException.class, () -> database.run(stream("s", "a", options)), options);
                assertTrue(List.of("22023", "0A000").contains(refused.sqlState().code()), refused::toString);
            }
            for (String topic : List.of("", "a/#/b", "a+", "a, +", "$share/g")) {
                assertThrows(MillraceException.class, () -> database.run(stream("s", topic, "")), topic);
            }
            for (String url : List.of("localhost", "http://localhost", "mqtt://user@localhost", "mqtt://")) {
                assertThrows(MillraceException.class, () -> database.run(stream("s", url, "a", "")), url);
            }
            MillraceException away = assertThrows(
                    MillraceException.class, () -> database.run(stream("s", "mqtt://127.0.0.1:1", "a", "")));
            assertTrue(away.getMessage().startsWith("mqtt://127.0.0.1:1: Connection refused"), away::getMessage);
            assertEquals(List.of(), database.rows("TABLE millrace.sources"));
        }
    }
}
