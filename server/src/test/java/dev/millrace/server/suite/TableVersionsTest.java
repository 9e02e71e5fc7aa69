package dev.millrace.server.suite;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.millrace.engine.runtime.QueryOptions;
import dev.millrace.engine.runtime.QuerySnapshot;
import dev.millrace.engine.runtime.StandingQuery;
import dev.millrace.server.differential.OracleCheck;
import dev.millrace.server.session.TestDatabase;
import dev.millrace.testing.oracle.Oracle;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Joins with the versions of a table agree with DuckDB's ASOF join over the log of them, while rows of both sides come out
 * of order and late, keys come, change and go, and views continue from snapshots. {@code -Dmillrace.versions.seeds=N} runs as
 * many seeds (2).
 */
@Tag("long")
class TableVersionsTest {
    private static final int SEEDS = Integer.getInteger("millrace.versions.seeds", 2);
    private static final int TABLE_DELAY = 3; // seconds, as in the definitions below
    private static final int STREAM_DELAY = 2;
    private static final Map<String, String> VIEWS = Map.of(
            "inner_join",
            "SELECT s.id, s.k, r.v FROM s JOIN r FOR SYSTEM_TIME AS OF s.ts ON s.k = r.k",
            "left_join",
            "SELECT s.id, s.k, r.v, r.ts FROM s LEFT JOIN r FOR SYSTEM_TIME AS OF s.ts ON s.k = r.k",
            "filtered",
            "SELECT s.id, r.v FROM s LEFT JOIN r FOR SYSTEM_TIME AS OF s.ts ON s.k = r.k AND r.v > s.id % 10");
    private static final String LOG =
            "(SELECT * FROM log QUALIFY row_number() OVER (PARTITION BY k, ts ORDER BY n DESC) = 1)";

    /** What DuckDB makes of the log, for the rows that both watermarks have passed. */
    private static Map<String, String> expected(long passed) {
        String joined = "(SELECT s.id, s.k, r.v, r.live, r.ts FROM s ASOF LEFT JOIN " + LOG
                + " r ON s.k = r.k AND s.ts >= r.ts WHERE epoch(s.ts) < " + passed + ")";
        return Map.of(
                "inner_join", "SELECT id, k, v FROM " + joined + " WHERE live",
                "left_join",
                        "SELECT id, k, CASE WHEN live THEN v END AS v, CASE WHEN live THEN ts END AS ts FROM " + joined,
                "filtered", "SELECT id, CASE WHEN live AND v > id % 10 THEN v END AS v FROM " + joined);
    }

    @Test
    void eachRowMeetsTheVersionThatWasValid() {
        for (int seed = 1; seed <= SEEDS; seed++) {
            try (Run run = new Run(new Random(seed), 1 + seed % 2)) {
                run.run();
            } catch (AssertionError | RuntimeException e) {
                throw new AssertionError(e.getMessage() + "\n(seed " + seed + ")", e);
            }
        }
    }

    private static final class Run implements AutoCloseable {
        private final Random random;
        private final TestDatabase db;
        private final Oracle oracle = Oracle.open();
        private final TreeMap<Integer, long[]> table = new TreeMap<>(); // v and ts by key
        private long latestVersion = Long.MIN_VALUE / 2; // seconds
        private long latestRow = Long.MIN_VALUE / 2;
        private boolean viewsRun;
        private int late;
        private int number;
        private int id;

        Run(Random random, int workers) {
            this.random = random;
            this.db = new TestDatabase(workers);
            db.run("CREATE TABLE r (k INT PRIMARY KEY, v BIGINT, ts TIMESTAMP NOT NULL,"
                    + " WATERMARK FOR ts AS ts - INTERVAL '3 seconds')");
            db.run("CREATE STREAM s (id INT, k INT, ts TIMESTAMP NOT NULL,"
                    + " WATERMARK FOR ts AS ts - INTERVAL '2 seconds')");
            oracle.execute("CREATE TABLE log (k INT, v BIGINT, ts TIMESTAMP, n INT, live BOOLEAN)");
            oracle.execute("CREATE TABLE s (id INT, k INT, ts TIMESTAMP)");
        }

