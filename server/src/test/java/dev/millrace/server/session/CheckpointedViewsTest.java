package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.millrace.engine.checkpoint.MemoryCheckpoint;
import dev.millrace.engine.checkpoint.Resumption;
import dev.millrace.engine.relation.WritableRelation;
import dev.millrace.engine.runtime.Engine;
import dev.millrace.engine.runtime.QueryOptions;
import dev.millrace.engine.runtime.StandingQuery;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.TestBatches;
import dev.millrace.testing.time.Eventually;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Views of every kind that keeps something: after random rows, with checkpoints at random moments from each of which another database
 * with another number of workers goes on, they show what they show without. {@code -Dmillrace.checkpoints.seeds} says how many
 * seeds the command to look for failures tries.
 */
@Timeout(300)
@Tag("long")
final class CheckpointedViewsTest {
    private static final String RELATIONS = "CREATE STREAM a (id INT, ts TIMESTAMP NOT NULL, k INT, v INT, t TEXT,"
            + " WATERMARK FOR ts AS ts - INTERVAL '2 seconds');"
            + "CREATE STREAM b (id INT, ts TIMESTAMP NOT NULL, k INT, v INT, t TEXT,"
            + " WATERMARK FOR ts AS ts - INTERVAL '1 second');"
            + "CREATE STREAM quiet (ts TIMESTAMP NOT NULL, k INT, WATERMARK FOR ts AS ts)"
            + " WITH (watermark.idle_timeout = '20 milliseconds');"
            + "CREATE TABLE c (id INT PRIMARY KEY, k INT, v INT, t TEXT);"
            + "CREATE TABLE rates (k INT PRIMARY KEY, ts TIMESTAMP NOT NULL, rate INT, WATERMARK FOR ts AS ts);"
            + "CREATE VIEW minutes AS SELECT * FROM TUMBLE(TABLE a, DESCRIPTOR(ts), INTERVAL '5 seconds');";

    private static final long BEGIN = 1_704_067_200_000_000L; // microseconds: 2024

