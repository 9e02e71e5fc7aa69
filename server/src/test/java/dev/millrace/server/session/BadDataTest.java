package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Bad records, late rows, rows that fail: counted, readable, and nobody else's problem. */
class BadDataTest {
    @TempDir
    private Path directory;

    private final TestDatabase db = new TestDatabase();

    @AfterEach
    void close() {
        db.close();
    }

    private void stream(String options, String... lines) throws IOException {
        Path path = directory.resolve("rows.csv");
        Files.writeString(path, "k,ts,n\n" + String.join("\n", lines) + "\n");
        db.run("CREATE STREAM s (k TEXT, ts TIMESTAMP, n BIGINT, WATERMARK FOR ts AS ts - INTERVAL '10 seconds')"
                + " WITH (connector = 'file', path = '" + path + "'" + options + ")");
    }

    @Test
    void deadLettersAreReadableWithTheirLineAndReason() throws IOException {
        stream(
                ", on_error = 'dead_letter'",
                "a,2024-01-01 00:00:00,1",
                "b,2024-01-01 00:00:01,many",
                "c,yesterday at noon,3",
                "d,2024-01-01 00:00:03,4");
        assertEquals(List.of("5|2"), db.rows("SELECT sum(n), count(*) FROM s"));
        assertEquals(
                List.of(
                        "3|n|22P02|invalid input syntax for type bigint: \"many\"",
                        "4|ts|22007|invalid input syntax for type timestamp: \"yesterday at noon\""),
                db.rows("SELECT line, column_name, sqlstate, reason FROM millrace.rejected_rows"));
        assertEquals(List.of("s|2"), db.rows("SELECT stream, rejected_rows FROM millrace.stream_stats"));
    }

    @Test
    void skippedRecordsAreCounted() throws IOException {
        stream(", on_error = 'skip'", "a,2024-01-01 00:00:00,1", "b,2024-01-01 00:00:01,many");
        assertEquals(List.of("1"), db.rows("SELECT sum(n) FROM s"));
        assertEquals(List.of(), db.rows("SELECT * FROM millrace.rejected_rows"));
        assertEquals(List.of("s|file|ts|1|0"), db.rows("SHOW STREAMS"));
    }

    @Test
    void underFailTheQueryStopsAtTheRecord() throws IOException {
        stream("", "a,2024-01-01 00:00:00,1", "b,2024-01-01 00:00:01,many");
        String error = db.error("SELECT sum(n) FROM s");
        assertTrue(error.startsWith("22P02 "), error);
        assertTrue(error.contains("many") && error.contains("rows.csv") && error.contains("3"), error);
    }

    @Test
    void lateRowsAreCountedAndReadable() throws IOException {
        stream(
                "",
                "a,2024-01-01 00:00:00,1",
                "a,2024-01-01 00:05:00,2",
                "late,2024-01-01 00:00:30,3",
                "a,2024-01-01 00:05:01,4");
        db.run("CREATE MATERIALIZED VIEW w AS SELECT window_start, sum(n) AS n"
                + " FROM TUMBLE(TABLE s, DESCRIPTOR(ts), INTERVAL '1 minute') GROUP BY window_start, window_end");
        assertEquals(List.of("2024-01-01 00:00:00|1", "2024-01-01 00:05:00|6"), db.flushedRows("SELECT * FROM w"));
        assertEquals(List.of("w|1"), db.rows("SELECT query, late_rows FROM millrace.query_stats"));
        List<String> late = db.rows("SELECT query, watermark, row FROM millrace.late_rows");
        assertEquals(1, late.size());
        assertTrue(late.get(0).startsWith("w|2024-01-01 00:04:50+00|"), late.get(0));
        assertTrue(late.get(0).contains("2024-01-01 00:00:30"), late.get(0));
    }

    @Test
    void aFailingRowStopsItsQueryAlone() {
        db.run("CREATE STREAM s (k TEXT, n BIGINT)");
        db.run("CREATE MATERIALIZED VIEW inverse AS SELECT sum(100 / n) AS total FROM s");
        db.run("CREATE MATERIALIZED VIEW above AS SELECT count(*) AS n FROM inverse");
        db.run("CREATE MATERIALIZED VIEW healthy AS SELECT count(*) AS n FROM s");
        db.run("INSERT INTO s VALUES ('a', 10)");
        assertEquals(List.of("10"), db.rows("SELECT * FROM inverse"));
        db.run("INSERT INTO s VALUES ('b', 0)");
        db.run("INSERT INTO s VALUES ('c', 5)");
        assertEquals(List.of("3"), db.rows("SELECT * FROM healthy"));

        String error = db.error("SELECT * FROM inverse");
        assertTrue(error.startsWith("22012 materialized view \"inverse\" failed: "), error);
        assertTrue(error.contains("division by zero"), error);
        String above = db.error("SELECT * FROM above");
        assertTrue(above.startsWith("22012 materialized view \"above\" failed: query \"inverse\" failed: "), above);
        List<String> shown = db.rows(
                "SELECT query, state, sqlstate FROM millrace.query_stats WHERE state = 'failed' ORDER BY query");
        assertEquals(List.of("above|failed|22012", "inverse|failed|22012"), shown);
        assertTrue(db.rows("SHOW MATERIALIZED VIEWS").stream().anyMatch(row -> row.contains("division by zero")));

        db.run("DROP MATERIALIZED VIEW inverse CASCADE");
        db.run("INSERT INTO s VALUES ('d', 1)");
        assertEquals(List.of("4"), db.rows("SELECT * FROM healthy"));
    }

    @Test
    void wrongStreamsGetOneClearLine() throws IOException {
        assertEquals(
                "22023 option \"on_eror\" does not exist | did you mean \"on_error\"?",
                db.error("CREATE STREAM x (a TEXT) WITH (connector = 'datagen', on_eror = 'skip')"));
        assertEquals(
                "22023 option \"on_error\" cannot be \"ignore\"; it must be one of fail, skip, dead_letter",
                db.error("CREATE STREAM x (a TEXT) WITH (connector = 'datagen', on_error = 'ignore')"));
        assertEquals(
                "22023 there is no connector \"fil\" for a source | did you mean \"file\"?",
                db.error("CREATE STREAM x (a TEXT) WITH (connector = 'fil')"));
        assertEquals("42P16 \"x\" has no columns; they must be declared", db.error("CREATE STREAM x"));
        String missing = db.error(
                "CREATE STREAM x (a TEXT) WITH (connector = 'file', path = '" + directory.resolve("none.csv") + "')");
        assertTrue(missing.startsWith("58P01 "), missing);
        assertEquals(List.of(), db.rows("SHOW STREAMS"), "nothing is left of a definition that failed");
    }
}
