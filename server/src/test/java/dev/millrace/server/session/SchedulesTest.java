package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.testing.time.Eventually;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code WITH (schedule = ..)}: queries that take what has come from time to time. */
class SchedulesTest {
    private static final String SUM = "SELECT coalesce(sum(n), 0) FROM total";

    @TempDir
    Path folder;

    private static void create(TestDatabase db, String schedule) {
        db.run("CREATE TABLE t (n INTEGER); CREATE MATERIALIZED VIEW total WITH (schedule = '" + schedule
                + "') AS SELECT sum(n) AS n FROM t");
    }

    private static String one(TestDatabase db, String sql) {
        return String.join(", ", db.rows(sql));
    }

    @Test
    void rowsWaitAreCountedAndFlushedAndAnotherScheduleHoldsAtOnce() {
        try (TestDatabase db = new TestDatabase()) {
            create(db, "every 1000 rows");
            db.run("INSERT INTO t VALUES (1); INSERT INTO t VALUES (2)");
            assertEquals("0", one(db, SUM));
            Eventually.holds(
                    "two rows wait",
                    () -> one(db, "SELECT max(queued_rows) FROM millrace.operator_stats WHERE query = 'total'")
                            .equals("2"));
            db.run("FLUSH");
            assertEquals("3", one(db, SUM));
            db.run("INSERT INTO t SELECT 1 FROM generate_series(1, 1000)");
            Eventually.holds("a thousand are taken at once", () -> one(db, SUM).equals("1003"));
            db.run("INSERT INTO t VALUES (7)");
            assertEquals("1003", one(db, SUM));
            db.run("ALTER MATERIALIZED VIEW total SET (schedule = 'every 50 ms')");
            Eventually.holds("what waited is taken", () -> one(db, SUM).equals("1010"));
            db.run("INSERT INTO t VALUES (8)");
            Eventually.holds("so is what comes", () -> one(db, SUM).equals("1018"));
            db.run("ALTER MATERIALIZED VIEW total SET (schedule = '1 h')");
            db.run("INSERT INTO t VALUES (9)");
            assertEquals("1018", one(db, SUM));
            db.run("ALTER MATERIALIZED VIEW total RESET (schedule)");
            Eventually.holds("nothing waits", () -> one(db, SUM).equals("1027"));
            db.run("INSERT INTO t VALUES (10)");
            assertEquals("1037", one(db, SUM));
            assertTrue(one(db, "SELECT max(queue_seconds) > 0 FROM millrace.operator_stats WHERE query = 'total'")
                    .equals("t"));
        }
    }

    @Test
    void itIsPartOfTheDefinitionAndIsThereAfterARestart() {
        try (TestDatabase db = new TestDatabase(folder.resolve("data"))) {
            create(db, "every 1 h");
            db.run("CREATE CONTINUOUS QUERY q WITH (schedule = '500 ms') AS SELECT n FROM t");
            db.run("INSERT INTO t VALUES (1)");
            db.run("ALTER CONTINUOUS QUERY q SET (schedule = '5 rows OR 2 s')");
            db.run("ALTER MATERIALIZED VIEW total SET (schedule = 'every 2 h')");
        }
        try (TestDatabase db = new TestDatabase(folder.resolve("data"))) {
            assertTrue(one(db, "SHOW CREATE CONTINUOUS QUERY q").contains("schedule = '5 rows OR 2 s'"));
            assertTrue(one(db, "SHOW CREATE MATERIALIZED VIEW total").contains("schedule = 'every 2 h'"));
            assertEquals("1", one(db, SUM));
            db.run("INSERT INTO t VALUES (2)");
            assertEquals("1", one(db, SUM));
            db.run("FLUSH");
            assertEquals("3", one(db, SUM));
        }
    }

    @Test
    void whatIsNoScheduleIsRefused() {
        try (TestDatabase db = new TestDatabase()) {
            create(db, "data");
            assertTrue(db.error("CREATE MATERIALIZED VIEW v WITH (schedule = 'often') AS SELECT n FROM t")
                    .startsWith("22023"));
            assertTrue(db.error("ALTER MATERIALIZED VIEW total SET (schedule = '0 rows')")
                    .startsWith("22023"));
            assertTrue(db.error("ALTER MATERIALIZED VIEW total SET (schedule = 'data', fillfactor = 70)")
                    .startsWith("0A000"));
            assertTrue(db.error("ALTER CONTINUOUS QUERY total SET (schedule = 'data')")
                    .startsWith("42809"));
            assertTrue(db.error("ALTER TABLE t SET (schedule = 'data')").startsWith("0A000"));
        }
    }

    @Test
    void alterAndRestartOfAQueryKeepItsSchedule() {
        try (TestDatabase db = new TestDatabase()) {
            create(db, "every 1 h");
            db.run("ALTER MATERIALIZED VIEW total AS SELECT sum(2 * n) AS n FROM t");
            db.run("INSERT INTO t VALUES (5)");
            assertEquals("0", one(db, SUM));
            db.run("PAUSE MATERIALIZED VIEW total");
            assertEquals("10", one(db, SUM)); // a pause is at the end of an epoch of which all is there
            db.run("INSERT INTO t VALUES (6)");
            db.run("RESUME MATERIALIZED VIEW total");
            Eventually.holds(
                    "what waited while it was paused is there",
                    () -> one(db, SUM).equals("22"));
        }
    }
}
