package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.batch.Batch;
import dev.millrace.engine.subscription.EpochChanges;
import dev.millrace.engine.subscription.Subscription;
import dev.millrace.engine.subscription.SubscriptionOptions;
import dev.millrace.error.MillraceException;
import dev.millrace.testing.rows.ZSet;
import dev.millrace.testing.time.Eventually;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Queries that rows stopped keep what they have, and go on without those rows as if these had never come. */
@Timeout(120)
@Tag("long")
class StoppedQueriesTest {
    private static final String TABLES =
            "CREATE STREAM s (k INT, n INT); CREATE STREAM p (k INT, d INT); CREATE TABLE t (k INT PRIMARY KEY, d INT)";
    private static final List<String> VIEWS = List.of(
            "sums AS SELECT k, sum(100 / n) AS total, count(*) AS c FROM s GROUP BY k",
            "pairs AS SELECT s.k, p.d, 60 / s.n AS q FROM s JOIN p ON s.k = p.k",
            "listed AS SELECT s.k, u.e FROM s, UNNEST(ARRAY[1, 12 / s.n]) AS u(e)",
            "best AS SELECT k, 100 / n AS q FROM s ORDER BY 2 DESC, 1 LIMIT 3");

    private static final long SEED = Long.getLong("millrace.stopped.seed", 1);
    private static final int STEPS = Integer.getInteger("millrace.stopped.steps", 150);

    @TempDir
    Path folder;

    private static List<String> names() {
        return VIEWS.stream().map(view -> view.substring(0, view.indexOf(' '))).toList();
    }

    private static void make(TestDatabase database) {
        database.run(TABLES);
        VIEWS.forEach(view -> database.run("CREATE MATERIALIZED VIEW " + view));
        database.run("CREATE MATERIALIZED VIEW above AS SELECT k, total + 1 AS t FROM sums");
        database.run("INSERT INTO p VALUES (1, 10), (2, 20)");
    }

    private static List<String> all(TestDatabase database) {
        List<String> all = new ArrayList<>();
        for (String view : names()) {
            all.add(view);
            all.addAll(database.flushedRows("SELECT * FROM " + view));
        }
        all.addAll(database.flushedRows("SELECT * FROM above"));
        return all;
    }

    private static String state(TestDatabase database, String query) {
        return database.rows("SELECT state FROM millrace.query_stats WHERE query = '" + query + "'")
                .get(0);
    }

    private static void assertStopped(TestDatabase database) {
        for (String view : names()) {
            String why = database.error("SELECT * FROM " + view);
            assertTrue(why.startsWith("22012 materialized view \"" + view + "\" failed: "), why);
            assertTrue(why.contains("RESUME MATERIALIZED VIEW " + view + " SKIP ROW"), why);
            assertEquals("failed", state(database, view));
            why = database.error("RESUME MATERIALIZED VIEW " + view);
            assertTrue(why.startsWith("22012 materialized view \"" + view + "\" fails still: "), why);
        }
        assertEquals("failed", state(database, "above"));
        assertTrue(database.error("SUBSCRIBE TO above").startsWith("22012 "));
        assertTrue(database.rows("SHOW MATERIALIZED VIEWS").stream()
                .anyMatch(row -> row.startsWith("sums|failed|") && row.endsWith("its state is kept")));
    }

    private static void skip(TestDatabase database) {
        names().forEach(view -> database.run("ALTER MATERIALIZED VIEW " + view + " RESUME SKIP ROW"));
        assertEquals("running", state(database, "above"));
    }

