package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.millrace.testing.document.DocumentPage;
import dev.millrace.testing.kafka.KafkaBroker;
import dev.millrace.testing.s3.S3Server;
import dev.millrace.testing.time.Eventually;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What docs/connectors.md says of Kafka is so: its examples run, and those of secrets and of files beside them. */
@Tag("peers")
@Timeout(180)
class KafkaDocumentTest {
    @TempDir
    Path folder;

    /** As they are for this broker. */
    private static List<String> of(KafkaBroker broker, List<String> statements) {
        return statements.stream()
                .map(text -> text.replace("localhost:9092", broker.bootstrap()))
                .toList();
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
            DocumentPage page = DocumentPage.connectors();
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
            of(broker, page.statements("Source `kafka`")).forEach(database::run);
            assertEquals(List.of("3", "4"), database.rows("SELECT id FROM once"));
            database.run("CREATE CONTINUOUS QUERY large_orders AS SELECT * FROM orders WHERE amount > 20");
            of(broker, page.statements("Sink `kafka`")).forEach(database::run);
            Eventually.holds(
                    "the sinks have all",
                    () -> broker.records("large").size() == 2
                            && broker.records("totals").stream()
                                    .anyMatch(record -> new String(record.value(), StandardCharsets.UTF_8)
                                            .equals("{\"customer\":\"c0\",\"orders\":2,\"amount\":60.00}")));
            Eventually.holds(
                    "the sink that is exactly once has all",
                    () -> broker.records("paid").size() == 2);
            of(broker, page.statements("Secrets")).forEach(database::run);
            database.run("CREATE SECRET lake_key AS '" + store.secret() + "'");
            of(broker, page.statements("Sink `file`")).stream()
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
}
