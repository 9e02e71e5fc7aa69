package dev.millrace.server.session;

import static dev.millrace.server.session.MqttStreams.becomes;
import static dev.millrace.server.session.MqttStreams.newTopic;
import static dev.millrace.server.session.MqttStreams.url;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.error.MillraceException;
import dev.millrace.testing.mqtt.MqttPeer;
import dev.millrace.testing.mqtt.WithMosquitto;
import dev.millrace.testing.net.Wire;
import dev.millrace.testing.time.Eventually;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Rows that become messages at a real broker. */
@Tag("peers")
@WithMosquitto
@Timeout(120)
class MqttSinkTest {
    @TempDir
    Path folder;

    private static String sink(String url, String topic, String options) {
        return "CREATE SINK k FROM s WITH (connector = 'mqtt', url = '" + url + "', topic = '" + topic + "'" + options
                + ")";
    }

    @ParameterizedTest
    @CsvSource({
        "5,0,false",
        "5,1,false",
        "5,2,true",
        "3.1.1,0,true",
        "3.1.1,1,false",
        "3.1.1,2,false",
    })
    void rowsAreMessagesInTheirOrder(String version, int qos, boolean retain) {
        String topic = newTopic();
        try (TestDatabase database = new TestDatabase();
                MqttPeer peer = new MqttPeer(url())) {
            List<MqttPeer.Heard> heard = peer.hear(topic + "/#", 2);
            database.run("CREATE STREAM s (room TEXT, v INT)");
            database.run(sink(
                    url(),
                    topic + "/{room}/out",
                    ", version = '" + version + "', qos = " + qos + ", retain = " + retain + ", max_in_flight = 7"));
            database.run("INSERT INTO s SELECT 'r' || v % 2, v FROM generate_series(1, 100) AS t (v)");
            List<MqttPeer.Heard> all = IntStream.rangeClosed(1, 100)
                    .mapToObj(v -> new MqttPeer.Heard(
                            topic + "/r" + v % 2 + "/out", "{\"room\":\"r" + v % 2 + "\",\"v\":" + v + "}", qos, false))
                    .toList();
            Eventually.holds("all are heard, and not " + heard, () -> heard.size() >= 100);
            assertEquals(all, List.copyOf(heard));
            becomes(database, "SELECT records FROM millrace.sinks WHERE sink = 'k'", "100");
            try (MqttPeer late = new MqttPeer(url())) {
                List<MqttPeer.Heard> retained = late.hear(topic + "/+/out", 2);
                List<String> expected = retain ? List.of("100", "99") : List.of();
                Eventually.holds(
                        "what is kept is heard, and not " + retained,
                        () -> retained.stream()
                                .filter(MqttPeer.Heard::retained)
                                .map(each -> each.payload().replaceAll(".*:(\\d+)}", "$1"))
                                .sorted()
                                .toList()
                                .equals(expected));
            }
        }
    }

    /** What the broker had not acknowledged is sent again, also at QoS 2; what it had is not. */
    @ParameterizedTest
    @CsvSource({"5,1", "5,2", "3.1.1,1", "3.1.1,2"})
    void aConnectionThatIsLostLosesNothing(String version, int qos) {
        String topic = newTopic();
        try (Wire wire = new Wire(url());
                TestDatabase database = new TestDatabase(folder.resolve("data"));
                MqttPeer peer = new MqttPeer(url())) {
            List<MqttPeer.Heard> heard = peer.hear(topic, 2);
            database.run("CREATE STREAM s (v INT)");
            database.run(sink(wire.url(), topic, ", version = '" + version + "', qos = " + qos));
            database.run("INSERT INTO s SELECT v FROM generate_series(1, 2000) AS t (v)");
            Eventually.holds("some are heard", () -> heard.size() > 100);
            wire.cut();
            Eventually.holds(
                    "it says that it waits",
                    () -> !database.rows(
                                    "SELECT 1 FROM millrace.sinks WHERE waits_for LIKE 'mqtt:%' AND last_error IS NOT NULL")
                            .isEmpty());
            wire.mend();
            database.run("FLUSH");
            Eventually.holds(
                    "all are heard, and not " + heard.size(),
                    () -> heard.stream().map(MqttPeer.Heard::payload).distinct().count() == 2000);
            assertTrue(heard.size() <= 2000 + 100, "only what was under way is sent again: " + heard.size());
        }
    }

    @Test
    void whatIsWrongIsSaid() {
        try (TestDatabase database = new TestDatabase()) {
            database.run("CREATE STREAM s (room TEXT, v INT)");
            database.run("CREATE MATERIALIZED VIEW sums AS SELECT room, sum(v) AS v FROM s GROUP BY room");
            String[][] wrong = {
                {sink(url(), "a/#", ""), "22023"},
                {sink(url(), "a/{none}", ""), "42703"},
                {sink(url(), "a/{room", ""), "22023"},
                {sink(url(), "a", ", qos = 3"), "22023"},
                {sink(url(), "a", ", max_in_flight = 0"), "22023"},
                {sink(url(), "a", ", retained = true"), "22023"},
                {sink(url(), "a", "").replace("FROM s", "FROM sums"), "0A000"},
                {sink("mqtt://127.0.0.1:1", "a", ""), "08006"}
            };
            for (String[] each : wrong) {
                MillraceException refused = assertThrows(MillraceException.class, () -> database.run(each[0]), each[0]);
                assertEquals(each[1], refused.sqlState().code(), refused::toString);
            }
        }
    }

    /** A value that cannot be a level of a topic fails the sink, which says which. */
    @Test
    void aRowThatHasNoTopicFailsTheSink() {
        String topic = newTopic();
        try (TestDatabase database = new TestDatabase()) {
            database.run("CREATE STREAM s (room TEXT, v INT)");
            database.run(sink(url(), topic + "/{room}", ""));
            database.run("INSERT INTO s VALUES ('a/b', 1)");
            Eventually.holds(
                    "it has failed: " + database.rows("TABLE millrace.query_stats"),
                    () -> !database.rows("SELECT 1 FROM millrace.query_stats WHERE query = 'k' AND state = 'failed'")
                            .isEmpty());
        }
    }
}
