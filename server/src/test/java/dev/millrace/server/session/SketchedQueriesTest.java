package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.testing.time.Eventually;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * SQL over sketches: what is answered in them is what is answered of their rows, one by one; and where columns are exact it is what is
 * answered of the rows that went in.
 */
@Tag("long")
class SketchedQueriesTest {
    private static final int QUERIES = Integer.getInteger("millrace.sketch.sql", 20);
    private static final long SEED = Long.getLong("millrace.sketch.seed", 1);

    @TempDir
    Path folder;

    private void write(Random random) throws Exception {
        SketchedRows.write(folder, random);
    }

    private TestDatabase open(int workers) {
        return SketchedRows.open(folder, workers);
    }

    private static List<String> sorted(TestDatabase database, String sql) {
        List<String> rows = new ArrayList<>();
        for (String row : database.rows(sql)) {
            List<String> cells = new ArrayList<>();
            for (String cell : row.split("\\|", -1)) {
                // Sums in another order differ in the last digits.
                cells.add(
                        cell.matches("-?\\d+\\.\\d+(e-?\\d+)?")
                                ? String.format(Locale.ROOT, "%.9g", Double.parseDouble(cell))
                                : cell);
            }
            rows.add(String.join("|", cells));
        }
        Collections.sort(rows);
        return rows;
    }

    @Test
    void whatIsAnsweredInSketchesIsWhatTheirRowsAnswer() throws Exception {
        int condensed = 0;
        int exact = 0;
        for (int q = 0; q < QUERIES; q += 20) {
            long seed = SEED + q;
            Random random = new Random(seed);
            SketchedRows.writeAny(folder, random);
            try (TestDatabase database = open(1 + random.nextInt(2))) {
                for (int i = 0; i < 20; i++) {
                    Asked asked = Asked.make(random);
                    String inSketch = asked.over("s");
                    String where = "with -Dmillrace.sketch.sql=1 -Dmillrace.sketch.seed=" + seed + ": " + inSketch;
                    condensed += String.join("\n", database.rows("EXPLAIN (PHYSICAL) " + inSketch))
                                    .contains("alike rows as one")
                            ? 1
                            : 0;
                    assertEquals(sorted(database, asked.over("shown")), sorted(database, inSketch), where);
                    if (asked.exact()) {
                        exact++;
                        assertEquals(sorted(database, asked.over("exact")), sorted(database, inSketch), where);
                    }
                }
            }
        }
        System.out.println("SQL over sketches: " + condensed + " of " + QUERIES + " queries answered in them, " + exact
                + " of exact columns alone; seed " + SEED);
        assertTrue(condensed > QUERIES / 2, "only " + condensed + " queries were answered in sketches");
    }

    /**
     * A query over any of the three relations.
     *
     * @param exact whether it reads exact columns only
     */
    private record Asked(String text, boolean exact) {
        private static final String[] EXACT_AGGREGATES = {
            "count(*)",
            "count(room)",
            "sum(door)",
            "max(room)",
            "count(DISTINCT room)",
            "avg(door)",
            "bool_or(door = 1)"
        };
        private static final String[] AGGREGATES = {
            "sum(temp)",
            "avg(temp)",
            "min(temp)",
            "max(temp)",
            "count(temp)",
            "stddev(temp)",
            "sum(load)",
            "avg(load * 2 + door)",
            "percentile_cont(0.3) WITHIN GROUP (ORDER BY temp)",
            "percentile_disc(0.9) WITHIN GROUP (ORDER BY load)",
            "count(DISTINCT load)",
            "sum(CASE WHEN temp > 20 THEN load ELSE 0 END)",
            "count(*) FILTER (WHERE temp > 22 OR load < 3)",
            "max(time)"
        };
        private static final String[] EXACT_CONDITIONS = {
            "room LIKE 'room%'",
            "door = 1",
            "room IS NULL OR door = 0",
            "time >= TIMESTAMP '2026-01-01 00:20:00'",
            "time < TIMESTAMP '2026-01-01 01:05:17'",
            "NOT (time > TIMESTAMP '2026-01-01 00:10:01' AND door = 1)"
        };
        private static final String[] CONDITIONS = {
            "temp > 21", "temp IS NOT NULL", "load <= 4", "temp * 2 < load * 10", "abs(temp) < 25", "load = 2"
        };
        private static final String[] KEYS = {
            "room", "door", "date_trunc('minute', time)", "extract(hour FROM time)", "time::date"
        };

