package dev.millrace.server.differential;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.server.differential.RandomQueries.Generated;
import dev.millrace.server.differential.RandomQueries.Kept;
import dev.millrace.server.session.Database;
import dev.millrace.server.session.DatabaseOptions;
import dev.millrace.server.session.Session;
import dev.millrace.testing.oracle.Oracle;
import dev.millrace.testing.oracle.Oracle.OracleException;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.TestBatches;
import dev.millrace.testing.rows.ZSet;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Streams that keep their rows, of all types, in segments that checkpoints write and merging makes larger, over restarts: whatever a SELECT
 * asks of them, and whatever a view shows that begins in their past, DuckDB says of the same rows. One stream keeps few bytes and loses
 * its oldest rows. {@code -Dmillrace.retained.queries=N} asks as many random queries (20), {@code -Dmillrace.retained.seed=S} begins with
 * that seed, which a failure prints.
 */
@Tag("long")
class RandomRetainedTest {
    private static final int QUERIES = Integer.getInteger("millrace.retained.queries", 20);
    private static final long SEED = Long.getLong("millrace.retained.seed", 1);
    private static final int QUERIES_PER_ROUND = 10;
    private static final int MOST_ROUNDS = 40; // until retention has dropped rows
    private static final String ALL = "past";
    private static final String NEWEST = "newest";

    @TempDir
    Path folder;

    @Test
    void whatStreamsKeepAndWhatIsMadeOfItAgreeWithDuckDb() {
        int asked = 0;
        int refused = 0;
        boolean anyGone = false;
        for (long round = 0; round * QUERIES_PER_ROUND < QUERIES || !anyGone && round < MOST_ROUNDS; round++) {
            long seed = SEED + round;
            try (Round run = new Round(seed, folder.resolve("round" + seed))) {
                run.run();
                asked += run.asked;
                refused += run.refused;
                anyGone |= run.gone > 0;
            } catch (AssertionError | RuntimeException e) {
                throw new AssertionError(e.getMessage() + "\n(seed " + seed + ")", e);
            }
        }
        assertTrue(refused * 5 < asked, refused + " of " + asked + " were refused as not available");
        assertTrue(anyGone, "no row went");
    }

    /** One database. */
    private static final class Round implements AutoCloseable {
        private final Chance chance;
        private final RandomRows rows;
        private final DatabaseOptions options;
        private final Oracle oracle = Oracle.open();
        private final List<Generated> queries = new ArrayList<>();
        private final Map<String, String> views = new LinkedHashMap<>(); // in the oracle's words
        private Database database;
        private Session session;
        private long inserted;
        int asked;
        int refused;
        long gone;

        Round(long seed, Path directory) {
            this.chance = new Chance(seed);
            this.rows = new RandomRows(chance);
            this.options =
                    DatabaseOptions.defaults().withWorkers(chance.of(1, 2, 3)).withData(directory);
            this.database = Database.open(options);
            this.session = database.session();
            while (queries.size() < QUERIES_PER_ROUND) {
                Generated query =
                        new RandomQueries(new Chance(seed * QUERIES_PER_ROUND + queries.size() + asked++)).next();
                if (query.kept() != Kept.OVER_STREAM && !query.isOfTwo()) {
                    queries.add(query);
                }
            }
            asked = 0;
        }

        void run() {
            String columns = " (" + RandomRows.DECLARATIONS + ") WITH (retention = ";
            execute("CREATE STREAM " + ALL + columns + "'forever'); CREATE STREAM " + NEWEST + columns + "'6 kB')");
            for (String stream : List.of(ALL, NEWEST)) {
                oracle.create(stream, RandomRows.ORACLE_SCHEMA);
            }
            int chunks = chance.between(3, 8);
            for (int chunk = 0; chunk < chunks; chunk++) {
                feed();
                if (chance.percent(50)) {
                    execute("CHECKPOINT");
                }
                if (chance.percent(40)) {
                    restart();
                }
                if (chance.percent(50)) {
                    begin("view" + chunk);
                }
                compareViews();
                compareQueries(chance.below(3));
            }
            restart();
            compareViews();
            compareQueries(queries.size());
        }

        private void execute(String sql) {
            Answers.of(session, sql);
        }

        private void restart() {
            session.close();
            database.close();
            database = Database.open(chance.percent(50) ? options.withEarlySessions() : options);
            session = database.session();
        }

