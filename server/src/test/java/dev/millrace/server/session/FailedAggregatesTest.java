package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.error.MillraceException;
import dev.millrace.testing.time.Eventually;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What users' aggregates and table functions throw over rows that may be taken back goes with what caused it. */
@Tag("long")
class FailedAggregatesTest {
    private static final String SOURCE = """
            package org.example;

            import dev.millrace.udf.AggregateFunction;
            import dev.millrace.udf.TableFunction;
            import java.util.function.Consumer;

            public final class Code {
                /** A sum that takes nothing below zero, cannot be 13, and is at most 100 at any time. */
                public static class Picky implements AggregateFunction<long[]> {
                    public long[] create() { return new long[1]; }
                    public long[] accumulate(long[] state, Object[] arguments) {
                        long x = (Long) arguments[0];
                        if (x < 0) throw new IllegalArgumentException("below zero");
                        if (state[0] + x > 100) throw new IllegalStateException("above 100");
                        state[0] += x;
                        return state;
                    }
                    public long[] retract(long[] state, Object[] arguments) {
                        if ((Long) arguments[0] < 0) throw new AssertionError("was never added");
                        state[0] -= (Long) arguments[0];
                        return state;
                    }
                    public long[] merge(long[] state, long[] other) { state[0] += other[0]; return state; }
                    public Object result(long[] state) {
                        if (state[0] == 13) throw new IllegalStateException("13");
                        return state[0];
                    }
                }

                /** A sum that takes back nothing. */
                public static final class Stubborn extends Picky {
                    public long[] retract(long[] state, Object[] arguments) {
                        throw new IllegalStateException("never " + arguments[0]);
                    }
                }

                /** How many bytes there are in lists that must have some in each element. */
                public static final class Blobs implements AggregateFunction<long[]> {
                    public long[] create() { return new long[1]; }
                    private static long count(Object[] arguments) {
                        long bytes = 0;
                        for (Object element : (java.util.List<?>) arguments[0]) {
                            bytes += ((byte[]) element).length;
                            if (((byte[]) element)[0] == 0) throw new IllegalArgumentException("a zero");
                        }
                        return bytes;
                    }
                    public long[] accumulate(long[] state, Object[] arguments) { state[0] += count(arguments); return state; }
                    public long[] retract(long[] state, Object[] arguments) { state[0] -= count(arguments); return state; }
                    public Object result(long[] state) { return state[0]; }
                }

                /** So many rows as asked for, the last of the wrong width if they are seven. */
                public static final class Rows implements TableFunction {
                    public void call(Object[] arguments, Consumer<Object[]> rows) {
                        if (arguments[0] == null) return;
                        long n = (Long) arguments[0];
                        if (n < 0) throw new IllegalArgumentException("below zero");
                        for (long i = 0; i < n; i++) rows.accept(n == 7 && i == 6 ? new Object[2] : new Object[] {"r" + i});
                    }
                }
            }
            """;

    @TempDir
    private Path folder;

    private TestDatabase open(int workers) throws IOException {
        TestDatabase db = new TestDatabase(workers);
        Path jar = TestJar.of(SOURCE, folder);
        for (String function : List.of(
                "picky(BIGINT) RETURNS BIGINT:Picky",
                "stubborn(BIGINT) RETURNS BIGINT:Stubborn",
                "blobs(BYTEA[]) RETURNS BIGINT:Blobs",
                "some_rows(n BIGINT) RETURNS TABLE (r TEXT):Rows")) {
            String[] parts = function.split(":");
            db.run("CREATE FUNCTION " + parts[0] + " LANGUAGE JAVA AS '" + jar + "', 'org.example.Code$" + parts[1]
                    + "'");
        }
        return db;
    }

    private static String answer(TestDatabase db, String query) {
        try {
            return db.rows(query).toString();
        } catch (MillraceException e) {
            return "error " + e.sqlState().code();
        }
    }

