package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.connector.OptionDescription;
import dev.millrace.connectors.Connectors;
import dev.millrace.testing.kafka.KafkaBroker;
import dev.millrace.testing.s3.S3Server;
import dev.millrace.testing.time.Eventually;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What docs/connectors.md says of Kafka is so: its examples run, and it names every option. */
@Tag("peers")
@Timeout(180)
class KafkaDocumentTest {
    private static final Pattern EXAMPLE = Pattern.compile("```sql\n(.*?)```", Pattern.DOTALL);

    @TempDir
    Path folder;

    private static String section(String title) throws IOException {
        String text = Files.readString(Path.of("..", "docs", "connectors.md"));
        int start = text.indexOf("\n## " + title + "\n");
        assertTrue(start >= 0, title);
        int end = text.indexOf("\n## ", start + 4);
        return text.substring(start, end < 0 ? text.length() : end);
    }

    private static List<String> statements(String title, KafkaBroker broker) throws IOException {
        List<String> statements = new ArrayList<>();
        Matcher examples = EXAMPLE.matcher(section(title));
        while (examples.find()) {
            String text = examples.group(1).replace("localhost:9092", broker.bootstrap());
            statements.addAll(List.of(text.split(";\\s*\n")));
        }
        assertTrue(!statements.isEmpty(), title);
        return statements;
    }

    private static void send(KafkaProducer<byte[], byte[]> producer, String topic, String key, String value) {
        producer.send(new ProducerRecord<>(
                topic, key.getBytes(StandardCharsets.UTF_8), value.getBytes(StandardCharsets.UTF_8)));
    }

    @Test
    void theExamplesRun() throws IOException {
        try (KafkaBroker broker = KafkaBroker.start(folder.resolve("broker"));
                S3Server store = new S3Server();
                TestDatabase database = new TestDatabase(folder.resolve("data"))) {
            List.of("orders", "audit.a", "large", "totals", "paid").forEach(topic -> broker.topic(topic, 1));
            try (KafkaProducer<byte[], byte[]> producer = broker.producer(Map.of())) {
                for (int i = 1; i <= 4; i++) {
                    send(
                            producer,
                            "orders",
                            "",
                            "{\"id\": " + i + ", \"customer\": \"c" + i % 2 + "\", \"amount\": " + 10 * i
                                    + ", \"placed\": \"2026-01-01 12:00:0" + i + "\"}");
                }
            }
            statements("Source `kafka`", broker).forEach(database::run);
            assertEquals(List.of("3", "4"), database.rows("SELECT id FROM once"));
            database.run("CREATE CONTINUOUS QUERY large_orders AS SELECT * FROM orders WHERE amount > 20");
            statements("Sink `kafka`", broker).forEach(database::run);
            Eventually.holds(
                    "the sinks have all",
                    () -> broker.records("large").size() == 2
                            && broker.records("totals").stream()
                                    .anyMatch(record -> new String(record.value(), StandardCharsets.UTF_8)
                                            .equals("{\"customer\":\"c0\",\"orders\":2,\"amount\":60.00}")));
            Eventually.holds(
                    "the sink that is exactly once has all",
                    () -> broker.records("paid").size() == 2);
            statements("Secrets", broker).forEach(database::run);
            database.run("CREATE SECRET lake_key AS '" + store.secret() + "'");
            statements("Sink `file`", broker).stream()
                    .map(text -> text.replace("'lake/", "'" + folder + "/lake/")
                            .replace("s3://lake/", "s3://" + S3Server.BUCKET + "/")
                            .replace(
                                    "https://minio.example:9000",
                                    store.options().get("s3.endpoint"))
                            .replace("'millrace'", "'" + store.options().get("s3.access_key_id") + "'"))
                    .forEach(database::run);
            Eventually.holds("files are there", () -> files("lake/orders") == 2);
            Eventually.holds(
                    "objects are there",
                    () -> store.keys().stream()
                                    .filter(key -> key.matches("orders/customer=c[01]/part-.*\\.parquet"))
                                    .count()
                            == 2);
        }
    }

    private long files(String directory) throws IOException {
        try (Stream<Path> all = Files.walk(folder.resolve(directory))) {
            return all.filter(file -> file.toString().endsWith(".parquet")).count();
        } catch (NoSuchFileException e) {
            return 0;
        }
    }

    @Test
    void everyOptionIsNamed() throws IOException {
        Connectors connectors = Connectors.standard(System.out);
        String source = section("Source `kafka`");
        for (OptionDescription option : connectors.source("kafka").options()) {
            assertTrue(source.contains("`" + option.name() + "`"), option::name);
        }
        String sink = section("Sink `kafka`");
        for (OptionDescription option : connectors.sink("kafka").options()) {
            assertTrue(sink.contains("`" + option.name() + "`"), option::name);
        }
        String file = section("Sink `file`");
        for (OptionDescription option : connectors.sink("file").options()) {
            assertTrue(file.contains("`" + option.name() + "`"), option::name);
        }
    }
}