    /** Of which {@code %d} is a small number, other at each place and seed. */
    private static final List<String> QUERIES = List.of(
            // groups, and what is distinct
            "SELECT k, count(*) AS n, sum(v) AS s, min(t) AS t, count(DISTINCT v) AS d, array_agg(v ORDER BY id) FROM c GROUP BY k",
            "SELECT k, mean(v) AS m, top2(v) AS u FROM c WHERE v IS NOT NULL GROUP BY k",
            "SELECT mean(v) AS m, count(*) AS n FROM a",
            "SELECT DISTINCT k, v %% (%d + 2) AS v FROM c",
            "SELECT DISTINCT k, t FROM a",
            "SELECT k, v FROM c UNION SELECT k, v FROM a WHERE v > %d",
            "SELECT k, v FROM c INTERSECT ALL SELECT k, v FROM a",
            "SELECT k, v FROM a EXCEPT ALL SELECT k, v FROM c",
            "SELECT k, v + 5 AS v FROM c EXCEPT SELECT k, v FROM b",
            "SELECT k, t, grouping(k, t) AS g, sum(v) AS s FROM c GROUP BY CUBE (k, t)",
            // windows
            "SELECT k, window_start, count(*) AS n, max(t) AS t FROM TUMBLE(TABLE a, DESCRIPTOR(ts), INTERVAL '4 seconds')"
                    + " GROUP BY k, window_start, window_end",
            "SELECT window_start, sum(v) AS s, count(DISTINCT k) AS d FROM HOP(TABLE a, DESCRIPTOR(ts), INTERVAL '2 seconds',"
                    + " INTERVAL '6 seconds') GROUP BY window_start, window_end",
            "SELECT k, window_start, window_end, array_agg(v ORDER BY v, id) AS v FROM SESSION(TABLE a PARTITION BY k,"
                    + " DESCRIPTOR(ts), INTERVAL '3 seconds') GROUP BY k, window_start, window_end",
            "SELECT k, window_start, mean(v) AS m FROM CUMULATE(TABLE b, DESCRIPTOR(ts), INTERVAL '2 seconds', INTERVAL"
                    + " '6 seconds') GROUP BY k, window_start, window_end",
            "SELECT window_start, k, v FROM minutes QUALIFY row_number() OVER (PARTITION BY window_start, window_end, k"
                    + " ORDER BY v DESC, id) <= 2",
            "SELECT id, v, window_end FROM minutes m WHERE v = (SELECT max(v) FROM minutes n WHERE n.window_start ="
                    + " m.window_start AND n.window_end = m.window_end)",
            // OVER
            "SELECT id, sum(v) OVER (PARTITION BY k ORDER BY id ROWS BETWEEN %d PRECEDING AND CURRENT ROW) AS s,"
                    + " lag(v) OVER (PARTITION BY k ORDER BY id) AS l FROM c",
            "SELECT id, count(*) OVER (PARTITION BY k ORDER BY v RANGE BETWEEN %d PRECEDING AND 3 FOLLOWING EXCLUDE TIES) AS n,"
                    + " rank() OVER (PARTITION BY k ORDER BY v) AS r, ntile(3) OVER (ORDER BY id) AS q FROM c",
            "SELECT id, first_value(t) OVER (PARTITION BY k ORDER BY v, id GROUPS BETWEEN 1 PRECEDING AND UNBOUNDED FOLLOWING)"
                    + " AS f, percent_rank() OVER (ORDER BY v) AS p FROM c",
            "SELECT k, ts, v, sum(v) OVER (PARTITION BY k ORDER BY ts, id ROWS BETWEEN 3 PRECEDING AND CURRENT ROW) AS s FROM a",
            "SELECT k, ts, id, sum(v) OVER (PARTITION BY k ORDER BY ts RANGE BETWEEN INTERVAL '4 seconds' PRECEDING AND CURRENT ROW)"
                    + " AS s, lag(v) OVER (PARTITION BY k ORDER BY ts) AS l FROM a EMIT ON WINDOW CLOSE",
            // ranks
            "SELECT * FROM c ORDER BY v DESC, id LIMIT 3 OFFSET %d",
            "SELECT id, v FROM c ORDER BY v FETCH FIRST 4 ROWS WITH TIES",
            "SELECT k, id, v, r FROM (SELECT *, rank() OVER (PARTITION BY k ORDER BY v) AS r FROM c) AS ranked WHERE r <= 3",
            "SELECT k, id, v, r FROM (SELECT *, row_number() OVER (PARTITION BY k ORDER BY v DESC, id) AS r FROM a) AS ranked"
                    + " WHERE r <= %d + 1",
            "SELECT DISTINCT ON (k) k, ts, id FROM a ORDER BY k, ts DESC, id DESC",
            // joins
            "SELECT a.id AS a, b.id AS b, a.v FROM a JOIN b ON a.k = b.k AND b.ts BETWEEN a.ts - INTERVAL '2 seconds' AND a.ts"
                    + " + INTERVAL '1 second'",
            "SELECT a.id AS a, b.id AS b FROM a LEFT JOIN b ON a.k = b.k AND b.ts BETWEEN a.ts AND a.ts + INTERVAL '3 seconds'",
            "SELECT a.id AS a, b.id AS b FROM a FULL JOIN b ON a.k = b.k AND a.v = b.v",
            "SELECT x.id, y.id AS other FROM c x JOIN c y ON x.k = y.k AND x.v <= y.v",
            "SELECT a.id AS a, c.id AS c, b.id AS b FROM a JOIN c ON a.k = c.k JOIN b ON b.k = c.k AND b.v = a.v",
            "SELECT c.id, (SELECT max(v) FROM a WHERE a.k = c.k) AS m, (SELECT count(*) FROM b) AS n FROM c",
            "SELECT id, v FROM c WHERE v > (SELECT avg(v) FROM c)",
            "SELECT a.id, x.n FROM a CROSS JOIN (SELECT count(*) AS n FROM c) AS x",
            "SELECT x.id AS x, y.id AS y FROM c x CROSS JOIN c y WHERE x.id < y.id AND x.v = %d",
            "SELECT id FROM c WHERE EXISTS (SELECT 1 FROM a WHERE a.k = c.k AND a.v = c.v)",
            "SELECT id FROM c WHERE NOT EXISTS (SELECT 1 FROM c d WHERE d.k = c.k AND d.id <> c.id)",
            "SELECT id FROM c WHERE k NOT IN (SELECT k FROM b WHERE v > %d AND k < 4)",
            "SELECT id FROM a SEMI JOIN c USING (k, v)",
            "SELECT id FROM a ANTI JOIN c ON a.v = c.v",
            "SELECT c.id, l.v FROM c LEFT JOIN LATERAL (SELECT v FROM a WHERE a.k = c.k ORDER BY v DESC, id LIMIT 2) AS l ON true",
            "SELECT a.id, c.t FROM a LEFT JOIN c FOR SYSTEM_TIME AS OF a.ts AS c ON a.k = c.id",
            "SELECT a.id, c.t FROM a JOIN c FOR SYSTEM_TIME AS OF PROCTIME() AS c ON a.k = c.id",
            "SELECT a.id, r.rate FROM a LEFT JOIN rates FOR SYSTEM_TIME AS OF a.ts AS r ON a.k = r.k",
            "SELECT a.id, b.id AS b FROM a JOIN b FOR SYSTEM_TIME AS OF a.ts AS b ON a.k = b.k",
            "SELECT a.id, b.id AS b FROM a ASOF LEFT JOIN b ON a.k = b.k AND a.ts >= b.ts",
            // patterns
            "SELECT * FROM a MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES FIRST(id) AS f, LAST(id) AS l, count(*) AS n"
                    + " PATTERN (x y+) WITHIN INTERVAL '6 seconds' DEFINE y AS v > PREV(v))",
            "SELECT * FROM a MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES CLASSIFIER() AS c, MATCH_NUMBER() AS m"
                    + " ALL ROWS PER MATCH AFTER MATCH SKIP TO NEXT ROW PATTERN (x y{1,3}?) DEFINE y AS v <> x.v)",
            // time
            "SELECT id FROM a WHERE ts + (id %% 2) * INTERVAL '400 years' < now() - INTERVAL '1 day'",
            "SELECT id, k FROM a WHERE ts + (id %% 2) * INTERVAL '400 years' > now() - INTERVAL '1 day'");

