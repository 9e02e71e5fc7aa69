package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.error.MillraceException;
import dev.millrace.sketch.file.SketchFileWriter;
import dev.millrace.sketch.schema.Bound;
import dev.millrace.sketch.schema.Feature;
import dev.millrace.sketch.schema.SketchSchema;
import dev.millrace.sketch.stream.EncoderOptions;
import dev.millrace.sketch.stream.StreamEncoder;
import dev.millrace.testing.time.Eventually;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What error_bound, lower_bound and upper_bound say of answers over sketches holds of the answer over the rows that went in. */
@Tag("long")
class BoundedAnswersTest {
    private static final int QUERIES = Integer.getInteger("millrace.sketch.sql", 12);
    private static final long SEED = Long.getLong("millrace.sketch.seed", 1);

    @TempDir
    Path folder;

    @Test
    void trueAnswersLieWithinTheBoundsOfRandomQueries() throws Exception {
        Checked checked = new Checked();
        int real = 0;
        for (int q = 0; q < QUERIES; q += 20) {
            long seed = SEED + q;
            Random random = new Random(seed);
            real += SketchedRows.writeAny(folder, random) ? 1 : 0;
            try (TestDatabase database = SketchedRows.open(folder, 1 + random.nextInt(2))) {
                createRooms(database);
                for (int i = 0; i < 20; i++) {
                    Asked asked = Asked.make(random);
                    String where = "with -Dmillrace.sketch.sql=1 -Dmillrace.sketch.seed=" + seed + ": ";
                    asked.check(database, "s", where, checked);
                }
            }
        }
        System.out.println(
                "bounds over sketches: " + checked + ", " + real + " times over real readings; seed " + SEED);
        assertTrue(checked.finite > checked.cells * 8 / 10, checked + ": most bounds should say something");
    }

    @Test
    void trueAnswersLieWithinTheBoundsOverTheOldRowsOfAStream() throws Exception {
        Random random = new Random(SEED);
        SketchedRows.write(folder, random);
        try (TestDatabase database = new TestDatabase(folder.resolve("data"))) {
            keep(database);
            createRooms(database);
            Checked checked = new Checked();
            for (int i = 0; i < QUERIES / 3; i++) {
                Asked.make(random).check(database, "kept", "", checked);
            }
            assertEquals(
                    List.of("0"),
                    database.rows("SELECT count(*) FROM kept WHERE error_bound(temp) > 0.5000000000001"
                            + " OR error_bound(load) <> 0 OR lower_bound(temp) > temp OR upper_bound(temp) < temp"));
            assertEquals(
                    List.of("t|t"),
                    database.rows("SELECT max(error_bound(temp)) > 0.1, min(error_bound(temp)) >= 0 FROM kept"));
            assertTrue(checked.finite > checked.cells * 8 / 10, checked + ": most bounds should say something");
        }
    }

    /** A stream with the rows of the CSV file, all of which are in sketches, and a table of them as they are. */
    private void keep(TestDatabase database) {
        String columns = "(time TIMESTAMP, temp DOUBLE PRECISION, load BIGINT, room TEXT, door BIGINT";
        database.run("CREATE STREAM csv (time BIGINT, temp DOUBLE PRECISION, load BIGINT, room TEXT, door BIGINT)"
                + " WITH (connector = 'file', path = '" + folder.resolve("exact.csv") + "')");
        database.run("CREATE STREAM kept " + columns + ", WATERMARK FOR time AS time - INTERVAL '1 minute') WITH"
                + " (retention = 'forever', retention.form = 'sketch', sketch.key = 'door',"
                + " sketch.error.temp = '0.5 abs', sketch.segment = '1ms')");
        database.run("CREATE TABLE exact " + columns + ")");
        database.run("INSERT INTO exact SELECT TIMESTAMP '1970-01-01 00:00:00' + time * INTERVAL '1 microsecond', temp,"
                + " load, room, door FROM csv");
        database.run("INSERT INTO kept SELECT * FROM exact LIMIT 3000");
        database.run("INSERT INTO kept SELECT * FROM exact OFFSET 3000");
        database.run("CHECKPOINT");
        Eventually.holds(
                "all is sketched",
                () -> database.rows("SELECT DISTINCT form FROM millrace.segments WHERE stream = 'kept'")
                        .equals(List.of("sketch")));
    }

    private static void createRooms(TestDatabase database) {
        database.run("CREATE TABLE rooms (name TEXT PRIMARY KEY, size DOUBLE PRECISION)");
        database.run("INSERT INTO rooms VALUES ('hall', 40), ('room 0', 12.5), ('room 1', 20), ('room 2', 8)");
    }

