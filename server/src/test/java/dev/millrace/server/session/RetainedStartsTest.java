package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Standing queries that begin in the past of streams: each row once, as if the query had been there from the first. */
@Tag("long")
class RetainedStartsTest {
    private static final long SEED = Long.getLong("millrace.retained.seed", 1);
    private static final String WINDOWS =
            "SELECT window_start, k, count(*) AS n, sum(v) AS v FROM TUMBLE(TABLE s, DESCRIPTOR(at), INTERVAL '1 minute')"
                    + " GROUP BY window_start, window_end, k";

    @TempDir
    Path folder;

    private TestDatabase open(int workers) {
        return new TestDatabase(folder.resolve("data"), workers);
    }

    private Path killed(String name) {
        return DirectoryImage.copy(folder.resolve("data"), folder.resolve(name));
    }

    private static void awaitRows(List<String> expected, TestDatabase database, String sql) {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        List<String> found = database.rows(sql);
        while (!found.equals(expected) && System.nanoTime() < end) {
            Thread.onSpinWait();
            found = database.rows(sql);
        }
        assertEquals(expected, found, sql + ", seed " + SEED);
    }

    private static void insert(TestDatabase database, Random random, int rows) {
        database.run("INSERT INTO s SELECT 'k' || (g * " + (1 + random.nextInt(1000)) + ") % 5, g,"
                + " TIMESTAMPTZ '2026-01-01 00:00Z' + ((g / 10 + " + random.nextInt(4000)
                + " + (g * 7919) % 90) || ' seconds')::interval FROM generate_series(1, " + rows + ") g");
    }

    private static void create(TestDatabase database) {
        database.run(
                "CREATE STREAM s (k TEXT, v BIGINT, at TIMESTAMPTZ, WATERMARK FOR at AS at - INTERVAL '30 seconds')"
                        + " WITH (retention = 'forever'); CREATE MATERIALIZED VIEW live AS " + WINDOWS);
    }

    @Test
    void aViewThatBeginsInThePastIsAsOneThatWasThere() {
        Random random = new Random(SEED);
        for (int workers : List.of(1, 4)) {
            try (TestDatabase database = new TestDatabase(folder.resolve("data" + workers), workers)) {
                create(database);
                database.run("INSERT INTO s SELECT 'k' || g % 5, g, TIMESTAMPTZ '2026-01-01 00:00Z'"
                        + " + (g || ' seconds')::interval FROM generate_series(1, 300) g");
                for (int step = 0; step < 20; step++) {
                    insert(database, random, 1 + random.nextInt(2000));
                    if (random.nextInt(4) == 0) {
                        database.run("CHECKPOINT");
                    }
                    if (step % 8 == 4) {
                        database.run(
                                "CREATE MATERIALIZED VIEW past" + step + " WITH (start = 'earliest') AS " + WINDOWS);
                    }
                }
                String all = " ORDER BY window_start, k";
                List<String> expected = database.rows("SELECT * FROM live" + all);
                assertTrue(expected.size() > 1, () -> "seed " + SEED);
                for (String view : List.of("past4", "past12")) {
                    awaitRows(expected, database, "SELECT * FROM " + view + all);
                }
                database.run("CREATE OR REPLACE MATERIALIZED VIEW past4 WITH (start = 'earliest') AS " + WINDOWS);
                awaitRows(expected, database, "SELECT * FROM past4" + all);
                database.run("DROP MATERIALIZED VIEW past4; DROP MATERIALIZED VIEW past12");
                database.run("CREATE MATERIALIZED VIEW past4 WITH (start = 'earliest') AS " + WINDOWS);
                awaitRows(expected, database, "SELECT * FROM past4" + all);
                assertTrue(database.error("ALTER MATERIALIZED VIEW past4 AS SELECT k FROM s")
                        .startsWith("0A000 "));
            }
        }
    }

