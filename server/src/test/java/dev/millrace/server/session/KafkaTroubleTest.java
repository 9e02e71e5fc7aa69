package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.testing.kafka.KafkaBroker;
import dev.millrace.testing.registry.RegistryServer;
import dev.millrace.testing.time.Eventually;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * What goes wrong between queries and a real broker: the query says what it waits for, goes on by itself, and loses and doubles nothing; its neighbours are
 * not held up.
 */
@Tag("peers")
@Timeout(180)
class KafkaTroubleTest {
    private static final AtomicInteger TOPICS = new AtomicInteger();

    @TempDir
    private static Path brokerFolder;

    private static KafkaBroker broker;

    @TempDir
    Path folder;

    @BeforeAll
    static void start() {
        broker = KafkaBroker.start(brokerFolder);
    }

    @AfterAll
    static void stop() {
        broker.close();
    }

    private static String newTopic(int partitions) {
        String name = "trouble" + TOPICS.incrementAndGet();
        broker.topic(name, partitions);
        return name;
    }

    private static void write(String topic, int partitions, int from, int to) {
        try (KafkaProducer<byte[], byte[]> producer = broker.producer(Map.of())) {
            for (int i = from; i < to; i++) {
                byte[] value = ("{\"v\": " + i + "}").getBytes(StandardCharsets.UTF_8);
                producer.send(new ProducerRecord<>(topic, i % partitions, null, value));
            }
        }
    }

    private static String with(String topic, String more) {
        return " WITH (connector = 'kafka', bootstrap = '" + broker.bootstrap() + "', topic = '" + topic + "'" + more
                + ")";
    }

    private static void count(TestDatabase database, String stream) {
        database.run("CREATE MATERIALIZED VIEW of_" + stream + " AS SELECT count(*) AS n, count(DISTINCT v) AS d FROM "
                + stream);
    }

    private static void becomes(TestDatabase database, String stream, int count) {
        Eventually.holds(
                count + " rows of " + stream,
                () -> database.rows("TABLE of_" + stream).equals(List.of(count + "|" + count)));
    }

    private static String waitsFor(TestDatabase database, String stream) {
        return database.rows("SELECT DISTINCT waits_for FROM millrace.sources WHERE stream = '" + stream + "'")
                .toString();
    }

    /** Into Kafka and out of it, exactly once, while the broker goes and comes back twice. */
    @Test
    void aBrokerThatIsStoppedAndBegunAgainIsWaitedForAndNeighboursGoOn() {
        String in = newTopic(2);
        String out = newTopic(1);
        String atLeast = newTopic(1);
        write(in, 2, 0, 20);
        try (TestDatabase database = new TestDatabase(folder)) {
            database.run("CREATE STREAM s (v INT)" + with(in, ""));
            count(database, "s");
            database.run("CREATE SINK once" + with(out, ", delivery = 'exactly_once', checkpoint_interval = '100 ms'")
                    + " AS SELECT v FROM s");
            database.run("CREATE SINK least" + with(atLeast, "") + " AS SELECT v FROM s");
            database.run("CREATE STREAM near (v INT)");
            count(database, "near");
            becomes(database, "s", 20);
            int written = 20;
            for (int round = 0; round < 2; round++) {
                broker.stop();
                try {
                    Eventually.holds(
                            "the query says what it waits for",
                            () -> waitsFor(database, "s").contains("Kafka at " + broker.bootstrap()));
                    database.run("INSERT INTO near SELECT g FROM generate_series(1, 100) g WHERE " + round + " = 0");
                    becomes(database, "near", 100);
                    String error = database.rows("SELECT last_error FROM millrace.sources WHERE stream = 's'")
                            .toString();
                    assertTrue(!error.contains("Exception") && !error.contains("Call:"), error);
                } finally {
                    broker.begin();
                }
                write(in, 2, written, written + 10);
                written += 10;
                becomes(database, "s", written);
            }
            int all = written;
            Eventually.holds("all are out once", () -> broker.records(out).size() >= all);
            Eventually.holds("all are out", () -> broker.records(atLeast).size() >= all);
            database.run("CHECKPOINT");
            assertEquals(all, broker.records(out).size());
            assertEquals(all, broker.records(atLeast).size(), "none was killed, so none came twice");
        }
    }