        static Asked make(Random random) {
            boolean exact = random.nextInt(3) == 0;
            List<String> select = new ArrayList<>();
            List<String> keys = new ArrayList<>();
            String from = "%s";
            int windows = random.nextInt(5);
            if (windows < 3) {
                String size = 7 + random.nextInt(30) + " minutes'";
                from = switch (windows) {
                    case 0 -> "TUMBLE(TABLE %s, DESCRIPTOR(time), INTERVAL '" + size + ")";
                    case 1 -> "HOP(TABLE %s, DESCRIPTOR(time), INTERVAL '7 minutes', INTERVAL '" + size + ")";
                    default -> "CUMULATE(TABLE %s, DESCRIPTOR(time), INTERVAL '5 minutes', INTERVAL '1 hour')";
                };
                keys.add("window_start");
                keys.add("window_end");
            }
            for (int k = random.nextInt(3); k > 0; k--) {
                keys.add(KEYS[random.nextInt(KEYS.length)]);
            }
            select.addAll(keys);
            for (int a = random.nextInt(4); a >= 0; a--) {
                select.add(one(random, exact, EXACT_AGGREGATES, AGGREGATES));
            }
            List<String> conditions = new ArrayList<>();
            for (int c = random.nextInt(3); c > 0; c--) {
                conditions.add(one(random, exact, EXACT_CONDITIONS, CONDITIONS));
            }
            return new Asked(
                    "SELECT " + String.join(", ", select) + " FROM " + from
                            + (conditions.isEmpty() ? "" : " WHERE " + String.join(" AND ", conditions))
                            + (keys.isEmpty() ? "" : " GROUP BY " + String.join(", ", keys)),
                    exact);
        }

        private static String one(Random random, boolean exact, String[] exactOnes, String[] others) {
            return exact || random.nextInt(3) == 0
                    ? exactOnes[random.nextInt(exactOnes.length)]
                    : others[random.nextInt(others.length)];
        }

        String over(String relation) {
            return text.replace("%s", relation);
        }
    }

    /** Of a stream's past: by key, some columns of which are in sketches and some are not. */
    @Test
    void whatIsAnsweredInTheSketchesOfAStreamIsWhatTheirRowsAnswer() throws Exception {
        Random random = new Random(SEED);
        write(random);
        String columns = "(time TIMESTAMP, temp DOUBLE PRECISION, load BIGINT, room TEXT, door BIGINT";
        try (TestDatabase database = new TestDatabase(folder.resolve("data"))) {
            database.run("CREATE STREAM csv (time BIGINT, temp DOUBLE PRECISION, load BIGINT, room TEXT, door BIGINT)"
                    + " WITH (connector = 'file', path = '" + folder.resolve("exact.csv") + "')");
            database.run("CREATE STREAM kept " + columns + ", WATERMARK FOR time AS time - INTERVAL '1 minute') WITH"
                    + " (retention = 'forever', retention.form = 'sketch', sketch.key = 'door',"
                    + " sketch.error.temp = '0.5 abs', sketch.segment = '1ms')");
            database.run("CREATE TABLE exact " + columns + ")");
            database.run(
                    "INSERT INTO exact SELECT TIMESTAMP '1970-01-01 00:00:00' + time * INTERVAL '1 microsecond', temp,"
                            + " load, room, door FROM csv");
            database.run("INSERT INTO kept SELECT * FROM exact LIMIT 3000");
            database.run("INSERT INTO kept SELECT * FROM exact OFFSET 3000");
            database.run("CHECKPOINT");
            Eventually.holds(
                    "all is sketched",
                    () -> database.rows("SELECT DISTINCT form FROM millrace.segments WHERE stream = 'kept'")
                            .equals(List.of("sketch")));
            database.run("CREATE TABLE shown " + columns + ")");
            database.run("INSERT INTO shown SELECT * FROM kept");
            assertEquals(
                    List.of("0"),
                    database.rows("SELECT count(*) FROM (SELECT time, load, room, door FROM exact EXCEPT ALL"
                            + " SELECT time, load, room, door FROM shown) q"));
            for (int i = 0; i < QUERIES / 3; i++) {
                Asked asked = Asked.make(random);
                String query = asked.over("kept");
                assertEquals(sorted(database, asked.over("shown")), sorted(database, query), query);
                if (asked.exact()) {
                    assertEquals(sorted(database, asked.over("exact")), sorted(database, query), query);
                }
            }
            String analyzed = String.join(
                    "\n",
                    database.rows(
                            "EXPLAIN ANALYZE SELECT door, window_start, avg(temp), count(*) FROM TUMBLE(TABLE kept,"
                                    + " DESCRIPTOR(time), INTERVAL '10 minutes') GROUP BY door, window_start, window_end"));
            assertTrue(analyzed.matches("(?s).*sketches answered [1-9]\\d*, materialised 0, skipped 0.*"), analyzed);
        }
    }

