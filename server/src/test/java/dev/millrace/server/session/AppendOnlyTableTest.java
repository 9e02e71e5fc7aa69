package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tables whose rows are only added: what is refused, windows that close over them, and both after a restart. */
class AppendOnlyTableTest {
    private static final String WINDOWS = "CREATE MATERIALIZED VIEW closed AS SELECT window_start, sum(n) AS n, count(*) AS rows"
            + " FROM TUMBLE(t, ts, INTERVAL '10 seconds') GROUP BY window_start, window_end EMIT ON WINDOW CLOSE";

    @TempDir
    Path folder;

    private TestDatabase open() {
        return new TestDatabase(folder.resolve("data"));
    }

    private static void assertRefused(TestDatabase database, String sql) {
        assertEquals(
                SqlState.WRONG_OBJECT_TYPE,
                assertThrows(MillraceException.class, () -> database.run(sql)).sqlState(),
                sql);
    }

    private static List<String> closed(TestDatabase database) {
        return database.rows("SELECT * FROM closed ORDER BY 1");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "CHECKPOINT"})
    void itIsWhatItWasAfterRestarts(String checkpoint) {
        List<String> first = List.of("2026-01-01 00:00:00|3|2");
        List<String> then = List.of("2026-01-01 00:00:00|3|2", "2026-01-01 00:00:10|4|1");
        try (TestDatabase database = open()) {
            database.run("CREATE TABLE t (n INT, ts TIMESTAMP, WATERMARK FOR ts AS ts) APPEND ONLY; " + WINDOWS);
            database.run("CREATE TABLE copy WITH (append_only = true) AS SELECT 1 AS n");
            database.run("INSERT INTO t VALUES (1, '2026-01-01 00:00:03'), (2, '2026-01-01 00:00:01')");
            database.run("INSERT INTO t VALUES (4, '2026-01-01 00:00:12')");
            assertEquals(first, closed(database));
            database.run("INSERT INTO t VALUES (100, '2026-01-01 00:00:05')"); // too late for its window
            database.run(checkpoint);
        }
        try (TestDatabase again = open()) {
            assertEquals(first, closed(again));
            assertRefused(again, "DELETE FROM t");
            assertRefused(again, "DELETE FROM copy");
            again.run("INSERT INTO t VALUES (8, '2026-01-01 00:00:20')");
            assertEquals(then, closed(again));
        }
        try (TestDatabase twice = open()) {
            assertEquals(then, closed(twice));
            assertEquals(List.of("5"), twice.rows("SELECT count(*) FROM t"));
            assertRefused(twice, "UPDATE t SET n = 0");
        }
    }

    @Test
    void windowsThatAllCloseHaveWhatTheTableHas() {
        Random random = new Random(11);
        List<Integer> seconds = new ArrayList<>();
        for (int i = 0; i < 2000; i++) {
            seconds.add(random.nextInt(600));
        }
        try (TestDatabase database = open()) {
            database.run("CREATE TABLE t (n INT, ts TIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL '700 seconds') APPEND ONLY");
            boolean made = false;
            for (int from = 0; from < seconds.size(); ) {
                int to = Math.min(seconds.size(), from + 1 + random.nextInt(400));
                List<String> rows = new ArrayList<>();
                for (int second : seconds.subList(from, to)) {
                    rows.add("(" + second + ", TIMESTAMP '2026-01-01' + INTERVAL '" + second + " seconds')");
                }
                Collections.shuffle(rows, random);
                database.run("INSERT INTO t VALUES " + String.join(", ", rows));
                if (!made && to > 500) { // over rows that are there, in no order
                    database.run(WINDOWS);
                    made = true;
                }
                from = to;
            }
            database.run("INSERT INTO t VALUES (0, '2026-01-01 01:00:00')");
            assertEquals(
                    database.rows("SELECT date_bin('10 seconds', ts, '2026-01-01'), sum(n), count(*) FROM t"
                            + " WHERE ts < '2026-01-01 00:30:00' GROUP BY 1 ORDER BY 1"),
                    closed(database));
        }
    }

    @Test
    void rowsAreAddedInTransactionsAndTakenBackWithThem() {
        try (TestDatabase database = open()) {
            database.run("CREATE TABLE t (k INT PRIMARY KEY, n INT) APPEND ONLY;"
                    + "CREATE MATERIALIZED VIEW most AS SELECT max(n) AS n, count(*) AS rows FROM t");
            database.run("BEGIN; INSERT INTO t VALUES (1, 10); SAVEPOINT s; INSERT INTO t VALUES (2, 99);"
                    + "ROLLBACK TO s; INSERT INTO t VALUES (2, 20); COMMIT");
            database.run("BEGIN; INSERT INTO t VALUES (3, 99); ROLLBACK");
            assertEquals(List.of("20|2"), database.rows("SELECT * FROM most"));
            assertRefused(database, "INSERT INTO t VALUES (1, 5) ON CONFLICT (k) DO UPDATE SET n = 0");
            assertRefused(database, "TRUNCATE t");
        }
    }
}
