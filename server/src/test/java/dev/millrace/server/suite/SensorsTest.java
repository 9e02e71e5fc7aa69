package dev.millrace.server.suite;

import dev.millrace.engine.runtime.QueryOptions;
import dev.millrace.engine.runtime.QuerySnapshot;
import dev.millrace.engine.runtime.StandingQuery;
import dev.millrace.server.differential.OracleCheck;
import dev.millrace.server.session.TestDatabase;
import dev.millrace.testing.oracle.Oracle;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/**
 * Buckets without rows, averages that forget, and what fills NULLs, in views: of a table whose rows come, change and go, and once windows
 * have closed, with series that pause and end. DuckDB has the same by generate_series, ASOF joins and folds over lists; views go on from
 * snapshots.
 */
class SensorsTest {
    private static final int SEEDS = Integer.getInteger("millrace.sensors.seeds", 4);
    private static final int WIDTH = 4; // seconds, as in the texts below
    private static final int DELAY = 3;

    private static String gaps(String bucket, String more, String from) {
        return "SELECT " + bucket + " AS b" + more
                + ", k, sum(v) AS s, locf(sum(v)) AS l, locf(max(v), treat_null_as_missing => true) AS m,"
                + " (interpolate(avg(v))) AS i, coalesce(count(*), 0) AS n FROM " + from;
    }

    /** DuckDB's: groups and, by key, the buckets from one to another. */
    private static String filled(String rows, String first, String last) {
        return "WITH rows AS (" + rows
                + "), groups AS (SELECT time_bucket(INTERVAL '4 seconds', ts) AS b, k, sum(v) AS s, max(v) AS m, avg(v) AS a,"
                + " count(*) AS n FROM rows GROUP BY ALL), grid AS (SELECT k, unnest(generate_series(" + first + ", "
                + last
                + ", INTERVAL '4 seconds')) AS b FROM groups GROUP BY k), joined AS (SELECT grid.b, grid.k, p.b AS pb, f.b AS fb, p.s AS ps, f.s AS fs,"
                + " p.a AS pa, f.a AS fa, p.n AS pn, p.m AS pm FROM grid ASOF LEFT JOIN groups AS p ON grid.k = p.k AND grid.b >= p.b"
                + " ASOF LEFT JOIN groups AS f ON grid.k = f.k AND grid.b <= f.b)"
                + " SELECT b, k, CASE WHEN b = pb THEN ps END AS s, ps AS l, last_value(CASE WHEN b = pb THEN pm END IGNORE NULLS) OVER"
                + " (PARTITION BY k ORDER BY b) AS m, ((CASE WHEN b = pb THEN pa ELSE pa + (fa - pa) * epoch(b - pb) / epoch(fb - pb) END)"
                + ") AS i, CASE WHEN b = pb THEN pn ELSE 0 END AS n FROM joined";
    }

    private static final String OVER = "OVER (PARTITION BY k ORDER BY ts, id)";

    private static final String AVERAGES = "SELECT id, (ema(v, 0.3) " + OVER
            + ") AS e, (ema(v, ts, INTERVAL '2 seconds') " + OVER + ") AS h, locf(v) " + OVER + " AS l FROM ";

    private static String averages(String rows) {
        String some = " FILTER (WHERE v IS NOT NULL) " + OVER;
        return "SELECT id, (list_reduce(list(v::DOUBLE)" + some + ", lambda a, x: a + 0.3 * (x - a))) AS e,"
                + " (list_reduce(list({'v': v::DOUBLE, 't': epoch(ts)})" + some
                + ", lambda a, x: {'v': a.v + (1 - exp(-ln(2) * (x.t - a.t) / 2)) * (x.v - a.v), 't': x.t}).v) AS h,"
                + " last_value(v IGNORE NULLS) " + OVER + " AS l FROM " + rows;
    }

    // ---- rows that come, change and go
    // --------------------------------------------------------------------------------