    private static final List<String> FORGETTING = List.of(
            "SELECT a.id AS a, b.id AS b FROM a JOIN b ON a.k = b.k",
            "SELECT a.id AS a, b.id AS b FROM a LEFT JOIN b ON a.k = b.k AND a.v = b.v",
            "SELECT k, count(*) AS n, max(t) AS t FROM a GROUP BY k",
            "SELECT DISTINCT k, v FROM a",
            "SELECT k, v, id FROM a QUALIFY row_number() OVER (PARTITION BY k ORDER BY v DESC, id) <= 2");

    /** What is shown some time after the rows. */
    private static final List<String> LATER = List.of(
            "SELECT k, count(*) AS n FROM c GROUP BY k EMIT EVERY INTERVAL '15 milliseconds'",
            "SELECT window_start, count(*) AS n FROM TUMBLE((SELECT ts, k FROM a UNION ALL SELECT ts, k FROM quiet), ts,"
                    + " INTERVAL '3 seconds') GROUP BY window_start, window_end",
            "SELECT a.id AS a, q.k FROM a LEFT JOIN quiet q ON a.k = q.k AND q.ts BETWEEN a.ts AND a.ts + INTERVAL '2 seconds'");

    @TempDir
    private static Path folder;

    private static Path jar = Path.of("");

    @BeforeAll
    static void compile() throws IOException {
        jar = TestJar.of(JavaAggregateTest.SOURCE, folder);
    }

    /** Statements that declare all, the same for all databases of a seed. */
    private static Map<String, String> views(RandomGenerator random) {
        Map<String, String> views = new LinkedHashMap<>();
        for (int left = 12; left > 0; left--) {
            int kind = random.nextInt(10);
            List<String> of = kind == 0 ? LATER : kind == 1 ? FORGETTING : QUERIES;
            String query = of.get(random.nextInt(of.size()));
            while (query.contains("%d")) {
                query = query.replaceFirst("%d", "" + random.nextInt(4));
            }
            String name = (kind == 0 ? "later_" : "view_") + left;
            views.put(
                    name,
                    "CREATE MATERIALIZED VIEW " + name + (kind == 1 ? " WITH (state_ttl = '6 seconds')" : "") + " AS "
                            + query.replace("%%", "%"));
        }
        if (random.nextBoolean()) {
            String above = "view_above";
            views.keySet().stream()
                    .filter(name -> name.startsWith("view_"))
                    .findFirst()
                    .ifPresent(name -> views.put(
                            above, "CREATE MATERIALIZED VIEW " + above + " AS SELECT count(*) AS n FROM " + name));
        }
        return views;
    }