        void run() {
            for (int step = 0; step < 60; step++) {
                if (step == 4) {
                    VIEWS.forEach((name, sql) -> db.run("CREATE MATERIALIZED VIEW " + name + " AS " + sql));
                    viewsRun = true;
                    table.forEach((key, row) -> log(key, row[0], row[1], true, Long.MIN_VALUE));
                    latestVersion = table.values().stream()
                            .mapToLong(row -> row[1])
                            .max()
                            .orElse(Long.MIN_VALUE / 2);
                }
                switch (random.nextInt(6)) {
                    case 0 -> delete();
                    case 1, 2 -> upsert(step);
                    default -> insert(step);
                }
                db.run("FLUSH");
                if (step > 4 && random.nextInt(6) == 0) {
                    compare();
                    restartSome();
                }
            }
            compare();
            assertEquals(
                    List.of("" + late),
                    db.rows("SELECT late_rows FROM millrace.query_stats WHERE query = 'left_join'"));
        }

        private static String time(long seconds) {
            return "TIMESTAMP '1970-01-01' + " + seconds + " * INTERVAL '1 second'";
        }

        private void log(int key, long value, long seconds, boolean live, long watermark) {
            if (!viewsRun) {
                return;
            }
            if (seconds < watermark) {
                late++;
                return;
            }
            oracle.execute("INSERT INTO log VALUES (" + key + ", " + value + ", " + time(seconds) + ", " + ++number
                    + ", " + live + ")");
        }

        /** One statement: none of its rows is late for another. */
        private void upsert(int step) {
            TreeMap<Integer, long[]> rows = new TreeMap<>();
            for (int i = random.nextInt(3); i >= 0; i--) {
                rows.put(random.nextInt(5), new long[] {random.nextInt(20), 100 + step + random.nextInt(9) - 5});
            }
            List<String> texts = new ArrayList<>();
            long watermark = latestVersion - TABLE_DELAY;
            rows.forEach((key, row) -> {
                texts.add("(" + key + ", " + row[0] + ", " + time(row[1]) + ")");
                log(key, row[0], row[1], true, watermark);
                latestVersion = Math.max(latestVersion, row[1]);
            });
            table.putAll(rows);
            db.run("INSERT INTO r VALUES " + String.join(", ", texts)
                    + " ON CONFLICT (k) DO UPDATE SET v = EXCLUDED.v, ts = EXCLUDED.ts");
        }

        private void delete() {
            int rest = random.nextInt(3);
            db.run("DELETE FROM r WHERE k % 3 = " + rest);
            List.copyOf(table.keySet()).stream().filter(key -> key % 3 == rest).forEach(key -> {
                long[] row = table.remove(key);
                log(key, row[0], latestVersion, false, Long.MIN_VALUE);
            });
        }

        private void insert(int step) {
            List<String> texts = new ArrayList<>();
            for (int i = random.nextInt(5); i >= 0; i--) {
                long seconds = 100 + step + random.nextInt(8) - 4;
                String row = "(" + ++id + ", " + random.nextInt(6) + ", " + time(seconds) + ")";
                texts.add(row);
                if (viewsRun && seconds < latestRow - STREAM_DELAY) {
                    late++;
                } else if (viewsRun) {
                    oracle.execute("INSERT INTO s VALUES " + row);
                    latestRow = Math.max(latestRow, seconds);
                }
            }
            db.run("INSERT INTO s VALUES " + String.join(", ", texts));
        }

        private void compare() {
            long passed = Math.min(latestRow - STREAM_DELAY, latestVersion - TABLE_DELAY);
            expected(passed)
                    .forEach((name, sql) ->
                            OracleCheck.requireEqual(db.session(), "SELECT * FROM " + name, oracle, sql));
        }

        private void restartSome() {
            for (String name : VIEWS.keySet()) {
                if (!name.equals("left_join") && random.nextBoolean()) { // whose late rows are counted
                    StandingQuery running = db.database().engine().query(name);
                    QuerySnapshot snapshot = running.snapshot();
                    running.drop();
                    db.database()
                            .engine()
                            .start(name, running.plan(), QueryOptions.view().withRestore(snapshot));
                }
            }
        }

        @Override
        public void close() {
            oracle.close();
            db.close();
        }
    }
}
