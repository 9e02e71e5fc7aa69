package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.error.MillraceException;
import dev.millrace.server.retention.RetainedStreams;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Streams that a query fills: they have each row of it once, and are read as other streams are. */
class DerivedStreamsTest {
    private static final long SEED = Long.getLong("millrace.derived.seed", 1);
    private static final int STEPS = Integer.getInteger("millrace.derived.steps", 60);

    private static final String SOURCES = """
            CREATE STREAM s (k INT, v BIGINT, at TIMESTAMP, WATERMARK FOR at AS at - INTERVAL '5 seconds') WITH (retention = 'forever');
            CREATE STREAM p (k INT, t TEXT)
            """;

    @TempDir
    Path folder;

    private TestDatabase open() {
        return new TestDatabase(folder.resolve("data"));
    }

    private static MillraceException fails(TestDatabase database, String sql) {
        return assertThrows(MillraceException.class, () -> database.run(sql));
    }

    // ---- what it is ------------------------------------------------------------------------------------------------

    @Test
    void rowsOfTheQueryAreRowsOfTheStream() {
        try (TestDatabase database = open()) {
            database.run(SOURCES);
            database.run("INSERT INTO s VALUES (9, 90, TIMESTAMP '2026-01-01 00:00:00')");
            database.run("CREATE STREAM d WITH (retention = 'forever') AS SELECT k, v * 2 AS twice FROM s WHERE v > 1");
            assertEquals(List.of(), database.rows("SELECT * FROM d")); // what comes from now on
            database.run("INSERT INTO s VALUES (1, 1, NULL), (2, 2, NULL), (3, 3, NULL), (3, 3, NULL)");
            assertEquals(List.of("2|4", "3|6", "3|6"), database.rows("SELECT * FROM d"));
            assertEquals(List.of("3"), database.rows("SELECT count(*) FROM d WHERE twice >= 4"));
            assertEquals(
                    List.of("d|stream|running|4|3"),
                    database.rows("SELECT query, kind, state, rows_in, rows_out FROM millrace.query_stats"));
            assertEquals(
                    List.of("d|query|0|0"),
                    database.rows("SELECT * FROM millrace.stream_stats WHERE connector = 'query'"));
        }
    }

    @Test
    void itBeginsInThePastOfWhatItReads() {
        try (TestDatabase database = open()) {
            database.run(SOURCES);
            database.run("INSERT INTO s VALUES (1, 1, NULL), (2, 2, NULL)");
            database.run("CREATE STREAM d WITH (retention = 'forever', start = 'earliest') AS SELECT v FROM s");
            database.run("INSERT INTO s VALUES (3, 3, NULL)");
            assertEquals(List.of("1", "2", "3"), database.rows("SELECT * FROM d"));
        }
    }

    @Test
    void withoutRetentionItKeepsNothingAndIsReadByStandingQueries() {
        try (TestDatabase database = new TestDatabase()) {
            database.run("CREATE STREAM s (k INT, v BIGINT); CREATE STREAM d AS SELECT k, v FROM s WHERE v > 0");
            database.run("CREATE MATERIALIZED VIEW t AS SELECT k, sum(v) AS v FROM d GROUP BY k");
            database.run("INSERT INTO s VALUES (1, 1), (1, 2), (2, -1)");
            assertEquals(List.of("1|3"), database.rows("SELECT * FROM t"));
            assertTrue(fails(database, "SELECT * FROM d").getMessage().contains("does not keep its rows"));
            assertEquals(
                    "0A000",
                    fails(database, "CREATE STREAM e WITH (retention = '1 day') AS SELECT v FROM d")
                            .sqlState()
                            .code());
            assertEquals(List.of(), database.rows("SELECT query FROM millrace.query_stats WHERE query = 'e'"));
        }
    }