    private static void agree(TestDatabase db, String query) {
        assertEquals(answer(db, query), answer(db, "SELECT * FROM v"), query);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "SELECT k, picky(x) AS p FROM t GROUP BY k",
                "SELECT picky(x) AS p, count(*) AS n FROM t",
                "SELECT k, picky(x) AS p, sum(x) AS s, string_agg(x::text, ',' ORDER BY x) AS a FROM t GROUP BY k",
                "SELECT k, picky(x) FILTER (WHERE x <> 5) AS p, picky(x + 1) AS q FROM t GROUP BY k",
                "SELECT k, count(*) AS n FROM t GROUP BY k HAVING picky(x) > 5",
                "SELECT max(p) AS m FROM (SELECT k, picky(x) AS p FROM t GROUP BY k) AS w",
                "SELECT k, picky(x) AS p FROM t GROUP BY ROLLUP (k)",
                "SELECT k, x, picky(x) OVER (PARTITION BY k) AS p FROM t",
                "SELECT k, picky(DISTINCT x) AS p FROM t GROUP BY k"
            })
    void aGroupThatAUsersAggregateRefusesFailsAsLongAsItDoes(String query) throws IOException {
        for (int workers = 1; workers <= 2; workers++) {
            try (TestDatabase db = open(workers)) {
                db.run("CREATE TABLE t (id INT PRIMARY KEY, k BIGINT, x BIGINT NOT NULL)");
                db.run("INSERT INTO t VALUES (1, 1, 5), (2, 2, 7), (3, NULL, 3)");
                db.run("CREATE MATERIALIZED VIEW v AS " + query);
                for (int round = 0; round < 3; round++) {
                    agree(db, query);
                    db.run("INSERT INTO t VALUES (10, 1, -1), (11, 1, -1), (12, 1, -2)"); // not added
                    assertEquals(
                            "38000", db.failure("SELECT * FROM v").sqlState().code());
                    agree(db, query);
                    db.run("INSERT INTO t VALUES (20, 2, 8)"); // another group
                    agree(db, query);
                    db.run("DELETE FROM t WHERE id = 10");
                    agree(db, query);
                    db.run("DELETE FROM t WHERE id > 10");
                    agree(db, query);
                    db.run("UPDATE t SET x = x - 10 WHERE k = 1");
                    agree(db, query);
                    db.run("UPDATE t SET x = x + 10 WHERE k = 1");
                    agree(db, query);
                    db.run("DELETE FROM t WHERE k = 2");
                    db.run("INSERT INTO t VALUES (2, 2, -7)"); // a group that is there with nothing but its failure
                    agree(db, query);
                    db.run("DELETE FROM t WHERE k = 2");
                    agree(db, query);
                    db.run("INSERT INTO t VALUES (2, 2, 7), (21, 2, 6)"); // 13
                    agree(db, query);
                    db.run("DELETE FROM t WHERE id = 21");
                    agree(db, query);
                }
            }
        }
    }

    @Test
    void whatCouldNotBeAddedIsOnceThereIsRoom() throws IOException {
        try (TestDatabase db = open(1)) {
            db.run("CREATE TABLE t (id INT PRIMARY KEY, k TEXT, x BIGINT NOT NULL)");
            db.run("CREATE MATERIALIZED VIEW v AS SELECT k, picky(x) AS p FROM t GROUP BY k");
            db.run("INSERT INTO t VALUES (1, 'oak', 60)");
            db.run("INSERT INTO t VALUES (2, 'oak', 70), (3, 'elm', 4)");
            assertTrue(
                    db.error("SELECT * FROM v")
                            .contains(
                                    "group (k = oak): function picky failed: java.lang.IllegalStateException: above 100"),
                    db.error("SELECT * FROM v"));
            db.run("DELETE FROM t WHERE id = 1");
            assertEquals(List.of("elm|4", "oak|70"), db.rows("SELECT * FROM v"));
        }
    }

    @Test
    void aRowIsKnownAgainByTheBytesInItsLists() throws IOException {
        try (TestDatabase db = open(1)) {
            db.run("CREATE TABLE t (id INT PRIMARY KEY, x BYTEA[] NOT NULL)");
            db.run("CREATE MATERIALIZED VIEW v AS SELECT blobs(x) AS b FROM t");
            db.run("INSERT INTO t VALUES (1, ARRAY['\\x0102'::bytea]), (2, ARRAY['\\x01'::bytea, '\\x00'])");
            assertTrue(db.error("SELECT * FROM v").contains("a zero"), db.error("SELECT * FROM v"));
            db.run("DELETE FROM t WHERE id = 2");
            assertEquals(List.of("2"), db.rows("SELECT * FROM v"));
        }
    }

    @Test
    void aGroupThatCannotTakeARowBackFailsUntilItIsGone() throws IOException {
        try (TestDatabase db = open(2)) {
            db.run("CREATE TABLE t (id INT PRIMARY KEY, k BIGINT, x BIGINT NOT NULL)");
            db.run("CREATE MATERIALIZED VIEW v AS SELECT k, stubborn(x) AS p FROM t GROUP BY k");
            db.run("INSERT INTO t VALUES (1, 1, 5), (2, 1, 6), (3, 2, 7)");
            db.run("DELETE FROM t WHERE id = 1");
            assertTrue(db.error("SELECT * FROM v").contains("never 5"), db.error("SELECT * FROM v"));
            db.run("INSERT INTO t VALUES (1, 1, 9)");
            assertTrue(db.error("SELECT * FROM v").contains("never 5"), db.error("SELECT * FROM v"));
            db.run("DELETE FROM t WHERE k = 1");
            assertEquals(List.of("2|7"), db.rows("SELECT * FROM v"));
            db.run("INSERT INTO t VALUES (1, 1, 9)");
            assertEquals(List.of("1|9", "2|7"), db.rows("SELECT * FROM v"));
        }
    }

    @Test
    void manyGroupsThatFailAtRandomFailAndRecover() throws IOException {
        try (TestDatabase db = open(2)) {
            String query = "SELECT k, picky(x) AS p, max(x) AS m FROM t GROUP BY k";
            db.run("CREATE TABLE t (id INT PRIMARY KEY, k BIGINT, x BIGINT NOT NULL)");
            db.run("CREATE MATERIALIZED VIEW v AS " + query);
            Random random = new Random(5);
            for (int step = 0; step < 60; step++) {
                int from = random.nextInt(500);
                switch (random.nextInt(4)) {
                    case 0 -> db.run("DELETE FROM t WHERE x < 0");
                    case 1 -> db.run("DELETE FROM t WHERE id BETWEEN " + from + " AND " + (from + 100));
                    case 2 -> db.run("UPDATE t SET x = x - 1 WHERE id % 50 = " + from % 50);
                    default ->
                        db.run("INSERT INTO t SELECT i, i % 40, i % " + (1 + random.nextInt(6)) + " - "
                                + random.nextInt(2) + " FROM generate_series(" + from + ", " + (from + 30)
                                + ") g(i) ON CONFLICT (id) DO NOTHING");
                }
                agree(db, query);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "SELECT id, r FROM t, LATERAL some_rows(x) AS f(r)",
                "SELECT id, r FROM t LEFT JOIN LATERAL some_rows(x) AS f(r) ON true",
                "SELECT id, g FROM t, LATERAL generate_series(1, 9, x) AS f(g)",
                "SELECT id, count(g) AS n FROM t, LATERAL generate_series(1, 3000, x) AS f(g) GROUP BY id"
            })
    void aRowThatATableFunctionRefusesFailsAsLongAsItIs(String query) throws IOException {
        for (int workers = 1; workers <= 2; workers++) {
            try (TestDatabase db = open(workers)) {
                db.run("CREATE TABLE t (id INT PRIMARY KEY, x BIGINT)");
                db.run("INSERT INTO t VALUES (1, 5), (2, 2), (3, NULL)");
                db.run("CREATE MATERIALIZED VIEW v AS " + query);
                for (int round = 0; round < 2; round++) {
                    agree(db, query);
                    db.run("INSERT INTO t VALUES (4, 0), (5, -1), (6, 3), (7, 7), (8, 2)");
                    agree(db, query);
                    db.run("DELETE FROM t WHERE id = 4");
                    agree(db, query);
                    db.run("UPDATE t SET x = 1 WHERE id = 5");
                    agree(db, query);
                    db.run("DELETE FROM t WHERE id > 6");
                    assertTrue(answer(db, "SELECT * FROM v").startsWith("["));
                    agree(db, query);
                    db.run("DELETE FROM t WHERE id > 3");
                }
            }
        }
    }

    @Test
    void aWindowThatFailsEndsItsQueryAndIsNamed() throws IOException {
        String nines = "9".repeat(38);
        try (TestDatabase db = open(2)) {
            db.run("CREATE STREAM s (k TEXT, ts TIMESTAMP NOT NULL, n NUMERIC(38,0), WATERMARK FOR ts AS ts)");
            db.run("CREATE MATERIALIZED VIEW v AS SELECT k, sum(n) AS s, window_end FROM"
                    + " TUMBLE(s, ts, INTERVAL '5 s') GROUP BY k, window_start, window_end");
            db.run("CREATE MATERIALIZED VIEW w AS SELECT k, sum(n) AS s, window_end FROM SESSION(TABLE s PARTITION BY"
                    + " k, DESCRIPTOR(ts), INTERVAL '5 s') GROUP BY k, window_start, window_end");
            for (int i = 0; i < 9; i++) {
                db.run("INSERT INTO s VALUES ('elm" + i + "', '2024-01-01 00:00:01', 3)");
            }
            db.run("INSERT INTO s VALUES ('oak', '2024-01-01 00:00:01', " + nines + "), ('oak', '2024-01-01 00:00:02', "
                    + nines + ")");
            db.run("INSERT INTO s VALUES ('elm', '2024-01-01 00:01:00', 3)");
            awaitFailure(db, "v", "window to 2024-01-01 00:00:05: group (k = oak): numeric value out of range");
            awaitFailure(db, "w", "session to 2024-01-01 00:00:07: group (k = oak): numeric value out of range");
        }
    }

    @Test
    void aConditionOfAPatternThatFailsNamesItsVariable() throws IOException {
        try (TestDatabase db = open(1)) {
            db.run("CREATE STREAM s (k TEXT, ts TIMESTAMP NOT NULL, n INT, WATERMARK FOR ts AS ts)");
            db.run("CREATE MATERIALIZED VIEW v AS SELECT * FROM s MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES"
                    + " last(up.n) AS n PATTERN (first up+) DEFINE up AS 10 / (up.n - first(first.n)) > 0)");
            db.run("INSERT INTO s VALUES ('oak', '2024-01-01 00:00:01', 1), ('oak', '2024-01-01 00:00:02', 1)");
            db.run("INSERT INTO s VALUES ('elm', '2024-01-01 00:01:00', 3)");
            awaitFailure(db, "v", "condition of up: division by zero");
        }
    }

    private static void awaitFailure(TestDatabase db, String view, String message) {
        Eventually.holds(
                view + " fails",
                () -> db.rows("SELECT state FROM millrace.query_stats WHERE query = '" + view + "'")
                        .equals(List.of("failed")));
        String error = db.error("SELECT * FROM " + view);
        assertTrue(error.contains(message), error);
    }
}