        /** Both streams get them in one transaction, or each by itself. */
        private void feed() {
            List<Row> more = rows.next(chance.of(1, 10, 100, 400));
            List<Row> expected = more.stream()
                    .map(row -> RandomRows.withWatermark(row, RandomRows.EARLIEST_MICROS))
                    .toList();
            boolean together = chance.percent(30);
            if (together) {
                execute("BEGIN");
            }
            for (String stream : List.of(ALL, NEWEST)) {
                session.insert(stream, TestBatches.of(RandomRows.SCHEMA, database.allocator(), more));
                oracle.insert(stream, expected);
            }
            if (together) {
                execute("COMMIT");
            }
            inserted += more.size();
        }

        /** A view that begins with all rows, or with those that come from now on; as rows arrive, and not as they are dated. */
        private void begin(String name) {
            boolean fromNow = chance.percent(40);
            long now = Math.addExact(database.clock().epochMicros(), 1);
            while (database.clock().epochMicros() <= now) {
                Thread.onSpinWait(); // what arrives next is later
            }
            String start = fromNow ? Instant.EPOCH.plusNanos(now * 1000).toString() : "earliest";
            String query = chance.of(
                    "SELECT k, g, count(*) AS n, sum(l) AS l, min(t) AS t, max(n) AS most FROM " + ALL
                            + " GROUP BY k, g",
                    "SELECT id, u, w, tm FROM " + ALL + " WHERE i > 0",
                    "SELECT a.k, count(*) AS n FROM " + ALL + " AS a JOIN " + ALL
                            + " AS b ON a.id = b.id GROUP BY a.k");
            execute("CREATE MATERIALIZED VIEW " + name + " WITH (start = '" + start + "') AS " + query);
            views.put(
                    name,
                    fromNow
                            ? query.replaceAll("FROM " + ALL + "|JOIN " + ALL, "$0_from")
                                    .replace(ALL + "_from", "(SELECT * FROM " + ALL + " WHERE id >= " + inserted + ")")
                            : query);
        }

        /** What was acknowledged is in them, though they read it by themselves. */
        private void compareViews() {
            views.forEach((name, expected) -> {
                Answers found = Answers.of(session, "SELECT * FROM " + name);
                require(name + " is " + expected, oracle.differences(expected, found.schema(), ZSet.of(found.rows())));
            });
        }

        private void compareQueries(int count) {
            for (int i = 0; i < count; i++) {
                Generated query = queries.get(count == queries.size() ? i : chance.below(queries.size()));
                compare(query, ALL);
                compareNewest(query);
            }
        }

        /** Of rows that may go at any moment: both are asked of those that were there before and after. */
        private void compareNewest(Generated query) {
            for (int tries = 0; tries < 100; tries++) {
                long before = oldest();
                oracle.execute("DELETE FROM " + NEWEST + " WHERE id < " + before);
                try {
                    compare(query, NEWEST);
                    break;
                } catch (AssertionError e) {
                    if (oldest() == before) {
                        throw e;
                    }
                }
            }
        }

        private long oldest() {
            List<Row> found = Answers.of(session, "SELECT min(id), max(id), count(*) FROM " + NEWEST)
                    .rows();
            if (found.get(0).get(2).equals(0L)) { // one segment was larger than all that is to be kept
                gone = inserted;
                return inserted;
            }
            long oldest = (Long) found.get(0).get(0);
            long newest = (Long) found.get(0).get(1);
            require("ids of " + NEWEST, newest == inserted - 1 ? "" : "the newest is " + newest + " of " + inserted);
            require(
                    "ids of " + NEWEST,
                    (Long) found.get(0).get(2) == newest - oldest + 1 ? "" : "there are gaps: " + found.get(0));
            gone = oldest;
            return oldest;
        }

        private void compare(Generated query, String stream) {
            String ours = query.ours(stream);
            String theirs = query.duck(stream).replace(RandomTimes.NOW, "TIMESTAMP '2200-01-01'");
            asked++;
            try {
                Answers found = Answers.of(session, ours);
                require(
                        ours + "\noracle: " + theirs,
                        query.ordered()
                                ? oracle.differencesInOrder(theirs, found.schema(), found.rows())
                                : oracle.differences(theirs, found.schema(), ZSet.of(found.rows())));
            } catch (MillraceException e) {
                if (e.sqlState() != SqlState.FEATURE_NOT_SUPPORTED) {
                    throw new AssertionError(ours + "\n" + e.sqlState() + " " + e.getMessage(), e);
                }
                refused++;
            } catch (OracleException e) {
                if (!String.valueOf(e.getMessage()).contains("INTERNAL Error")) {
                    throw e;
                }
                refused++; // the oracle failed by itself
            }
        }

        private static void require(String what, String differences) {
            if (!differences.isEmpty()) {
                throw new AssertionError(differences + "\n" + what);
            }
        }

        @Override
        public void close() {
            session.close();
            database.close();
            oracle.close();
        }
    }
}
