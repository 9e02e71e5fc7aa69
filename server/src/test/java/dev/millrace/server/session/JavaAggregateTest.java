package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.engine.runtime.QueryOptions;
import dev.millrace.engine.runtime.QuerySnapshot;
import dev.millrace.engine.runtime.StandingQuery;
import dev.millrace.error.MillraceException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Users' aggregates whose states are kept: with retract over what changes, with merge over windows made of parts. */
class JavaAggregateTest {
    static final String SOURCE = """
            package org.example;

            import dev.millrace.udf.AggregateFunction;
            import java.io.Serializable;
            import java.util.ArrayList;
            import java.util.List;
            import java.util.TreeMap;

            public final class Code {
                /** The average of integers, by a state of a class of its own. */
                public static final class Mean implements AggregateFunction<Mean.Sum> {
                    public static final class Sum implements Serializable { long sum; long count; }

                    public Sum create() { return new Sum(); }
                    public Sum accumulate(Sum state, Object[] arguments) { return add(state, arguments, 1); }
                    public Sum retract(Sum state, Object[] arguments) { return add(state, arguments, -1); }
                    private static Sum add(Sum state, Object[] arguments, int weight) {
                        if (arguments[0] != null) {
                            state.sum += weight * (Long) arguments[0];
                            state.count += weight;
                        }
                        return state;
                    }
                    public Sum merge(Sum state, Sum other) {
                        state.sum += other.sum;
                        state.count += other.count;
                        return state;
                    }
                    public Object result(Sum state) { return state.count == 0 ? null : (double) state.sum / state.count; }
                }

                /** The two greatest values. */
                public static final class Top2 implements AggregateFunction<TreeMap<Long, Integer>> {
                    public TreeMap<Long, Integer> create() { return new TreeMap<>(); }
                    public TreeMap<Long, Integer> accumulate(TreeMap<Long, Integer> state, Object[] arguments) {
                        state.merge((Long) arguments[0], 1, Integer::sum);
                        return state;
                    }
                    public TreeMap<Long, Integer> retract(TreeMap<Long, Integer> state, Object[] arguments) {
                        if (!state.containsKey(arguments[0])) throw new IllegalStateException("never added");
                        state.computeIfPresent((Long) arguments[0], (value, count) -> count == 1 ? null : count - 1);
                        return state;
                    }
                    public TreeMap<Long, Integer> merge(TreeMap<Long, Integer> state, TreeMap<Long, Integer> other) {
                        other.forEach((value, count) -> state.merge(value, count, Integer::sum));
                        return state;
                    }
                    public Object result(TreeMap<Long, Integer> state) {
                        List<Long> top = new ArrayList<>();
                        state.descendingMap().forEach((value, count) -> {
                            for (int i = 0; i < count && top.size() < 2; i++) top.add(value);
                        });
                        return top;
                    }
                }

                /** The geometric mean: it cannot take back, but put together. */
                public static class GeoMean implements AggregateFunction<double[]> {
                    public double[] create() { return new double[2]; }
                    public double[] accumulate(double[] state, Object[] arguments) {
                        state[0] += Math.log((Long) arguments[0]);
                        state[1]++;
                        return state;
                    }
                    public double[] merge(double[] state, double[] other) {
                        if (state[1] == 0) return other;
                        state[0] += other[0];
                        state[1] += other[1];
                        return state;
                    }
                    public Object result(double[] state) { return Math.round(1e6 * Math.exp(state[0] / state[1])); }
                }

                /** What it gathers cannot be written. */
                public static final class Opaque implements AggregateFunction<Object[]> {
                    public Object[] create() { return new Object[] {new Thread(() -> {}), 0L}; }
                    public Object[] accumulate(Object[] state, Object[] arguments) {
                        state[1] = (Long) state[1] + (Long) arguments[0];
                        return state;
                    }
                    public Object[] retract(Object[] state, Object[] arguments) { throw new AssertionError(); }
                    public Object result(Object[] state) { return state[1]; }
                }

                public static final class Brittle extends GeoMean {
                    public double[] retract(double[] state, Object[] arguments) {
                        throw new IllegalStateException("cannot take back " + arguments[0]);
                    }
                }
            }
            """;

    @TempDir
    private Path folder;

    private final TestDatabase database = new TestDatabase();