    private static final String FROM_TO =
            "time_bucket_gapfill('4 seconds', ts, TIMESTAMP '1970-01-01 00:00:10', TIMESTAMP '1970-01-01 00:01:05')";

    private static final Map<String, String> VIEWS = Map.of(
            "gaps",
            gaps("time_bucket_gapfill('4 seconds', ts)", "", "rows GROUP BY b, k"),
            "bounded",
            gaps(FROM_TO, "", "rows GROUP BY b, k"),
            "inferred",
            gaps(
                    "time_bucket_gapfill(INTERVAL '4 seconds', ts)",
                    "",
                    "rows WHERE ts >= '1970-01-01 00:00:10' AND ts < '1970-01-01 00:01:05' GROUP BY 1, k"),
            "averages",
            AVERAGES + "rows",
            "scores",
            "SELECT id, (zscore(v) OVER (PARTITION BY k)) AS z, (interpolate(v) OVER (PARTITION BY k ORDER BY ts)) AS i FROM rows",
            "counters",
            "SELECT k, first(v, ts) AS f, last(v, ts) AS l, increase(v, ts) AS i, (time_weighted_avg(v, ts)) AS w FROM rows GROUP BY k");

    private static Map<String, String> expected() {
        String start = "TIMESTAMP '1970-01-01 00:00:08'";
        String finish = "TIMESTAMP '1970-01-01 00:01:04.999999'";
        String around = "(PARTITION BY k ORDER BY ts ROWS BETWEEN ";
        String before = " OVER " + around + "UNBOUNDED PRECEDING AND CURRENT ROW)";
        String behind = " OVER " + around + "CURRENT ROW AND UNBOUNDED FOLLOWING)";
        String t = "(CASE WHEN v IS NOT NULL THEN epoch(ts) END IGNORE NULLS)";
        Map<String, String> expected = new HashMap<>();
        expected.put("gaps", filled("SELECT * FROM rows", "min(b)", "max(b)"));
        expected.put(
                "bounded",
                filled("SELECT * FROM rows", "least(min(b), " + start + ")", "greatest(max(b), " + finish + ")"));
        expected.put(
                "inferred",
                filled(
                        "SELECT * FROM rows WHERE ts >= TIMESTAMP '1970-01-01 00:00:10' AND ts < TIMESTAMP '1970-01-01 00:01:05'",
                        start,
                        finish));
        expected.put("averages", averages("rows"));
        expected.put(
                "scores",
                "SELECT id, ((v - avg(v) OVER (PARTITION BY k)) / nullif(stddev_samp(v) OVER (PARTITION BY k), 0)) AS z,"
                        + " ((CASE WHEN v IS NOT NULL THEN v ELSE last_value(v IGNORE NULLS)" + before
                        + " + (first_value(v IGNORE NULLS)" + behind
                        + " - last_value(v IGNORE NULLS)" + before + ") * (epoch(ts) - last_value" + t + before
                        + ") / (first_value" + t + behind
                        + " - last_value" + t + before + ") END)) AS i FROM rows");
        expected.put(
                "counters",
                "SELECT k, arg_min(v, ts) AS f, arg_max(v, ts) AS l, CASE WHEN count(v) > 0 THEN coalesce(sum(CASE WHEN v IS NULL THEN NULL WHEN v >= p THEN v - p WHEN p IS NOT NULL THEN v END), 0) END AS i,"
                        + " (coalesce(sum(v * (nt - epoch(ts))) / nullif(sum(nt - epoch(ts)), 0), avg(v))) AS w FROM (SELECT *, lag(v) OVER o AS p, lead(epoch(ts)) OVER o AS nt"
                        + " FROM rows WHERE v IS NOT NULL WINDOW o AS (PARTITION BY k ORDER BY ts)) GROUP BY k"
                        + " UNION ALL SELECT k, NULL, NULL, NULL, NULL FROM rows GROUP BY k HAVING count(v) = 0");
        return expected;
    }