    private static void declare(TestDatabase database, Map<String, String> views) {
        database.run("CREATE FUNCTION mean(BIGINT) RETURNS DOUBLE PRECISION LANGUAGE JAVA AS '" + jar
                + "', 'org.example.Code$Mean';"
                + "CREATE FUNCTION top2(BIGINT) RETURNS BIGINT[] LANGUAGE JAVA AS '" + jar
                + "', 'org.example.Code$Top2'");
        database.run(RELATIONS);
        views.values().forEach(database::run);
    }

    /** Rows of a relation that come or go, past the keys that sessions know of. */
    private record Change(String relation, List<Row> rows, List<Long> weights) {
        void append(TestDatabase database) {
            if (rows.isEmpty()) {
                return;
            }
            Engine engine = database.database().engine();
            long[] all = weights.stream().mapToLong(weight -> weight).toArray();
            WritableRelation writable = engine.relations().writable(relation);
            flushOf(database);
            boolean added = weights.stream().allMatch(weight -> weight == 1);
            writable.append(
                    added
                            ? TestBatches.of(writable.schema(), engine.allocator(), rows)
                            : TestBatches.weighted(writable.schema(), engine.allocator(), rows, all));
            flushOf(database);
        }

        /** Joins with the rows of now are by epochs. */
        private void flushOf(TestDatabase database) {
            if (relation.equals("c")) {
                database.session().flush();
            }
        }
    }

    /** Random changes: streams out of order by some seconds, tables some of whose rows are replaced. */
    private static final class Changes {
        private final RandomGenerator random;
        private final Map<Long, Row> inC = new TreeMap<>();
        private final Map<Long, Row> inRates = new TreeMap<>();
        private long next;
        private long second;

        Changes(RandomGenerator random) {
            this.random = random;
        }

        private Long value() {
            return random.nextInt(8) == 0 ? null : (long) random.nextInt(8);
        }

        private Change stream(String name) {
            List<Row> rows = new ArrayList<>();
            for (int left = random.nextInt(1, 7); left > 0; left--) {
                second += random.nextInt(3) == 0 ? 1 : 0;
                long micros = BEGIN + 1_000_000 * (second - random.nextInt(4)) + 1_000 * (next % 1_000);
                rows.add(Row.of(next++, micros, value(), value(), "t" + random.nextInt(3)));
            }
            return new Change(name, rows, Collections.nCopies(rows.size(), 1L));
        }

        private static Change replaced(String name, Map<Long, Row> table, long key, Optional<Row> by) {
            List<Row> rows = new ArrayList<>();
            List<Long> weights = new ArrayList<>();
            Optional.ofNullable(table.remove(key)).ifPresent(rows::add);
            rows.forEach(row -> weights.add(-1L));
            by.ifPresent(row -> {
                table.put(key, row);
                rows.add(row);
                weights.add(1L);
            });
            return new Change(name, rows, weights);
        }

        Change next() {
            int kind = random.nextInt(9);
            if (kind < 5) {
                return stream(kind < 3 ? "a" : "b");
            }
            if (kind < 8) {
                long id = random.nextInt(12);
                Row row = Row.of(id, value(), value(), "of " + next++);
                return replaced("c", inC, id, kind == 7 ? Optional.empty() : Optional.of(row));
            }
            second++;
            long k = random.nextInt(6);
            return replaced("rates", inRates, k, Optional.of(Row.of(k, BEGIN + 1_000_000 * second, next++)));
        }
    }

    private static List<String> answer(TestDatabase database, String view) {
        return database.flushedRows("SELECT * FROM " + view);
    }