    @BeforeEach
    void create() throws IOException {
        Path jar = TestJar.of(SOURCE, folder);
        for (String function : List.of(
                "mean(BIGINT) RETURNS DOUBLE PRECISION:Mean",
                "top2(BIGINT) RETURNS BIGINT[]:Top2",
                "geo_mean(BIGINT) RETURNS BIGINT:GeoMean",
                "brittle(BIGINT) RETURNS BIGINT:Brittle",
                "opaque(BIGINT) RETURNS BIGINT:Opaque")) {
            String[] parts = function.split(":");
            database.run("CREATE FUNCTION " + parts[0] + " LANGUAGE JAVA AS '" + jar + "', 'org.example.Code$"
                    + parts[1] + "'");
        }
        database.run("CREATE TABLE t (k INT PRIMARY KEY, g INT, x BIGINT, b BOOLEAN)");
        database.run("CREATE STREAM s (g INT, ts TIMESTAMP NOT NULL, x BIGINT, WATERMARK FOR ts AS ts)");
    }

    @AfterEach
    void close() {
        database.close();
    }

    private String explained(String query) {
        return String.join("\n", database.rows("EXPLAIN CREATE MATERIALIZED VIEW e AS " + query));
    }

    private void requireKept(boolean kept, String query) {
        String plan = explained(query);
        assertEquals(kept, !plan.contains("array_agg"), plan);
    }

    @Test
    void statesAreKeptWhereTheCodeCanDoWhatIsNeeded() {
        requireKept(true, "SELECT g, mean(x) FROM t GROUP BY g");
        requireKept(true, "SELECT mean(x) FROM t");
        requireKept(true, "SELECT g, geo_mean(x) FROM s GROUP BY g");
        requireKept(false, "SELECT g, geo_mean(x) FROM t GROUP BY g");
        requireKept(false, "SELECT g, opaque(x) FROM t GROUP BY g");
        requireKept(false, "SELECT g, opaque(x) FROM s GROUP BY g");
        requireKept(false, "SELECT g, mean(DISTINCT x) FROM t GROUP BY g");
        requireKept(false, "SELECT g, array_agg(ROW(x)), mean(x) FROM t GROUP BY g");
        requireKept(
                true,
                "SELECT g, geo_mean(x) FROM HOP(s, ts, INTERVAL '1 s', INTERVAL '5 s') GROUP BY g, window_start, window_end");
        requireKept(
                true,
                "SELECT g, geo_mean(x) FROM SESSION(TABLE s PARTITION BY g, DESCRIPTOR(ts), INTERVAL '5 s')"
                        + " GROUP BY g, window_start, window_end");
        String plan = explained("SELECT g, mean(x) + 1 AS m, count(*) FROM t GROUP BY g HAVING mean(x) > 3");
        assertTrue(plan.contains("mean("), plan);
    }

    /** Three ways of saying the same must agree after each change. */
    @Test
    void keptStatesFollowAllChangesAndRestarts() {
        database.run("CREATE MATERIALIZED VIEW v AS SELECT g, mean(x) AS m, round(avg(x), 9)::double precision AS a,"
                + " top2(x) FILTER (WHERE b AND x IS NOT NULL) AS t, geo_mean(x) FILTER (WHERE x > 0) AS gm,"
                + " coalesce((array_agg(x ORDER BY x DESC) FILTER (WHERE b AND x IS NOT NULL))[1:2], '{}') AS u,"
                + " (1e6 * exp(avg(ln(x)) FILTER (WHERE x > 0)))::bigint AS gu, count(*) AS n FROM t GROUP BY g");
        database.run("CREATE MATERIALIZED VIEW w AS SELECT mean(x) AS m, count(x) AS n FROM t");
        Random random = new Random(3);
        for (int step = 0; step < 60; step++) {
            String value = random.nextInt(8) == 0 ? "NULL" : "" + (random.nextInt(30) - 3);
            int key = random.nextInt(40);
            switch (random.nextInt(4)) {
                case 0 -> database.run("DELETE FROM t WHERE k % 11 = " + key % 11);
                case 1 -> database.run("UPDATE t SET x = x + 1, g = (g + 1) % 4 WHERE k % 5 = " + key % 5);
                default ->
                    database.run("INSERT INTO t VALUES (" + key + ", " + random.nextInt(4) + ", " + value + ", "
                            + random.nextBoolean()
                            + ") ON CONFLICT (k) DO UPDATE SET g = EXCLUDED.g, x = EXCLUDED.x, b = EXCLUDED.b");
            }
            if (random.nextInt(4) == 0) {
                assertEquals(
                        List.of(),
                        database.flushedRows("SELECT * FROM v WHERE abs(m - a) > 0.000001 OR (m IS NULL) <> (a IS NULL)"
                                + " OR t <> u OR abs(gm - gu) > 1"));
                assertEquals(
                        database.rows("SELECT g, count(*) FROM t GROUP BY g"), database.rows("SELECT g, n FROM v"));
                assertEquals(
                        database.rows("SELECT sum(x)::double precision / nullif(count(x), 0), count(x) FROM t"),
                        database.rows("SELECT * FROM w"));
                restart("v");
                restart("w");
            }
        }
    }

