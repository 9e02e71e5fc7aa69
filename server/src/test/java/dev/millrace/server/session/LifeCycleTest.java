package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.error.MillraceException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** From CREATE to DROP. */
class LifeCycleTest {
    @TempDir
    private Path directory;

    private final TestDatabase db = new TestDatabase();

    @AfterEach
    void close() {
        db.close();
    }

    private String file(String text) throws IOException {
        return Files.writeString(directory.resolve("rows.csv"), text).toString();
    }

    private void readings() throws IOException {
        String path = file("""
                device,ts,temp
                a,2024-01-01 00:00:01,1.5
                b,2024-01-01 00:00:02,
                a,2024-01-01 00:01:02,3.5
                """);
        db.run("CREATE STREAM readings (device TEXT NOT NULL, ts TIMESTAMP NOT NULL, temp DOUBLE PRECISION,"
                + " WATERMARK FOR ts AS ts - INTERVAL '5 seconds') WITH (connector = 'file', path = '" + path + "')");
    }

    @Test
    void aViewOverAFileHasTheAnswerOfTheWholeFileAfterFlush() throws IOException {
        readings();
        assertEquals(
                "CREATE MATERIALIZED VIEW",
                db.run("CREATE MATERIALIZED VIEW v AS SELECT device, count(*) AS n, max(temp) AS most FROM readings"
                        + " GROUP BY device"));
        assertEquals(List.of("a|2|3.5", "b|1|"), db.flushedRows("SELECT * FROM v"));
        assertEquals(List.of("a|2"), db.rows("SELECT device, n FROM v WHERE n > 1"));
    }

    @Test
    void aFileCanBeSelectedAsOftenAsOneLikes() throws IOException {
        readings();
        for (int i = 0; i < 3; i++) {
            assertEquals(List.of("3"), db.rows("SELECT count(*) FROM readings"));
        }
    }

    @Test
    void groupsThatComeAtTheEndOfAnEpochAreOrderedToo() throws IOException {
        readings();
        assertEquals(
                List.of("a|2"),
                db.rows("SELECT device, count(*) AS n FROM readings GROUP BY device ORDER BY n DESC LIMIT 1"));
    }

    @Test
    void windowsOfAFileAreAllClosedAtItsEnd() throws IOException {
        readings();
        db.run(
                "CREATE MATERIALIZED VIEW w AS SELECT window_start, count(*) AS n"
                        + " FROM TUMBLE(TABLE readings, DESCRIPTOR(ts), INTERVAL '1 minute') GROUP BY window_start, window_end");
        assertEquals(List.of("2024-01-01 00:00:00|2", "2024-01-01 00:01:00|1"), db.flushedRows("SELECT * FROM w"));
    }

    @Test
    void aSessionReadsItsOwnWrites() {
        db.run("CREATE STREAM s (k TEXT, n BIGINT)");
        db.run("CREATE MATERIALIZED VIEW v AS SELECT k, sum(n) AS total FROM s GROUP BY k");
        for (int i = 1; i <= 50; i++) {
            assertEquals("INSERT 0 2", db.run("INSERT INTO s VALUES ('a', 1), ('b', 2)"));
            assertEquals(List.of("a|" + i, "b|" + 2 * i), db.rows("SELECT * FROM v"));
        }
    }

    @Test
    void aViewOverAViewFollowsIt() {
        db.run("CREATE STREAM s (k TEXT, n BIGINT)");
        db.run("CREATE MATERIALIZED VIEW totals AS SELECT k, sum(n) AS total FROM s GROUP BY k");
        db.run("CREATE MATERIALIZED VIEW most AS SELECT max(total) AS most, count(*) AS keys FROM totals");
        db.run("INSERT INTO s VALUES ('a', 5), ('b', 7)");
        assertEquals(List.of("7|2"), db.rows("SELECT * FROM most"));
        db.run("INSERT INTO s VALUES ('b', -10)");
        assertEquals(List.of("5|2"), db.rows("SELECT * FROM most"));
    }