    @Test
    void aBackfillGoesOnAfterACrash() throws IOException {
        Random random = new Random(SEED);
        List<Path> images = new ArrayList<>();
        try (TestDatabase database = open(2)) {
            create(database);
            insert(database, random, 60_000);
            database.run("CHECKPOINT; CREATE MATERIALIZED VIEW past WITH (start = 'earliest') AS " + WINDOWS
                    + "; CREATE MATERIALIZED VIEW joined WITH (start = '1 day') AS"
                    + " SELECT count(*) AS n FROM s a JOIN s b ON a.k = b.k AND a.v = b.v AND a.at = b.at");
            images.add(killed("made"));
            for (int image = 0; image < 3; image++) {
                database.run("CHECKPOINT");
                insert(database, random, 1 + random.nextInt(100));
                images.add(killed("image" + image));
            }
        }
        images.add(folder.resolve("data"));
        for (Path image : images) {
            for (int round = 0; round < 2; round++) {
                try (TestDatabase again = new TestDatabase(image, 1 + random.nextInt(3))) {
                    again.run("INSERT INTO s VALUES ('more', 1, '2026-01-01 02:00Z')");
                    awaitRows(
                            again.rows("SELECT * FROM live ORDER BY window_start, k"),
                            again,
                            "SELECT * FROM past ORDER BY window_start, k");
                    awaitRows(
                            again.rows("SELECT count(*) FROM s a JOIN s b ON a.k = b.k AND a.v = b.v AND a.at = b.at"),
                            again,
                            "SELECT n FROM joined");
                    if (round == 0) {
                        again.run("CHECKPOINT");
                    }
                }
            }
        }
    }

    @Test
    void aTimeOrAnAgeSaysWhichRowsArrivedEarlyEnough() {
        try (TestDatabase database = open(1)) {
            create(database);
            database.run("INSERT INTO s VALUES ('a', 1, '2026-01-01 10:00Z')");
            for (String start :
                    List.of("1 hour", "2000-01-01", "2001-02-03 04:05", "2001-02-03 04:05:06.5+02:00", "NOW")) {
                database.run(
                        "CREATE MATERIALIZED VIEW v WITH (start = '" + start + "') AS SELECT count(*) AS n FROM s");
                awaitRows(List.of(start.equals("NOW") ? "0" : "1"), database, "SELECT n FROM v");
                database.run("DROP MATERIALIZED VIEW v");
            }
            database.run("CREATE MATERIALIZED VIEW v WITH (start = '2999-01-01') AS SELECT count(*) AS n FROM s;"
                    + "CREATE MATERIALIZED VIEW w WITH (start = 'earliest') AS SELECT count(*) AS n FROM s");
            awaitRows(List.of("1|0"), database, "SELECT w.n, v.n FROM v, w");
            assertTrue(database.error("CREATE MATERIALIZED VIEW x WITH (start = 'soon') AS SELECT k FROM s")
                    .startsWith("22023 "));
            database.run("CREATE STREAM passing (k TEXT)");
            assertTrue(database.error("CREATE MATERIALIZED VIEW x WITH (start = 'earliest') AS SELECT k FROM passing")
                    .startsWith("0A000 "));
            assertEquals("DROP STREAM", database.run("DROP STREAM s CASCADE"));
        }
    }

    /** As the stream keeps a kilobyte, all of it goes while the view is paused. */
    @Test
    void whatWasDroppedBeforeAViewReadItIsSaid() {
        try (TestDatabase database = open(2)) {
            String lost =
                    "SELECT stream, origin, sqlstate, reason LIKE 'rows of records % were dropped%' FROM millrace.rejected_rows";
            database.run("CREATE STREAM s (k BIGINT) WITH (retention = '1 kB');"
                    + "CREATE MATERIALIZED VIEW v WITH (start = 'earliest') AS SELECT count(*) AS n FROM s;"
                    + "INSERT INTO s VALUES (1)");
            awaitRows(List.of("1"), database, "SELECT n FROM v");
            database.run("PAUSE MATERIALIZED VIEW v");
            database.run("INSERT INTO s SELECT (g * 2654435761) % 1000003 FROM generate_series(1, 5000) g; CHECKPOINT");
            awaitRows(List.of("0"), database, "SELECT count(*) FROM millrace.segments");
            assertEquals(List.of(), database.rows(lost));
            database.run("RESUME MATERIALIZED VIEW v; INSERT INTO s VALUES (2)");
            awaitRows(List.of("2"), database, "SELECT n FROM v");
            assertEquals(List.of("v|what the stream keeps|22000|t"), database.rows(lost));
        }
    }
}