    /** Where the database is closed or lost between the failure and RESUME, and behind it. */
    @ParameterizedTest
    @CsvSource({"1, false", "3, false", "2, true"})
    void theAnswerIsThatOfTheOtherRows(int workers, boolean onDisk) {
        try (TestDatabase without = new TestDatabase(workers);
                TestDatabase database =
                        onDisk ? new TestDatabase(folder.resolve("d"), workers) : new TestDatabase(workers)) {
            make(without);
            make(database);
            for (int round = 1; round <= 3; round++) {
                String good = "INSERT INTO s SELECT 1 + i % 2, 1 + i FROM generate_series(1, " + 20 * round + ") g(i)";
                for (TestDatabase each : List.of(without, database)) {
                    each.run(good);
                }
                database.run("INSERT INTO s VALUES (1, 0), (1, 5), (2, 0)");
                database.run("INSERT INTO s VALUES (2, 0); INSERT INTO s VALUES (2, 7)");
                without.run("INSERT INTO s VALUES (1, 5); INSERT INTO s VALUES (2, 7)");
                database.run("FLUSH");
                assertStopped(database);
                for (TestDatabase each : List.of(without, database)) {
                    each.run("INSERT INTO p VALUES (2, 3); " + good);
                }
                skip(database);
                assertEquals(all(without), all(database), "round " + round);
            }
            assertEquals(
                    List.of("best|9", "listed|9", "sums|9"),
                    database.rows(
                            "SELECT stream, sum(rows)::bigint FROM millrace.rejected_rows WHERE origin = 'query'"
                                    + " AND stream <> 'pairs' AND sqlstate = '22012' AND reason LIKE '%division by zero' GROUP BY stream"));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "CHECKPOINT"})
    void aRestartFindsItStoppedAndWithAllItHas(String before) throws IOException {
        List<String> expected;
        try (TestDatabase without = new TestDatabase()) {
            make(without);
            without.run("INSERT INTO s VALUES (1, 10), (2, 20), (1, 5), (2, 2), (1, 3)");
            expected = all(without);
        }
        Path data = folder.resolve("data");
        Path lost = folder.resolve("lost");
        try (TestDatabase database = new TestDatabase(data)) {
            make(database);
            database.run("INSERT INTO s VALUES (1, 10), (2, 20); CHECKPOINT; INSERT INTO s VALUES (1, 0), (1, 5)");
            database.run("FLUSH");
            assertStopped(database);
            database.run(before);
            DirectoryImage.copy(data, lost);
        }
        for (Path place : List.of(data, lost)) {
            try (TestDatabase again = new TestDatabase(place)) {
                assertStopped(again);
                again.run("INSERT INTO s VALUES (2, 0), (2, 2)");
                skip(again);
                again.run("INSERT INTO s VALUES (1, 3)");
                assertEquals(expected, all(again));
                DirectoryImage.copy(place, place.resolveSibling("after " + place.getFileName()));
            }
            try (TestDatabase third = new TestDatabase(place.resolveSibling("after " + place.getFileName()))) {
                assertEquals(expected, all(third));
                assertEquals(
                        List.of("2"),
                        third.rows("SELECT sum(rows)::bigint FROM millrace.rejected_rows WHERE stream = 'sums'"));
            }
        }
    }

    /** With checkpoints, crashes, failures and RESUME in any order, and other numbers of workers. */
    @Test
    void atAnyMomentItIsThatOfTheOtherRows() throws IOException {
        Random random = new Random(SEED);
        int images = 0;
        int stops = 0;
        TestDatabase database = new TestDatabase(folder.resolve("0"), 1 + random.nextInt(3));
        try (TestDatabase without = new TestDatabase()) {
            make(without);
            make(database);
            for (int step = 0; step < STEPS; step++) {
                int what = random.nextInt(20);
                if (what < 14) {
                    insert(random, database, without);
                } else if (what < 15) {
                    database.run("CHECKPOINT");
                } else if (what < 17) {
                    database.run("FLUSH");
                    String name = names().get(random.nextInt(names().size()));
                    if (state(database, name).equals("failed")) {
                        stops++;
                        database.run("RESUME MATERIALIZED VIEW " + name + " SKIP ROW");
                        assertEquals(
                                without.flushedRows("SELECT * FROM " + name),
                                database.flushedRows("SELECT * FROM " + name),
                                name + ", seed " + SEED + ", step " + step);
                    }
                } else if (what < 18) {
                    Path next = folder.resolve("" + ++images);
                    boolean crashes = random.nextBoolean();
                    if (crashes) {
                        DirectoryImage.copy(folder.resolve("" + (images - 1)), next);
                    }
                    database.close();
                    if (!crashes) {
                        DirectoryImage.copy(folder.resolve("" + (images - 1)), next);
                    }
                    database = new TestDatabase(next, 1 + random.nextInt(3));
                }
            }
            database.run("FLUSH");
            skip(database);
            assertEquals(all(without), all(database), "seed " + SEED);
        } finally {
            database.close();
        }
        assertTrue(stops > 0 || STEPS < 100, "seed " + SEED);
    }