    /** Another database, with the plans of before: they depend on the number of workers, and on sizes. */
    private static TestDatabase movedOn(
            TestDatabase database, Map<String, String> views, int workers, boolean sideBySide) {
        MemoryCheckpoint saved = new MemoryCheckpoint();
        Map<String, PlanNode> plans = new LinkedHashMap<>();
        try (database) {
            database.database().engine().queries().forEach(query -> plans.put(query.name(), query.plan()));
            database.database().engine().checkpoint(saved, () -> {});
        }
        TestDatabase other = new TestDatabase(workers);
        Engine engine = other.database().engine();
        try (Resumption resumption = sideBySide ? engine.restoreSideBySide(saved) : engine.restore(saved)) {
            declare(other, views);
            List<String> anew = new ArrayList<>(plans.keySet());
            anew.retainAll(resumption.begunAnew().keySet());
            Collections.reverse(anew); // readers first
            anew.forEach(name -> engine.query(name).drop());
            Collections.reverse(anew);
            anew.forEach(name -> engine.start(name, plans.get(name), QueryOptions.view()));
            resumption.await();
            assertEquals(Map.of(), resumption.begunAnew());
        } catch (RuntimeException | Error e) {
            other.close();
            throw e;
        }
        return other;
    }

    private static void check(long seed) {
        RandomGenerator random = new SplittableRandom(seed);
        Map<String, String> views = views(random);
        Changes changes = new Changes(random);
        TestDatabase moved = new TestDatabase(random.nextInt(1, 4));
        try (TestDatabase whole = new TestDatabase(random.nextInt(1, 4))) {
            declare(whole, views);
            declare(moved, views);
            Change quiet = new Change("quiet", List.of(Row.of(BEGIN, 1L)), List.of(1L));
            quiet.append(whole);
            quiet.append(moved);
            for (int step = random.nextInt(30, 60); step > 0; step--) {
                Change change = changes.next();
                change.append(whole);
                change.append(moved);
                if (random.nextInt(8) == 0) {
                    moved = movedOn(moved, views, random.nextInt(1, 4), random.nextInt(3) > 0);
                }
                if (step == 1 || random.nextInt(12) == 0) {
                    compare(whole, moved, views);
                }
            }
        } catch (RuntimeException | AssertionError e) {
            throw new AssertionError("seed " + seed + ": " + e.getMessage(), e);
        } finally {
            moved.close();
        }
    }

    private static void compare(TestDatabase whole, TestDatabase moved, Map<String, String> views) {
        views.forEach((name, text) -> {
            for (TestDatabase database : List.of(whole, moved)) {
                StandingQuery query = database.database().engine().query(name);
                query.failure().ifPresent(why -> {
                    throw new AssertionError(text, why);
                });
            }
            if (name.startsWith("later_")) {
                Eventually.holds(text, () -> answer(whole, name).equals(answer(moved, name)));
            } else {
                assertEquals(answer(whole, name), answer(moved, name), text);
            }
        });
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void viewsGoOnAsIfNothingHadBeen(long seed) {
        check(seed);
    }

    @Test
    void manySeedsByCommand() {
        int seeds = Integer.getInteger("millrace.checkpoints.seeds", 0);
        IntStream.range(1_000, 1_000 + seeds).forEach(CheckpointedViewsTest::check);
    }

    /** Each view, with rows that it has something of. */
    @Test
    void allKindsOfViewsAreChecked() {
        RandomGenerator random = new SplittableRandom(1);
        Map<String, String> views = new LinkedHashMap<>();
        for (String query : QUERIES) {
            String name = "view_" + views.size();
            views.put(
                    name,
                    "CREATE MATERIALIZED VIEW " + name + " AS "
                            + query.replace("%d", "1").replace("%%", "%"));
        }
        Changes changes = new Changes(random);
        TestDatabase moved = new TestDatabase(2);
        try (TestDatabase whole = new TestDatabase(2)) {
            declare(whole, views);
            declare(moved, views);
            for (int step = 0; step < 120; step++) {
                Change change = changes.next();
                change.append(whole);
                change.append(moved);
                if (step % 40 == 20) {
                    moved = movedOn(moved, views, 1 + step / 40, true);
                }
            }
            compare(whole, moved, views);
            assertEquals(
                    List.of(),
                    views.keySet().stream()
                            .filter(name -> answer(whole, name).isEmpty())
                            .map(views::get)
                            .toList());
        } finally {
            moved.close();
        }
    }
}