    @Test
    void whatIsNotOffHasAnErrorOfZero() throws Exception {
        SketchedRows.write(folder, new Random(SEED));
        try (TestDatabase database = SketchedRows.open(folder, 1)) {
            String asked =
                    "SELECT DISTINCT error_bound(door), lower_bound(door) = door, upper_bound(door) = door FROM ";
            assertEquals(List.of("0|t|t"), database.rows(asked + "s"));
            assertEquals(List.of("0|t|t"), database.rows(asked + "exact"));
            assertEquals(
                    List.of("0|0|0"),
                    database.rows(
                            "SELECT error_bound(count(*)), error_bound(avg(door)), error_bound(max(temp)) FROM exact"));
            assertEquals(List.of("|"), database.rows("SELECT error_bound(NULL), lower_bound(NULL::numeric)"));
            assertEquals(
                    List.of("9007199254740991|9.007199254740994e+15"),
                    database.rows(
                            "SELECT lower_bound(x)::bigint, upper_bound(x) FROM (VALUES (9007199254740993)) t (x)"));
            database.run("CREATE STREAM live (temp DOUBLE PRECISION)");
            database.run(
                    "CREATE MATERIALIZED VIEW hot AS SELECT avg(temp) AS a, error_bound(avg(temp)) AS e FROM live");
            database.run("INSERT INTO live VALUES (1), (4)");
            assertEquals(List.of("2.5|0"), database.rows("SELECT * FROM hot"));
        }
    }

    /** Of columns alone that older sketches have within a bound, and the newest one exactly. */
    @Test
    void whatOnlyOlderSketchesHaveWithinABoundIsBounded() throws Exception {
        SketchSchema exact =
                SketchSchema.of(Feature.number("temp", Bound.exact()), Feature.whole("door", Bound.exact()));
        for (SketchSchema older : List.of(
                exact.withBound(0, Bound.absolute(.5)),
                exact.withTimeBound(3_000_000).withBound(1, Bound.absolute(2)))) {
            Path path = folder.resolve("changed.sketch");
            Files.deleteIfExists(path);
            try (SketchFileWriter file = SketchFileWriter.create(path, true)) {
                StreamEncoder encoder =
                        new StreamEncoder(older, EncoderOptions.defaults(), segment -> file.add(segment.bytes()));
                for (int i = 0; i < 4000; i++) {
                    if (i == 2000) {
                        encoder.alter(exact);
                    }
                    encoder.row(1_767_225_600_000_000L + i * 1_000_000L)
                            .number(0, Math.sin(i) * 10)
                            .whole(1, i % 9);
                }
                encoder.flush();
            }
            try (TestDatabase database = new TestDatabase(1)) {
                database.run("CREATE STREAM s WITH (connector = 'sketch', path = '" + path + "')");
                String column = older.feature(0).bound().equals(Bound.exact()) ? "door" : "temp";
                String other = column.equals("door") ? "temp" : "door";
                assertEquals(
                        List.of("t|t|0|0"),
                        database.rows("SELECT max(error_bound(" + column + ")) > 0, error_bound(avg(" + column
                                + ")) > 0, min(error_bound(" + column + ")), error_bound(sum(" + other + ")) FROM s"));
                assertEquals(
                        List.of(column.equals("door") ? "t" : "f"),
                        database.rows("SELECT error_bound(count(*)) > 0 FROM s WHERE time < '2026-01-01 00:10:00'"));
            }
        }
    }

    @Test
    void anAverageIsOffByNoMoreThanItsValues() throws Exception {
        SketchedRows.write(folder, new Random(SEED));
        try (TestDatabase database = SketchedRows.open(folder, 2)) {
            String windows = "FROM TUMBLE(TABLE s, DESCRIPTOR(time), INTERVAL '10 minutes') GROUP BY window_start";
            for (String average : List.of("avg(temp)", "sum(temp) / count(temp)", "avg(temp + door) - avg(door)")) {
                assertEquals(
                        List.of("0"),
                        database.rows("SELECT count(*) FROM (SELECT error_bound(" + average + ") AS e " + windows
                                + ") q WHERE e > 0.50000001"),
                        average);
            }
            String sessions = "FROM SESSION(TABLE %s PARTITION BY door, DESCRIPTOR(time), INTERVAL '30 seconds')"
                    + " GROUP BY door, window_start, window_end";
            assertEquals(
                    List.of("0"),
                    database.rows("SELECT count(*) FROM (SELECT error_bound(avg(temp)) AS e " + sessions.formatted("s")
                            + ") q WHERE e > 0.50000001"));
            assertEquals(
                    List.of("Infinity"),
                    database.rows("SELECT DISTINCT error_bound(count(*)) "
                            + sessions.formatted("(SELECT * FROM s WHERE temp > 20)")));
            String plan = String.join(
                    "\n",
                    database.rows(
                            "EXPLAIN (PHYSICAL) SELECT avg(temp), error_bound(avg(temp)) FROM s WHERE temp > 20"));
            assertTrue(plan.contains("in sketches, alike rows as one"), plan);
            assertTrue(plan.contains("temp_error"), plan);
        }
    }

