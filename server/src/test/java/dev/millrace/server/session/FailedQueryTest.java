package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.error.MillraceException;
import dev.millrace.testing.time.Eventually;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Queries that failed or that nobody takes rows of: said once, nobody else's problem, and begun anew by RESUME. */
@Timeout(120)
class FailedQueryTest {
    @TempDir
    private Path directory;

    private final TestDatabase db = new TestDatabase();
    private final List<String> logged = new CopyOnWriteArrayList<>();
    private final Logger engineLog = Logger.getLogger("dev.millrace.engine.statistic");
    private final Handler handler = new Handler() {
        @Override
        public void publish(LogRecord record) {
            logged.add(record.getMessage());
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
    };

    FailedQueryTest() {
        engineLog.addHandler(handler);
    }

    @AfterEach
    void close() {
        engineLog.removeHandler(handler);
        db.close();
    }

    private void awaitFailed(String query) {
        Eventually.holds(
                query + " fails",
                () -> db.rows("SELECT state FROM millrace.query_stats WHERE query = '" + query + "'")
                        .equals(List.of("failed")));
    }

    @Test
    void resumeShowsAStoppedViewAgainAndThoseOverIt() {
        db.run("CREATE STREAM s (n BIGINT)");
        db.run("CREATE MATERIALIZED VIEW inverse AS SELECT sum(100 / n) AS total FROM s");
        db.run("CREATE MATERIALIZED VIEW above AS SELECT total + 1 AS t FROM inverse");
        for (int times = 1; times <= 20; times++) {
            db.run("INSERT INTO s VALUES (0)");
            awaitFailed("above");
            assertTrue(db.error("RESUME MATERIALIZED VIEW above").startsWith("55000 \"above\" reads \"inverse\""));
            assertTrue(db.error("RESUME MATERIALIZED VIEW inverse")
                    .startsWith("22012 materialized view \"inverse\" fails still"));
            assertEquals("RESUME", db.run("RESUME MATERIALIZED VIEW inverse SKIP ROW"));
            db.run("INSERT INTO s VALUES (10)");
            assertEquals(List.of("" + 10 * times), db.flushedRows("SELECT * FROM inverse"));
            assertEquals(List.of("" + (10 * times + 1)), db.flushedRows("SELECT * FROM above"));
        }
        assertTrue(
                db.notices().contains("rows left out of \"inverse\": 1"),
                db.notices().toString());
    }

    @Test
    void resumeReadsFilesFromTheirFirstRow() throws IOException {
        Path file = Files.writeString(directory.resolve("n.csv"), "n\n5\n0\n20\n");
        db.run("CREATE STREAM s (n BIGINT) WITH (connector = 'file', path = '" + file + "')");
        db.run("CREATE MATERIALIZED VIEW inverse AS SELECT sum(100 / n) AS total FROM s");
        awaitFailed("inverse");
        try {
            db.run("RESUME MATERIALIZED VIEW inverse");
        } catch (MillraceException atOnce) {
            assertEquals("22012", atOnce.sqlState().code());
        }
        awaitFailed("inverse"); // of the same again
        Files.writeString(file, "n\n5\n10\n20\n");
        db.run("RESUME MATERIALIZED VIEW inverse");
        assertEquals(List.of("35"), db.flushedRows("SELECT * FROM inverse"));
    }

    @Test
    void aFailureIsInTheLogOnce() {
        db.run("CREATE STREAM s (n BIGINT)");
        db.run("CREATE MATERIALIZED VIEW logged_failure AS SELECT sum(100 / n) AS total FROM s");
        db.run("INSERT INTO s VALUES (0)");
        awaitFailed("logged_failure");
        db.run("INSERT INTO s VALUES (0)");
        Eventually.holds("it is logged", () -> logged.stream().anyMatch(line -> line.contains("logged_failure")));
        assertEquals(
                List.of("query \"logged_failure\" failed: SQLSTATE 22012"),
                logged.stream().filter(line -> line.contains("logged_failure")).toList());
    }

    @Test
    void aPipeThatNobodyReadsHoldsBackItsSinkAlone() throws Exception {
        Path pipe = directory.resolve("pipe");
        try {
            Assumptions.assumeTrue(
                    new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor() == 0);
        } catch (IOException e) {
            Assumptions.abort("no named pipes here");
        }
        db.run("CREATE STREAM s (n BIGINT)");
        db.run("CREATE MATERIALIZED VIEW before AS SELECT count(*) AS n FROM s");
        db.run("CREATE SINK stuck FROM s WITH (connector = 'file', path = '" + pipe + "', format = 'csv')");
        db.run("CREATE MATERIALIZED VIEW after AS SELECT count(*) AS n FROM s");
        for (int rows = 1; rows <= 50; rows++) {
            db.run("INSERT INTO s VALUES (" + rows + ")");
            assertEquals(List.of("" + rows), db.rows("SELECT * FROM before"));
            assertEquals(List.of("" + rows), db.rows("SELECT * FROM after"));
        }
        db.run("CREATE MATERIALIZED VIEW third AS SELECT count(*) AS n FROM s; DROP MATERIALIZED VIEW third");
        db.run("DROP SINK stuck");
        db.run("INSERT INTO s VALUES (51)");
        assertEquals(List.of("51"), db.rows("SELECT * FROM after"));
        db.run("CREATE SINK taken FROM s WITH (connector = 'file', path = '" + pipe + "', format = 'csv')");
        Process reader = new ProcessBuilder("head", "-n", "3", pipe.toString()).start();
        db.run("INSERT INTO s VALUES (7), (8), (9)");
        String read = new String(reader.getInputStream().readAllBytes());
        assertEquals("n\n7\n8\n", read);
    }

    @Test
    void aBadFileOfAFollowedPatternIsSetAside() throws IOException {
        Files.writeString(directory.resolve("a.csv"), "n\n1\n2\n");
        db.run("CREATE STREAM f (n BIGINT) WITH (connector = 'file', path = '" + directory
                + "/*.csv*', mode = 'follow', header = true)");
        db.run("CREATE MATERIALIZED VIEW one AS SELECT sum(n) AS n FROM f");
        db.run("CREATE MATERIALIZED VIEW two AS SELECT count(*) AS n FROM f");
        Files.writeString(directory.resolve("b.csv"), "other\n7\n");
        Files.writeString(directory.resolve("c.csv.gz"), "no gzip");
        Eventually.holds(
                "both are set aside",
                () -> db.rows("SELECT reason FROM millrace.rejected_rows").stream()
                                .filter(reason -> reason.contains("set aside"))
                                .count()
                        == 2);
        Files.writeString(directory.resolve("d.csv"), "n\n4\n");
        Eventually.holds("the others go on", () -> db.rows("SELECT * FROM one").equals(List.of("7")));
        Files.writeString(directory.resolve("b.csv"), "n\n100\n");
        Eventually.holds("it is tried again", () -> db.rows("SELECT * FROM one").equals(List.of("107")));
        Eventually.holds("in all views", () -> db.rows("SELECT * FROM two").equals(List.of("4")));
    }
}
