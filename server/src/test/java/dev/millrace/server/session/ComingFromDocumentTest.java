package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.engine.subscription.EpochChanges;
import dev.millrace.server.result.StatementResult;
import dev.millrace.server.result.StatementResults;
import dev.millrace.testing.database.DatabaseServer;
import dev.millrace.testing.document.DocumentPage;
import dev.millrace.testing.kafka.KafkaBroker;
import dev.millrace.testing.time.Eventually;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What docs/coming-from.md says here is said so, from top to bottom, against a real broker and a real PostgreSQL. */
@Tag("peers")
@Timeout(180)
class ComingFromDocumentTest {
    private static final long MOST_MICROS = 60_000_000;

    @TempDir
    Path folder;

    private static List<String> statements(String bootstrap, DatabaseServer server) {
        DocumentPage page = DocumentPage.of("coming-from.md");
        return page.titles().stream()
                .filter(title -> !page.examples(title).isEmpty())
                .flatMap(title -> page.statements(title).stream())
                .map(text -> text.replace("localhost:9092", bootstrap)
                        .replace("jdbc:postgresql://localhost:5432/shop", server.url())
                        .replace("user = 'shop'", "user = '" + server.user() + "'"))
                .toList();
    }

    private static void produce(KafkaBroker broker, String... records) {
        try (KafkaProducer<byte[], byte[]> producer = broker.producer(Map.of())) {
            for (String record : records) {
                producer.send(new ProducerRecord<>("orders", record.getBytes(StandardCharsets.UTF_8)));
            }
        }
    }

    @Test
    void theExamplesRunOneAfterTheOther() {
        Assumptions.assumeTrue(
                DatabaseServer.hasPostgres(), "skipped because PostgreSQL is not installed (package postgresql)");
        try (KafkaBroker broker = KafkaBroker.start(folder.resolve("broker"));
                DatabaseServer server = DatabaseServer.postgres();
                TestDatabase database = new TestDatabase(folder.resolve("data"))) {
            broker.topic("orders", 1);
            broker.topic("per-minute", 1);
            server.run("CREATE TABLE orders (id BIGINT PRIMARY KEY, customer TEXT, amount NUMERIC)");
            produce(
                    broker,
                    "{\"id\": 1, \"customer\": \"a\", \"amount\": 10, \"placed\": \"2026-01-01 12:00:01\"}",
                    "{\"id\": 2, \"customer\": \"a\", \"amount\": 20.5, \"placed\": \"2026-01-01 12:00:02\"}",
                    "no order",
                    "{\"id\": 3, \"customer\": \"b\", \"amount\": 1, \"placed\": \"2026-01-01 12:02:00\"}");
            List<String> statements = statements(broker.bootstrap(), server);
            assertEquals(8, statements.size(), statements::toString);
            for (String statement : statements) {
                if (statement.startsWith("SUBSCRIBE")) {
                    Eventually.holds(
                            "there is something to tell",
                            () -> !database.rows("TABLE totals").isEmpty());
                    try (StatementResults results = database.session().execute(statement);
                            StatementResult.Changes changes = (StatementResult.Changes) results.next()) {
                        produce(
                                broker,
                                "{\"id\": 4, \"customer\": \"b\", \"amount\": 2, \"placed\": \"2026-01-01 12:02:10\"}");
                        try (EpochChanges first = changes.next(MOST_MICROS).orElseThrow()) {
                            assertTrue(first.batches().size() > 0);
                        }
                    }
                } else {
                    database.run(statement);
                }
            }
            Eventually.holds(
                    "the database has all",
                    () -> server.rows("SELECT * FROM orders ORDER BY id")
                            .equals(List.of("1|a|10.00", "2|a|20.50", "3|b|1.00", "4|b|2.00")));
            Eventually.holds(
                    "the window that is over is out",
                    () -> broker.records("per-minute").size() == 1);
            assertTrue(new String(broker.records("per-minute").get(0).value(), StandardCharsets.UTF_8)
                    .contains("\"orders\":2,\"amount\":30.50"));
            assertEquals(List.of("a|2|30.50", "b|2|3.00"), database.flushedRows("SELECT * FROM totals"));
            assertEquals(List.of("no order"), database.rows("SELECT record FROM millrace.rejected_rows"));
        }
    }
}