    @Test
    void standingQueriesReadItFromItsPastOn() {
        try (TestDatabase database = open()) {
            database.run(SOURCES);
            database.run("CREATE STREAM d WITH (retention = 'forever') AS SELECT k, v FROM s WHERE v > 0");
            database.run("INSERT INTO s VALUES (1, 1, NULL), (1, -2, NULL), (2, 5, NULL)");
            database.run(
                    "CREATE MATERIALIZED VIEW t WITH (start = 'earliest') AS SELECT k, sum(v) AS v FROM d GROUP BY k");
            assertEquals(List.of("1|1", "2|5"), database.rows("SELECT * FROM t"));
            for (int i = 0; i < 20; i++) { // a row that was answered is there at once
                database.run("INSERT INTO s VALUES (1, 1, NULL)");
                assertEquals(List.of("1|" + (i + 2), "2|5"), database.rows("SELECT * FROM t"));
            }
            database.run(
                    "CREATE STREAM e WITH (retention = 'forever', start = 'earliest') AS SELECT k FROM d WHERE v > 1");
            database.run("CREATE MATERIALIZED VIEW u WITH (start = 'earliest') AS SELECT count(*) AS n FROM e");
            database.run("INSERT INTO s VALUES (1, 7, NULL)");
            assertEquals(List.of("2"), database.rows("SELECT * FROM u"));
        }
    }

    @Test
    void itsEventTimeIsTheQuerysOrItsOwn() {
        try (TestDatabase database = open()) {
            database.run(SOURCES);
            database.run("CREATE STREAM d AS SELECT at, v FROM s");
            database.run("CREATE STREAM e (WATERMARK FOR moved AS moved - INTERVAL '1 second') AS"
                    + " SELECT at + INTERVAL '1 hour' AS moved, v FROM s");
            database.run(
                    "CREATE STREAM w (ended, n, WATERMARK FOR ended AS ended) AS SELECT window_end, count(*) FROM"
                            + " TABLE(TUMBLE(TABLE s, DESCRIPTOR(at), INTERVAL '10' SECONDS)) GROUP BY window_start, window_end");
            for (String of : List.of("d at", "e moved", "w ended")) {
                String stream = of.substring(0, 1);
                String time = of.substring(2);
                database.run("CREATE MATERIALIZED VIEW " + stream
                        + "_windows AS SELECT window_start, count(*) AS n FROM"
                        + " TABLE(TUMBLE(TABLE " + stream + ", DESCRIPTOR(" + time + "), INTERVAL '20' SECONDS))"
                        + " GROUP BY window_start, window_end EMIT ON WINDOW CLOSE");
            }
            database.run(
                    "INSERT INTO s VALUES (1, 1, TIMESTAMP '2026-01-01 00:00:01'), (1, 1, TIMESTAMP '2026-01-01 00:00:11'),"
                            + " (1, 1, TIMESTAMP '2026-01-01 00:01:00')");
            assertEquals(List.of("2026-01-01 00:00:00|2"), database.rows("SELECT * FROM d_windows"));
            assertEquals(List.of("2026-01-01 01:00:00|2"), database.rows("SELECT * FROM e_windows"));
            assertEquals(List.of("2026-01-01 00:00:00|1"), database.rows("SELECT * FROM w_windows"));
        }
    }

    // ---- what it is not --------------------------------------------------------------------------------------------

    @Test
    void rowsThatChangeAreRefusedWithThePartThatChangesThem() {
        try (TestDatabase database = open()) {
            database.run(SOURCES);
            database.run("CREATE TABLE t (k INT PRIMARY KEY)");
            MillraceException groups = fails(database, "CREATE STREAM d AS SELECT k, count(*) AS n FROM s GROUP BY k");
            assertEquals("0A000", groups.sqlState().code());
            assertTrue(groups.getMessage().contains("the groups by k are not of one window each"), groups.getMessage());
            assertTrue(
                    groups.hint().orElseThrow().contains("CREATE MATERIALIZED VIEW d"),
                    groups.hint().toString());
            assertTrue(fails(database, "CREATE STREAM d AS SELECT * FROM t")
                    .getMessage()
                    .contains("the rows of \"t\" may change"));
            assertTrue(fails(database, "CREATE STREAM d AS SELECT s.k FROM s LEFT JOIN p ON s.k = p.k")
                    .getMessage()
                    .contains("join takes rows back"));
            assertEquals(
                    "42601",
                    fails(
                                    database,
                                    "CREATE STREAM d WITH (retention = '1 day') AS SELECT 1 AS a FROM s WITH"
                                            + " (retention = '2 days')")
                            .sqlState()
                            .code());
            assertEquals(
                    "42703",
                    fails(database, "CREATE STREAM d (WATERMARK FOR x AS x) AS SELECT at FROM s")
                            .sqlState()
                            .code());
            assertEquals(List.of(), database.rows("SELECT query FROM millrace.query_stats"));
        }
    }

