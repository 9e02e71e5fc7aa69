package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.server.metrics.DatabaseMetrics;
import dev.millrace.server.result.StatementResult;
import dev.millrace.server.result.StatementResults;
import dev.millrace.testing.kafka.KafkaBroker;
import dev.millrace.testing.time.Eventually;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Streams of the connector kafka, in SQL, against a real broker in this JVM. */
@Tag("peers")
@Timeout(180)
class KafkaStreamTest {
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
        String name = "stream" + TOPICS.incrementAndGet();
        broker.topic(name, partitions);
        return name;
    }

    /** Objects with numbers from..to, spread over the partitions, of which each has a time of so many seconds. */
    private static void write(String topic, int partitions, int from, int to) {
        try (KafkaProducer<byte[], byte[]> producer = broker.producer(Map.of())) {
            for (int i = from; i < to; i++) {
                send(producer, topic, i % partitions, "{\"k\": " + i % 7 + ", \"v\": " + i + "}", 1_000L * i);
            }
        }
    }

    private static void send(
            KafkaProducer<byte[], byte[]> producer, String topic, int partition, String value, long millis) {
        producer.send(new ProducerRecord<>(
                topic,
                partition,
                millis,
                ("key" + partition).getBytes(StandardCharsets.UTF_8),
                value.getBytes(StandardCharsets.UTF_8)));
    }

    private static String stream(String topic, String columns, String options) {
        return "CREATE STREAM s (" + columns + ") WITH (connector = 'kafka', bootstrap = '" + broker.bootstrap()
                + "', topic = '" + topic + "', format = 'json'" + options + ")";
    }

    /** What a view of count and sum shows, once it has so many rows. */
    private static void becomes(TestDatabase database, String view, int count) {
        String expected = count + "|" + (long) count * (count - 1) / 2;
        Eventually.holds(
                view + " shows " + expected + " and not " + database.rows("TABLE " + view),
                () -> database.rows("TABLE " + view).equals(List.of(expected)));
    }

    private static List<String> described(TestDatabase database) {
        try (StatementResults results = database.session().execute("DESCRIBE s")) {
            return TestDatabase.texts((StatementResult.Rows) results.next());
        }
    }

    private Path crashed(String from, String to) throws IOException {
        Path source = folder.resolve(from);
        Path target = folder.resolve(to);
        DirectoryImage.copy(source, target);
        return target;
    }

    /** The directory is copied while the server works, as a crash leaves it; then it is closed, and opened as it was left in good order. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aViewGoesOnWhereItWasAndNothingIsLostOrDoubled(boolean checkpointed) throws IOException {
        String topic = newTopic(3);
        write(topic, 3, 0, 1_000);
        try (TestDatabase database = new TestDatabase(folder.resolve("data"))) {
            database.run(stream(topic, "k INT, v BIGINT, twice BIGINT GENERATED ALWAYS AS (v * 2) STORED", ""));
            database.run("CREATE MATERIALIZED VIEW n AS SELECT count(*) AS n, sum(v) AS total FROM s");
            database.run("CREATE MATERIALIZED VIEW t AS SELECT count(*) AS n, sum(twice)::bigint / 2 AS total FROM s");
            becomes(database, "n", 1_000);
            if (checkpointed) {
                database.run("CHECKPOINT");
            }
            write(topic, 3, 1_000, 1_500);
            becomes(database, "n", 1_500);
            becomes(database, "t", 1_500);
            crashed("data", "crashed");
        }
        write(topic, 3, 1_500, 2_000);
        int count = 2_000;
        for (String directory : List.of("crashed", "data")) {
            try (TestDatabase again = new TestDatabase(folder.resolve(directory))) {
                becomes(again, "n", count);
                becomes(again, "t", count);
                write(topic, 3, count, ++count); // by now what had come twice would show
                becomes(again, "n", count);
                becomes(again, "t", count);
            }
        }
    }

    @RepeatedTest(3) // which partition is read first is chance
    void columnsOfTheRecordAreIncludedAndTimeIsThatOfEachPartition() {
        String topic = newTopic(2);
        try (KafkaProducer<byte[], byte[]> producer = broker.producer(Map.of())) {
            for (int i = 0; i < 40; i++) { // partition 0 is ahead of partition 1 by 40 s
                send(producer, topic, 0, "{\"v\": 1}", 1_000L * (i + 40));
                send(producer, topic, 1, "{\"v\": 1}", 1_000L * i);
            }
        }
        try (TestDatabase database = new TestDatabase()) {
            database.run(
                    "CREATE STREAM s (v BIGINT, w BIGINT GENERATED ALWAYS AS (v + 1) STORED, WATERMARK FOR at AS at)"
                            + " INCLUDE KEY AS k, PARTITION AS p INCLUDE OFFSET AS o, TIMESTAMP AS at, HEADERS AS h, TOPIC AS t,"
                            + " KEY BYTES AS kb WITH (connector = 'kafka', bootstrap = '" + broker.bootstrap()
                            + "', topic = '"
                            + topic + "', format = 'json')");
            assertEquals(
                    List.of(
                            "v|bigint",
                            "w|bigint",
                            "k|text",
                            "kb|bytea",
                            "t|text",
                            "p|integer",
                            "o|bigint",
                            "at|timestamp with time zone",
                            "h|jsonb"),
                    described(database).stream()
                            .map(row -> row.split("\\|")[0] + "|" + row.split("\\|")[1])
                            .toList());
            database.run("CREATE MATERIALIZED VIEW last AS SELECT k, convert_from(kb, 'UTF8') AS kb, p, max(o) AS o, t,"
                    + " max(h::text) AS h, max(w) AS w FROM s GROUP BY k, kb, p, t");
            database.run(
                    "CREATE MATERIALIZED VIEW windows AS SELECT extract(epoch FROM window_start) AS start, count(*) AS n"
                            + " FROM TABLE(TUMBLE(TABLE s, DESCRIPTOR(at), INTERVAL '10' SECONDS)) GROUP BY window_start, window_end");
            Eventually.holds(
                    "both partitions are read",
                    () -> database.rows("TABLE last")
                            .equals(List.of("key0|key0|0|39|" + topic + "|{}|2", "key1|key1|1|39|" + topic + "|{}|2")));
            // The watermark is that of partition 1, at 39 s: windows up to 30 s are closed, and no row was late.
            Eventually.holds(
                    "windows are closed", () -> database.rows("TABLE windows").size() == 3);
            assertEquals(List.of("0.000000|10", "10.000000|10", "20.000000|10"), database.rows("TABLE windows"));
            assertEquals(List.of("0"), database.rows("SELECT max(late_rows) FROM millrace.query_stats"));
            Eventually.holds(
                    "there is no lag",
                    () -> database.rows("SELECT split, position, lag_records, records, retries, last_error, waits_for"
                                    + " FROM millrace.sources WHERE query = 'last' AND stream = 's'")
                            .equals(List.of(topic + "/0|40|0|40|0||", topic + "/1|40|0|40|0||")));
        }
    }

    @Test
    void nobodyWaitsForAPartitionThatHasBeenIdle() {
        String topic = newTopic(2);
        try (KafkaProducer<byte[], byte[]> producer = broker.producer(Map.of())) {
            send(producer, topic, 1, "{\"v\": 1}", 0);
            for (int second = 0; second <= 30; second += 10) {
                send(producer, topic, 0, "{\"v\": 1}", 1_000L * second);
            }
        }
        try (TestDatabase database = new TestDatabase()) {
            for (String stream : List.of("waits", "goes_on")) {
                database.run("CREATE STREAM " + stream + " (v BIGINT, WATERMARK FOR at AS at) INCLUDE TIMESTAMP AS at"
                        + " WITH (connector = 'kafka', bootstrap = '" + broker.bootstrap() + "', topic = '" + topic
                        + "'"
                        + (stream.equals("waits") ? "" : ", watermark.idle_timeout = '500 ms'") + ")");
                database.run("CREATE MATERIALIZED VIEW of_" + stream + " AS SELECT window_start, count(*) AS n"
                        + " FROM TABLE(TUMBLE(TABLE " + stream
                        + ", DESCRIPTOR(at), INTERVAL '10' SECONDS)) GROUP BY window_start, window_end");
            }
            try (KafkaProducer<byte[], byte[]> producer = broker.producer(Map.of())) {
                Eventually.holds("windows are closed as if there were one partition", () -> {
                    send(producer, topic, 0, "{\"v\": 1}", 30_000); // which is not idle
                    return database.rows("SELECT n FROM of_goes_on").size() == 3;
                });
            }
            Eventually.holds(
                    "the other has read all as well",
                    () -> database.rows(
                                    "SELECT sum(records) > 5, max(lag_records) FROM millrace.sources WHERE stream = 'waits'")
                            .equals(List.of("t|0")));
            assertEquals(List.of(), database.rows("TABLE of_waits"));
        }
    }

    @Test
    void recordsThatAreNoRowsAreToldWithTheirOffsets() {
        String topic = newTopic(1);
        try (KafkaProducer<byte[], byte[]> producer = broker.producer(Map.of())) {
            send(producer, topic, 0, "{\"k\": 1}", 0);
            send(producer, topic, 0, "{\"k\": \"x\"}", 0);
            send(producer, topic, 0, "no JSON", 0);
            send(producer, topic, 0, "{\"k\": 2}", 0);
        }
        try (TestDatabase database = new TestDatabase()) {
            database.run(stream(topic, "k INT", ", on_error = 'dead_letter'"));
            database.run("CREATE MATERIALIZED VIEW n AS SELECT count(*) AS n FROM s");
            Eventually.holds(
                    "two rows are there", () -> database.rows("TABLE n").equals(List.of("2")));
            assertEquals(
                    List.of(topic + "/0|1|k|22P02|{\"k\": \"x\"}", topic + "/0|2||22P02|no JSON"),
                    database.rows("SELECT origin, line, column_name, sqlstate, record FROM millrace.rejected_rows"));
        }
    }

    @Test
    void metricsTellEachSplitFromTheOthers() {
        String topic = newTopic(2);
        write(topic, 2, 0, 10);
        try (TestDatabase database = new TestDatabase()) {
            database.run(stream(topic, "k INT, v BIGINT", ""));
            database.run(stream(topic, "k INT", "")
                    .replace("STREAM s", "STREAM later")
                    .replace("topic = '", "topic.pattern = 'later-than-"));
            database.run(
                    "CREATE MATERIALIZED VIEW n AS SELECT count(*) AS n, sum(a.v) AS total FROM s a JOIN s b ON a.v = b.v AND a.k = b.k");
            database.run("CREATE MATERIALIZED VIEW none AS SELECT count(*) AS n FROM later");
            database.run("CREATE SINK out FROM s" + with(newTopic(1)));
            becomes(database, "n", 10);
            DatabaseMetrics metrics = new DatabaseMetrics(database.database());
            Eventually.holds(
                    "the sink has all", () -> text(metrics).contains("millrace_sink_records_total{sink=\"out\""));
            String text = text(metrics);
            for (int partition = 0; partition < 2; partition++) {
                String split = ",query=\"n\",split=\"" + topic + "/" + partition + "\",stream=\"s\"} 5.0";
                assertEquals(
                        1,
                        text.lines()
                                .filter(line -> line.startsWith("millrace_source_records_total{operator=")
                                        && line.endsWith(split))
                                .count(),
                        text);
            }
        }
    }

    private static String text(DatabaseMetrics metrics) {
        return new String(metrics.text(), StandardCharsets.UTF_8);
    }

    private static String with(String topic) {
        return " WITH (connector = 'kafka', bootstrap = '" + broker.bootstrap() + "', topic = '" + topic + "')";
    }

    /** Nothing is said of it: a bad record fails. The query goes on behind it when somebody says so. */
    @Test
    void aBadRecordStopsAQueryWhichGoesOnWithoutIt() {
        String topic = newTopic(1);
        write(topic, 1, 0, 10);
        try (KafkaProducer<byte[], byte[]> producer = broker.producer(Map.of())) {
            send(producer, topic, 0, "poison", 0);
        }
        write(topic, 1, 10, 20);
        try (TestDatabase database = new TestDatabase(folder.resolve("data"))) {
            database.run(stream(topic, "k INT, v BIGINT", ""));
            database.run("CREATE MATERIALIZED VIEW n AS SELECT count(*) AS n, sum(v) AS total FROM s");
            Eventually.holds(
                    "the view is stopped",
                    () -> database.rows("SELECT state, sqlstate FROM millrace.query_stats")
                            .equals(List.of("failed|22P02")));
            String error = database.error("TABLE n");
            assertTrue(error.contains(topic + "/0:10"), error);
            database.run("RESUME MATERIALIZED VIEW n SKIP ROW");
            becomes(database, "n", 20);
            write(topic, 1, 20, 30);
            becomes(database, "n", 30);
            database.run("CHECKPOINT");
        }
        write(topic, 1, 30, 40);
        try (TestDatabase again = new TestDatabase(folder.resolve("data"))) {
            becomes(again, "n", 40);
        }
    }

    @Test
    void whatIsWrongIsSaidWhenAStreamIsMade() {
        String topic = newTopic(1);
        try (TestDatabase database = new TestDatabase()) {
            assertEquals(
                    "22023 option \"bootstrap\" is required",
                    database.error("CREATE STREAM s (k INT) WITH (connector = 'kafka', topic = 't')"));
            assertEquals(
                    "22023 option \"isolaton\" does not exist | did you mean \"isolation\"?",
                    database.error(stream(topic, "k INT", ", isolaton = 'read_committed'")));
            assertEquals(
                    "22023 option \"properties.fetch.min.byte\" does not exist: Kafka's client has no property"
                            + " \"fetch.min.byte\" | did you mean \"properties.fetch.min.bytes\"?",
                    database.error(stream(topic, "k INT", ", properties.fetch.min.byte = 1")));
            assertEquals(
                    "42704 topic none does not exist at Kafka at " + broker.bootstrap(),
                    database.error(stream("none", "k INT", "")).replaceAll(" \\| .*", ""));
            assertEquals(
                    "42701 column \"k\" specified more than once",
                    database.error(stream(topic, "k INT", ", include.key = 'k'")));
            assertEquals(
                    "42601 option \"include.key\" is given twice, once by INCLUDE",
                    database.error(
                            "CREATE STREAM s (k INT) INCLUDE KEY AS a WITH (connector = 'kafka', include.key = 'b')"));
            assertEquals(
                    "22023 there is no format \"jsn\" | did you mean \"json\"?",
                    database.error(stream(topic, "k INT", "").replace("'json'", "'jsn'")));
            assertTrue(
                    database.error(
                                    "CREATE STREAM s (k INT) WITH (connector = 'kafka', bootstrap = '127.0.0.1:1', topic = 't')")
                            .startsWith("08006 Kafka at 127.0.0.1:1: "),
                    "a broker that is not there");
            assertEquals(List.of(), database.rows("SHOW STREAMS"));
        }
    }

    /** Every word that is not to be seen is "hidden". */
    @Test
    void secretsAreUsedAndNeverShown() throws IOException {
        String topic = newTopic(1);
        write(topic, 1, 0, 10);
        Path key = Files.writeString(folder.resolve("hidden-id"), "hidden client\n");
        String jaas =
                "org.apache.kafka.common.security.plain.PlainLoginModule required username=\"u\" password=\"hidden\";";
        String stream = stream(
                        topic,
                        "k INT, v BIGINT",
                        ", properties.client.id = '${file:" + key + "}', properties.sasl.mechanism = 'PLAIN',"
                                + " properties.sasl.jaas.config = '${secret:login}'")
                .replace(broker.bootstrap(), "${secret:brokers}");
        try (TestDatabase database = new TestDatabase(folder.resolve("data"))) {
            assertEquals(
                    "22023 option \"properties.sasl.jaas.config\" is a secret, and definitions can be read | CREATE SECRET s AS"
                            + " '..', then properties.sasl.jaas.config = '${secret:s}'; or ${env:NAME}, or ${file:/path}",
                    database.error(stream(topic, "k INT", ", properties.sasl.jaas.config = '" + jaas + "'")));
            database.run("CREATE SECRET login AS '" + jaas + "'");
            assertEquals(
                    "42704 nothing is found for ${secret:brokers}: there is no secret of this name | CREATE SECRET brokers AS '..'",
                    database.error(stream));
            database.run("CREATE SECRET brokers AS '" + broker.bootstrap() + "'");
            String wrong = stream.replace("properties.client.id", "properties.security.protocol");
            assertEquals(
                    "08006 Kafka at ${secret:brokers}: Invalid value ${file:" + key
                            + "} for configuration security.protocol:"
                            + " String must be one of (case insensitive): PLAINTEXT, SASL_PLAINTEXT, SSL, SASL_SSL",
                    database.error(wrong)
                            .replaceAll(
                                    "one of \\(case insensitive\\): .*",
                                    "one of (case insensitive):" + " PLAINTEXT, SASL_PLAINTEXT, SSL, SASL_SSL"));
            database.run(stream);
            database.run("CREATE MATERIALIZED VIEW n AS SELECT count(*) AS n, sum(v) AS total FROM s");
            becomes(database, "n", 10);
            String shown = database.rows("SHOW CREATE STREAM s") + " "
                    + database.rows("SELECT * FROM millrace.definitions")
                    + database.rows("SELECT * FROM millrace.sources") + database.rows("SELECT * FROM millrace.secrets");
            assertTrue(shown.contains("${secret:login}"), shown);
            assertFalse(shown.replace("hidden-id", "").contains("hidden"), shown);
            assertEquals(List.of("brokers|s", "login|s"), database.rows("SELECT name, used_by FROM millrace.secrets"));
            database.run("CREATE ROLE guest; GRANT CREATE ON SCHEMA public TO guest; SET ROLE guest");
            assertEquals(
                    "42501 must be superuser or have privileges of the pg_read_server_files role to have the server look up"
                            + " ${secret:brokers}",
                    database.error(
                            "CREATE STREAM g (k INT) WITH (connector = 'kafka', bootstrap = '${secret:brokers}', topic = 't')"));
            assertEquals("42501 must be superuser to make or drop secrets", database.error("DROP SECRET login"));
            database.run("RESET ROLE");
        }
        try (TestDatabase again = new TestDatabase(folder.resolve("data"))) {
            write(topic, 1, 10, 20);
            becomes(again, "n", 20);
        }
    }
}