    @Test
    void aRowThatMayPassAFilterWidensBounds() throws Exception {
        SketchedRows.write(folder, new Random(SEED));
        try (TestDatabase database = SketchedRows.open(folder, 1)) {
            String[] counts = database.rows("SELECT count(*), lower_bound(count(*)), upper_bound(count(*)),"
                            + " count(*) FILTER (WHERE lower_bound(temp) > 25), count(*) FILTER (WHERE upper_bound(temp) > 25)"
                            + " FROM s WHERE temp > 25")
                    .get(0)
                    .split("\\|");
            String[] byHand = database.rows("SELECT count(*) FILTER (WHERE lower_bound(temp) > 25),"
                            + " count(*) FILTER (WHERE upper_bound(temp) > 25) FROM s")
                    .get(0)
                    .split("\\|");
            assertEquals(List.of(byHand), List.of(counts[1], counts[2]));
            assertTrue(Integer.parseInt(counts[1]) <= Integer.parseInt(counts[0]), Arrays.toString(counts));
            assertTrue(Integer.parseInt(counts[0]) <= Integer.parseInt(counts[2]), Arrays.toString(counts));
            assertTrue(Integer.parseInt(counts[1]) < Integer.parseInt(counts[2]), Arrays.toString(counts));
        }
    }

    /** Which of the rows pass is open for many of them, and these have any values. */
    @Test
    void percentilesTakeRowsThatMayPassAtEitherEnd() {
        try (TestDatabase database = new TestDatabase(folder.resolve("data"))) {
            String columns = "(at TIMESTAMP, v DOUBLE PRECISION, w DOUBLE PRECISION";
            database.run("CREATE STREAM kept " + columns + ", WATERMARK FOR at AS at) WITH (retention = 'forever',"
                    + " retention.form = 'sketch', sketch.error.v = '0.001 abs', sketch.error.w = '1 abs', sketch.segment = '1ms');"
                    + "CREATE TABLE exact " + columns + ")");
            database.run("INSERT INTO exact SELECT TIMESTAMP '2026-01-01' + g * INTERVAL '1 minute', g * 7 % 40,"
                    + " 4 + g * 11 % 40 / 20.0 FROM generate_series(1, 40) g");
            database.run("INSERT INTO kept SELECT * FROM exact WHERE v < 20; CHECKPOINT;"
                    + "INSERT INTO kept SELECT * FROM exact WHERE v >= 20; CHECKPOINT");
            Eventually.holds(
                    "all is sketched",
                    () -> database.rows("SELECT DISTINCT form FROM millrace.segments")
                            .equals(List.of("sketch")));
            for (double least = 4.1; least < 5.9; least += .1) {
                String where = " WHERE w > " + least;
                for (String percentile : List.of("cont(0.25)", "cont(0.5)", "disc(0.5)", "cont(0.9)")) {
                    String asked = "percentile_" + percentile + " WITHIN GROUP (ORDER BY v)";
                    assertEquals(
                            List.of("t"),
                            database.rows("SELECT p BETWEEN low AND high FROM (SELECT " + asked + " AS p FROM exact"
                                    + where + ") e, (SELECT lower_bound(" + asked + ") AS low, upper_bound(" + asked
                                    + ") AS high FROM kept" + where + ") s"),
                            asked + where);
                }
            }
        }
    }