    @Test
    void onlyTheQueryFillsIt() {
        try (TestDatabase database = open()) {
            database.run(SOURCES);
            database.run("CREATE STREAM d WITH (retention = '1 day') AS SELECT v FROM s");
            assertEquals(
                    "42809",
                    fails(database, "INSERT INTO d VALUES (1)").sqlState().code());
            assertEquals(
                    "42809",
                    fails(database, "BEGIN; INSERT INTO d SELECT v FROM s; COMMIT")
                            .sqlState()
                            .code());
            database.run("ROLLBACK");
            assertEquals("2BP01", fails(database, "DROP STREAM s").sqlState().code());
            database.run("CREATE MATERIALIZED VIEW t AS SELECT count(*) AS n FROM d");
            assertEquals("2BP01", fails(database, "DROP STREAM d").sqlState().code());
            assertEquals(
                    "42P07",
                    fails(database, "CREATE STREAM d AS SELECT v FROM s")
                            .sqlState()
                            .code());
            database.run("CREATE STREAM IF NOT EXISTS d AS SELECT v FROM s");
            database.run("DROP STREAM s CASCADE");
            assertEquals(List.of(), database.rows("SELECT query FROM millrace.query_stats"));
            assertEquals(List.of(), database.rows("SELECT stream FROM millrace.segments"));
        }
    }

    @Test
    void aRowThatCannotBeComputedStopsTheQueryAndTheStreamIsRead() {
        try (TestDatabase database = open()) {
            database.run(SOURCES);
            database.run("CREATE STREAM d WITH (retention = 'forever') AS SELECT 10 / v AS x FROM s");
            database.run("INSERT INTO s VALUES (1, 5, NULL)");
            assertEquals(List.of("2"), database.rows("SELECT * FROM d"));
            database.run("INSERT INTO s VALUES (1, 0, NULL)");
            assertEquals(List.of("2"), database.rows("SELECT * FROM d"));
            assertEquals(
                    List.of("failed|22012"),
                    database.rows("SELECT state, sqlstate FROM millrace.query_stats WHERE query = 'd'"));
            database.run("RESUME STREAM d SKIP ROW; INSERT INTO s VALUES (1, 2, NULL)");
            assertEquals(List.of("2", "5"), database.rows("SELECT * FROM d"));
        }
    }

    @Test
    void itPausesAndGoesOn() {
        try (TestDatabase database = open()) {
            database.run(SOURCES);
            database.run("CREATE STREAM d WITH (retention = 'forever') AS SELECT v FROM s");
            database.run("PAUSE STREAM d; INSERT INTO s VALUES (1, 1, NULL)");
            assertEquals(List.of(), database.rows("SELECT * FROM d"));
        }
        try (TestDatabase again = open()) {
            assertEquals(List.of(), again.rows("SELECT * FROM d"));
            again.run("CHECKPOINT");
        }
        try (TestDatabase again = open()) {
            assertEquals(List.of("paused"), again.rows("SELECT state FROM millrace.query_stats WHERE query = 'd'"));
            again.run("RESUME STREAM d");
            assertEquals(List.of("1"), again.rows("SELECT * FROM d"));
        }
    }

    @Test
    void definitionsSayWhatWasWritten() {
        try (TestDatabase database = open()) {
            database.run(SOURCES);
            String text =
                    "CREATE STREAM d (WATERMARK FOR at AS at) AS SELECT at, v FROM s WHERE v > 1 WITH (retention = '3 days')";
            database.run(text);
            assertTrue(
                    database.rows("SHOW CREATE STREAM d").get(0).contains(text),
                    database.rows("SHOW CREATE STREAM d").toString());
        }
        try (TestDatabase again = open()) {
            again.run("INSERT INTO s VALUES (1, 5, NULL)");
            assertEquals(List.of("|5"), again.rows("SELECT * FROM d"));
        }
    }

