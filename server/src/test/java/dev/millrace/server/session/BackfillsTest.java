package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.server.metrics.DatabaseMetrics;
import dev.millrace.testing.time.Eventually;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What {@code millrace.backfills} and others say of queries that begin in the past. */
class BackfillsTest {
    private static final int ROWS = 40_000;
    private static final String STATES =
            "SELECT query, stream, state, rows, all_rows, percent, seconds_left FROM millrace.backfills ORDER BY query";

    @TempDir
    Path folder;

    private TestDatabase open() {
        return new TestDatabase(folder.resolve("data"), 2);
    }

    private static void create(TestDatabase database) {
        database.run("CREATE STREAM s (k BIGINT) WITH (retention = 'forever');"
                + "INSERT INTO s SELECT g FROM generate_series(1, " + ROWS + ") g");
    }

    private static void await(TestDatabase database, String sql, String... expected) {
        AtomicReference<List<String>> found = new AtomicReference<>(List.of());
        try {
            Eventually.holds(sql, () -> {
                found.set(database.rows(sql));
                return found.get().equals(List.of(expected));
            });
        } catch (AssertionError e) {
            assertEquals(List.of(expected), found.get(), e.getMessage());
        }
    }

    @Test
    void aBackfillIsShownUntilItHasAllAndAfterARestart() {
        try (TestDatabase database = open()) {
            create(database);
            assertEquals(List.of(), database.rows(STATES));
            database.run("CREATE MATERIALIZED VIEW v WITH (start = 'earliest') AS SELECT count(*) AS n FROM s;"
                    + "CREATE MATERIALIZED VIEW w WITH (start = '2999-01-01') AS SELECT count(*) AS n FROM s a JOIN s b"
                    + " ON a.k = b.k");
            await(database, STATES, "v|s|done|" + ROWS + "|" + ROWS + "|100|0", "w|s|done|0|0|100|0");
            assertEquals(
                    List.of("t|t|t"),
                    database.rows("SELECT record = last_record, from_time IS NULL, record_time <= now()"
                            + " FROM millrace.backfills WHERE query = 'v'"));
            database.run("INSERT INTO s VALUES (1); CHECKPOINT");
            await(database, "SELECT n FROM v", "" + (ROWS + 1));
            assertEquals(List.of("" + ROWS), database.rows("SELECT rows FROM millrace.backfills WHERE query = 'v'"));
        }
        try (TestDatabase database = open()) {
            await(
                    database,
                    "SELECT query, state, percent, rows = all_rows FROM millrace.backfills ORDER BY query",
                    "v|done|100|t", // of how many rows is only about known, as it began within a segment
                    "w|done|100|t");
            database.run("DROP MATERIALIZED VIEW v; DROP MATERIALIZED VIEW w");
            assertEquals(List.of(), database.rows(STATES));
        }
    }

    @Test
    void oneThatIsPausedSaysHowFarItIsAndGoesOnThere() {
        try (TestDatabase database = open()) {
            create(database);
            String slow = " AS SELECT count(*) / 1000 AS n FROM s, LATERAL generate_series(1, 1000) AS g(step)";
            database.run("CREATE MATERIALIZED VIEW v WITH (start = 'earliest')" + slow + "; PAUSE MATERIALIZED VIEW v");
            List<String> paused = database.rows("SELECT state, percent < 100, rows < all_rows, all_rows = " + ROWS
                    + ", seconds_left IS NULL FROM millrace.backfills");
            assertEquals(List.of("paused|t|t|t|t"), paused);
            double percent = Double.parseDouble(
                    database.rows("SELECT percent FROM millrace.backfills").get(0));
            assertTrue(database.rows("SHOW MATERIALIZED VIEWS")
                    .get(0)
                    .endsWith("|the past of s, " + (int) percent + " % of which it has"));
            String metrics = new String(new DatabaseMetrics(database.database()).text(), StandardCharsets.UTF_8);
            assertTrue(metrics.contains("millrace_backfill_running{query=\"v\",stream=\"s\"} 1"), metrics);
            assertTrue(metrics.contains("millrace_backfill_all_rows{query=\"v\",stream=\"s\"} " + ROWS), metrics);
            database.run("RESUME MATERIALIZED VIEW v");
            AtomicReference<Double> last = new AtomicReference<>(percent);
            Eventually.holds("all is there", () -> {
                double now = Double.parseDouble(
                        database.rows("SELECT percent FROM millrace.backfills").get(0));
                assertTrue(now >= last.get(), () -> now + " after " + last.get());
                last.set(now);
                return now == 100;
            });
            assertEquals(List.of("" + ROWS), database.rows("SELECT n FROM v"));
        }
    }
}