    @Test
    void whatNoRuleSpeaksOfIsNotBounded() throws Exception {
        SketchedRows.write(folder, new Random(SEED));
        try (TestDatabase database = SketchedRows.open(folder, 1)) {
            String infinite = "Infinity|-Infinity|Infinity";
            for (String of : List.of("sin(temp)", "door / (temp - temp + 0.01)", "log(abs(temp) + 1)")) {
                assertEquals(
                        List.of(infinite),
                        database.rows("SELECT DISTINCT error_bound(x), lower_bound(x), upper_bound(x) FROM (SELECT "
                                + of + " AS x FROM s WHERE temp IS NOT NULL) q"),
                        of);
            }
            assertEquals(
                    List.of(infinite),
                    database.rows(
                            "SELECT DISTINCT error_bound(count(*)), lower_bound(count(*)), upper_bound(count(*)) FROM s"
                                    + " GROUP BY round(temp)"));
            assertEquals(
                    List.of("Infinity"),
                    database.rows("SELECT error_bound(sum(temp)) FROM (SELECT temp FROM s ORDER BY temp LIMIT 10) q"));
            database.run(
                    "CREATE STREAM generated (time TIMESTAMP, temp DOUBLE PRECISION, load BIGINT, room TEXT, door BIGINT,"
                            + " twice DOUBLE PRECISION GENERATED ALWAYS AS (2 * temp) STORED) WITH (connector = 'sketch', path = '"
                            + folder.resolve("s.sketch") + "')");
            assertEquals(
                    List.of("Infinity|Infinity"),
                    database.rows("SELECT error_bound(avg(temp)), error_bound(max(twice)) FROM generated"));
        }
    }

    @Test
    void answersThatMayBeFurtherOffThanAskedForAreRefused() throws Exception {
        SketchedRows.write(folder, new Random(SEED));
        try (TestDatabase database = SketchedRows.open(folder, 1)) {
            List<String> average = database.rows("SELECT avg(temp) FROM s");
            String bound = database.rows("SELECT error_bound(avg(temp)) FROM s").get(0);
            database.run("SET max_error = 0.6");
            assertEquals(average, database.rows("SELECT avg(temp) FROM s"));
            assertEquals(
                    "22000 column \"sum\" may be off by any amount, and max_error is 0.6"
                            + " | SET max_error = off; docs/sketch.md says what has bounds",
                    database.error("SELECT sum(sin(temp)) FROM s"));
            database.run("SET max_error = 0.0001");
            assertEquals(
                    "22000 column \"warmth\" may be off by " + bound + ", and max_error is 0.0001 | SET max_error = "
                            + bound + ", or ask for error_bound of it",
                    database.error(
                            "SELECT door, warmth FROM (SELECT min(door) AS door, avg(temp) AS warmth FROM s) q"));
            assertEquals(List.of(bound), database.rows("SELECT error_bound(avg(temp)) FROM s"));
            assertEquals(
                    average.size(),
                    database.rows("SELECT count(*) FROM s WHERE door = 1").size());
            assertEquals(1, database.rows("SELECT avg(temp) FROM shown").size());
            assertEquals(
                    "22000 column \"hot\" may be off by any amount, and max_error is 0.0001"
                            + " | SET max_error = off; docs/sketch.md says what has bounds",
                    database.error("SELECT temp > 20.1 AS hot FROM s").replaceFirst(" row \\d+:", ""));
            database.run("SET max_error = off");
            assertEquals(average, database.rows("SELECT avg(temp) FROM s"));
            assertEquals(
                    "22023 setting \"max_error\" cannot be \"-1\"; it must be a number from 0, or off",
                    database.error("SET max_error = -1"));
        }
    }

    @Test
    void boundsKeepTheOrderOfRows() throws Exception {
        SketchedRows.write(folder, new Random(SEED));
        try (TestDatabase database = SketchedRows.open(folder, 2)) {
            String order = " FROM s WHERE temp > 20 ORDER BY temp DESC, time LIMIT 500";
            List<String> rows = database.rows("SELECT temp, time, error_bound(temp) <= 0.5000001" + order);
            assertEquals(
                    database.rows("SELECT temp, time" + order).stream()
                            .map(row -> row + "|t")
                            .toList(),
                    rows);
        }
    }

