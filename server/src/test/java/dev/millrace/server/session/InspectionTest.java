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

    /** As PostgreSQL shows them, by format_type and the modifiers of columns, of which psql's \\d is made. */
    @Test
    void typesAreShownWithTheirDigits() {
        db.run(
                "CREATE TABLE d (a TIMESTAMP(3), b TIME(2), c NUMERIC(10,2), d VARCHAR(5), e INTERVAL(3), f INTERVAL DAY TO"
                        + " MINUTE, g TIMESTAMPTZ(0), h NUMERIC(10,2)[], i TIMESTAMP, j CHAR(7), k INTERVAL, l INTERVAL YEAR)");
        assertEquals(
                List.of(
                        "a|timestamp(3) without time zone",
                        "b|time(2) without time zone",
                        "c|numeric(10,2)",
                        "d|character varying(5)",
                        "e|interval(3)",
                        "f|interval day to minute",
                        "g|timestamp(0) with time zone",
                        "h|numeric(10,2)[]",
                        "i|timestamp without time zone",
                        "j|character(7)",
                        "k|interval",
                        "l|interval year"),
                db.rows("SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute"
                        + " WHERE attrelid = 'd'::regclass AND attnum > 0"));
        assertEquals(
                List.of("1|3", "2|2", "3|655366", "4|9", "5|2147418115", "6|201916415"),
                db.rows(
                        "SELECT attnum, atttypmod FROM pg_attribute WHERE attrelid = 'd'::regclass AND attnum BETWEEN 1 AND 6"));
        assertEquals(
                List.of(
                        "a|timestamp(3) without time zone|yes|",
                        "b|time(2) without time zone|yes|",
                        "f|interval minute|yes|",
                        "i|timestamp without time zone|yes|"),
                db.rows("DESCRIBE d").stream()
                        .filter(row -> "abfi".indexOf(row.charAt(0)) >= 0)
                        .toList());
        assertEquals(
                List.of(
                        "timestamp(2) without time zone|time without time zone|numeric|interval hour|interval second(3)"),
                db.rows("SELECT format_type(1114, 2), format_type(1083, NULL), format_type(1700, -1),"
                        + " format_type(1186, 67174399), format_type(1186, 268435459)"));
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
        db.run("SET datestyle = 'ISO, MDY'");
        assertEquals(List.of(), db.notices());
        db.run("SET datestyle = dmy");
        assertEquals(List.of(), db.notices());
        assertEquals(List.of("ISO, DMY"), db.rows("SHOW datestyle"));
        db.run("CREATE VIEW new_year AS SELECT date '2020-01-01' AS day");
        assertEquals(List.of(), db.notices());
        db.run("CREATE VIEW second_of_january AS SELECT date '1/2/2020' AS day");
        assertEquals(
                List.of("it reads dates such as 1/2/2020 month first, whatever the session's DateStyle is"),
                db.notices());
        assertEquals(List.of("2020-01-02|2020-02-01"), db.rows("SELECT day, date '1/2/2020' FROM second_of_january"));
        assertTrue(db.error("SET datestyle = 'ISO, SQL'").startsWith("22023 "));
        assertTrue(db.error("SET timezone = 'Europe/Nowhere'").startsWith("22023 "));
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
