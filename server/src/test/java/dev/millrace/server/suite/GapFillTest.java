package dev.millrace.server.suite;

import dev.millrace.server.differential.OracleCheck;
import dev.millrace.server.session.TestDatabase;
import dev.millrace.testing.oracle.Oracle;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/**
 * GAP_FILL in a view follows rows that come, change and go: the steps are counted here, and what is in them DuckDB finds by ASOF
 * joins of the steps with the rows.
 */
class GapFillTest {
    private static final int SEEDS = Integer.getInteger("millrace.gaps.seeds", 3);
    private static final int STEP = 4; // seconds

    private static final String SHOWN = "SELECT k, ts, l, round(i * 1000)::BIGINT AS i, n FROM ";
    private static final String EXPECTED = SHOWN
            + "(SELECT g.k, g.ts, p.l, CASE WHEN g.ts = p.ts THEN p.i ELSE p.i + (f.i - p.i) * epoch(g.ts - p.ts) / epoch(f.ts - p.ts) END AS i,"
            + " CASE WHEN g.ts = p.ts THEN p.n END AS n"
            + " FROM grid AS g ASOF JOIN rows AS p ON g.k = p.k AND g.ts >= p.ts ASOF LEFT JOIN rows AS f ON g.k = f.k AND g.ts <= f.ts)";

    @Test
    void aViewOfStepsFollowsTheRows() {
        for (int seed = 1; seed <= SEEDS; seed++) {
            try (TestDatabase db = new TestDatabase(1 + seed % 2);
                    Oracle oracle = Oracle.open()) {
                run(new Random(seed), db, oracle);
            } catch (AssertionError | RuntimeException e) {
                throw new AssertionError(e.getMessage() + "\n(seed " + seed + ")", e);
            }
        }
    }

    private static String time(long seconds) {
        return "TIMESTAMP '1970-01-01' + " + seconds + " * INTERVAL '1 second'";
    }

    private static void run(Random random, TestDatabase db, Oracle oracle) {
        String columns = " (k INT, ts TIMESTAMP, l TEXT, i DOUBLE PRECISION, n INT)";
        db.run("CREATE TABLE rows" + columns);
        oracle.execute("CREATE TABLE rows" + columns);
        oracle.execute("CREATE TABLE grid (k INT, ts TIMESTAMP)");
        db.run("CREATE MATERIALIZED VIEW filled AS SELECT * FROM"
                + " GAP_FILL(rows, ts, INTERVAL '4 seconds', LOCF(l), INTERPOLATE(i), PARTITION_BY(k))");
        List<TreeMap<Integer, Integer>> times = List.of(new TreeMap<>(), new TreeMap<>(), new TreeMap<>());
        for (int step = 0; step < 60; step++) {
            int key = random.nextInt(3);
            int at = random.nextInt(60);
            String row = "k = " + key + " AND ts = " + time(at);
            String change;
            if (times.get(key).remove(at) != null) {
                boolean goes = random.nextBoolean();
                change = goes
                        ? "DELETE FROM rows WHERE " + row
                        : "UPDATE rows SET i = " + step + ", l = NULL WHERE " + row;
                if (!goes) {
                    times.get(key).put(at, 0);
                }
            } else {
                times.get(key).put(at, 0);
                change = "INSERT INTO rows VALUES (" + key + ", " + time(at) + ", 'l" + step + "', "
                        + random.nextInt(90) + ", " + step + ")";
            }
            db.run(change);
            oracle.execute(change);
            if (step % 5 == 4) {
                oracle.execute("DELETE FROM grid");
                for (int k = 0; k < 3; k++) {
                    grid(times.get(k), k, oracle);
                }
                OracleCheck.requireEqual(db.session(), SHOWN + "filled", oracle, EXPECTED);
            }
        }
    }

    private static void grid(Map<Integer, Integer> times, int key, Oracle oracle) {
        List<Integer> all = List.copyOf(times.keySet());
        for (int i = 0; i < all.size(); i++) {
            int end = i + 1 < all.size() ? all.get(i + 1) : all.get(i) + 1;
            for (int at = all.get(i); at < end; at += STEP) {
                oracle.execute("INSERT INTO grid VALUES (" + key + ", " + time(at) + ")");
            }
        }
    }
}
