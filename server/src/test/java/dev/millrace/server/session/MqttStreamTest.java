package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.error.MillraceException;
import dev.millrace.testing.mqtt.MqttTestBroker;
import dev.millrace.testing.time.Eventually;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.eclipse.paho.mqttv5.client.MqttClient;
import org.eclipse.paho.mqttv5.client.persist.MemoryPersistence;
import org.eclipse.paho.mqttv5.common.MqttException;
import org.eclipse.paho.mqttv5.common.MqttMessage;
import org.eclipse.paho.mqttv5.common.packet.MqttProperties;
import org.eclipse.paho.mqttv5.common.packet.UserProperty;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Streams of the connector mqtt, against a real broker in this JVM. */
@Timeout(180)
class MqttStreamTest {
    private static final AtomicInteger TOPICS = new AtomicInteger();

    @TempDir
    private static Path brokerFolder;

    private static MqttTestBroker broker;

    @TempDir
    Path folder;

    @BeforeAll
    static void start() {
        broker = MqttTestBroker.start(brokerFolder);
    }

    @AfterAll
    static void stop() {
        broker.close();
    }

    private static String newTopic() {
        return "t" + TOPICS.incrementAndGet();
    }

    /** Sends to a topic by one connection, and waits until the broker has it. */
    private static final class Sender implements AutoCloseable {
        private static final int TOO_MANY_IN_FLIGHT = 32202; // Paho's
        private static final int MOST_TRIES = 30_000;

        private final MqttClient client;

        Sender() {
            try {
                client = new MqttClient(
                        broker.url().replace("mqtt:", "tcp:"), "sender-" + UUID.randomUUID(), new MemoryPersistence());
                client.setTimeToWait(30_000);
                client.connect();
            } catch (MqttException e) {
                throw new IllegalStateException(e);
            }
        }

        void send(String topic, String payload, int qos, boolean retain) {
            MqttMessage message = new MqttMessage(payload.getBytes(StandardCharsets.UTF_8), qos, retain, null);
            MqttProperties properties = new MqttProperties();
            properties.setUserProperties(List.of(new UserProperty("unit", "C")));
            message.setProperties(properties);
            for (int tries = 0; ; tries++) {
                try {
                    client.publish(topic, message);
                    return;
                } catch (MqttException e) {
                    if (e.getReasonCode() != TOO_MANY_IN_FLIGHT || tries > MOST_TRIES) {
                        throw new IllegalStateException(e);
                    }
                    LockSupport.parkNanos(1_000_000); // what the client has acknowledged is on its way
                }
            }
        }

        void numbers(String topic, int qos, int from, int to) {
            for (int i = from; i < to; i++) {
                send(topic, "{\"v\": " + i + "}", qos, false);
            }
        }

