package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.testing.time.Eventually;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Queries that begin anew by themselves when they failed of what may pass. */
@Timeout(120)
class RetriesTest {
    private static final String TOO_MUCH =
            "INSERT INTO s SELECT g, repeat('x', 200) || g FROM generate_series(1, 40000) g";

    private static String state(TestDatabase database, String name) {
        return String.join("", database.rows("SELECT state FROM millrace.query_stats WHERE query = '" + name + "'"));
    }

    @Test
    void whatFailedForWantOfMemoryBeginsAnewAsOftenAsItMay() {
        try (TestDatabase database = new TestDatabase()) {
            database.run("CREATE STREAM s (k INT, t TEXT)");
            database.run("ALTER ROLE millrace SET max_query_memory = '4MB'");
            try (Session limited = database.database().session()) { // as the role says from here on
                limited.execute(
                                "CREATE MATERIALIZED VIEW v WITH (retries = 2) AS SELECT k, max(t) AS t FROM s GROUP BY k;"
                                        + "CREATE MATERIALIZED VIEW once AS SELECT k, max(t) AS t FROM s GROUP BY k")
                        .drain();
            }
            for (int round = 1; round <= 2; round++) {
                String nth = round + " of 2 retries";
                database.run(TOO_MUCH);
                Eventually.holds(
                        "it waits for its time",
                        () -> database.rows("SHOW MATERIALIZED VIEWS").stream()
                                .anyMatch(row -> row.startsWith("v|failed|") && row.contains(nth)));
                Eventually.holds("it has begun anew", () -> state(database, "v").equals("running"));
                database.run("INSERT INTO s VALUES (" + round + ", 'few')");
                assertEquals(List.of(round + "|few"), database.flushedRows("SELECT * FROM v"));
            }
            database.run(TOO_MUCH);
            Eventually.holds("it fails again", () -> state(database, "v").equals("failed"));
            assertTrue(database.rows("SHOW MATERIALIZED VIEWS").stream().noneMatch(row -> row.contains("retries")));
            assertEquals("failed", state(database, "once"));
        }
    }

    @Test
    void whatARowMadeFailStaysFailed() {
        try (TestDatabase database = new TestDatabase()) {
            database.run("CREATE STREAM s (n INT)");
            database.run("CREATE MATERIALIZED VIEW v WITH (retries = 5) AS SELECT sum(100 / n) AS total FROM s");
            database.run("INSERT INTO s VALUES (0)");
            Eventually.holds("it fails", () -> state(database, "v").equals("failed"));
            assertEquals(
                    List.of(),
                    List.copyOf(database.database().instance().retries().due()));
            assertTrue(database.rows("SHOW MATERIALIZED VIEWS").stream().noneMatch(row -> row.contains("retries")));
            assertTrue(database.error("CREATE MATERIALIZED VIEW w WITH (retries = -1) AS SELECT n FROM s")
                    .startsWith("22023 "));
        }
    }
}