    private static void insert(Random random, TestDatabase database, TestDatabase without) {
        List<String> bad = new ArrayList<>();
        List<String> good = new ArrayList<>();
        for (int i = random.nextInt(5); i >= 0; i--) {
            int n = random.nextInt(8) == 0 ? 0 : 1 + random.nextInt(30);
            (n == 0 ? bad : good).add("(" + random.nextInt(4) + ", " + n + ")");
        }
        String rows = String.join(", ", good);
        String pairs = "INSERT INTO p VALUES (" + random.nextInt(4) + ", " + random.nextInt(9) + ")";
        boolean withPairs = random.nextInt(4) == 0;
        for (TestDatabase each : List.of(database, without)) {
            if (!good.isEmpty()) {
                each.run("INSERT INTO s VALUES " + rows);
            }
            if (withPairs) {
                each.run(pairs);
            }
        }
        if (!bad.isEmpty()) {
            database.run("INSERT INTO s VALUES " + String.join(", ", bad));
        }
    }

    /** The row that failed is taken back with the one of the table that it was joined with. */
    @Test
    void whatWasRepairedGoesOnWithoutSkipping() {
        try (TestDatabase database = new TestDatabase()) {
            database.run(TABLES);
            database.run("CREATE CONTINUOUS QUERY q AS SELECT s.n, 100 / t.d AS p FROM s JOIN t ON s.k = t.k");
            database.run("INSERT INTO t VALUES (1, 10), (2, 0)");
            Seen seen = new Seen(database, "q");
            database.run("INSERT INTO s VALUES (1, 1); FLUSH");
            seen.take();
            for (int round = 1; round <= 2; round++) {
                database.run("UPDATE t SET d = 0 WHERE k = 2; INSERT INTO s VALUES (2, 2), (1, 3)");
                database.run("INSERT INTO s VALUES (1, 4); FLUSH");
                assertThrows(MillraceException.class, seen::take);
                assertEquals("failed", state(database, "q"));
                assertTrue(database.error("RESUME CONTINUOUS QUERY q").contains("fails still: division by zero"));
                assertTrue(database.error("SUBSCRIBE TO q").startsWith("22012 continuous query \"q\" failed: "));
                database.run("UPDATE t SET d = 50 WHERE k = 2");
                assertEquals("failed", state(database, "q"));
                database.run("RESUME CONTINUOUS QUERY q");
                assertEquals("running", state(database, "q"));
                seen.subscribeAgain();
                seen.take();
                TreeMap<String, Long> expected = new TreeMap<>(Map.of("[1, 10]", 1L));
                for (int i = 0; i < round; i++) {
                    Seen.add(expected, "[2, 2]", 1);
                    Seen.add(expected, "[3, 10]", 1);
                    Seen.add(expected, "[4, 10]", 1);
                }
                assertEquals(expected, seen.rows);
                if (round == 2) {
                    database.run("INSERT INTO t VALUES (3, 0); FLUSH");
                    seen.take();
                    database.run("INSERT INTO s VALUES (3, 9); FLUSH");
                    assertThrows(MillraceException.class, seen::take);
                    database.run("ALTER CONTINUOUS QUERY q RESUME SKIP ROW");
                    seen.subscribeAgain();
                    seen.take();
                    assertEquals(expected, seen.rows);
                    database.run("UPDATE t SET d = 0 WHERE k = 1; UPDATE t SET d = 10 WHERE k = 1; FLUSH");
                    database.run(
                            "RESUME CONTINUOUS QUERY q SKIP ROW"); // of alike ones, what was left out is said to go
                    // first
                    seen.subscribeAgain();
                    seen.take();
                    assertEquals(expected, seen.rows);
                    database.run("DELETE FROM t WHERE k = 2; INSERT INTO t VALUES (2, 50); FLUSH");
                    seen.take();
                }
            }
            seen.close();
        }
    }

