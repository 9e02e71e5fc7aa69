package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import dev.millrace.testing.time.Eventually;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code WITH (materialize = ..)}: queries that are given some of the rows that streams keep. */
@Tag("long")
class RowChoicesTest {
    private static final int ROWS = 70_000; // enough for sketches
    private static final String STREAM = """
            CREATE STREAM s (device TEXT, at TIMESTAMPTZ, state TEXT, id BIGINT, WATERMARK FOR at AS at - INTERVAL '1 second')
            WITH (retention = 'forever', retention.form = 'sketch', sketch.key = 'device')""";

    @TempDir
    Path folder;

    private TestDatabase open() {
        return new TestDatabase(folder.resolve("data"));
    }

    /** Of ten rows six are on, three off, and one has failed. */
    private static void insert(TestDatabase database, int from, int to) {
        database.run("INSERT INTO s SELECT 'd' || g % 3, '2026-01-01'::timestamptz + g * INTERVAL '1 millisecond',"
                + " CASE WHEN g % 10 < 6 THEN 'on' WHEN g % 10 < 9 THEN 'off' ELSE 'failed' END, g"
                + " FROM generate_series(" + from + ", " + to + ") g");
    }

    private static void sketched(TestDatabase database) {
        database.run(STREAM);
        insert(database, 1, ROWS);
        database.run("CHECKPOINT");
        Eventually.holds(
                "all is sketched",
                () -> List.of("" + ROWS)
                        .equals(database.rows(
                                "SELECT sum(rows) FROM millrace.segments WHERE stream = 's' AND form = 'sketch'")));
    }

    private static String view(String name, String choice, String query) {
        return "CREATE MATERIALIZED VIEW " + name + " WITH (start = 'earliest', materialize = '" + choice + "') AS "
                + query + ";";
    }

    private static String one(TestDatabase database, String sql) {
        return String.join(", ", database.rows(sql));
    }

    @Test
    void theMostAndTheLeastFrequentRowsAreThoseOfSketches() {
        try (TestDatabase database = open()) {
            sketched(database);
            insert(database, ROWS + 1, ROWS + 100); // which are in no sketch
            String states = "SELECT state, count(*) AS n FROM s GROUP BY state";
            database.run(view("top", "top(2)", states)
                    + view("bottom", " BOTTOM ( 1 ) ", states)
                    + view(
                            "twice",
                            "top(1)",
                            "SELECT a.state, count(*) AS n FROM s a JOIN s b ON a.id = b.id GROUP BY a.state"));
            assertEquals("failed|10, off|21030, on|42060", one(database, "SELECT * FROM top ORDER BY 1"));
            assertEquals("failed|7010, off|30, on|60", one(database, "SELECT * FROM bottom ORDER BY 1"));
            assertEquals("failed|10, off|30, on|42060", one(database, "SELECT * FROM twice ORDER BY 1"));
            assertEquals(
                    "bottom|bottom(1)|63000, top|top(2)|7000, twice|top(1)|28000",
                    one(database, "SELECT query, materialize, rows_left_out FROM millrace.backfills ORDER BY 1"));
        }
    }

    /** A view of the ids that has read a part of the past: it gets slower until it is not done when it is paused. */
    private static void pausedHalfWay(TestDatabase database, String name, String choice) {
        for (int steps = 200; steps < 100_000; steps *= 3) {
            String ids = "SELECT id FROM s, LATERAL generate_series(1, " + steps + ") AS g(step) GROUP BY id";
            database.run(view(name, choice, ids) + "PAUSE MATERIALIZED VIEW " + name);
            String state = "SELECT state, percent < 100 FROM millrace.backfills WHERE query = '" + name + "'";
            if (one(database, state).equals("paused|t")) {
                return;
            }
            database.run("DROP MATERIALIZED VIEW " + name);
        }
        fail(name + " was done each time before it was paused");
    }

    @Test
    void aSampleIsTheSameWhoeverReadsItAndWhen() {
        Path image;
        String ids = "SELECT id FROM s";
        try (TestDatabase database = open()) {
            sketched(database);
            database.run(view("quarter", "sample(25%)", ids) + view("tenth", "sample(0.1)", ids));
            pausedHalfWay(database, "slow", "sample(0.25)");
            int quarter = Integer.parseInt(one(database, "SELECT count(*) FROM quarter"));
            assertTrue(Math.abs(quarter - ROWS / 4) < 700, quarter + " of " + ROWS); // six standard deviations
            int tenth = Integer.parseInt(one(database, "SELECT count(*) FROM tenth"));
            assertTrue(Math.abs(tenth - ROWS / 10) < 500, tenth + " of " + ROWS);
            assertEquals(
                    "0", one(database, "SELECT count(*) FROM (SELECT id FROM tenth EXCEPT SELECT id FROM quarter) t"));
            database.run("CHECKPOINT");
            image = DirectoryImage.copy(folder.resolve("data"), folder.resolve("image"));
        }
        try (TestDatabase again = new TestDatabase(image)) {
            again.run("RESUME MATERIALIZED VIEW slow");
            insert(again, ROWS + 1, ROWS + 1000);
            Eventually.holds(
                    "the past is read",
                    () -> one(again, "SELECT bool_and(state = 'done') FROM millrace.backfills")
                            .equals("t"));
            String difference = "(SELECT id FROM slow EXCEPT ALL SELECT id FROM quarter)"
                    + " UNION ALL (SELECT id FROM quarter EXCEPT ALL SELECT id FROM slow)";
            assertEquals(List.of(), again.rows(difference));
            assertTrue(Integer.parseInt(one(again, "SELECT count(*) FROM quarter WHERE id > " + ROWS)) > 150);
        }
    }