    // ---- each row once ---------------------------------------------------------------------------------------------

    private static final List<String> QUERIES = List.of(
            "f AS SELECT k, v FROM s WHERE v % 3 > 0",
            "u AS SELECT k, CAST(v AS TEXT) AS x FROM s WHERE v < 500 UNION ALL SELECT k, t FROM p",
            "w AS SELECT window_start, k, count(*) AS n, sum(v) AS total FROM"
                    + " TABLE(TUMBLE(TABLE s, DESCRIPTOR(at), INTERVAL '10' SECONDS)) GROUP BY window_start, window_end, k",
            "j AS SELECT s.k, s.v, p.t FROM s JOIN p ON s.k = p.k WHERE v > 900");

    /** At random, against a view of the same query, which begins with it: with checkpoints, restarts and what a crash leaves. */
    @Test
    void itHasTheRowsOfAViewOfTheSameQuery() throws IOException {
        Random random = new Random(SEED);
        Path data = folder.resolve("data");
        TestDatabase database = new TestDatabase(data);
        try {
            database.run(SOURCES);
            for (String query : QUERIES) {
                String name = query.substring(0, 1);
                database.run("CREATE STREAM d_" + name + " WITH (retention = 'forever'"
                        + (random.nextBoolean() ? "" : ", start = 'earliest'") + ") " + query.substring(2));
                database.run("CREATE MATERIALIZED VIEW v_" + query);
                database.run("CREATE MATERIALIZED VIEW c_" + name + " AS SELECT count(*) AS n FROM d_" + name);
            }
            int opened = 0;
            for (int step = 0; step < STEPS; step++) {
                switch (random.nextInt(12)) {
                    case 0 -> database.run("CHECKPOINT");
                    case 1 -> { // writes what came behind the checkpoint, as a minute's wait would
                        RetainedStreams retained =
                                database.database().instance().retained();
                        retained.flush(database.database().instance().journal().durable(), Long.MAX_VALUE);
                        retained.maintain();
                    }
                    case 2 -> {
                        database.session().flush();
                        List<String> before = derived(database);
                        if (random.nextBoolean()) { // what a process that is gone leaves
                            Path copy = folder.resolve("crash" + opened);
                            DirectoryImage.copy(data, copy);
                            data = copy;
                        }
                        opened++;
                        database.close();
                        int workers = 1 + random.nextInt(3);
                        database = random.nextBoolean()
                                ? TestDatabase.early(data, workers)
                                : new TestDatabase(data, workers);
                        assertEquals(before, derived(database), "seed " + SEED + ", step " + step);
                    }
                    case 3 -> database.run("INSERT INTO p VALUES (" + random.nextInt(6) + ", 't" + step + "')");
                    default -> database.run("INSERT INTO s VALUES " + rows(random, 1 << random.nextInt(8)));
                }
                if (random.nextInt(3) == 0) {
                    compare(database, "seed " + SEED + ", step " + step + ", opened " + opened);
                }
            }
            compare(database, "at the end");
            assertTrue(opened > 1, "opened " + opened);
        } finally {
            database.close();
        }
    }

    private static List<String> derived(TestDatabase database) {
        List<String> rows = new ArrayList<>();
        QUERIES.forEach(query -> rows.addAll(database.rows("SELECT * FROM d_" + query.substring(0, 1))));
        return rows;
    }

    private static void compare(TestDatabase database, String when) {
        for (String query : QUERIES) {
            String name = query.substring(0, 1);
            List<String> expected = database.flushedRows("SELECT * FROM v_" + name);
            assertEquals(expected, database.rows("SELECT * FROM d_" + name), when + ": " + name);
            assertEquals(
                    List.of("" + expected.size()),
                    database.rows("SELECT n FROM c_" + name),
                    when + ": read of " + name);
        }
    }

    private static String rows(Random random, int most) {
        List<String> rows = new ArrayList<>();
        for (int i = random.nextInt(most); i >= 0; i--) {
            rows.add("(" + random.nextInt(6) + ", " + random.nextInt(1000)
                    + ", TIMESTAMP '2026-01-01 00:00:00' + INTERVAL '" + random.nextInt(600) + " seconds')");
        }
        return String.join(", ", rows);
    }
}
