package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.engine.subscription.Subscription;
import dev.millrace.engine.subscription.SubscriptionOptions;
import dev.millrace.error.MillraceException;
import dev.millrace.server.result.StatementResults;
import java.util.List;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** ALTER under way: no row is lost or counted twice, and subscribers see the difference. */
@Tag("long")
class AlterTest {
    private static final List<String> QUERIES = List.of(
            "SELECT k, sum(v) AS s FROM t GROUP BY k",
            "SELECT k, 2 * sum(v) AS s FROM t GROUP BY k",
            "SELECT k, sum(v) AS s FROM t GROUP BY k HAVING sum(v) > 100",
            "SELECT k, sum(v) AS s FROM t WHERE v > 3 GROUP BY k",
            "SELECT k, count(*) AS s FROM t GROUP BY k",
            "SELECT k, s FROM (SELECT k, s, row_number() OVER (ORDER BY s DESC, k) AS r"
                    + " FROM (SELECT k, sum(v) AS s FROM t GROUP BY k) x) y WHERE r <= 3",
            "SELECT a.k, a.s + b.n AS s FROM (SELECT k, sum(v) AS s FROM t GROUP BY k) a"
                    + " JOIN (SELECT k, count(*) AS n FROM t GROUP BY k) b ON a.k = b.k",
            "SELECT k, max(v) AS s FROM t GROUP BY k UNION ALL SELECT 'all', sum(v) FROM t");

    @Test
    void theAnswerIsTheBatchAnswerAfterEachAlterUnderRunningInserts() throws InterruptedException {
        SplittableRandom random = new SplittableRandom(11);
        try (TestDatabase database = new TestDatabase();
                Session other = database.database().session()) {
            database.run("CREATE TABLE t (id INTEGER PRIMARY KEY, k TEXT, v INTEGER)");
            database.run("CREATE MATERIALIZED VIEW q AS " + QUERIES.get(0));
            AtomicBoolean stop = new AtomicBoolean();
            Thread inserts = new Thread(() -> {
                SplittableRandom own = new SplittableRandom(12);
                for (int id = 0; !stop.get(); id++) {
                    String sql = id > 20 && own.nextInt(4) == 0
                            ? "DELETE FROM t WHERE id = " + own.nextInt(id)
                            : "INSERT INTO t VALUES (" + id + ", 'k" + own.nextInt(6) + "', " + own.nextInt(10) + ")";
                    try (StatementResults results = other.execute(sql, List.of())) {
                        while (results.hasNext()) {
                            results.next();
                        }
                    }
                }
            });
            inserts.start();
            try {
                for (int i = 0; i < 40; i++) {
                    String query = QUERIES.get(random.nextInt(QUERIES.size()));
                    database.run("ALTER MATERIALIZED VIEW q AS " + query);
                    if (i % 4 == 3) {
                        // at one point for both: the view and the batch answer over the table
                        List<String> both = database.rows("SELECT 'v' AS side, k, s::text FROM q"
                                + " UNION ALL SELECT 'b', k, s::text FROM (" + query + ") b");
                        assertEquals(side(both, "b"), side(both, "v"), query);
                    }
                }
            } finally {
                stop.set(true);
                inserts.join();
            }
        }
    }

    private static List<String> side(List<String> rows, String side) {
        return rows.stream()
                .filter(row -> row.startsWith(side + "|"))
                .map(row -> row.substring(2).replaceAll("\\.0+$", ""))
                .sorted()
                .toList();
    }