    @Test
    void itIsChangedWhileAQueryRuns() {
        String slow = "SELECT id FROM s, LATERAL generate_series(1, 100) AS g(step) GROUP BY id";
        try (TestDatabase database = open()) {
            sketched(database); // which are read at once
            int rows = 4 * ROWS;
            insert(database, ROWS + 1, rows);
            database.run(
                    "CREATE MATERIALIZED VIEW v WITH (start = 'earliest') AS " + slow + "; PAUSE MATERIALIZED VIEW v");
            int read = Integer.parseInt(one(database, "SELECT rows FROM millrace.backfills"));
            assertTrue(read < rows / 2, read + " rows are read");
            database.run("ALTER MATERIALIZED VIEW v SET (materialize = 'sample(0.001)'); RESUME MATERIALIZED VIEW v");
            assertTrue(one(database, "SHOW CREATE MATERIALIZED VIEW v").contains("materialize = 'sample(0.001)'"));
            Eventually.holds(
                    "all is read",
                    () -> one(database, "SELECT state FROM millrace.backfills").equals("done"));
            assertEquals(
                    "" + rows,
                    one(database, "SELECT (SELECT count(*) FROM v) + rows_left_out FROM millrace.backfills"));
            assertTrue(Integer.parseInt(one(database, "SELECT rows_left_out FROM millrace.backfills")) > rows / 3);
            database.run("ALTER MATERIALIZED VIEW v RESET (materialize)");
            insert(database, rows + 1, rows + 100);
            assertEquals("100", one(database, "SELECT count(*) FROM v WHERE id > " + rows));
            database.run("ALTER MATERIALIZED VIEW v SET (materialize = 'sample(0.5)')");
        }
        try (TestDatabase again = open()) {
            assertEquals("sample(0.5)", one(again, "SELECT materialize FROM millrace.backfills"));
            insert(again, 5 * ROWS + 101, 5 * ROWS + 1100);
            int half = Integer.parseInt(one(again, "SELECT count(*) FROM v WHERE id > " + 5 * ROWS));
            assertTrue(Math.abs(half - 500) < 100, half + " of 1000");
        }
    }

    @Test
    void whatCannotBeChosenIsRefused() {
        try (TestDatabase database = open()) {
            database.run("CREATE STREAM x (id BIGINT, v DOUBLE PRECISION) WITH (retention = 'forever');"
                    + "CREATE TABLE t (id BIGINT PRIMARY KEY);"
                    + STREAM.replace("id BIGINT", "id BIGINT, temp DOUBLE PRECISION") + ";"
                    + "CREATE MATERIALIZED VIEW now AS SELECT id FROM x;"
                    + "CREATE MATERIALIZED VIEW bounds WITH (start = 'earliest') AS SELECT error_bound(temp) FROM s");
            String create = "CREATE MATERIALIZED VIEW v WITH (start = 'earliest', materialize = ";
            for (List<String> wrong : List.of(
                    List.of(create + "'some') AS SELECT id FROM x", "22023 option \"materialize\" cannot be \"some\""),
                    List.of(create + "'sample(0)') AS SELECT id FROM x", "22023 option \"materialize\" cannot be"),
                    List.of(create + "'sample(1.5)') AS SELECT id FROM x", "22023 option \"materialize\" cannot be"),
                    List.of(create + "'sample(1.2.3)') AS SELECT id FROM x", "22023 option \"materialize\" cannot be"),
                    List.of(create + "'top(1.5)') AS SELECT id FROM s", "22023 option \"materialize\" cannot be"),
                    List.of(create + "'top(5%)') AS SELECT id FROM s", "22023 option \"materialize\" cannot be"),
                    List.of(
                            create + "'top(99999999999)') AS SELECT id FROM s",
                            "22023 option \"materialize\" cannot be"),
                    List.of(
                            create + "'top(5)') AS SELECT id FROM x",
                            "22023 materialize = 'top(5)' is for streams WITH"),
                    List.of(create + "'top(5)') AS SELECT error_bound(temp) FROM s", "0A000 error_bound, or max_error"),
                    List.of(
                            create + "'sample(0.5)', max_error = 1) AS SELECT temp FROM s",
                            "0A000 error_bound, or max_error"),
                    List.of(
                            "ALTER MATERIALIZED VIEW bounds SET (materialize = 'sample(0.5)')",
                            "0A000 error_bound, or max_error"),
                    List.of(
                            "CREATE MATERIALIZED VIEW v WITH (materialize = 'sample(0.5)') AS SELECT id FROM x",
                            "22023 materialize is for queries that read what a stream"),
                    List.of(
                            "CREATE MATERIALIZED VIEW v WITH (start = 'earliest', materialize = 'sample(0.5)') AS SELECT id FROM t",
                            "22023 materialize is for queries that read what a stream"),
                    List.of(
                            "ALTER MATERIALIZED VIEW now SET (materialize = 'sample(0.5)')",
                            "22023 materialize is for queries that read what a stream"),
                    List.of(
                            "ALTER MATERIALIZED VIEW bounds SET (materialize = 'all', fillfactor = 70)",
                            "0A000 ALTER .. SET of materialize and others at once"),
                    List.of("ALTER STREAM x SET (materialize = 'all')", "0A000"))) {
                String error = database.error(wrong.get(0));
                assertTrue(error.startsWith(wrong.get(1)), wrong.get(0) + " gives " + error);
            }
            assertEquals(
                    "bounds|all|0", one(database, "SELECT query, materialize, rows_left_out FROM millrace.backfills"));
        }
    }
}
