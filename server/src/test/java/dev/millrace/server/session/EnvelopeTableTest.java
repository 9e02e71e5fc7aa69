package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.error.MillraceException;
import dev.millrace.testing.document.DocumentPage;
import dev.millrace.testing.kafka.KafkaBroker;
import dev.millrace.testing.time.Eventually;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tables that records of changes keep: envelopes of Debezium and by key, from a real broker and from files. */
@Tag("peers")
@Timeout(180)
class EnvelopeTableTest {
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
        String name = "changes" + TOPICS.incrementAndGet();
        broker.topic(name, partitions);
        return name;
    }

    private static String with(String topic, String envelope, String options) {
        return " WITH (connector = 'kafka', bootstrap = '" + broker.bootstrap() + "', topic = '" + topic
                + "', envelope = '" + envelope + "'" + options + ")";
    }

    private static void send(String topic, String... keysAndValues) {
        try (KafkaProducer<byte[], byte[]> producer = broker.producer(Map.of())) {
            for (int i = 0; i < keysAndValues.length; i += 2) {
                send(producer, topic, keysAndValues[i], keysAndValues[i + 1]);
            }
        }
    }

    private static void send(KafkaProducer<byte[], byte[]> producer, String topic, String key, String value) {
        producer.send(new ProducerRecord<>(topic, bytes(key), bytes(value)));
    }

    private static byte[] bytes(String text) {
        return text == null ? null : text.getBytes(StandardCharsets.UTF_8);
    }

    private static void holds(TestDatabase database, String sql, List<String> rows) {
        Eventually.holds(
                sql + " gives " + rows + " and not " + database.rows(sql),
                () -> database.rows(sql).equals(rows));
    }

    private static String row(int id, String name, long price) {
        return "{\"id\":" + id + ",\"name\":" + (name == null ? "null" : "\"" + name + "\"") + ",\"price\":\"" + price
                + ".50\"}";
    }

    @Test
    void aTableFollowsRecordsOfDebezium() {
        String topic = newTopic(1);
        send(
                topic,
                "1",
                "{\"op\":\"r\",\"after\":" + row(1, "a", 1) + "}",
                "2",
                "{\"op\":\"c\",\"after\":" + row(2, "b", 2) + "}");
        try (TestDatabase database = new TestDatabase(folder.resolve("data"))) {
            database.run("CREATE TABLE t (id INT PRIMARY KEY, name TEXT, price NUMERIC(10,2),"
                    + " twice NUMERIC(10,2) GENERATED ALWAYS AS (price * 2) STORED)" + with(topic, "debezium", ""));
            database.run("CREATE MATERIALIZED VIEW total AS SELECT count(*) AS n, sum(price) AS price FROM t");
            holds(database, "SELECT * FROM t ORDER BY id", List.of("1|a|1.50|3.00", "2|b|2.50|5.00"));
            send(
                    topic,
                    "1",
                    "{\"op\":\"u\",\"before\":null,\"after\":{\"id\":1,\"name\":\"__debezium_unavailable_value\",\"price\":\"9\"}}",
                    "2",
                    "{\"op\":\"d\",\"before\":" + row(2, "b", 2) + ",\"after\":null}",
                    "2",
                    null);
            holds(database, "SELECT * FROM t", List.of("1|a|9.00|18.00"));
            holds(database, "SELECT * FROM total", List.of("1|9.00"));
            holds(
                    database,
                    "SELECT stream, split, records FROM millrace.sources ORDER BY split",
                    List.of("t|" + topic + "/0|5", "t|passed over: tombstones|1"));
            send(
                    topic,
                    "3",
                    "{\"op\":\"c\",\"after\":" + row(3, "c", 3) + "}",
                    "",
                    "{\"op\":\"t\"}",
                    "4",
                    "{\"op\":\"c\",\"after\":" + row(4, "d", 4) + "}",
                    "5",
                    "{\"op\":\"c\",\"after\":" + row(5, "e", 5) + "}",
                    "4",
                    "{\"op\":\"d\",\"before\":" + row(4, "d", 4) + "}");
            holds(database, "SELECT id FROM t", List.of("5"));
            holds(database, "SELECT * FROM total", List.of("1|5.50"));
            assertTrue(
                    database.error("INSERT INTO t VALUES (1, 'x', 1)").contains("its rows come from connector kafka"));
        }
    }

    @Test
    void badRecordsGoToTheDeadLettersOrStopTheTable() {
        String topic = newTopic(1);
        send(
                topic,
                "1",
                "{\"op\":\"c\",\"after\":" + row(1, "a", 1) + "}",
                "2",
                "{\"id\":2}",
                "3",
                "{\"op\":\"d\",\"before\":{}}");
        send(topic, "4", "{\"op\":\"c\",\"after\":" + row(4, "d", 4) + "}");
        try (TestDatabase database = new TestDatabase(folder.resolve("data"))) {
            String columns = " (id INT PRIMARY KEY, name TEXT, price NUMERIC(10,2))";
            database.run("CREATE TABLE kept" + columns + with(topic, "debezium", ", on_error = 'dead_letter'"));
            database.run("CREATE TABLE skipped" + columns + with(topic, "debezium", ", on_error = 'skip'"));
            database.run("CREATE TABLE failing" + columns + with(topic, "debezium", ""));
            holds(database, "SELECT id FROM kept ORDER BY id", List.of("1", "4"));
            holds(database, "SELECT id FROM skipped ORDER BY id", List.of("1", "4"));
            holds(
                    database,
                    "SELECT stream, origin, line, column_name, sqlstate FROM millrace.rejected_rows",
                    List.of("kept|" + topic + "/0|1||22P02", "kept|" + topic + "/0|2|id|23502"));
            holds(
                    database,
                    "SELECT stream, rejected_rows FROM millrace.stream_stats WHERE stream <> 'failing' ORDER BY stream",
                    List.of("kept|2", "skipped|2"));
            holds(
                    database,
                    "SELECT waits_for LIKE '%/0:1%must have a text \"op\"%' FROM millrace.sources WHERE stream = 'failing'",
                    List.of("t"));
            assertEquals(List.of(), database.rows("SELECT id FROM failing"));
        }
    }

    /** A database that changes at random, whose table here is copied in the midst of it, as a crash leaves it. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2})
    void whereverItIsStoppedTheTableIsLikeTheOther(long seed) throws IOException {
        Random random = new Random(seed);
        int partitions = 1 + random.nextInt(3);
        String topic = newTopic(partitions);
        TreeMap<Integer, String> expected = new TreeMap<>();
        String create = "CREATE TABLE t (id INT PRIMARY KEY, name TEXT, price NUMERIC(10,2))"
                + with(topic, "debezium", ", on_error = 'dead_letter'");
        String show = "SELECT id, name, price FROM t ORDER BY id";
        String oracle = "SELECT coalesce(name, '?') AS name, count(*) AS n, sum(price) AS total FROM t GROUP BY 1";
        Path at = folder.resolve("life0");
        for (int life = 0; life < 3; life++) {
            try (TestDatabase database = new TestDatabase(at)) {
                if (life == 0) {
                    database.run(create);
                    database.run("CREATE MATERIALIZED VIEW v AS " + oracle);
                }
                Path next = folder.resolve("life" + (life + 1));
                int crashAt = random.nextInt(5);
                for (int round = 0; round < 5; round++) {
                    try (KafkaProducer<byte[], byte[]> producer = broker.producer(Map.of())) {
                        for (int change = random.nextInt(60); change > 0; change--) {
                            change(random, producer, topic, expected);
                        }
                    }
                    if (round == crashAt) {
                        if (random.nextBoolean()) {
                            database.run("CHECKPOINT");
                        }
                        DirectoryImage.copy(at, next);
                    }
                }
                holds(database, show, expected.values().stream().sorted().toList());
                holds(database, "SELECT * FROM v ORDER BY 1", database.rows(oracle + " ORDER BY 1"));
                at = next;
            }
        }
        try (TestDatabase database = new TestDatabase(at)) {
            holds(database, show, expected.values().stream().sorted().toList());
            holds(database, "SELECT * FROM v ORDER BY 1", database.rows(oracle + " ORDER BY 1"));
        }
        try (TestDatabase database = new TestDatabase(at)) { // as it was left in good order: nothing is read again
            String read =
                    "SELECT count(*), sum(lag_records), sum(records) FROM millrace.sources WHERE split LIKE '%/%'";
            holds(database, read, List.of(partitions + "|0|0"));
            assertEquals(expected.values().stream().sorted().toList(), database.rows(show));
        }
    }

    private static void change(
            Random random, KafkaProducer<byte[], byte[]> producer, String topic, TreeMap<Integer, String> expected) {
        int id = random.nextInt(30);
        String key = "{\"id\":" + id + "}";
        if (expected.containsKey(id) && random.nextInt(3) == 0) {
            expected.remove(id);
            send(producer, topic, key, "{\"op\":\"d\",\"before\":{\"id\":" + id + "}}");
            send(producer, topic, key, null);
            return;
        }
        if (random.nextInt(20) == 0) {
            send(producer, topic, key, "{\"op\":\"c\",\"after\":{\"id\":\"none\"}}");
        }
        String name = random.nextInt(5) == 0 ? null : "n" + random.nextInt(4);
        int price = random.nextInt(1000);
        String after = row(id, name, price);
        String payload = "{\"op\":\"" + (expected.containsKey(id) ? "u" : "c") + "\",\"after\":" + after + "}";
        send(producer, topic, key, random.nextBoolean() ? payload : "{\"schema\":null,\"payload\":" + payload + "}");
        expected.put(id, id + "|" + (name == null ? "" : name) + "|" + price + ".50");
    }

    @Test
    void whatAnUpsertSinkWroteIsReadAsTheSameTable() {
        String topic = newTopic(3);
        String pairs = newTopic(2);
        try (TestDatabase database = new TestDatabase(folder.resolve("data"))) {
            database.run("CREATE TABLE s (k INT, g TEXT, v BIGINT, PRIMARY KEY (k))");
            database.run("CREATE SINK out WITH (connector = 'kafka', bootstrap = '" + broker.bootstrap()
                    + "', topic = '" + topic + "', key = 'k') AS SELECT * FROM s");
            database.run("CREATE SINK sums WITH (connector = 'kafka', bootstrap = '" + broker.bootstrap()
                    + "', topic = '" + pairs + "', key = 'g, odd') AS SELECT g, k % 2 = 1 AS odd, sum(v)::bigint AS v"
                    + " FROM s GROUP BY g, k % 2 = 1");
            database.run("CREATE TABLE back (k INT, g TEXT, v BIGINT, PRIMARY KEY (k))" + with(topic, "upsert", ""));
            database.run("CREATE TABLE back2 (g TEXT, odd BOOLEAN, v BIGINT, PRIMARY KEY (g, odd))"
                    + with(pairs, "upsert", ""));
            Random random = new Random(7);
            for (int round = 0; round < 20; round++) {
                int k = random.nextInt(10);
                database.run("INSERT INTO s VALUES (" + k + ", 'g" + random.nextInt(3) + "', " + round
                        + ") ON CONFLICT (k) DO UPDATE SET v = EXCLUDED.v, g = EXCLUDED.g");
                database.run("DELETE FROM s WHERE k = " + random.nextInt(10));
            }
            holds(database, "SELECT * FROM back ORDER BY k", database.rows("SELECT * FROM s ORDER BY k"));
            holds(
                    database,
                    "SELECT * FROM back2 ORDER BY g, odd",
                    database.rows("SELECT g, k % 2 = 1, sum(v)::bigint FROM s GROUP BY 1, 2 ORDER BY 1, 2"));
        }
    }

    @Test
    void whatASinkWritesInDebeziumsEnvelopeIsReadAsTheSameTable() {
        String topic = newTopic(1);
        try (TestDatabase database = new TestDatabase(folder.resolve("data"))) {
            database.run("CREATE TABLE s (k INT PRIMARY KEY, v TEXT)");
            database.run("CREATE SINK out WITH (connector = 'kafka', bootstrap = '" + broker.bootstrap()
                    + "', topic = '" + topic + "', key = 'k', envelope = 'debezium') AS SELECT * FROM s");
            database.run("CREATE TABLE back (k INT PRIMARY KEY, v TEXT)" + with(topic, "debezium", ""));
            database.run("INSERT INTO s VALUES (1, 'a'), (2, 'b')");
            database.run("FLUSH");
            database.run("UPDATE s SET v = 'c' WHERE k = 1");
            database.run("FLUSH");
            database.run("DELETE FROM s WHERE k = 2");
            database.run("FLUSH");
            holds(database, "SELECT * FROM back", List.of("1|c"));
            List<String> values = broker.records(topic).stream()
                    .map(record -> record.value() == null ? "null" : new String(record.value(), StandardCharsets.UTF_8))
                    .toList();
            assertEquals(
                    List.of(
                            "{\"before\":{\"k\":1,\"v\":\"a\"},\"after\":{\"k\":1,\"v\":\"c\"},\"op\":\"u\"}",
                            "{\"before\":{\"k\":2,\"v\":\"b\"},\"after\":null,\"op\":\"d\"}",
                            "null"),
                    values.subList(2, values.size()));
            assertTrue(
                    values.contains("{\"before\":null,\"after\":{\"k\":2,\"v\":\"b\"},\"op\":\"c\"}"),
                    values::toString);
            assertTrue(database.error("CREATE SINK avro WITH (connector = 'kafka', bootstrap = '" + broker.bootstrap()
                            + "', topic = '" + topic
                            + "', key = 'k', envelope = 'debezium', format = 'csv') AS SELECT * FROM s")
                    .contains("writing envelope debezium"));
        }
    }

    @Test
    void filesOfChangesAreReadInTheOrderOfTheirNames() throws IOException {
        Files.createDirectories(folder.resolve("in"));
        Files.writeString(
                folder.resolve("in/1.json"),
                "{\"op\":\"c\",\"after\":" + row(1, "a", 1) + "}\n\n{\"op\":\"c\",\"after\":" + row(2, "b", 2)
                        + "}\nnone\n");
        Files.writeString(
                folder.resolve("in/2.json"),
                "{\"op\":\"d\",\"before\":{\"id\":1}}\n{\"op\":\"u\",\"after\":" + row(2, "c", 3) + "}");
        String with = " WITH (connector = 'file', path = '" + folder
                + "/in/*.json', envelope = 'debezium', on_error = 'dead_letter')";
        try (TestDatabase database = new TestDatabase(folder.resolve("data"))) {
            database.run("CREATE TABLE t (id INT PRIMARY KEY, name TEXT, price NUMERIC(10,2))" + with);
            holds(database, "SELECT * FROM t", List.of("2|c|3.50"));
            holds(database, "SELECT line FROM millrace.rejected_rows", List.of("4"));
            holds(database, "SELECT position FROM millrace.sources", List.of("read to the end"));
        }
        try (TestDatabase database = new TestDatabase(folder.resolve("data"))) {
            holds(database, "SELECT position, records FROM millrace.sources", List.of("read to the end|0"));
            assertEquals(List.of("2|c|3.50"), database.rows("SELECT * FROM t"));
        }
    }

    /** The examples of docs/connectors.md run. */
    @Test
    void whatTheDocumentSaysIsSo() {
        List.of("shop.public.customers", "balances").forEach(topic -> broker.topic(topic, 1));
        send("shop.public.customers", "1", "{\"op\":\"c\",\"after\":{\"id\":1,\"name\":\"a\",\"born\":20455}}");
        send("balances", "17", "{\"balance\":1.5}");
        try (TestDatabase database = new TestDatabase(folder.resolve("data"))) {
            for (String statement : DocumentPage.connectors().statements("Tables of changes")) {
                database.run(statement.replace("localhost:9092", broker.bootstrap()));
            }
            holds(database, "SELECT * FROM customers", List.of("1|a|2026-01-02"));
            holds(database, "SELECT * FROM balances", List.of("17|1.50"));
        }
    }

    @Test
    void whatCannotBeSaysWhy() {
        try (TestDatabase database = new TestDatabase()) {
            String files = " WITH (connector = 'file', path = '" + folder + "/x.json', envelope = 'debezium'";
            assertTrue(database.error("CREATE STREAM s (id INT)" + files + ")").contains("is of tables"));
            assertTrue(database.error("CREATE TABLE t (id INT)" + files + ")").contains("PRIMARY KEY"));
            assertTrue(database.error("CREATE TABLE t (id INT PRIMARY KEY)" + files + ", mode = 'follow')")
                    .contains("following files of changes"));
            assertTrue(database.error("CREATE TABLE t (id INT PRIMARY KEY)" + files.replace("debezium", "upsert") + ")")
                    .contains("lines of a file have no keys"));
            assertTrue(database.error("CREATE TABLE t (id INT PRIMARY KEY) WITH (connector = 'kafka', bootstrap = '"
                            + broker.bootstrap() + "', topic = 'x')")
                    .contains("option \"envelope\" is required"));
            assertTrue(database.error("CREATE TABLE t (id INT PRIMARY KEY) WITH (connector = 'jdbc', url ="
                            + " 'jdbc:duckdb:', table = 'x', on_error = 'skip')")
                    .contains("option \"on_error\" does not exist"));
            database.run("CREATE USER u; GRANT CREATE ON SCHEMA public TO u");
            try (Session user = database.database().login("u")) {
                MillraceException denied = assertThrows(
                        MillraceException.class,
                        () -> user.execute(
                                        "CREATE TABLE t (id INT PRIMARY KEY, v INT) WITH (connector = 'kafka', bootstrap = 'b',"
                                                + " topic = 'x', envelope = 'upsert', key.format = 'protobuf', key.schema_file = '/etc/passwd')")
                                .drain());
                assertTrue(denied.getMessage().contains("to have the server read a schema"), denied::getMessage);
            }
        }
    }
}