    @Test
    void whatSketchesShowLiesWithinItsBounds() throws Exception {
        write(new Random(SEED));
        try (TestDatabase database = open(1)) {
            String averages = "SELECT avg(temp), min(temp), max(temp) FROM ";
            String[] shown = database.rows(averages + "s").get(0).split("\\|");
            String[] exact = database.rows(averages + "exact").get(0).split("\\|");
            for (int i = 0; i < shown.length; i++) {
                assertEquals(Double.parseDouble(exact[i]), Double.parseDouble(shown[i]), .5);
            }
            assertEquals(
                    database.rows("SELECT time, room, door FROM exact"),
                    database.rows("SELECT time, room, door FROM s"),
                    "exact columns, in their order");
        }
    }

    @Test
    void explainSaysWhatIsAnsweredInSketchesAndWhatWasSkipped() throws Exception {
        write(new Random(SEED));
        try (TestDatabase database = open(1)) {
            String windowed =
                    "SELECT window_start, avg(temp) FROM TUMBLE(TABLE s, DESCRIPTOR(time), INTERVAL '1 minute') WHERE"
                            + " time >= TIMESTAMP '2026-01-01 01:00:00' GROUP BY window_start, window_end";
            String plan = String.join("\n", database.rows("EXPLAIN (PHYSICAL) " + windowed));
            assertTrue(plan.contains("in sketches, alike rows as one, times by 1 min, times cut at 1 instant"), plan);
            String analyzed = String.join("\n", database.rows("EXPLAIN ANALYZE " + windowed));
            assertTrue(
                    analyzed.matches("(?s).*sketches answered [1-9]\\d*, materialised 0, skipped [1-9]\\d*.*"),
                    analyzed);
            String each = String.join("\n", database.rows("EXPLAIN ANALYZE SELECT max(time) FROM s"));
            assertTrue(each.matches("(?s).*sketches answered 0, materialised [1-9]\\d*, skipped 0.*"), each);
        }
    }

    @Test
    void aFileThatIsNoneIsRefusedInOneLine() throws Exception {
        write(new Random(SEED));
        try (TestDatabase database = new TestDatabase()) {
            Path none = folder.resolve("none");
            assertEquals(
                    "58P01 there is no file " + none,
                    database.error("CREATE STREAM s WITH (connector = 'sketch', path = '" + none + "')"));
            assertEquals(
                    "42804 " + folder.resolve("s.sketch")
                            + " has the columns time timestamp without time zone, temp double precision, load bigint, room"
                            + " text, door bigint, and declared are a bigint | Declare none: the file says what they are.",
                    database.error("CREATE STREAM s (a BIGINT) WITH (connector = 'sketch', path = '"
                            + folder.resolve("s.sketch") + "')"));
        }
    }
}