    @Test
    void standingQueriesDoNotAskForBoundsOfWhatWasKeptWithout() throws Exception {
        SketchedRows.write(folder, new Random(SEED));
        try (TestDatabase database = new TestDatabase(folder.resolve("data"))) {
            keep(database);
            String refused = " in a standing query that reads what was kept without bounds is not available yet"
                    + " | ask for bounds where the stream that was sketched is read, and keep them as columns";
            database.run("CREATE MATERIALIZED VIEW v WITH (start = 'earliest') AS SELECT avg(temp) AS a, count(*) AS n"
                    + " FROM kept");
            assertEquals(List.of("Infinity|Infinity"), database.rows("SELECT error_bound(a), error_bound(n) FROM v"));
            assertEquals(
                    "0A000 error_bound" + refused,
                    database.error("CREATE MATERIALIZED VIEW w AS SELECT lower_bound(a) FROM v"));
            assertEquals(
                    "0A000 max_error" + refused,
                    database.error("CREATE MATERIALIZED VIEW w WITH (max_error = 1) AS SELECT a FROM v"));
            database.run("CREATE MATERIALIZED VIEW u AS SELECT error_bound(avg(temp)) AS e FROM kept");
            database.run("INSERT INTO kept VALUES (TIMESTAMP '2027-01-01 00:00:00', 5, 1, 'hall', 1)");
            assertEquals(List.of("0"), database.rows("SELECT e FROM u"));
            database.run("CREATE STREAM plant (ts TIMESTAMP, temp DOUBLE PRECISION) WITH (connector = 'edge',"
                    + " retention = 'forever', retention.form = 'sketch')");
            assertEquals(List.of("Infinity"), database.rows("SELECT error_bound(count(*)) FROM plant"));
            assertEquals(
                    "0A000 error_bound" + refused,
                    database.error("CREATE MATERIALIZED VIEW w AS SELECT error_bound(max(temp)) FROM plant"));
        }
    }

    @Test
    void trueAnswersLieWithinTheBoundsOfQueriesThatBeginInASketchedPastAndGoOn() throws Exception {
        Random random = new Random(SEED);
        SketchedRows.write(folder, random);
        try (TestDatabase database = new TestDatabase(folder.resolve("data"))) {
            keep(database);
            createRooms(database);
            Checked checked = new Checked();
            for (int q = 0; q < Math.min(500, QUERIES / 2); q += 5) {
                List<Asked> asked = new ArrayList<>();
                for (int i = 0; i < 5; i++) {
                    Asked made = Asked.make(random);
                    asked.add(made);
                    database.run(made.standing("v" + i, "kept"));
                }
                for (int i = 0; i < asked.size(); i++) {
                    asked.get(i).checkStanding(database, "v" + i, checked);
                }
                for (String relation : List.of("exact", "kept")) {
                    database.run("INSERT INTO " + relation
                            + " SELECT TIMESTAMP '2026-01-01 00:40:00' + g * INTERVAL '7 seconds',"
                            + " 18.25 + g % 9, g % 8, 'room 1', g % 2 FROM generate_series(1, 60) g");
                }
                for (int i = 0; i < asked.size(); i++) {
                    asked.get(i).checkStanding(database, "v" + i, checked);
                    database.run("DROP MATERIALIZED VIEW v" + i);
                }
            }
            System.out.println("bounds of standing queries over sketches: " + checked + "; seed " + SEED);
            assertTrue(checked.finite > checked.cells * 8 / 10, checked + ": most bounds should say something");
        }
    }

    /** The bounds of a view are the same as a SELECT's, before it goes on and after it was restored in the middle. */
    @Test
    void standingQueriesKeepBoundsOverARestart() throws Exception {
        SketchedRows.write(folder, new Random(SEED));
        String asked =
                "SELECT door, avg(temp) AS a, error_bound(avg(temp)) AS e, lower_bound(count(*)) AS low FROM kept"
                        + " WHERE temp > 20 GROUP BY door";
        List<String> before;
        try (TestDatabase database = new TestDatabase(folder.resolve("data"))) {
            keep(database);
            database.run("CREATE MATERIALIZED VIEW v WITH (start = 'earliest', max_error = 'off') AS " + asked);
            before = database.rows("SELECT * FROM v");
            assertEquals(database.rows(asked), before);
            database.run("CHECKPOINT");
        }
        try (TestDatabase database = new TestDatabase(folder.resolve("data"))) {
            assertEquals(before, database.rows("SELECT * FROM v"));
            database.run("INSERT INTO kept SELECT * FROM exact");
            assertEquals(database.rows(asked), database.rows("SELECT * FROM v"));
        }
    }

    @Test
    void standingQueriesOverFilesAreBoundedAsASelectIs() throws Exception {
        SketchedRows.write(folder, new Random(SEED));
        try (TestDatabase database = SketchedRows.open(folder, 2)) {
            String asked = "SELECT room, avg(temp) AS a, error_bound(avg(temp)) AS e, upper_bound(count(*)) AS n FROM s"
                    + " WHERE load > 2 GROUP BY room";
            List<String> expected = database.rows(asked);
            assertTrue(expected.stream().noneMatch(row -> row.contains("Infinity")), expected.toString());
            database.run("CREATE MATERIALIZED VIEW v AS " + asked);
            assertEquals(expected, database.flushedRows("SELECT * FROM v"));
        }
    }