    @Test
    void aLiveStreamLosesNothingWhereTheAggregateStays() {
        try (TestDatabase database = new TestDatabase()) {
            database.run("CREATE STREAM t (k TEXT, v INTEGER)");
            database.run("CREATE MATERIALIZED VIEW q AS SELECT k, sum(v) AS s FROM t GROUP BY k");
            int total = 0;
            for (int i = 1; i <= 60; i++) {
                database.run("INSERT INTO t VALUES ('a', " + i + "), ('b', 1)");
                total += i;
                if (i % 10 == 0) {
                    String factor = i % 20 == 0 ? "" : "3 * ";
                    database.run("ALTER MATERIALIZED VIEW q AS SELECT k, " + factor + "sum(v) AS s FROM t GROUP BY k");
                    int times = factor.isEmpty() ? 1 : 3;
                    assertEquals(List.of("a|" + times * total, "b|" + times * i), database.rows("SELECT * FROM q"));
                }
            }
        }
    }

    /** The rows of {@code s} are in nothing but the joins' states: {@code twin} has them for the batch answer. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "s JOIN t ON s.k = t.k",
                "s JOIN t ON s.k = t.k AND s.v > t.v",
                "s JOIN t ON s.k = t.k JOIN u ON u.k = t.k",
                "(SELECT k, v AS sv FROM s) s LEFT JOIN t ON s.k = t.k AND s.sv > t.v",
                "t LEFT JOIN s ON s.k = t.k",
                "s FULL JOIN t ON s.k = t.k AND s.v < t.v",
                "s WHERE k IN (SELECT k FROM t)",
                "s WHERE NOT EXISTS (SELECT 1 FROM t WHERE t.k = s.k)",
                "s WHERE EXISTS (SELECT 1 FROM t WHERE t.k = s.k AND t.v < s.v)"
            })
    void whatIsAboveAJoinBeginsWithItsAnswer(String from) {
        List<String> selects = from.contains("WHERE")
                ? List.of("k, v", "sum(k), sum(v)", "v, sum(k)", "max(v), min(k)", "DISTINCT v, k % 2")
                : List.of(
                        "s.k, t.v",
                        "sum(s.k), sum(t.v)",
                        "t.v, sum(s.k)",
                        "max(t.v), min(s.k)",
                        "DISTINCT t.v, s.k % 2");
        SplittableRandom random = new SplittableRandom(from.hashCode());
        try (TestDatabase database = new TestDatabase()) {
            database.run("CREATE STREAM s (k INTEGER NOT NULL, v INTEGER)");
            database.run("CREATE TABLE twin (k INTEGER NOT NULL, v INTEGER)");
            database.run("CREATE TABLE t (k INTEGER PRIMARY KEY, v INTEGER)");
            database.run("CREATE TABLE u (k INTEGER PRIMARY KEY, w INTEGER)");
            database.run("CREATE MATERIALIZED VIEW q AS SELECT " + selects.get(0) + " FROM " + from);
            int kept = 0;
            for (int i = 0; i < 30; i++) {
                for (int row = random.nextInt(4); row > 0; row--) {
                    String values = "(" + random.nextInt(8) + ", " + random.nextInt(6) + ")";
                    database.run("INSERT INTO s VALUES " + values);
                    database.run("INSERT INTO twin VALUES " + values);
                }
                int key = random.nextInt(8);
                database.run("DELETE FROM t WHERE k = " + key);
                database.run("DELETE FROM u WHERE k = " + key);
                if (random.nextInt(4) > 0) {
                    database.run("INSERT INTO t VALUES (" + key + ", " + random.nextInt(6) + ")");
                    database.run("INSERT INTO u VALUES (" + key + ", 1)");
                }
                String select = selects.get(random.nextInt(selects.size()));
                String query = "SELECT " + select + " FROM " + from
                        + (select.contains("v, sum") ? " GROUP BY " + select.substring(0, select.indexOf(',')) : "");
                String plan = String.join("\n", database.rows("EXPLAIN ALTER MATERIALIZED VIEW q AS " + query));
                kept += plan.contains("nothing changes") || plan.contains("keeps its state") ? 1 : 0;
                database.run("ALTER MATERIALIZED VIEW q AS " + query);
                String batch = query.replace("(SELECT k, v AS sv FROM s) s", "(SELECT k, v AS sv FROM twin) s")
                        .replaceAll("(FROM|JOIN) s\\b", "$1 twin s");
                assertEquals(sorted(database.rows(batch)), sorted(database.rows("SELECT * FROM q")), query);
            }
            assertEquals(30, kept, "states kept");
        }
    }

    private static List<String> sorted(List<String> rows) {
        return rows.stream().sorted().toList();
    }

    @Test
    void subscribersSeeTheDifference() {
        try (TestDatabase database = new TestDatabase()) {
            database.run("CREATE TABLE t (k TEXT PRIMARY KEY, v INTEGER)");
            database.run("INSERT INTO t VALUES ('a', 1), ('b', 2), ('c', 3)");
            database.run("CREATE MATERIALIZED VIEW q AS SELECT k, v FROM t WHERE v < 3");
            TreeMap<String, Integer> seen = new TreeMap<>();
            try (var subscription = database.database()
                    .instance()
                    .standing("q")
                    .orElseThrow()
                    .subscribe(SubscriptionOptions.withSnapshot())) {
                collect(subscription, seen);
                assertEquals("{a|1=1, b|2=1}", seen.toString());
                database.run("ALTER MATERIALIZED VIEW q AS SELECT k, v FROM t WHERE v > 1");
                collect(subscription, seen);
                assertEquals("{b|2=1, c|3=1}", seen.toString());
                database.run("INSERT INTO t VALUES ('d', 9), ('e', 0)");
                database.session().flush();
                collect(subscription, seen);
                assertEquals("{b|2=1, c|3=1, d|9=1}", seen.toString());
                database.run("ALTER MATERIALIZED VIEW q AS SELECT k, v, 1 AS one FROM t");
                String ended = "";
                try {
                    collect(subscription, seen);
                } catch (MillraceException e) {
                    ended = e.getMessage();
                }
                assertTrue(ended.contains("other columns"), ended);
            }
        }
    }

    private static void collect(Subscription subscription, TreeMap<String, Integer> into) {
        for (var next = subscription.next(200_000); next.isPresent(); next = subscription.next(200_000)) {
            try (var changes = next.get()) {
                for (var batch : changes.batches()) {
                    for (int row = 0; row < batch.rowCount(); row++) {
                        int weight = batch.weights().isPresent()
                                ? (int) batch.weights().get().get(row)
                                : 1;
                        into.merge(TestDatabase.text(batch, row), weight, Integer::sum);
                    }
                }
            }
        }
        into.values().removeIf(count -> count == 0);
    }

    @Test
    void aFailingPlanLeavesTheQueryAsItWas() {
        try (TestDatabase database = new TestDatabase()) {
            database.run("CREATE TABLE t (k TEXT PRIMARY KEY, v INTEGER)");
            database.run("INSERT INTO t VALUES ('a', 1), ('b', 0)");
            database.run("CREATE MATERIALIZED VIEW q AS SELECT k, v FROM t");
            assertTrue(database.error("ALTER MATERIALIZED VIEW q AS SELECT k, 1 / v AS v FROM t")
                    .startsWith("22012"));
            database.run("INSERT INTO t VALUES ('c', 5)");
            assertEquals(List.of("a|1", "b|0", "c|5"), database.rows("SELECT * FROM q"));
        }
    }

    @Test
    void identicalTextIsNothing() {
        try (TestDatabase database = new TestDatabase()) {
            database.run("CREATE TABLE t (k TEXT PRIMARY KEY, v INTEGER)");
            database.run("CREATE MATERIALIZED VIEW q AS SELECT k, v FROM t WHERE v > 1");
            var before = database.database().instance().standing("q");
            database.run("ALTER MATERIALIZED VIEW q AS SELECT k, v FROM t WHERE v > 1");
            assertEquals(before, database.database().instance().standing("q"));
            assertTrue(database.notices().stream().anyMatch(notice -> notice.contains("nothing changes")));
        }
    }
}
