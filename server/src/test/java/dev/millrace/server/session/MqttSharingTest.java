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

import dev.millrace.testing.mqtt.MqttPeer;
import dev.millrace.testing.mqtt.WithMosquitto;
import dev.millrace.testing.time.Eventually;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Streams that have one connection to a broker. */
@Tag("peers")
@WithMosquitto
@Timeout(120)
class MqttSharingTest {
    @TempDir
    Path folder;

    @Test
    void streamsAndSinksShareAConnectionWhereNoTopicIsOfTwoFilters() {
        String topic = newTopic();
        try (TestDatabase database = new TestDatabase(folder.resolve("data"))) {
            database.run(stream("a", topic + "/x", ""));
            database.run(stream("b", topic + "/y", ""));
            database.run(stream("c", topic + "/x", ""));
            database.run("CREATE SINK k FROM b WITH (connector = 'mqtt', url = '" + url() + "', topic = '" + topic
                    + "-out')");
            connected(database, 1);
            database.run(stream("d", topic + "/#", "")); // of which messages for a are as well
            connected(database, 2);
            for (String name : List.of("a", "b", "c", "d")) {
                database.run(view("n" + name, name));
            }
            subscribed(database);
            send(topic + "/x", 1, 0, 20);
            send(topic + "/y", 1, 0, 5);
            becomes(database, "TABLE na", each(20));
            becomes(database, "TABLE nb", each(5));
            becomes(database, "TABLE nc", each(20));
            becomes(database, "SELECT n FROM nd", "25");
            database.run("DROP MATERIALIZED VIEW nc; DROP STREAM c");
            send(topic + "/x", 1, 20, 30);
            becomes(database, "TABLE na", each(30)); // whose subscription was c's as well
            database.run("DROP SINK k");
            for (String name : List.of("a", "b", "d")) {
                database.run("DROP MATERIALIZED VIEW n" + name + "; DROP STREAM " + name);
            }
            connected(database, 0);
        }
    }

    private static void connected(TestDatabase database, long count) {
        String own = "millrace-mqtt-millrace-"
                + Long.toHexString(
                        database.database().instance().journal().identity().orElseThrow());
        Eventually.holds(
                count + " connections",
                () -> Thread.getAllStackTraces().keySet().stream()
                                .filter(thread -> thread.getName().startsWith(own))
                                .count()
                        == count);
    }

    /** What one writes to a pipe that nobody reads waits, and its stream with it. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void aStreamThatTakesNothingHoldsUpNoOtherOfItsConnection(int qos) throws IOException, InterruptedException {
        String topic = newTopic();
        Path pipe = folder.resolve("pipe.json");
        Assumptions.assumeTrue(
                new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor() == 0, "there is no mkfifo");
        try (TestDatabase database = new TestDatabase(folder.resolve("data"));
                MqttPeer peer = new MqttPeer(url())) {
            String options = ", receive_maximum = 20, qos = " + qos;
            database.run(stream("slow", topic + "/slow", options).replace("v BIGINT", "v BIGINT, pad TEXT"));
            database.run(stream("quick", topic + "/quick", options));
            database.run(view("n", "quick"));
            database.run("CREATE SINK stuck FROM slow WITH (connector = 'file', path = '" + pipe + "')");
            subscribed(database);
            connected(database, 1);
            String pad = "x".repeat(100_000);
            int count = 0;
            while (count < 300
                    && database.rows("SELECT 1 FROM millrace.sources WHERE stream = 'slow' AND lag_records > 50")
                            .isEmpty()) {
                peer.send(topic + "/slow", "{\"v\": " + count + ", \"pad\": \"" + pad + "\"}", qos, false);
                count++;
            }
            send(peer, topic + "/quick", qos, 0, 200);
            becomes(database, "TABLE n", each(200));
            assertEquals(
                    List.of("t|t"),
                    database.rows("SELECT lag_records > 0, waits_for IS NOT NULL FROM millrace.sources"
                            + " WHERE stream = 'slow'"),
                    "it waits all the time");
            drain(pipe);
            becomes(database, "SELECT records, lag_records FROM millrace.sources WHERE stream = 'slow'", count + "|0");
        }
    }

    private static void drain(Path pipe) {
        Thread drain = new Thread(() -> {
            try (Stream<String> lines = Files.lines(pipe)) {
                lines.forEach(line -> {});
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
        drain.setDaemon(true);
        drain.start();
    }

    @Test
    void membersOfAGroupShareMessagesOut() {
        String topic = newTopic();
        try (TestDatabase one = new TestDatabase();
                TestDatabase other = new TestDatabase()) {
            for (TestDatabase each : List.of(one, other)) {
                each.run(stream("s", "$share/g/" + topic, ""));
                each.run(view("n", "s"));
                subscribed(each);
            }
            send(topic, 1, 0, 100);
            Eventually.holds("all are there", () -> count(one) + count(other) >= 100);
            assertEquals(100, count(one) + count(other));
        }
    }

    private static long count(TestDatabase database) {
        return Long.parseLong(database.rows("SELECT n FROM n").get(0));
    }
}