    /** A subscriber that comes again with the time of what it saw last. */
    private static final class Seen implements AutoCloseable {
        private final TestDatabase database;
        private final String query;
        private final TreeMap<String, Long> rows = new TreeMap<>(); // with weights
        private Subscription subscription;
        private long lastMicros;

        Seen(TestDatabase database, String query) {
            this.database = database;
            this.query = query;
            this.subscription = database.database().engine().query(query).subscribe(SubscriptionOptions.changes());
        }

        private static void add(TreeMap<String, Long> to, String row, long weight) {
            to.merge(row, weight, (a, b) -> a + b == 0 ? null : Long.valueOf(a + b));
        }

        void subscribeAgain() {
            subscription.close();
            subscription = database.database()
                    .engine()
                    .query(query)
                    .subscribe(SubscriptionOptions.changes().after(lastMicros));
        }

        void take() {
            for (Optional<EpochChanges> next = subscription.next(0); next.isPresent(); next = subscription.next(0)) {
                try (EpochChanges changes = next.get()) {
                    lastMicros = changes.epochMicros();
                    for (Batch batch : changes.batches()) {
                        ZSet changed = new ZSet();
                        changed.add(batch);
                        changed.forEach((row, weight) -> add(rows, row.toString(), weight));
                    }
                }
            }
        }

        @Override
        public void close() {
            subscription.close();
        }
    }

    /** What may be taken back stops no view; it can be left out all the same, and is missed by nobody when it goes. */
    @Test
    void aViewOverATableLeavesRowsOutUntilOthersFail() {
        try (TestDatabase database = new TestDatabase(folder.resolve("data"))) {
            database.run("CREATE TABLE t (k INT PRIMARY KEY, d INT)");
            database.run("CREATE MATERIALIZED VIEW v AS SELECT k, 100 / d AS q FROM t");
            database.run("INSERT INTO t VALUES (1, 0), (2, 0), (3, 10)");
            String why = database.error("SELECT * FROM v");
            assertTrue(why.contains("has a row that cannot be computed") && why.contains("SKIP ROW"), why);
            database.run("RESUME MATERIALIZED VIEW v SKIP ROW");
            assertEquals(List.of("3|10"), database.rows("SELECT * FROM v"));
            assertTrue(database.notices().contains("rows left out of \"v\": 2"));
        }
        try (TestDatabase database = new TestDatabase(folder.resolve("data"))) {
            assertEquals(List.of("3|10"), database.rows("SELECT * FROM v"));
            database.run("DELETE FROM t WHERE k = 1");
            assertEquals(List.of("3|10"), database.rows("SELECT * FROM v"));
            database.run("INSERT INTO t VALUES (4, 0)");
            assertTrue(database.error("SELECT * FROM v").startsWith("22012 "));
            database.run("DELETE FROM t WHERE k = 4"); // said to be the one that was left out: the other is shown again
            assertTrue(database.error("SELECT * FROM v").startsWith("22012 "));
            database.run("RESUME MATERIALIZED VIEW v SKIP ROW");
            database.run("UPDATE t SET d = 25 WHERE k = 2");
            assertEquals(List.of("2|4", "3|10"), database.rows("SELECT * FROM v"));
            database.run("RESUME MATERIALIZED VIEW v SKIP ROW");
            assertTrue(database.notices().contains("rows left out of \"v\": 0"));
        }
    }

