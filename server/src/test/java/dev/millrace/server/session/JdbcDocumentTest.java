package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.server.metrics.DatabaseMetrics;
import dev.millrace.testing.database.DatabaseServer;
import dev.millrace.testing.document.DocumentPage;
import dev.millrace.testing.time.Eventually;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What docs/connectors.md says of databases is so: its examples run against a PostgreSQL. */
@Tag("peers")
@Timeout(180)
class JdbcDocumentTest {
    /** As they are for this server. */
    private static List<String> of(DatabaseServer server, List<String> statements) {
        return statements.stream()
                .map(text -> text.replace("jdbc:postgresql://localhost:5432/shop", server.url())
                        .replace("user = 'shop'", "user = '" + server.user() + "'"))
                .toList();
    }

    @Test
    void theExamplesRun() {
        Assumptions.assumeTrue(
                DatabaseServer.hasPostgres(), "skipped because PostgreSQL is not installed (package postgresql)");
        try (DatabaseServer server = DatabaseServer.postgres();
                TestDatabase database = new TestDatabase()) {
            DocumentPage page = DocumentPage.connectors();
            server.run(
                    "CREATE TABLE totals (customer TEXT PRIMARY KEY, orders BIGINT, amount NUMERIC)",
                    "CREATE TABLE large (customer TEXT, amount NUMERIC)",
                    "CREATE TABLE prices (item TEXT PRIMARY KEY, price NUMERIC(10,2))",
                    "INSERT INTO prices VALUES ('x', 2)");
            database.run("CREATE SECRET shop AS 'anything, as this server trusts all'");
            database.run("CREATE STREAM sales (customer TEXT, item TEXT, amount NUMERIC(10,2))");
            of(server, page.statements("Table `jdbc`")).forEach(database::run);
            of(server, page.statements("Sink `jdbc`")).forEach(database::run);
            Eventually.holds(
                    "prices are there",
                    () -> database.rows("SELECT item, price FROM prices").equals(List.of("x|2.00")));
            database.run("INSERT INTO sales VALUES ('a', 'x', 10), ('a', 'x', 30), ('b', 'y', 5)");
            Eventually.holds(
                    "the sinks have all",
                    () -> server.rows("SELECT * FROM totals ORDER BY 1").equals(List.of("a|2|40.00", "b|1|5.00"))
                            && server.rows("SELECT * FROM large").equals(List.of("a|30.00")));
            assertEquals(List.of("a|20.0000", "a|60.0000"), database.flushedRows("SELECT * FROM turnover"));
            assertTrue(database.rows("SELECT target, waits_for FROM millrace.sinks")
                    .toString()
                    .contains("table totals of " + server.url()));
            String metrics = new String(new DatabaseMetrics(database.database()).text(), StandardCharsets.UTF_8);
            assertTrue(metrics.contains("stream=\"prices\"} 1.0"), metrics);
            assertTrue(metrics.contains("millrace_sink_waiting{sink=\"totals_there\""), metrics);
            String refused = database.error("PAUSE TABLE prices");
            assertTrue(refused.startsWith("0A000 PAUSE and RESUME of a table"), refused);
            assertTrue(refused.contains("is waited for by itself"), refused);
        }
    }
}