    @Test
    void aViewOverAContinuousQueryReadsItsOutput() {
        db.run("CREATE STREAM s (k TEXT, n BIGINT)");
        db.run("CREATE CONTINUOUS QUERY big AS SELECT k, n FROM s WHERE n > 10");
        db.run("CREATE MATERIALIZED VIEW v AS SELECT count(*) AS n FROM big");
        db.run("INSERT INTO s VALUES ('a', 5), ('b', 17), ('c', 11)");
        assertEquals(List.of("2"), db.rows("SELECT * FROM v"));
    }

    @Test
    void aContinuousQueryOverAFileCanBeReadFromItsFirstRowAtAnyTime() throws IOException {
        readings();
        db.run("CREATE CONTINUOUS QUERY warm AS SELECT device, ts, temp * 2 AS doubled FROM readings WHERE temp > 0");
        db.run("CREATE CONTINUOUS QUERY named AS SELECT doubled AS d, device FROM warm");
        db.session().flush();
        db.run("CREATE MATERIALIZED VIEW v AS SELECT device, sum(doubled) AS total FROM warm GROUP BY device");
        db.run("CREATE MATERIALIZED VIEW w AS SELECT count(*) AS n, max(d) AS most FROM named");
        db.run("CREATE SINK p FROM named WITH (connector = 'print')");
        assertEquals(List.of("a|10"), db.flushedRows("SELECT * FROM v"));
        assertEquals(List.of("2|7"), db.rows("SELECT * FROM w"));
        assertTrue(db.printed().contains("3,a\n") && db.printed().contains("7,a\n"), db.printed());
        assertTrue(db.error("DROP CONTINUOUS QUERY warm").startsWith("2BP01 "));
        db.run("DROP STREAM readings CASCADE");
    }

    @Test
    void aViewCreatedLaterStartsWithTheRowsOfItsTable() {
        db.run("CREATE TABLE t (id INTEGER PRIMARY KEY, v BIGINT)");
        db.run("INSERT INTO t VALUES (1, 10), (2, 20)");
        for (int i = 0; i < 20; i++) {
            db.run("CREATE OR REPLACE MATERIALIZED VIEW total AS SELECT sum(v) AS v FROM t");
            assertEquals(List.of("30"), db.rows("SELECT * FROM total"));
        }
    }

    @Test
    void dropIsRefusedWhileSomethingReadsIt() {
        db.run("CREATE STREAM s (n BIGINT)");
        db.run("CREATE MATERIALIZED VIEW v AS SELECT sum(n) AS n FROM s");
        db.run("CREATE MATERIALIZED VIEW w AS SELECT max(n) AS n FROM v");
        assertEquals(
                "2BP01 cannot drop stream \"s\" because other objects depend on it: materialized view \"v\""
                        + " | use DROP ... CASCADE to drop the dependent objects too",
                db.error("DROP STREAM s"));
        assertEquals("DROP STREAM", db.run("DROP STREAM s CASCADE"));
        assertEquals(
                List.of("drop cascades to materialized view \"w\"", "drop cascades to materialized view \"v\""),
                db.notices());
        assertEquals(List.of(), db.rows("SHOW MATERIALIZED VIEWS"));
        db.run("CREATE STREAM s (n BIGINT)"); // the name is free again
    }

    @Test
    void createAgainIsRefusedSkippedOrReplaces() {
        db.run("CREATE STREAM s (n BIGINT)");
        db.run("CREATE MATERIALIZED VIEW v AS SELECT sum(n) AS n FROM s");
        assertEquals("42P07 relation \"s\" already exists", db.error("CREATE STREAM s (n BIGINT)"));
        db.run("CREATE STREAM IF NOT EXISTS s (n BIGINT)");
        assertEquals(List.of("relation \"s\" already exists, skipping"), db.notices());
        db.run("CREATE OR REPLACE MATERIALIZED VIEW v AS SELECT max(n) AS most FROM s");
        db.run("INSERT INTO s VALUES (1), (2)");
        assertEquals(List.of("2"), db.rows("SELECT * FROM v"));
        assertTrue(db.error("CREATE OR REPLACE STREAM s (n BIGINT)").startsWith("2BP01 "));
    }