    @Test
    void aStandingQueryStopsAtAnAnswerThatMayBeFurtherOffThanItsMaxError() throws Exception {
        SketchedRows.write(folder, new Random(SEED));
        try (TestDatabase database = new TestDatabase(folder.resolve("data"))) {
            keep(database);
            String query = " AS SELECT door, avg(temp) AS warmth FROM kept GROUP BY door";
            database.run("CREATE MATERIALIZED VIEW within WITH (start = 'earliest', max_error = 0.6)" + query);
            assertEquals(
                    database.rows("SELECT door, avg(temp) FROM kept GROUP BY door"),
                    database.rows("SELECT * FROM within"));
            database.run("CREATE MATERIALIZED VIEW live WITH (max_error = 0)" + query);
            database.run("CREATE MATERIALIZED VIEW beyond WITH (start = 'earliest', max_error = '0.01')" + query);
            String stopped = database.error("SELECT * FROM beyond");
            assertTrue(
                    stopped.matches(
                            "22000 .*a row that cannot be computed: column \"warmth\" may be off by 0.5.*max_error is 0.01.*"),
                    stopped);
            database.run("REPROCESS MATERIALIZED VIEW within FROM 'earliest'");
            Eventually.holds(
                    "it has taken the place, with its option",
                    () -> String.join("", database.rows("SHOW CREATE MATERIALIZED VIEW within"))
                                    .contains("max_error")
                            && database.rows("SELECT query FROM millrace.backfills WHERE query = 'within_reprocessed'")
                                    .isEmpty());
            database.run("INSERT INTO kept VALUES (TIMESTAMP '2027-01-01 00:00:00', 5, 1, 'hall', 7)");
            assertEquals(List.of("7|5"), database.rows("SELECT * FROM live"));
            assertEquals(
                    "22023 option \"max_error\" cannot be \"-1\"; it must be a number from 0, or off",
                    database.error("CREATE MATERIALIZED VIEW w WITH (max_error = -1)" + query));
        }
    }

    @Test
    void aSelectSaysItselfHowFarItsNumbersMayBeOff() throws Exception {
        SketchedRows.write(folder, new Random(SEED));
        try (TestDatabase database = SketchedRows.open(folder, 1)) {
            List<String> average = database.rows("SELECT avg(temp) FROM s");
            assertEquals(average, database.rows("SELECT avg(temp) FROM s WITH (max_error = 0.6)"));
            String refused = "column \"avg\" may be off by ";
            for (String asked : List.of(
                    "SELECT avg(temp) FROM s WITH (max_error = '0.001')",
                    "WITH q AS (SELECT * FROM s) SELECT avg(temp) FROM q WITH (max_error = 0)",
                    "EXPLAIN ANALYZE SELECT avg(temp) FROM s WHERE door = 1 WITH (max_error = 0)",
                    "(SELECT avg(temp) FROM s GROUP BY door LIMIT 1) WITH (max_error = 0)")) {
                assertTrue(database.error(asked).matches("22000 (row \\d+: )?" + refused + ".*"), asked);
            }
            database.run("SET max_error = 0.001");
            assertTrue(database.error("SELECT avg(temp) FROM s").startsWith("22000 " + refused));
            assertEquals(average, database.rows("SELECT avg(temp) FROM s WITH (max_error = off)"));
            assertEquals(
                    "22023 option \"max_error\" cannot be \"-1\"; it must be a number from 0, or off",
                    database.error("SELECT avg(temp) FROM s WITH (max_error = -1)"));
            assertTrue(database.error("SELECT avg(temp) FROM s WITH (max_eror = 1)")
                    .contains("max_eror"));
        }
    }

    /** What was compared. */
    private static final class Checked {
        private int cells;
        private int finite; // of these, those whose bounds say something
        private int withoutAnswer; // queries that have none over the rows that went in

        @Override
        public String toString() {
            return finite + " of " + cells + " answers are bounded, " + withoutAnswer + " queries have none";
        }
    }