    @Test
    void aQueryOfAFileIsStoppedAtItsEndAndIsFinishedWithoutTheRow() throws IOException {
        Path file = Files.writeString(folder.resolve("n.csv"), "n\n5\n0\n20\n");
        try (TestDatabase database = new TestDatabase()) {
            database.run("CREATE STREAM f (n BIGINT) WITH (connector = 'file', path = '" + file + "')");
            database.run("CREATE MATERIALIZED VIEW v AS SELECT sum(100 / n) AS total FROM f");
            assertTrue(database.error("FLUSH; SELECT * FROM v").contains("row 2: division by zero"));
            database.run("RESUME MATERIALIZED VIEW v SKIP ROW");
            assertEquals(List.of("25"), database.rows("SELECT * FROM v"));
            Eventually.holds("it is finished", () -> state(database, "v").equals("finished"));
            assertEquals(
                    List.of("v|22012|row 2: division by zero|1"),
                    database.rows("SELECT stream, sqlstate, reason, rows FROM millrace.rejected_rows"));
        }
    }

    /** What is outside is told nothing of an epoch that lacks rows, and cannot be called back to. */
    @Test
    void aSinkOverAStoppedViewFails() throws IOException {
        Path file = folder.resolve("out.csv");
        try (TestDatabase database = new TestDatabase()) {
            database.run(TABLES);
            database.run("CREATE CONTINUOUS QUERY q AS SELECT k, 100 / n AS v FROM s");
            database.run("CREATE SINK out FROM q WITH (connector = 'file', path = '" + file + "')");
            database.run("INSERT INTO s VALUES (1, 10); FLUSH");
            database.run("INSERT INTO s VALUES (2, 0), (2, 20); FLUSH");
            database.run("INSERT INTO s VALUES (3, 50); FLUSH");
            assertEquals("failed", state(database, "q"));
            database.run("RESUME CONTINUOUS QUERY q SKIP ROW");
            assertEquals("running", state(database, "q"));
            assertTrue(database.notices().contains("sink \"out\" over it is still failed"), "" + database.notices());
            database.run("INSERT INTO s VALUES (4, 100); FLUSH");
            assertEquals(List.of("k,v", "1,10"), Files.readAllLines(file));
        }
    }

    /** A record that cannot be a row, where the stream says that queries fail of it. */
    @Test
    void recordsThatAreRejectedAreSkipped() throws IOException {
        Path file = Files.writeString(folder.resolve("n.csv"), "k,n\na,5\nb,many\nc,20\nd,few\n");
        Path data = folder.resolve("data");
        try (TestDatabase database = new TestDatabase(data)) {
            database.run("CREATE STREAM f (k TEXT, n BIGINT) WITH (connector = 'file', path = '" + file + "')");
            database.run("CREATE MATERIALIZED VIEW v AS SELECT sum(n) AS total FROM f");
            String why = database.error("FLUSH; SELECT * FROM v");
            assertTrue(why.startsWith("22P02 materialized view \"v\" failed: ") && why.contains(":3, column"), why);
            assertTrue(database.error("SELECT sum(n) FROM f").startsWith("22P02 "));
            database.run("CHECKPOINT");
        }
        try (TestDatabase again = new TestDatabase(data)) {
            assertTrue(again.error("SELECT * FROM v").contains(":3, column"));
            again.run("RESUME MATERIALIZED VIEW v SKIP ROW");
            assertEquals(List.of("25"), again.rows("SELECT * FROM v"));
            assertEquals(
                    List.of("v|22P02|1", "v|22P02|1"), // each with its line
                    again.rows("SELECT stream, sqlstate, rows FROM millrace.rejected_rows WHERE origin = 'query'"));
        }
    }