    @Test
    void dropNamesWhatIsNotThereAndWhatIsSomethingElse() {
        db.run("CREATE STREAM readings (n BIGINT)");
        assertEquals(
                "42P01 stream \"reading\" does not exist | did you mean \"readings\"?",
                db.error("DROP STREAM reading"));
        assertEquals("42809 \"readings\" is a stream, not a table", db.error("DROP TABLE readings"));
        db.run("DROP STREAM IF EXISTS nothing");
        assertEquals(List.of("stream \"nothing\" does not exist, skipping"), db.notices());
        assertEquals("DROP TABLE", db.run("DROP TABLE IF EXISTS s9.t, public.nothing"));
        assertEquals(
                List.of("schema \"s9\" does not exist, skipping", "table \"nothing\" does not exist, skipping"),
                db.notices().subList(1, 3));
    }

    @Test
    void aPausedQueryTakesWhatWaitedWhenItResumes() {
        db.run("CREATE STREAM s (n BIGINT)");
        db.run("CREATE MATERIALIZED VIEW v AS SELECT count(*) AS n FROM s");
        db.run("INSERT INTO s VALUES (1)");
        db.run("PAUSE MATERIALIZED VIEW v");
        assertEquals(List.of("v|paused"), states());
        db.run("RESUME MATERIALIZED VIEW v");
        db.run("INSERT INTO s VALUES (2)");
        assertEquals(List.of("2"), db.rows("SELECT * FROM v"));
        assertEquals(List.of("v|running"), states());
    }

    private List<String> states() {
        return db.rows("SELECT query, state FROM millrace.query_stats");
    }

    @Test
    void printAndFileSinksGetTheRows() throws IOException {
        db.run("CREATE STREAM s (k TEXT, n BIGINT)");
        Path out = directory.resolve("out.csv");
        db.run("CREATE SINK p FROM s WITH (connector = 'print')");
        db.run("CREATE SINK f WITH (connector = 'file', path = '" + out
                + "') AS SELECT k, n * 2 AS doubled FROM s WHERE n > 1");
        db.run("INSERT INTO s VALUES ('a', 1), ('b', 2)");
        db.session().flush();
        assertTrue(db.printed().contains("a,1\n"), db.printed());
        db.run("DROP SINK f");
        assertTrue(Files.readString(out).contains("b,4"), Files.readString(out));
        assertEquals(List.of("p|print|running"), db.rows("SELECT query, 'print', state FROM millrace.query_stats"));
    }

    @Test
    void whatComesWithLaterVersionsSaysSo() {
        db.run("CREATE STREAM s (k TEXT)");
        for (String sql : List.of("CREATE QUERY TEMPLATE t(x TEXT) AS SELECT k FROM s WHERE k = x ORDER BY k")) {
            MillraceException error = db.failure(sql);
            assertEquals("0A000", error.sqlState().code(), sql + ": " + error.getMessage());
            assertTrue(error.getMessage().endsWith("is not available yet"), error.getMessage());
        }
    }

    /** In one epoch, which the session waits for. */
    @Test
    void whoResumesAQueryReadsWhatWaited() {
        db.run(
                "CREATE TABLE t (k BIGINT PRIMARY KEY); CREATE MATERIALIZED VIEW v AS SELECT k FROM t UNION ALL SELECT k FROM t");
        for (int round = 1; round <= 20; round++) {
            db.run("PAUSE MATERIALIZED VIEW v; INSERT INTO t VALUES (" + round + "); RESUME MATERIALIZED VIEW v;"
                    + " CREATE TABLE copy_" + round + " AS SELECT k FROM v");
            assertEquals(List.of("" + 2 * round), db.rows("SELECT count(*) FROM copy_" + round));
        }
    }

    @Test
    void streamsThatAreNotKeptAreNotSelected() {
        db.run("CREATE STREAM s (k TEXT)");
        db.run("CREATE CONTINUOUS QUERY q AS SELECT k FROM s");
        assertTrue(
                db.error("SELECT * FROM s").startsWith("42809 stream \"s\" (insert) has no end"),
                db.error("SELECT * FROM s"));
        assertTrue(db.error("SELECT * FROM s").contains("SUBSCRIBE TO s"));
        assertTrue(db.error("SELECT * FROM q").contains("CREATE MATERIALIZED VIEW"));
    }
}