    private static String time(long seconds) {
        return "TIMESTAMP '1970-01-01' + " + seconds + " * INTERVAL '1 second'";
    }

    @Test
    void viewsFollowRowsThatComeChangeAndGo() {
        for (int seed = 1; seed <= SEEDS; seed++) {
            try (TestDatabase db = new TestDatabase(1 + seed % 2);
                    Oracle oracle = Oracle.open()) {
                follow(new Random(seed), db, oracle);
            } catch (AssertionError | RuntimeException e) {
                throw new AssertionError(e.getMessage() + "\n(seed " + seed + ")", e);
            }
        }
    }

    private static void follow(Random random, TestDatabase db, Oracle oracle) {
        String table = "CREATE TABLE rows (id INT, k INT, ts TIMESTAMP, v DOUBLE PRECISION)";
        db.run(table);
        oracle.execute(table);
        VIEWS.forEach((name, sql) -> db.run("CREATE MATERIALIZED VIEW " + name + " AS " + sql));
        List<TreeSet<Integer>> times = List.of(new TreeSet<>(), new TreeSet<>(), new TreeSet<>());
        for (int step = 0; step < 60; step++) {
            int key = random.nextInt(3);
            int at = random.nextInt(80);
            String row = "k = " + key + " AND ts = " + time(at);
            String value = random.nextInt(4) == 0 ? "NULL" : Integer.toString(random.nextInt(90));
            String change;
            if (times.get(key).contains(at)) {
                boolean goes = random.nextBoolean();
                change = goes ? "DELETE FROM rows WHERE " + row : "UPDATE rows SET v = " + value + " WHERE " + row;
                if (goes) {
                    times.get(key).remove(at);
                }
            } else {
                times.get(key).add(at);
                change = "INSERT INTO rows VALUES (" + step + ", " + key + ", " + time(at) + ", " + value + ")";
            }
            db.run(change);
            oracle.execute(change);
            if (step == 30) { // a series ends
                db.run("DELETE FROM rows WHERE k = 1");
                oracle.execute("DELETE FROM rows WHERE k = 1");
                times.get(1).clear();
            }
            if (step % 6 == 5) {
                db.run("FLUSH");
                Map<String, String> expected = expected();
                for (String view : VIEWS.keySet()) {
                    String wanted = expected.get(view);
                    OracleCheck.requireEqual(db.session(), "SELECT * FROM " + view, oracle, wanted);
                    OracleCheck.requireEqual(db.session(), VIEWS.get(view), oracle, wanted);
                }
                restartSome(db, VIEWS, random);
            }
        }
    }

    private static void restartSome(TestDatabase db, Map<String, String> views, Random random) {
        for (String name : views.keySet()) {
            if (random.nextInt(3) == 0) {
                StandingQuery running = db.database().engine().query(name);
                QuerySnapshot snapshot = running.snapshot();
                running.drop();
                db.database()
                        .engine()
                        .start(name, running.plan(), QueryOptions.view().withRestore(snapshot));
            }
        }
    }

    // ---- once windows have closed
    // ---------------------------------------------------------------------------------------

    /** Every five rows of a key, and the last nine of it every four rows. */
    private static final String COUNTED =
            "SELECT id, k, count(*) OVER w AS n, sum(v) OVER w AS s, max(v) OVER v AS m FROM %s WINDOW w AS"
                    + " (PARTITION BY k ORDER BY ts, id ROWS 4 PRECEDING), v AS (PARTITION BY k ORDER BY ts, id ROWS 8 PRECEDING)"
                    + " QUALIFY row_number() OVER (PARTITION BY k ORDER BY ts, id) %% 5 = 0 OR row_number() OVER (PARTITION BY k ORDER BY ts, id) %% 4 = 0";

