package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.testing.kafka.KafkaBroker;
import dev.millrace.testing.time.Eventually;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Sinks of the connector kafka, against a real broker in this JVM. */
@Tag("peers")
@Timeout(180)
class KafkaSinkTest {
    private static final long SEED = Long.getLong("millrace.kafka.seed", 1);
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
        String name = "sink" + TOPICS.incrementAndGet();
        broker.topic(name, partitions);
        return name;
    }

    private static String with(String topic, String options) {
        return " WITH (connector = 'kafka', bootstrap = '" + broker.bootstrap() + "', topic = '" + topic + "'" + options
                + ")";
    }

    private static String text(byte[] bytes) {
        return bytes == null ? "~" : new String(bytes, StandardCharsets.UTF_8);
    }

    private static List<String> records(String topic) {
        List<String> texts = new ArrayList<>();
        for (ConsumerRecord<byte[], byte[]> record : broker.records(topic)) {
            texts.add(text(record.key()) + " " + text(record.value()));
        }
        return texts;
    }

    /** The last value of each key. */
    private static Map<String, String> read(String topic) {
        Map<String, String> last = new TreeMap<>();
        for (ConsumerRecord<byte[], byte[]> record : broker.records(topic)) {
            if (record.value() == null) {
                last.remove(text(record.key()));
            } else {
                last.put(text(record.key()), text(record.value()));
            }
        }
        return last;
    }

    @Test
    void eachRowIsARecord() {
        String topic = newTopic(1);
        String keyed = newTopic(1);
        try (TestDatabase database = new TestDatabase()) {
            database.run("CREATE STREAM s (k INT, t TEXT)");
            database.run("CREATE SINK a" + with(topic, "") + " AS SELECT * FROM s WHERE k > 1");
            database.run("CREATE SINK b FROM s" + with(keyed, ", key = 't', properties.compression.type = 'lz4'"));
            database.run("CREATE SINK c FROM s" + with(keyed, ", key = 'k, t', properties.linger.ms = 0"));
            database.run("INSERT INTO s VALUES (1, 'x'), (2, 'ü'), (3, NULL); FLUSH");
            assertEquals(List.of("~ {\"k\":2,\"t\":\"ü\"}", "~ {\"k\":3,\"t\":null}"), records(topic));
            assertEquals(
                    List.of(
                            "x {\"k\":1,\"t\":\"x\"}",
                            "{\"k\":1,\"t\":\"x\"} {\"k\":1,\"t\":\"x\"}",
                            "{\"k\":2,\"t\":\"ü\"} {\"k\":2,\"t\":\"ü\"}",
                            "{\"k\":3,\"t\":null} {\"k\":3,\"t\":null}",
                            "~ {\"k\":3,\"t\":null}",
                            "ü {\"k\":2,\"t\":\"ü\"}"),
                    records(keyed).stream().sorted().toList());
            assertEquals(
                    List.of(
                            "a|topic " + topic + "|2|0|0||",
                            "b|topic " + keyed + "|3|0|0||",
                            "c|topic " + keyed + "|3|0|0||"),
                    database.rows("SELECT * FROM millrace.sinks"));
        }
    }

    /** What readers by key have is the view, however its table was changed; and it still is after a restart that writes some again. */
    @Test
    void readersByKeyHaveTheView() {
        String topic = newTopic(3);
        Random random = new Random(SEED);
        try (TestDatabase database = new TestDatabase(folder.resolve("data"))) {
            database.run("CREATE TABLE t (id INT PRIMARY KEY, k INT, v INT)");
            database.run("CREATE MATERIALIZED VIEW w AS SELECT k, count(*) AS n, sum(v) AS total FROM t GROUP BY k");
            database.run("CREATE SINK out FROM w" + with(topic, ", key = 'k'"));
            for (int round = 0; round < 30; round++) {
                change(database, random);
            }
            database.run("INSERT INTO t VALUES (100, 7, 1); FLUSH");
            database.run("DELETE FROM t WHERE id = 100");
            assertSame(database, topic);
            assertTrue(records(topic).stream().anyMatch(record -> record.endsWith(" ~")), "there are tombstones");
        }
        try (TestDatabase again = new TestDatabase(folder.resolve("data"))) {
            for (int round = 0; round < 10; round++) {
                change(again, random);
            }
            assertSame(again, topic);
        }
    }

    private static void change(TestDatabase database, Random random) {
        int id = random.nextInt(12);
        switch (random.nextInt(3)) {
            case 0 -> database.run("DELETE FROM t WHERE id = " + id);
            default ->
                database.run("INSERT INTO t VALUES (" + id + ", " + random.nextInt(5) + ", " + random.nextInt(9)
                        + ") ON CONFLICT (id) DO UPDATE SET k = excluded.k, v = excluded.v");
        }
    }

    private static void assertSame(TestDatabase database, String topic) {
        database.session().flush();
        Map<String, String> expected = new TreeMap<>();
        for (String row : database.rows("TABLE w")) {
            String[] values = row.split("\\|");
            expected.put(values[0], "{\"k\":" + values[0] + ",\"n\":" + values[1] + ",\"total\":" + values[2] + "}");
        }
        assertEquals(expected, read(topic), "seed " + SEED);
    }

    @Test
    void aBrokerThatIsAwayIsWaitedFor() {
        String topic = newTopic(1);
        try (TestDatabase database = new TestDatabase()) {
            database.run("CREATE STREAM s (k INT)");
            database.run("CREATE SINK a FROM s" + with(topic, ""));
            database.run("INSERT INTO s VALUES (1); FLUSH");
            broker.stop();
            try {
                database.run("INSERT INTO s VALUES (2), (3)");
                Eventually.holds(
                        "it says what it waits for",
                        () -> database.rows("SELECT waiting_records > 0, waits_for FROM millrace.sinks")
                                .equals(List.of("t|Kafka at " + broker.bootstrap())));
            } finally {
                broker.begin();
            }
            database.run("INSERT INTO s VALUES (4); FLUSH");
            assertEquals(List.of("~ {\"k\":1}", "~ {\"k\":2}", "~ {\"k\":3}", "~ {\"k\":4}"), records(topic));
            assertEquals(
                    List.of("0||"), database.rows("SELECT waiting_records, last_error, waits_for FROM millrace.sinks"));
        }
    }

    @Test
    void aSinkIsDroppedWhileItsBrokerIsAway() {
        String topic = newTopic(1);
        try (TestDatabase database = new TestDatabase()) {
            database.run("CREATE STREAM s (k INT)");
            database.run("CREATE SINK a FROM s" + with(topic, ""));
            broker.stop();
            try {
                database.run("INSERT INTO s VALUES (1)");
                database.run("DROP SINK a");
                assertEquals(List.of(), database.rows("SELECT * FROM millrace.sinks"));
            } finally {
                broker.begin();
            }
        }
    }

    @Test
    void whatIsWrongIsSaidWhenASinkIsMade() {
        String topic = newTopic(1);
        try (TestDatabase database = new TestDatabase()) {
            database.run(
                    "CREATE STREAM s (k INT); CREATE MATERIALIZED VIEW w AS SELECT k, count(*) AS n FROM s GROUP BY k");
            assertEquals(
                    "22023 option \"key\" is required: rows are taken back | key = 'a, b' names the columns that identify a row",
                    database.error("CREATE SINK a FROM w" + with(topic, "")));
            assertEquals(
                    "22023 option \"mode\" cannot be \"append\": the query takes rows back | mode = 'upsert' with a key",
                    database.error("CREATE SINK a FROM w" + with(topic, ", mode = 'append', key = 'k'")));
            assertEquals(
                    "42703 column \"kk\" of option \"key\" does not exist | did you mean \"k\"?",
                    database.error("CREATE SINK a FROM s" + with(topic, ", key = 'kk'")));
            assertTrue(database.error("CREATE SINK a FROM s" + with(topic, ", delivery = 'exactly_once'"))
                    .startsWith("55000 delivery = 'exactly_once' of sink \"a\" needs a data directory"));
            assertTrue(database.error("CREATE SINK a FROM s" + with(topic, ", checkpoint_interval = '1 s'"))
                    .startsWith("22023 option \"checkpoint_interval\" is of sinks with delivery = 'exactly_once'"));
            assertTrue(database.error("CREATE SINK a FROM s" + with("none", ""))
                    .startsWith("42704 topic none does not exist at Kafka at " + broker.bootstrap()));
            assertEquals(
                    "22023 option \"isolation\" does not exist",
                    database.error("CREATE SINK a FROM s" + with(topic, ", isolation = 'read_committed'"))
                            .replaceAll(" \\| .*", ""));
            assertEquals(List.of(), database.rows("SHOW SINKS"));
            database.run("CREATE SINK a FROM s" + with(topic, ", mode = 'upsert', key = 'k'"));
            database.run("INSERT INTO s VALUES (NULL)");
            Eventually.holds(
                    "the sink fails",
                    () -> database.rows("SELECT error FROM millrace.query_stats WHERE query = 'a'")
                            .equals(List.of("a row of the sink has NULL in its key")));
        }
    }
}