    /**
     * A query over any of the relations.
     *
     * @param keys how many columns say which row it is
     * @param certain whether no row is only possibly there
     */
    private record Asked(String keys, List<String> asked, String rest, int keyCount, boolean certain) {
        private static final String[] VALUES = {
            "count(*)",
            "count(temp)",
            "sum(temp)",
            "avg(temp)",
            "min(temp)",
            "max(temp)",
            "stddev(temp)",
            "var_pop(temp)",
            "sum(load)",
            "avg(load * 2 + door)",
            "avg(temp * load - door)",
            "sum(door)",
            "min(load) - max(door)",
            "percentile_cont(0.3) WITHIN GROUP (ORDER BY temp)",
            "percentile_disc(0.9) WITHIN GROUP (ORDER BY load)",
            "percentile_cont(0.5) WITHIN GROUP (ORDER BY temp DESC)",
            "count(DISTINCT load)",
            "sum(CASE WHEN temp > 20 THEN load ELSE door END)",
            "count(*) FILTER (WHERE temp > 22 OR load < 3)",
            "avg(temp) FILTER (WHERE load > 2)",
            "round(avg(temp)::numeric, 2)",
            "abs(avg(temp) - 20) + count(*) / 7",
            "greatest(max(temp), 21.5)",
            "100 * sum(load) / (count(*) + 1)",
            "max(CASE WHEN load > 3 THEN temp END)",
            "avg(load::real + 0.1::real)",
            "coalesce(min(floor(temp)), 0)"
        };
        private static final String[] CERTAIN = {
            "room LIKE 'room%'",
            "door = 1",
            "room IS NULL OR door = 0",
            "time >= TIMESTAMP '2026-01-01 00:20:00'",
            "temp IS NOT NULL"
        };
        private static final String[] UNCERTAIN = {
            "temp > 21",
            "load <= 4",
            "temp * 2 < load * 10 + 40",
            "abs(temp) < 25",
            "load = 2",
            "NOT (temp > 18 AND load > 1)",
            "temp BETWEEN 15 AND 22.5",
            "(temp > 24) IS NOT TRUE",
            "load <> 3 OR door = 1"
        };
        private static final String[] KEYS = {
            "room", "door", "date_trunc('minute', time)", "extract(hour FROM time)", "time::date"
        };

        static Asked make(Random random) {
            List<String> keys = new ArrayList<>();
            String from = "%s";
            boolean isJoined = false;
            int windows = random.nextInt(6);
            if (windows < 3) {
                String size = 7 + random.nextInt(30) + " minutes'";
                from = switch (windows) {
                    case 0 -> "TUMBLE(TABLE %s, DESCRIPTOR(time), INTERVAL '" + size + ")";
                    case 1 -> "HOP(TABLE %s, DESCRIPTOR(time), INTERVAL '7 minutes', INTERVAL '" + size + ")";
                    default -> "CUMULATE(TABLE %s, DESCRIPTOR(time), INTERVAL '5 minutes', INTERVAL '1 hour')";
                };
                keys.add("window_start");
                keys.add("window_end");
            } else if (windows == 3) {
                from = "%s JOIN rooms ON room = name";
                isJoined = true;
            } else if (windows == 4) {
                from = "(SELECT * FROM %s WHERE temp > 12 UNION ALL SELECT * FROM %s WHERE door = 1) u";
            }
            for (int k = random.nextInt(3); k > 0; k--) {
                keys.add(KEYS[random.nextInt(KEYS.length)]);
            }
            List<String> asked = new ArrayList<>();
            for (int a = random.nextInt(3); a >= 0; a--) {
                asked.add(VALUES[random.nextInt(VALUES.length)]);
            }
            if (isJoined) {
                asked.add("sum(temp / size)");
            }
            boolean certain = windows != 4;
            List<String> conditions = new ArrayList<>();
            for (int c = random.nextInt(3); c > 0; c--) {
                boolean uncertain = random.nextBoolean();
                conditions.add(
                        uncertain
                                ? UNCERTAIN[random.nextInt(UNCERTAIN.length)]
                                : CERTAIN[random.nextInt(CERTAIN.length)]);
                certain &= !uncertain;
            }
            String rest = " FROM " + from
                    + (conditions.isEmpty() ? "" : " WHERE (" + String.join(") AND (", conditions) + ")")
                    + (keys.isEmpty() ? "" : " GROUP BY " + String.join(", ", keys));
            if (!keys.isEmpty() && random.nextInt(4) == 0) {
                rest += " HAVING avg(temp) > 19 OR count(*) > 100";
                certain = false;
            }
            return new Asked(keys.isEmpty() ? "" : String.join(", ", keys) + ", ", asked, rest, keys.size(), certain);
        }