    @Test
    void partitionsThatAreDoubledAreAllRead() {
        String topic = newTopic(2);
        write(topic, 2, 0, 50);
        try (TestDatabase database = new TestDatabase(folder)) {
            database.run("CREATE STREAM s (v INT)" + with(topic, ", discovery.interval = '200ms'"));
            count(database, "s");
            becomes(database, "s", 50);
            broker.partitions(topic, 4);
            write(topic, 4, 50, 250);
            becomes(database, "s", 250);
            assertEquals(
                    List.of("4"),
                    database.rows("SELECT count(DISTINCT split) FROM millrace.sources WHERE stream = 's'"));
            database.run("CHECKPOINT");
        }
        broker.partitions(topic, 8); // while nobody reads
        write(topic, 8, 250, 450);
        try (TestDatabase database = new TestDatabase(folder)) {
            becomes(database, "s", 450);
        }
    }

    /** What is lost is said, record by number, and the rest counts once. */
    @Test
    void recordsThatExpiredWhileTheDatabaseWasClosedAreToldAndTheRestCountsOnce() {
        String topic = newTopic(1);
        write(topic, 1, 0, 30);
        try (TestDatabase database = new TestDatabase(folder)) {
            database.run("CREATE STREAM s (v INT)" + with(topic, ", on_error = 'dead_letter'"));
            count(database, "s");
            becomes(database, "s", 30);
            database.run("CHECKPOINT");
        }
        write(topic, 1, 30, 60);
        broker.expire(topic, 0, 45);
        try (TestDatabase database = new TestDatabase(folder)) {
            becomes(database, "s", 45);
            Eventually.holds(
                    "it is told",
                    () -> database.rows("SELECT reason FROM millrace.rejected_rows WHERE stream = 's'")
                            .toString()
                            .contains("records 30 to 44 have expired"));
        }
    }

    /** One stream waits for the registry; another of the same topic and brokers is read meanwhile. */
    @Test
    void aRegistryThatIsDownIsWaitedForByThoseAloneWhoNeedIt() {
        String topic = newTopic(1);
        try (RegistryServer registry = RegistryServer.start();
                TestDatabase database = new TestDatabase(folder)) {
            int id = registry.register(
                    topic + "-value",
                    "AVRO",
                    "{\"type\":\"record\",\"name\":\"r\",\"fields\":[{\"name\":\"v\",\"type\":\"int\"}]}");
            database.run("CREATE STREAM s (v INT)"
                    + with(topic, ", format = 'avro', schema_registry = '" + registry.address() + "'"));
            database.run("CREATE STREAM plain (v BYTEA)" + with(topic, ", format = 'raw'"));
            registry.stop();
            count(database, "s");
            count(database, "plain");
            try (KafkaProducer<byte[], byte[]> producer = broker.producer(Map.of())) {
                for (int v = 0; v < 60; v++) { // a zigzag number of one byte
                    byte[] value = ByteBuffer.allocate(6)
                            .put((byte) 0)
                            .putInt(id)
                            .put((byte) (2 * v))
                            .array();
                    producer.send(new ProducerRecord<>(topic, value));
                }
            }
            becomes(database, "plain", 60);
            Eventually.holds(
                    "it says what it waits for", () -> waitsFor(database, "s").contains(registry.address()));
            assertEquals(List.of("0|0"), database.rows("TABLE of_s"));
            registry.begin();
            becomes(database, "s", 60);
        }
    }

    /** A record that is no row stops the query that wants none of those, and no other of the topic. */
    @Test
    void aPoisonRecordStopsItsQueryAndNoNeighbour() {
        String topic = newTopic(1);
        write(topic, 1, 0, 10);
        try (KafkaProducer<byte[], byte[]> producer = broker.producer(Map.of())) {
            producer.send(new ProducerRecord<>(topic, "{\"v\": \"poison\"}".getBytes(StandardCharsets.UTF_8)));
        }
        write(topic, 1, 10, 20);
        try (TestDatabase database = new TestDatabase(folder)) {
            database.run("CREATE STREAM strict (v INT)" + with(topic, ""));
            database.run("CREATE STREAM lenient (v INT)" + with(topic, ", on_error = 'dead_letter'"));
            count(database, "strict");
            count(database, "lenient");
            becomes(database, "lenient", 20);
            Eventually.holds(
                    "it says which record",
                    () -> database.rows("SELECT error FROM millrace.query_stats WHERE query = 'of_strict'")
                            .toString()
                            .contains(topic + "/0:10"));
            database.run("RESUME MATERIALIZED VIEW of_strict SKIP ROW");
            becomes(database, "strict", 20);
        }
    }
}