    private void restart(String name) {
        StandingQuery running = database.database().engine().query(name);
        QuerySnapshot snapshot = running.snapshot();
        running.drop();
        database.database()
                .engine()
                .start(name, running.plan(), QueryOptions.view().withRestore(snapshot));
    }

    @Test
    void statesOfSlicesAndSessionsAreMerged() {
        String windows = "SELECT g, window_start, mean(x) AS m, top2(x) AS t, geo_mean(x) AS gm, avg(x) AS a,"
                + " (array_agg(x ORDER BY x DESC))[1:2] AS u, (1e6 * exp(avg(ln(x))))::bigint AS gu FROM ";
        String group = " GROUP BY g, window_start, window_end";
        database.run(
                "CREATE MATERIALIZED VIEW hop AS " + windows + "HOP(s, ts, INTERVAL '1 s', INTERVAL '5 s')" + group);
        database.run("CREATE MATERIALIZED VIEW cumulate AS " + windows
                + "CUMULATE(TABLE s, DESCRIPTOR(ts), INTERVAL '1 s'," + " INTERVAL '5 s')" + group);
        database.run("CREATE MATERIALIZED VIEW tumble AS " + windows + "TUMBLE(s, ts, INTERVAL '3 s')" + group);
        database.run("CREATE MATERIALIZED VIEW session AS " + windows
                + "SESSION(TABLE s PARTITION BY g, DESCRIPTOR(ts), INTERVAL '2 s')" + group);
        for (int part = 0; part < 6; part++) {
            database.run(
                    "INSERT INTO s SELECT i % 3, TIMESTAMP '2024-01-01' + (i + (i / 7 % 3) * i) * INTERVAL '130 ms',"
                            + " 1 + i * 7919 % 101 FROM generate_series(" + 50 * part + ", " + (50 * part + 49)
                            + ") AS g(i)");
            database.run("FLUSH");
            for (String view : List.of("hop", "cumulate", "tumble", "session")) {
                assertEquals(
                        List.of(),
                        database.rows(
                                "SELECT * FROM " + view + " WHERE abs(m - a) > 0.000001 OR t <> u OR abs(gm - gu) > 1"),
                        view);
                restart(view);
            }
        }
        for (String view : List.of("hop", "cumulate", "tumble", "session")) {
            assertEquals(List.of("t"), database.rows("SELECT count(*) > 10 FROM " + view), view);
        }
    }

    @Test
    void codeThatThrowsFailsItsQueryAlone() {
        database.run("CREATE MATERIALIZED VIEW bad AS SELECT g, brittle(x) FROM t GROUP BY g");
        database.run("CREATE MATERIALIZED VIEW good AS SELECT g, mean(x) FROM t GROUP BY g");
        database.run("INSERT INTO t VALUES (1, 1, 4, true), (2, 1, 9, true)");
        assertEquals(List.of("1|6000000"), database.flushedRows("SELECT * FROM bad"));
        database.run("DELETE FROM t WHERE k = 2");
        assertEquals(List.of("1|4"), database.flushedRows("SELECT * FROM good"));
        MillraceException failure =
                Assertions.assertThrows(MillraceException.class, () -> database.rows("SELECT * FROM bad"));
        assertTrue(
                failure.getMessage()
                        .contains("function brittle failed: java.lang.IllegalStateException: cannot take back 9"),
                failure.getMessage());
    }
}