        private String over(String relation, List<String> columns) {
            return "SELECT " + keys + String.join(", ", columns) + rest.replace("%s", relation);
        }

        private String overWithBounds(String relation) {
            List<String> columns = new ArrayList<>();
            for (String value : asked) {
                columns.addAll(List.of(
                        value,
                        "lower_bound(" + value + ")",
                        "upper_bound(" + value + ")",
                        "error_bound(" + value + ")"));
            }
            return over(relation, columns);
        }

        /** A view of it that begins in the past of a stream. */
        String standing(String view, String relation) {
            String columns = IntStream.range(0, keyCount + 4 * asked.size())
                    .mapToObj(column -> "c" + column)
                    .collect(Collectors.joining(", "));
            return "CREATE MATERIALIZED VIEW " + view + " (" + columns + ") WITH (start = 'earliest') AS "
                    + overWithBounds(relation) + " EMIT CHANGES";
        }

        void checkStanding(TestDatabase database, String view, Checked checked) {
            Map<List<String>, String[]> expected = expected(database).orElseThrow();
            check(database.rows("SELECT * FROM " + view), expected, view + ": " + overWithBounds("kept"), checked);
        }

        void check(TestDatabase database, String relation, String where, Checked checked) {
            String query = overWithBounds(relation);
            Optional<Map<List<String>, String[]>> expected = expected(database);
            if (expected.isEmpty()) {
                checked.withoutAnswer++;
                return;
            }
            check(database.rows(query), expected.get(), where + query, checked);
        }

        /** The rows of the exact ones by their keys; empty if these have no answer. */
        private Optional<Map<List<String>, String[]>> expected(TestDatabase database) {
            Map<List<String>, String[]> expected = new HashMap<>();
            try {
                for (String row : database.rows(over("exact", asked))) {
                    String[] cells = row.split("\\|", -1);
                    expected.put(List.of(cells).subList(0, keyCount), cells);
                }
                return Optional.of(expected);
            } catch (MillraceException e) {
                if (e.getMessage().endsWith("NUMERIC NaN is not available yet")) {
                    return Optional.empty();
                }
                throw e;
            }
        }

        private void check(List<String> rows, Map<List<String>, String[]> expected, String query, Checked checked) {
            if (certain) {
                assertEquals(expected.size(), rows.size(), query);
            }
            for (String row : rows) {
                String[] cells = row.split("\\|", -1);
                String[] exact = expected.get(List.of(cells).subList(0, keyCount));
                assertTrue(exact != null || !certain, () -> "no " + row + " of " + query);
                for (int i = 0; exact != null && i < asked.size(); i++) {
                    int at = keyCount + 4 * i;
                    String said = asked.get(i) + " is " + exact[keyCount + i] + ", and was answered "
                            + Arrays.toString(Arrays.copyOfRange(cells, at, at + 4)) + ": " + query;
                    check(exact[keyCount + i], Arrays.copyOfRange(cells, at, at + 4), said, checked);
                }
            }
        }

        /** @param cells what was shown, the bounds, and the error */
        private void check(String exact, String[] cells, String said, Checked checked) {
            if (exact.isEmpty()) {
                return; // bounds are those of an answer, if there is one
            }
            checked.cells++;
            checked.finite += cells[1].equals("-Infinity") ? 0 : 1;
            assertTrue(isAtMost(cells[1], exact), said);
            assertTrue(isAtMost(exact, cells[2]), said);
            if (!cells[0].isEmpty()) {
                assertTrue(isAtMost(cells[1], cells[0]), said);
                assertTrue(isAtMost(cells[0], cells[2]), said);
                assertTrue(!isFar(exact, cells[0], cells[3]), said);
            }
        }

        private static boolean isFar(String exact, String shown, String error) {
            if (error.equals("Infinity") || exact.equals(shown)) {
                return false;
            }
            return exact.equals("NaN")
                    || shown.equals("NaN")
                    || new BigDecimal(exact)
                                    .subtract(new BigDecimal(shown))
                                    .abs()
                                    .compareTo(new BigDecimal(error))
                            > 0;
        }

        /** NaN is above all numbers; what is not bounded is infinite, and may be NaN. */
        private static boolean isAtMost(String low, String high) {
            boolean isNan = low.equals("NaN") || high.equals("NaN");
            return low.equals("-Infinity")
                    || high.equals("Infinity")
                    || high.equals("NaN")
                    || !isNan && new BigDecimal(low).compareTo(new BigDecimal(high)) <= 0;
        }
    }
}