    private static final Map<String, String> CLOSING = new LinkedHashMap<>(Map.of(
            "closed_gaps",
            gaps(
                    "time_bucket_gapfill('4 seconds', window_start)",
                    "",
                    "TUMBLE(c, ts, '4 seconds') GROUP BY b, window_end, k"),
            "closed_counts",
            COUNTED.formatted("c"),
            "closed_averages",
            AVERAGES + "c",
            "open_gaps",
            gaps("time_bucket_gapfill('4 seconds', ts)", "", "c GROUP BY b, k")));

    @Test
    void whatClosesIsToldOnceWithWhatWasMissingBeforeIt() {
        for (int seed = 1; seed <= SEEDS; seed++) {
            try (TestDatabase db = new TestDatabase(1 + seed % 2);
                    Oracle oracle = Oracle.open()) {
                close(new Random(seed), db, oracle);
            } catch (AssertionError | RuntimeException e) {
                throw new AssertionError(e.getMessage() + "\n(seed " + seed + ")", e);
            }
        }
    }

    private static void close(Random random, TestDatabase db, Oracle oracle) {
        db.run(
                "CREATE TABLE c (id INT, k INT, ts TIMESTAMP, v DOUBLE PRECISION, WATERMARK FOR ts AS ts - INTERVAL '3 seconds') APPEND ONLY");
        for (String log : List.of("by_row", "by_window", "c")) {
            oracle.execute("CREATE TABLE " + log + " (id INT, k INT, ts TIMESTAMP, v DOUBLE)");
        }
        CLOSING.forEach((name, sql) -> db.run("CREATE MATERIALIZED VIEW " + name + " AS " + sql
                + (name.startsWith("closed") ? " EMIT ON WINDOW CLOSE" : "")));
        long latest = Long.MIN_VALUE / 2;
        int id = 0;
        for (int step = 0; step < 60; step++) {
            long watermark = latest - DELAY;
            List<String> texts = new ArrayList<>();
            for (int i = random.nextInt(4); i >= 0; i--) {
                long seconds = 100 + 2L * step + random.nextInt(12) - 6;
                int key = step / 20 == 1 ? random.nextInt(2) : random.nextInt(3); // the third pauses
                String value = random.nextInt(5) == 0 ? "NULL" : Integer.toString(random.nextInt(50));
                String row = "(" + ++id + ", " + key + ", " + time(seconds) + ", " + value + ")";
                texts.add(row);
                oracle.execute("INSERT INTO c VALUES " + row);
                if (seconds >= watermark) {
                    oracle.execute("INSERT INTO by_row VALUES " + row);
                }
                if (Math.floorDiv(seconds, WIDTH) * WIDTH + WIDTH > watermark) {
                    oracle.execute("INSERT INTO by_window VALUES " + row);
                }
                latest = Math.max(latest, seconds);
            }
            db.run("INSERT INTO c VALUES " + String.join(", ", texts));
            db.run("FLUSH");
            if (random.nextInt(6) == 0 || step == 59) {
                long passed = latest - DELAY;
                OracleCheck.requireEqual(
                        db.session(),
                        "SELECT * FROM closed_gaps",
                        oracle,
                        filled(
                                "SELECT * FROM by_window WHERE epoch(time_bucket(INTERVAL '4 seconds', ts)) + 4 <= "
                                        + passed,
                                "min(b)",
                                "max(b)"));
                OracleCheck.requireEqual(
                        db.session(),
                        "SELECT * FROM closed_averages",
                        oracle,
                        averages("(SELECT * FROM by_row WHERE epoch(ts) < " + passed + ")"));
                OracleCheck.requireEqual(
                        db.session(),
                        "SELECT * FROM closed_counts",
                        oracle,
                        COUNTED.formatted("(SELECT * FROM by_row WHERE epoch(ts) < " + passed + ") AS r"));
                OracleCheck.requireEqual(
                        db.session(), "SELECT * FROM open_gaps", oracle, filled("SELECT * FROM c", "min(b)", "max(b)"));
                restartSome(db, CLOSING, random);
            }
        }
    }
}
