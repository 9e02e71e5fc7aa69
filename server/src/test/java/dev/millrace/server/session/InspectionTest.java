package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** SHOW, DESCRIBE, EXPLAIN and settings. */
class InspectionTest {
    private TestDatabase db;

    @BeforeEach
    void open() {
        db = new TestDatabase();
        db.run(
                "CREATE STREAM s (k TEXT NOT NULL, ts TIMESTAMPTZ, n BIGINT, WATERMARK FOR ts AS ts - INTERVAL '2 seconds')");
        db.run("CREATE MATERIALIZED VIEW v AS SELECT k, sum(n) AS total FROM s GROUP BY k");
    }

    @AfterEach
    void close() {
        db.close();
    }

    @Test
    void describeTellsColumnsTypesAndRoles() {
        assertEquals(
                List.of(
                        "k|text|no|",
                        "n|bigint|yes|",
                        "ts|timestamp with time zone|yes|event time, watermark 2.0 s behind"),
                db.rows("DESCRIBE s"));
        assertEquals(List.of("k|text|no|key", "total|numeric(38,0)|yes|"), db.rows("DESCRIBE v"));
    }

    @Test
    void showCreateGivesTheTextBack() {
        assertEquals(
                List.of("v|CREATE MATERIALIZED VIEW v AS SELECT k, sum(n) AS total FROM s GROUP BY k;"),
                db.rows("SHOW CREATE MATERIALIZED VIEW v"));
        assertTrue(db.error("SHOW CREATE STREAM v").startsWith("42809 "));
    }

    @Test
    void explainShowsAlgebraPlanAndCode() {
        String plan = String.join("\n", db.rows("EXPLAIN SELECT k, n + 1 FROM s WHERE n > 2"));
        assertTrue(plan.contains("Calc k, n + 1 where n > 2"), plan);
        String all = String.join("\n", db.rows("EXPLAIN (LOGICAL, CODE) SELECT k, n + 1 FROM s WHERE n > 2"));
        assertTrue(all.contains("where n > 2") && all.contains("class Calc"), all);
        db.run("INSERT INTO s VALUES ('a', '2024-01-01 00:00:00Z', 1)");
        db.rows("SELECT * FROM v");
        assertTrue(db.rows("EXPLAIN ANALYZE MATERIALIZED VIEW v").stream()
                .anyMatch(row -> row.startsWith("Scan (s)|1|1|1|")));
    }

    @Test
    void settingsAreCheckedShownAndReset() {
        assertEquals(List.of("on"), db.rows("SHOW read_your_writes"));
        db.run("SET read_your_writes = off");
        assertEquals(List.of("off"), db.rows("SHOW read_your_writes"));
        db.run("RESET read_your_writes");
        assertEquals(List.of("on"), db.rows("SHOW read_your_writes"));
        assertEquals(
                "42704 setting \"read_your_write\" does not exist | did you mean \"read_your_writes\"?",
                db.error("SET read_your_write = off"));
        assertTrue(db.error("SET timezone = 'Europe/Berlin'").startsWith("22023 "));
        assertTrue(db.error("SET server_version = '9'").startsWith("55000 "));
        assertTrue(db.rows("SHOW ALL").size() > 10);
    }

    @Test
    void functionsTellAboutTheSession() {
        db.run("SET application_name = 'a test'");
        assertEquals(
                List.of("a test|public|millrace"),
                db.rows("SELECT current_setting('application_name'), current_schema(), current_user"));
        assertTrue(db.rows("SELECT version()").get(0).startsWith("PostgreSQL "));
    }

    @Test
    void systemRelationsAreRelations() {
        db.run("INSERT INTO s VALUES ('a', '2024-01-01 00:00:10Z', 1)");
        assertEquals(
                List.of("v|materialized view|running|1"),
                db.rows("SELECT query, kind, state, rows_in FROM millrace.query_stats"));
        assertEquals(List.of("2"), db.rows("SELECT count(*) FROM millrace.workers"));
        assertEquals(List.of("1|v"), db.rows("SELECT queries, first_query FROM millrace.query_groups"));
        assertEquals(List.of("0"), db.rows("SELECT count(*) FROM millrace.segments"));
        assertTrue(db.error("INSERT INTO millrace.workers VALUES (1, 'x', 'y')").startsWith("42809 "));
    }

    @Test
    void errorsPointIntoTheText() {
        assertEquals(8, db.failure("SELECT totl FROM v").position().orElse(0));
        assertEquals(
                "did you mean \"total\"?",
                db.failure("SELECT totl FROM v").hint().orElse(""));
        assertEquals("42601", db.failure("SELEC 1").sqlState().code());
        assertEquals("42P01", db.failure("SELECT * FROM w").sqlState().code());
    }
}