    @Test
    void whatFailsOfOtherThanRowsIsNotSkipped() {
        try (TestDatabase database = new TestDatabase()) {
            database.run(TABLES);
            database.run("SET max_query_memory = '8MB'");
            database.run("CREATE MATERIALIZED VIEW v AS SELECT n, count(*) AS c FROM s GROUP BY n");
            database.run("RESET max_query_memory");
            database.run("INSERT INTO s SELECT 1, i FROM generate_series(1, 2000000) g(i)");
            database.run("FLUSH");
            assertEquals("failed", state(database, "v"));
            String why = database.error("RESUME MATERIALIZED VIEW v SKIP ROW");
            assertTrue(why.startsWith("55000 \"v\" did not fail of a row that could be skipped"), why);
            assertTrue(database.rows("SHOW MATERIALIZED VIEWS").get(0).endsWith("RESUME, which begins anew"));
            database.run("RESUME MATERIALIZED VIEW v; INSERT INTO s VALUES (1, 1); FLUSH");
            assertTrue(database.notices()
                    .contains(
                            "\"v\" begins anew, as its state went when it failed: former rows of \"s\" are not kept"));
            assertEquals(List.of("1|1"), database.rows("SELECT * FROM v"));
        }
    }

    /** Whose rows all fail holds up nobody for long. */
    @Test
    void whereTooManyRowsFailTheQueryGivesUp() {
        try (TestDatabase database = new TestDatabase()) {
            database.run(TABLES);
            database.run("SET row_timeout = '1h'"); // so many failures are one step, which may take its time on a busy
            // machine
            database.run("CREATE MATERIALIZED VIEW v AS SELECT sum(100 / n) AS total FROM s");
            database.run("CREATE MATERIALIZED VIEW healthy AS SELECT count(*) AS c FROM s");
            database.run("INSERT INTO s SELECT 1, 0 FROM generate_series(1, 60000); FLUSH");
            database.run("RESUME MATERIALIZED VIEW v SKIP ROW");
            database.run(
                    "INSERT INTO s SELECT 1, 0 FROM generate_series(1, 60000); INSERT INTO s VALUES (1, 10); FLUSH");
            database.run("RESUME MATERIALIZED VIEW v SKIP ROW");
            assertEquals(List.of("10"), database.rows("SELECT * FROM v"));
            assertEquals(
                    List.of("120000"),
                    database.rows("SELECT sum(rows)::bigint FROM millrace.rejected_rows WHERE stream = 'v'"));
            database.run("INSERT INTO s SELECT 1, 0 FROM generate_series(1, 100001); FLUSH");
            String why = database.error("SELECT * FROM v");
            assertTrue(why.contains("more than 100000 rows failed, this one with: "), why);
            assertTrue(database.error("RESUME MATERIALIZED VIEW v SKIP ROW").startsWith("55000 "));
            assertEquals(List.of("220002"), database.rows("SELECT * FROM healthy"));
            database.run("RESUME MATERIALIZED VIEW v; INSERT INTO s VALUES (1, 20)");
            assertEquals(List.of("5"), database.flushedRows("SELECT * FROM v"));
        }
    }

    @Test
    void alteringAStoppedQueryBeginsItAnew() {
        try (TestDatabase database = new TestDatabase()) {
            database.run(TABLES);
            database.run("CREATE MATERIALIZED VIEW v AS SELECT sum(100 / n) AS total FROM s");
            database.run("INSERT INTO s VALUES (1, 0); FLUSH");
            assertEquals("failed", state(database, "v"));
            database.run("ALTER MATERIALIZED VIEW v AS SELECT sum(100 / nullif(n, 0)) AS total FROM s");
            database.run("INSERT INTO s VALUES (1, 0), (1, 10)");
            assertEquals(List.of("10"), database.flushedRows("SELECT * FROM v"));
            assertEquals(List.of(), database.rows("SELECT * FROM millrace.rejected_rows"));
        }
    }
}
