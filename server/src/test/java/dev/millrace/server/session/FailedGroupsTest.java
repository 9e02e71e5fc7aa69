package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A group whose result is out of range is an error as long as it is, and no longer. */
@Tag("long")
class FailedGroupsTest {
    private static final String NINES = "9".repeat(38);

    private static void compare(TestDatabase db, String query, String view) {
        assertEquals(db.rows(query), db.rows("SELECT * FROM " + view), query);
    }

    private static void bothFail(TestDatabase db, String query, String view) {
        assertEquals("22003", db.failure(query).sqlState().code(), query);
        assertEquals("22003", db.failure("SELECT * FROM " + view).sqlState().code(), query);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "SELECT k, sum(n) AS s FROM t GROUP BY k",
                "SELECT sum(n) AS s FROM t",
                "SELECT k, sum(n) AS s, count(*) AS c, max(n) AS m FROM t GROUP BY k",
                "SELECT k, sum(DISTINCT n) AS s FROM t GROUP BY k",
                "SELECT k, var_pop(n) AS s, sum(n) AS t FROM t GROUP BY k",
                "SELECT k, sum(n) FILTER (WHERE n <> 7) AS s FROM t GROUP BY k",
                "SELECT k, sum(n) AS s FROM t GROUP BY ROLLUP (k)",
                "SELECT max(s) AS m FROM (SELECT k, sum(n) AS s FROM t GROUP BY k) AS w",
                "SELECT t.k, w.s FROM t LEFT JOIN (SELECT k, sum(n) AS s FROM t GROUP BY k) AS w ON t.k = w.k"
            })
    void aSumThatComesBackIntoRangeIsReadable(String query) {
        for (int workers = 1; workers <= 3; workers++) {
            try (TestDatabase db = new TestDatabase(workers)) {
                db.run("CREATE TABLE t (k BIGINT, n NUMERIC(38,0))");
                db.run("INSERT INTO t VALUES (1, 5), (2, 7), (NULL, 3)");
                db.run("CREATE MATERIALIZED VIEW v AS " + query);
                for (int round = 0; round < 3; round++) {
                    compare(db, query, "v");
                    db.run("INSERT INTO t VALUES (1, " + NINES + "), (1, " + NINES + " - 1), (1, " + NINES + " - 2)");
                    bothFail(db, query, "v");
                    db.run("INSERT INTO t VALUES (2, 8)"); // another group
                    bothFail(db, query, "v");
                    db.run("DELETE FROM t WHERE n > 1000");
                    compare(db, query, "v");
                    db.run("INSERT INTO t VALUES (2, -" + NINES + "), (2, 1 - " + NINES + ")");
                    bothFail(db, query, "v");
                    db.run("DELETE FROM t WHERE n < -1000 OR n = 8");
                    compare(db, query, "v");
                }
            }
        }
    }

    @Test
    void aGroupThatFailsIsNamedAndGoesWithItsRows() {
        try (TestDatabase db = new TestDatabase(2)) {
            db.run("CREATE TABLE t (name TEXT, n NUMERIC(38,0))");
            db.run("CREATE MATERIALIZED VIEW v AS SELECT name, sum(n) AS s FROM t GROUP BY name");
            db.run("CREATE MATERIALIZED VIEW other AS SELECT name, count(*) AS c FROM t GROUP BY name");
            db.run("INSERT INTO t VALUES ('oak', " + NINES + "), ('oak', " + NINES + "), ('elm', 3)");
            assertTrue(
                    db.error("SELECT * FROM v").contains("group (name = oak): numeric value out of range"),
                    db.error("SELECT * FROM v"));
            assertEquals(List.of("elm|1", "oak|2"), db.rows("SELECT * FROM other"));
            db.run("UPDATE t SET n = 10 - n WHERE name = 'oak' AND n > 10");
            db.run("INSERT INTO t VALUES ('oak', " + NINES + ")"); // 20 less once the nines
            assertEquals(List.of("elm|3", "oak|-" + "9".repeat(36) + "79"), db.rows("SELECT * FROM v"));
            db.run("DELETE FROM t WHERE name = 'oak'");
            assertEquals(List.of("elm|3"), db.rows("SELECT * FROM v"));
        }
    }

    @Test
    void rowsThatOnlyComeBringASumBackIntoRangeToo() {
        try (TestDatabase db = new TestDatabase()) {
            db.run("CREATE STREAM s (k BIGINT, n NUMERIC(38,0))");
            db.run("CREATE MATERIALIZED VIEW v AS SELECT k, sum(n) AS s, avg(n) AS a FROM s GROUP BY k");
            db.run("INSERT INTO s VALUES (1, " + NINES + "), (1, " + NINES + "), (2, 4)");
            assertEquals("22003", db.failure("SELECT * FROM v").sqlState().code());
            db.run("INSERT INTO s VALUES (1, 1 - " + NINES + "), (1, 2 - " + NINES + "), (2, 6)");
            assertEquals(List.of("1|3", "2|10"), db.rows("SELECT k, s FROM v"));
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void sumsOfIntervalsComeBackIntoRange(int workers) {
        try (TestDatabase db = new TestDatabase(workers)) {
            String query = "SELECT k, sum(i) AS s FROM t GROUP BY k";
            db.run("CREATE TABLE t (k BIGINT, i INTERVAL)");
            db.run("CREATE MATERIALIZED VIEW v AS " + query);
            db.run("INSERT INTO t VALUES (1, '1 hour'), (2, '2 months 3 days')");
            for (String much : List.of("2500000 hours", "-2500000 hours", "170000000 years", "2000000000 days")) {
                db.run("INSERT INTO t SELECT 1, INTERVAL '" + much + "' FROM generate_series(1, 1100)");
                assertEquals("22008", db.failure(query).sqlState().code(), much);
                assertEquals("22008", db.failure("SELECT * FROM v").sqlState().code(), much);
                db.run("DELETE FROM t WHERE k = 1");
                db.run("INSERT INTO t VALUES (1, '1 hour')");
                compare(db, query, "v");
            }
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "SELECT k, id, sum(n) OVER (PARTITION BY k ORDER BY id) AS s FROM t",
                "SELECT k, id, sum(n) OVER (PARTITION BY k) AS s, count(*) OVER (PARTITION BY k) AS c FROM t",
                "SELECT k, id, sum(n) OVER (PARTITION BY k ORDER BY id ROWS BETWEEN 2 PRECEDING AND 1 FOLLOWING) AS s FROM t",
                "SELECT k, id, sum(n) OVER w AS s, dense_rank() OVER w AS d, rank() OVER w AS r, lag(n) OVER w AS l"
                        + " FROM t WINDOW w AS (PARTITION BY k ORDER BY id / 10)",
                "SELECT k, id, sum(n) OVER (ORDER BY id RANGE BETWEEN 1 PRECEDING AND CURRENT ROW) AS s FROM t"
            })
    void aRowWhoseFrameIsOutOfRangeFailsAsLongAsItIs(String query) {
        for (int workers = 1; workers <= 2; workers++) {
            try (TestDatabase db = new TestDatabase(workers)) {
                db.run("CREATE TABLE t (k BIGINT, id BIGINT, n NUMERIC(38,0))");
                db.run("INSERT INTO t SELECT i % 3, i, i FROM generate_series(1, 3000) g(i)");
                db.run("CREATE MATERIALIZED VIEW v AS " + query);
                for (int round = 0; round < 2; round++) {
                    compare(db, query, "v");
                    db.run("INSERT INTO t VALUES (1, 1500, " + NINES + "), (1, 1500, " + NINES + "), (1, 1501, -"
                            + NINES + ")");
                    bothFail(db, query, "v");
                    db.run("INSERT INTO t SELECT i % 3, i, -i FROM generate_series(1400, 1600) g(i)"); // near them
                    bothFail(db, query, "v");
                    db.run("DELETE FROM t WHERE n > 10000 OR n < -10000");
                    compare(db, query, "v");
                    db.run("DELETE FROM t WHERE n < 0");
                }
            }
        }
    }

    @Test
    void manyGroupsFailAndMostOfThemRecover() {
        try (TestDatabase db = new TestDatabase(2)) {
            String query =
                    "SELECT k, sum(n) AS s, min(n) AS m, string_agg(n::text, ',' ORDER BY n) AS a FROM t GROUP BY k";
            db.run("CREATE TABLE t (k BIGINT, n NUMERIC(38,0))");
            db.run("INSERT INTO t SELECT i, i FROM generate_series(1, 5000) g(i)");
            db.run("CREATE MATERIALIZED VIEW v AS " + query);
            db.run("INSERT INTO t SELECT i, " + NINES + " - i FROM generate_series(1, 5000) g(i) WHERE i % 3 = 0");
            db.run("INSERT INTO t SELECT i, " + NINES + " - i FROM generate_series(1, 5000) g(i) WHERE i % 6 = 0");
            bothFail(db, query, "v");
            db.run("DELETE FROM t WHERE n > 10000 AND k % 12 <> 0");
            bothFail(db, query, "v");
            db.run("DELETE FROM t WHERE k % 12 = 0");
            compare(db, query, "v");
        }
    }
}