        @Override
        public void close() {
            try {
                client.disconnect();
                client.close();
            } catch (MqttException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    private static void send(String topic, int qos, int from, int to) {
        try (Sender sender = new Sender()) {
            sender.numbers(topic, qos, from, to);
        }
    }

    private static String stream(String name, String topic, String options) {
        return "CREATE STREAM " + name + " (v BIGINT) WITH (connector = 'mqtt', url = '" + broker.url() + "', topic = '"
                + topic + "'" + options + ")";
    }

    private static String view(String name, String stream) {
        return "CREATE MATERIALIZED VIEW " + name
                + " AS SELECT count(*) AS n, sum(v) AS total, count(DISTINCT v) AS different FROM " + stream;
    }

    private static void becomes(TestDatabase database, String sql, String... rows) {
        Eventually.holds(
                sql + " gives " + List.of(rows) + " and not " + database.rows(sql),
                () -> database.rows(sql).equals(List.of(rows)));
    }

    /** Each number from 0 to a count once. */
    private static String each(int count) {
        return count + "|" + (long) count * (count - 1) / 2 + "|" + count;
    }

    /** All streams are subscribed: what is sent from now on is theirs. */
    private static void subscribed(TestDatabase database) {
        Eventually.holds(
                "all are subscribed, and not " + database.rows("TABLE millrace.sources"),
                () -> database.rows("SELECT 1 FROM millrace.sources WHERE position IS DISTINCT FROM 'subscribed'")
                        .isEmpty());
    }

    private Path crashed(String from, String to) throws IOException {
        Path source = folder.resolve(from);
        Path target = folder.resolve(to);
        try (Stream<Path> files = Files.walk(source)) {
            for (Path file : (Iterable<Path>) files::iterator) {
                Path copy = target.resolve(source.relativize(file));
                if (Files.isDirectory(file)) {
                    Files.createDirectories(copy);
                } else {
                    Files.copy(file, copy);
                }
            }
        }
        return target;
    }

    @ParameterizedTest
    @CsvSource({"5,0", "5,1", "5,2", "3.1.1,0", "3.1.1,1", "3.1.1,2"})
    void messagesAreRowsAndWhatCameWithThemIsColumns(String version, int qos) {
        String site = newTopic();
        try (TestDatabase database = new TestDatabase();
                Sender sender = new Sender()) {
            sender.send(site + "/attic/temp", "{\"v\": 7}", qos, true); // kept for who comes later
            database.run("CREATE STREAM s (v BIGINT, double BIGINT GENERATED ALWAYS AS (2 * v) STORED)"
                    + " INCLUDE TOPIC AS t, QOS AS q, RETAINED AS old, RECEIVED AS at, PROPERTIES AS p"
                    + " WITH (connector = 'mqtt', url = '" + broker.url() + "', version = '" + version
                    + "', topic = '" + site + "/+/temp', qos = " + qos
                    + ", include.level2 = 'room', include.level9 = 'none')");
            database.run(
                    "CREATE MATERIALIZED VIEW a AS SELECT v, double, t, q, old, room, none, p->>'unit' AS unit FROM s"
                            + " WHERE at > now() - INTERVAL '1 hour'");
            subscribed(database);
            sender.send(site + "/hall/temp", "{\"v\": 8}", qos, false);
            sender.send(site + "/hall/light", "{\"v\": 9}", qos, false);
            String unit = version.equals("5") ? "C" : "";
            Eventually.holds(
                    "both are there, and not " + database.rows("TABLE a"),
                    () -> database.rows("SELECT v, double, replace(t, '" + site
                                    + "', ''), q, old, room, none, unit FROM a WHERE v <> 7")
                            .equals(List.of("8|16|/hall/temp|" + qos + "|f|hall||" + unit)));
            database.run("DROP MATERIALIZED VIEW a; DROP STREAM s");
        }
    }

    @ParameterizedTest
    @CsvSource({"5,1", "5,2", "3.1.1,1", "3.1.1,2"})
    void whatIsSentWhileTheDatabaseIsAwayComesWhenItIsThere(String version, int qos) throws IOException {
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

    /** The directory is what a crash leaves, at moments that chance chooses; the broker sends what it has no acknowledgement of. */
    @ParameterizedTest
    @CsvSource({"5,1", "5,2", "3.1.1,1", "3.1.1,2"})
    void aCrashLosesNothingAndAtQos2DoublesNothing(String version, int qos) throws IOException {
        String topic = newTopic();
        int count = 300;
        try (Wire wire = new Wire(broker.url())) {
            crash(topic, version, qos, count, wire);
        }
    }

    private void crash(String topic, String version, int qos, int count, Wire wire) throws IOException {
        Path data = folder.resolve("data");
        try (TestDatabase database = new TestDatabase(data)) {
            database.run(stream("s", topic, ", version = '" + version + "', qos = " + qos)
                    .replace(broker.url(), wire.url()));
            database.run(view("n", "s"));
            subscribed(database);
            Thread sending = new Thread(() -> send(topic, qos, 0, count));
            sending.start();
            Eventually.holds(
                    "some are there",
                    () -> !database.rows("SELECT n FROM n WHERE n > 50").isEmpty());
            wire.cut(); // from here on no acknowledgement comes to the broker
            crashed("data", "crashed");
            join(sending);
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

    private static void join(Thread thread) {
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void aBrokerThatIsAwayIsWaitedForAndGoesOn() {
        String topic = newTopic();
        try (TestDatabase database = new TestDatabase(folder.resolve("data"))) {
            database.run(stream("s", topic, ""));
            database.run(view("n", "s"));
            subscribed(database);
            send(topic, 1, 0, 10);
            becomes(database, "TABLE n", each(10));
            broker.stop();
            Eventually.holds(
                    "it says that it waits",
                    () -> !database.rows("SELECT 1 FROM millrace.sources WHERE waits_for LIKE 'mqtt:%' AND retries > 0"
                                    + " AND last_error IS NOT NULL")
                            .isEmpty());
            broker.restart();
            subscribed(database);
            send(topic, 1, 10, 20);
            becomes(database, "TABLE n", each(20));
            database.run("DROP MATERIALIZED VIEW n; DROP STREAM s");
        }
    }

    @Test
    void whatIsNoRowIsKeptAndAcknowledged() {
        String topic = newTopic();
        try (TestDatabase database = new TestDatabase(folder.resolve("data"));
                Sender sender = new Sender()) {
            database.run(stream("s", topic, ", max_record_bytes = 100, receive_maximum = 2"));
            database.run(view("n", "s"));
            subscribed(database);
            for (int i = 0; i < 5; i++) { // more than may be under way
                sender.send(topic, "no JSON", 1, false);
                sender.send(topic, "", 1, false);
            }
            sender.numbers(topic, 1, 0, 5);
            becomes(database, "TABLE n", each(5));
            becomes(
                    database,
                    "SELECT count(*), min(origin) FROM millrace.rejected_rows WHERE stream = 's'",
                    "10|" + topic);
            database.run("DROP MATERIALIZED VIEW n; DROP STREAM s");
        }
    }

    @Test
    void streamsShareAConnectionWhereNoTopicIsOfTwoFilters() {
        String topic = newTopic();
        try (TestDatabase database = new TestDatabase(folder.resolve("data"))) {
            database.run(stream("a", topic + "/x", ""));
            database.run(stream("b", topic + "/y", ""));
            database.run(stream("c", topic + "/x", ""));
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
            for (String name : List.of("a", "b", "d")) {
                database.run("DROP MATERIALIZED VIEW n" + name + "; DROP STREAM " + name);
            }
            connected(database, 0);
        }
    }

    private static void connected(TestDatabase database, long count) {
        Eventually.holds(count + " connections", () -> connections(database) == count);
    }

    private static long connections(TestDatabase database) {
        String own = "millrace-mqtt-millrace-"
                + Long.toHexString(
                        database.database().instance().journal().identity().orElseThrow());
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith(own))
                .count();
    }

    /** What one writes to a pipe that nobody reads waits, and its stream with it. */
    @Test
    void aStreamThatTakesNothingHoldsUpNoOtherOfItsConnection() throws IOException, InterruptedException {
        String topic = newTopic();
        Path pipe = folder.resolve("pipe.json");
        Assumptions.assumeTrue(
                new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor() == 0, "there is no mkfifo");
        try (TestDatabase database = new TestDatabase(folder.resolve("data"));
                Sender sender = new Sender()) {
            database.run(stream("slow", topic + "/slow", "").replace("v BIGINT", "v BIGINT, pad TEXT"));
            database.run(stream("quick", topic + "/quick", ""));
            database.run(view("n", "quick"));
            database.run("CREATE SINK stuck FROM slow WITH (connector = 'file', path = '" + pipe + "')");
            subscribed(database);
            connected(database, 1);
            String pad = "x".repeat(100_000);
            int count = 400;
            for (int i = 0; i < count; i++) {
                sender.send(topic + "/slow", "{\"v\": " + i + ", \"pad\": \"" + pad + "\"}", 1, false);
            }
            Eventually.holds(
                    "some wait",
                    () -> !database.rows("SELECT 1 FROM millrace.sources WHERE stream = 'slow' AND lag_records > 0")
                            .isEmpty());
            sender.numbers(topic + "/quick", 1, 0, 200);
            becomes(database, "TABLE n", each(200));
            Thread drain = new Thread(() -> {
                try (Stream<String> lines = Files.lines(pipe)) {
                    lines.forEach(line -> {});
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
            drain.setDaemon(true);
            drain.start();
            becomes(database, "SELECT records, lag_records FROM millrace.sources WHERE stream = 'slow'", count + "|0");
        }
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

    @Test
    void whatIsWrongIsSaidAtOnce() {
        try (TestDatabase database = new TestDatabase()) {
            String[] wrong = {
                ", qos = 3",
                ", version = '4'",
                ", topic_ = 'x'",
                ", session = 'x'",
                ", password = 'open'",
                ", on_error = 'fail'"
            };
            for (String options : wrong) {
                assertThrows(MillraceException.class, () -> database.run(stream("s", "a", options)), options);
            }
            for (String topic : List.of("", "a/#/b", "a+", "a, +", "$share/g")) {
                assertThrows(MillraceException.class, () -> database.run(stream("s", topic, "")), topic);
            }
            MillraceException away = assertThrows(
                    MillraceException.class,
                    () -> database.run(
                            "CREATE STREAM s (v INT) WITH (connector = 'mqtt', url = 'mqtt://127.0.0.1:1', topic = 'a')"));
            assertTrue(away.getMessage().startsWith("mqtt://127.0.0.1:1: "), away::getMessage);
            assertEquals(List.of(), database.rows("TABLE millrace.sources"));
        }
    }
}
