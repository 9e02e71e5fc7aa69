package dev.millrace.server.suite;

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
import org.junit.jupiter.api.Test;

/**
 * EMIT ON WINDOW CLOSE over a table whose rows are only added shows what DuckDB makes of the rows that were not late, as far as the
 * watermark has come; while rows come out of order and late, and views continue from snapshots.
 */
class ClosingTablesTest {
    private static final int SEEDS = Integer.getInteger("millrace.closing.seeds", 4);
    private static final int DELAY = 3; // seconds, as in the definition below
    private static final int WINDOW = 5;
    private static final String NUMBERED =
            "SELECT id, row_number() OVER (PARTITION BY k ORDER BY ts, id) AS n, sum(v) OVER (PARTITION BY k ORDER BY ts, id) AS s FROM ";
    private static final Map<String, String> VIEWS = Map.of(
            "held", "SELECT id, k, v, ts FROM c",
            "picked", "SELECT id, ts FROM c WHERE v % 3 = 1",
            "windows",
                    "SELECT window_start, k, sum(v) AS s, count(*) AS n FROM TUMBLE(c, ts, '5 seconds')"
                            + " GROUP BY window_start, window_end, k",
            "numbered", NUMBERED + "c",
            "tops",
                    "SELECT window_start, id FROM (SELECT *, row_number() OVER (PARTITION BY window_start, window_end ORDER BY v DESC, id) AS n"
                            + " FROM TUMBLE(c, ts, '5 seconds')) AS w WHERE n = 1");

    private static Map<String, String> expected(long passed) {
        String row = "(SELECT * FROM by_row WHERE epoch(ts) < " + passed + ")";
        String picked = "(SELECT * FROM c_picked WHERE epoch(ts) < " + passed + ")";
        String window = "(SELECT *, time_bucket(INTERVAL '5 seconds', ts) AS w FROM by_window WHERE epoch(w) + 5 <= "
                + passed + ")";
        return Map.of(
                "held", "SELECT id, k, v, ts FROM " + row,
                "picked", "SELECT id, ts FROM " + picked,
                "windows", "SELECT w, k, sum(v), count(*) FROM " + window + " GROUP BY w, k",
                "numbered", NUMBERED + row,
                "tops",
                        "SELECT w, id FROM " + window
                                + " QUALIFY row_number() OVER (PARTITION BY w ORDER BY v DESC, id) = 1");
    }

    @Test
    void whatWasNotLateIsShownWhenTheWatermarkHasPassedIt() {
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
        private long latest = Long.MIN_VALUE / 2; // seconds
        private int id;

        Run(Random random, int workers) {
            this.random = random;
            this.db = new TestDatabase(workers);
            db.run(
                    "CREATE TABLE c (id INT, k INT, v BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL '3 seconds') APPEND ONLY");
            for (String log : List.of("by_row", "by_window", "c_picked")) {
                oracle.execute("CREATE TABLE " + log + " (id INT, k INT, v BIGINT, ts TIMESTAMP)");
            }
        }

        void run() {
            long watermark = latest;
            for (int step = 0; step < 60; step++) {
                if (step == 4) {
                    VIEWS.forEach((name, sql) ->
                            db.run("CREATE MATERIALIZED VIEW " + name + " AS " + sql + " EMIT ON WINDOW CLOSE"));
                }
                insert(step, step < 4 ? Long.MIN_VALUE / 2 : watermark); // what is there at first is read at once
                watermark = latest - DELAY;
                db.run("FLUSH");
                if (step > 4 && random.nextInt(6) == 0) {
                    compare(watermark);
                    restartSome();
                }
            }
            compare(watermark);
        }

        /** One statement: none of its rows is late for another. */
        private void insert(int step, long watermark) {
            List<String> texts = new ArrayList<>();
            for (int i = random.nextInt(5); i >= 0; i--) {
                long seconds = 100 + step + random.nextInt(12) - 6;
                int value = random.nextInt(20);
                String row = "(" + ++id + ", " + random.nextInt(3) + ", " + value + ", TIMESTAMP '1970-01-01' + "
                        + seconds + " * INTERVAL '1 second')";
                texts.add(row);
                if (seconds >= watermark) {
                    oracle.execute("INSERT INTO by_row VALUES " + row);
                    if (value % 3 == 1) {
                        oracle.execute("INSERT INTO c_picked VALUES " + row);
                    }
                }
                if (Math.floorDiv(seconds, WINDOW) * WINDOW + WINDOW > watermark) {
                    oracle.execute("INSERT INTO by_window VALUES " + row);
                }
                latest = Math.max(latest, seconds);
            }
            db.run("INSERT INTO c VALUES " + String.join(", ", texts));
        }

        private void compare(long passed) {
            expected(passed)
                    .forEach((name, sql) ->
                            OracleCheck.requireEqual(db.session(), "SELECT * FROM " + name, oracle, sql));
        }

        private void restartSome() {
            for (String name : VIEWS.keySet()) {
                if (random.nextBoolean()) {
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
