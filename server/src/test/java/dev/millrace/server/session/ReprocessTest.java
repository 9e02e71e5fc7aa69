package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.batch.Batch;
import dev.millrace.engine.subscription.EpochChanges;
import dev.millrace.server.operation.DirectoryDump;
import dev.millrace.server.result.StatementResult;
import dev.millrace.server.result.StatementResults;
import dev.millrace.server.script.DefinitionScript;
import dev.millrace.testing.time.Eventually;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** REPROCESS: the past is asked again beside the answer that there is, which stays until the new one has all that it has. */
@Tag("long")
class ReprocessTest {
    private static final long SEED = Long.getLong("millrace.retained.seed", 1);
    private static final String WRONG = "SELECT k, count(*) AS n, sum(v) AS v FROM s GROUP BY k";
    private static final String RIGHT = "SELECT k, count(*) AS n, sum(2 * v) AS v FROM s GROUP BY k";
    private static final String ANSWER = "SELECT * FROM v ORDER BY k";
    private static final String UNDER_WAY = "SELECT query, replaces FROM millrace.backfills WHERE replaces <> ''";

    @TempDir
    Path folder;

    private TestDatabase open(int workers) {
        return new TestDatabase(folder.resolve("data"), workers);
    }

    private static void create(TestDatabase database) {
        database.run("CREATE STREAM s (k BIGINT, v BIGINT) WITH (retention = 'forever');"
                + "CREATE MATERIALIZED VIEW v AS " + WRONG);
        insert(database, 20_000);
    }

    private static void insert(TestDatabase database, int rows) {
        database.run("INSERT INTO s SELECT g % 7, g FROM generate_series(1, " + rows + ") g");
    }

    private static void awaitReplaced(TestDatabase database) {
        Eventually.holds(
                "the new answer is in the place of the old one, seed " + SEED,
                () -> database.rows(UNDER_WAY).isEmpty());
    }

    private static String right(String from) {
        return RIGHT.replace("FROM s", from) + " ORDER BY k";
    }

    @Test
    void aMendedQueryIsAskedOverThePastAndTakesThePlaceOfTheWrongOne() {
        try (TestDatabase database = open(2)) {
            create(database);
            database.run(
                    "CREATE UNIQUE INDEX by_k ON v (k); REPROCESS MATERIALIZED VIEW v FROM 'earliest' AS " + RIGHT);
            insert(database, 10);
            awaitReplaced(database);
            assertEquals(database.rows(right("FROM s")), database.rows(ANSWER));
            assertEquals(List.of("by_k"), database.rows("SELECT indexname FROM pg_indexes WHERE indexname = 'by_k'"));
            insert(database, 5);
            assertEquals(database.rows(right("FROM s")), database.rows(ANSWER));
            assertEquals(
                    List.of("v|CREATE MATERIALIZED VIEW v WITH (start = 'earliest') AS " + RIGHT + ";"),
                    database.rows("SHOW CREATE MATERIALIZED VIEW v"));
            assertEquals(List.of("v"), database.rows("SELECT query FROM millrace.query_stats"));
            assertEquals(List.of("v|done"), database.rows("SELECT query, state FROM millrace.backfills"));
            database.run("REPROCESS MATERIALIZED VIEW v FROM '1 day' AS " + WRONG);
            awaitReplaced(database);
            assertEquals(database.rows(WRONG + " ORDER BY k"), database.rows(ANSWER));
            database.run("CHECKPOINT");
        }
        for (int round = 0; round < 2; round++) {
            try (TestDatabase again = open(2)) {
                assertEquals(again.rows(WRONG + " ORDER BY k"), again.rows(ANSWER));
                assertEquals(List.of("checkpoint"), again.rows("SELECT way FROM millrace.recovery WHERE name = 'v'"));
                insert(again, 3);
                assertEquals(again.rows(WRONG + " ORDER BY k"), again.rows(ANSWER));
                again.run("CHECKPOINT");
            }
        }
    }

    /** Each epoch's answer is kept as a sum of changes: rows that were counted stay so. */
    @Test
    void subscribersSeeTheDifferenceAndNoRowIsMissingOrDoubledWhileOthersWrite() throws InterruptedException {
        try (TestDatabase database = open(2)) {
            create(database);
            Answer answer = new Answer();
            database.database()
                    .subscribeToEpochs("SUBSCRIBE TO v WITH (SNAPSHOT)")
                    .subscribe(answer);
            AtomicBoolean over = new AtomicBoolean();
            Thread writer = new Thread(() -> {
                try (Session session = database.database().session()) {
                    for (long row = 0; !over.get(); row++) {
                        session.execute("INSERT INTO s VALUES (" + row % 7 + ", " + row + ")")
                                .drain();
                    }
                }
            });
            writer.start();
            try {
                for (String query : List.of(WRONG, RIGHT)) {
                    database.run("REPROCESS MATERIALIZED VIEW v FROM 'earliest' AS " + query);
                    awaitReplaced(database);
                    long rows = Long.parseLong(
                            database.rows("SELECT sum(n)::bigint FROM v").get(0));
                    assertTrue(Long.parseLong(
                                    database.rows("SELECT count(*) FROM s").get(0))
                            >= rows);
                }
            } finally {
                over.set(true);
                writer.join();
            }
            List<String> expected = database.rows(right("FROM s"));
            assertEquals(expected, database.rows(ANSWER));
            Eventually.holds(
                    "the subscriber has the answer", () -> answer.rows().equals(expected));
            answer.cancel();
            assertEquals(List.of(), answer.wrong);
        }
    }

    /** What a subscriber makes of changes. */
    private static final class Answer implements Flow.Subscriber<EpochChanges> {
        private final Map<String, Long> rows = new TreeMap<>(); // guarded by this, as all else
        private final List<String> wrong = new CopyOnWriteArrayList<>();
        private Optional<Flow.Subscription> subscription = Optional.empty();
        private long lastEpoch;
        private long lastMicros;
        private long counted;

        @Override
        public synchronized void onSubscribe(Flow.Subscription begun) {
            subscription = Optional.of(begun);
            begun.request(Long.MAX_VALUE);
        }

        @Override
        public synchronized void onNext(EpochChanges epoch) {
            try (epoch) {
                for (Batch batch : epoch.batches()) {
                    for (int row = 0; row < batch.rowCount(); row++) {
                        int at = row;
                        long weight = batch.weights().map(all -> all.get(at)).orElse(1L);
                        rows.merge(
                                batch.column(0).getObject(row) + "|"
                                        + batch.column(1).getObject(row) + "|"
                                        + batch.column(2).getObject(row),
                                weight,
                                Long::sum);
                    }
                }
            }
            rows.values().removeIf(weight -> weight == 0);
            long now = rows.keySet().stream()
                    .mapToLong(row -> Long.parseLong(row.split("\\|")[1]))
                    .sum();
            boolean isEach = rows.values().stream().allMatch(weight -> weight == 1);
            if (now < counted || !isEach || epoch.epoch() < lastEpoch || epoch.epochMicros() <= lastMicros) {
                wrong.add("epoch " + lastEpoch + " with " + counted + ", then " + epoch.epoch() + " with " + rows);
            }
            counted = now;
            lastEpoch = epoch.epoch();
            lastMicros = epoch.epochMicros();
        }

        synchronized List<String> rows() {
            return List.copyOf(rows.keySet());
        }

        synchronized void cancel() {
            subscription.orElseThrow().cancel();
        }

        @Override
        public void onError(Throwable why) {
            wrong.add(why.toString());
        }

        @Override
        public void onComplete() {
            wrong.add("it ended");
        }
    }

    @Test
    void oneThatFailsLeavesTheOldAnswerAsItWas() {
        try (TestDatabase database = open(2)) {
            create(database);
            database.run("REPROCESS MATERIALIZED VIEW v FROM 'earliest'"
                    + " AS SELECT k, count(*) AS n, sum(1 / (v - 5)) AS v FROM s GROUP BY k");
            String state = "SELECT state, replaces, waits_for FROM millrace.backfills";
            Eventually.holds(
                    "it fails and says so",
                    () -> database.rows(state).equals(List.of("failed|v|\"v_reprocessed\" is failed")));
            insert(database, 3);
            assertEquals(database.rows(WRONG + " ORDER BY k"), database.rows(ANSWER));
            assertTrue(database.error("DROP MATERIALIZED VIEW v").startsWith("2BP01 "));
            assertTrue(database.error("REPROCESS MATERIALIZED VIEW v FROM 'earliest'")
                    .startsWith("55006 "));
            assertTrue(database.error("REPROCESS MATERIALIZED VIEW v_reprocessed FROM 'earliest'")
                    .startsWith("55006 \"v_reprocessed\" is to take the place of \"v\""));
            database.run("DROP MATERIALIZED VIEW v_reprocessed; REPROCESS VIEW v FROM INTERVAL '1' DAY AS " + RIGHT);
            awaitReplaced(database);
            assertEquals(database.rows(right("FROM s")), database.rows(ANSWER));
        }
    }

    private static void awaitBothFailed(TestDatabase database) {
        Eventually.holds(
                "both fail",
                () -> database.rows("SELECT count(*) FROM millrace.query_stats WHERE state = 'failed'")
                        .equals(List.of("2")));
    }

    /** It does not read the old one, and is only dropped with it. */
    @Test
    void theNewAnswerDoesNotFailWithTheOldOne() {
        String query = "SELECT k, count(*) AS n, sum(1 / (v - %d)) AS v FROM s GROUP BY k";
        try (TestDatabase database = open(1)) {
            database.run("CREATE STREAM s (k BIGINT, v BIGINT) WITH (retention = 'forever');"
                    + "CREATE MATERIALIZED VIEW v AS " + query.formatted(5));
            insert(database, 100);
            database.run("REPROCESS MATERIALIZED VIEW v FROM 'earliest' AS " + query.formatted(6));
            awaitBothFailed(database);
            String error = database.error("SELECT * FROM v_reprocessed");
            assertTrue(error.startsWith("22012 materialized view \"v_reprocessed\" failed"), error);
            database.run("CREATE VIEW a AS SELECT * FROM v_reprocessed");
            assertEquals(
                    List.of("v v_reprocessed a"),
                    database.rows("SELECT string_agg(name, ' ' ORDER BY position) FROM millrace.definitions"
                            + " WHERE kind IN ('materialized view', 'view')"));
        }
        assertEquals(
                List.of("v", "v_reprocessed", "a"),
                DirectoryDump.script(folder.resolve("data")).stream()
                        .filter(step -> step.kind().endsWith("view"))
                        .map(DefinitionScript.Step::name)
                        .toList());
        try (TestDatabase database = open(1)) {
            awaitBothFailed(database); // when the past was read again
            database.run("DROP VIEW a; ALTER MATERIALIZED VIEW v_reprocessed RESUME SKIP ROW");
            awaitReplaced(database);
            assertEquals(List.of("99"), database.rows("SELECT sum(n)::bigint FROM v"));
        }
    }

    @Test
    void bothAnswersStayBesideEachOtherUntilOneIsChosen() {
        try (TestDatabase database = open(1)) {
            create(database);
            database.run("REPROCESS MATERIALIZED VIEW v FROM TIMESTAMP '2001-02-03 04:05:06' AS w AS " + RIGHT);
            assertEquals(
                    List.of("7"),
                    database.rows("SELECT count(*) FROM v JOIN w ON v.k = w.k AND v.n = w.n AND w.v = 2 * v.v"));
            assertEquals(
                    List.of("w|CREATE MATERIALIZED VIEW w WITH (start = '2001-02-03 04:05:06Z') AS " + RIGHT + ";"),
                    database.rows("SHOW CREATE MATERIALIZED VIEW w"));
            database.run("CREATE MATERIALIZED VIEW above AS SELECT count(*) AS n FROM v");
            assertTrue(database.error("ALTER MATERIALIZED VIEW v APPLY REPLACEMENT w")
                    .startsWith("2BP01 "));
            assertTrue(database.error("REPROCESS MATERIALIZED VIEW v FROM 'earliest'")
                    .startsWith("2BP01 "));
            database.run("DROP MATERIALIZED VIEW above; ALTER MATERIALIZED VIEW v APPLY REPLACEMENT w");
            assertEquals(database.rows(right("FROM s")), database.rows(ANSWER));
            assertTrue(database.error("SELECT * FROM w").startsWith("42P01 "));
        }
    }

    @Test
    void aPartOfThePastIsAnAnswerThatEnds() {
        try (TestDatabase database = open(2)) {
            create(database);
            String before = database.rows("SELECT now()::text").get(0);
            Eventually.holds(
                    "the clock goes on",
                    () -> !database.rows("SELECT now()::text").get(0).equals(before));
            String to = database.rows("SELECT now()::text").get(0);
            List<String> expected = database.rows(right("FROM s"));
            insert(database, 10);
            assertTrue(database.error("REPROCESS MATERIALIZED VIEW v FROM 'earliest' TO '" + to + "'")
                    .startsWith("0A000 "));
            assertTrue(database.error("REPROCESS MATERIALIZED VIEW v FROM '2026-01-01' TO '2025-01-01' AS w")
                    .startsWith("22023 "));
            database.run("REPROCESS MATERIALIZED VIEW v FROM 'earliest' TO TIMESTAMPTZ '" + to + "' AS w AS " + RIGHT
                    + "; REPROCESS MATERIALIZED VIEW v FROM TIMESTAMPTZ '" + to + "' AS rest");
            String states = "SELECT query, state FROM millrace.query_stats WHERE query IN ('w', 'rest') ORDER BY 1";
            Eventually.holds(
                    "one ends, and one goes on",
                    () -> database.rows(states).equals(List.of("rest|running", "w|finished")));
            insert(database, 5);
            assertEquals(expected, database.rows("SELECT * FROM w ORDER BY k"));
            assertEquals(List.of("15"), database.rows("SELECT sum(n)::bigint FROM rest"));
            assertEquals(
                    List.of("w|done|t"),
                    database.rows(
                            "SELECT query, state, to_time IS NOT NULL FROM millrace.backfills WHERE query = 'w'"));
            assertTrue(database.error("ALTER MATERIALIZED VIEW v APPLY REPLACEMENT w")
                    .startsWith("0A000 an answer that ends"));
        }
        try (TestDatabase again = open(2)) {
            insert(again, 5);
            assertEquals(
                    List.of("w|done|100"),
                    again.rows("SELECT query, state, percent FROM millrace.backfills WHERE query = 'w'"));
            assertEquals(
                    List.of("20000|20"),
                    again.rows("SELECT a.n, b.n FROM (SELECT sum(n)::bigint AS n FROM w) a,"
                            + " (SELECT sum(n)::bigint AS n FROM rest) b"));
        }
    }

    /** The rows are as sketches show them, to whoever asks. */
    @Test
    void theSketchedPastIsAskedAgain() {
        try (TestDatabase database = TestDatabase.withSmallFiles(folder.resolve("data"))) {
            database.run("CREATE STREAM s (k BIGINT, v DOUBLE PRECISION, at TIMESTAMPTZ, WATERMARK FOR at AS at) WITH"
                    + " (retention = 'forever', retention.form = 'sketch', sketch.key = 'k', sketch.error = '0.5 abs',"
                    + " sketch.segment = '1ms'); CREATE MATERIALIZED VIEW v AS SELECT k, count(*) AS n, min(v) AS v"
                    + " FROM s GROUP BY k");
            for (int i = 0; i < 4; i++) {
                database.run("INSERT INTO s SELECT g % 3, sin(g) * 100, TIMESTAMPTZ '2026-01-01 00:00Z'"
                        + " + (g || ' seconds')::interval FROM generate_series(1, 3000) g; CHECKPOINT");
            }
            Eventually.holds(
                    "some of it is sketched",
                    () -> !database.rows("SELECT 1 FROM millrace.segments WHERE form = 'sketch'")
                            .isEmpty());
            String max = "SELECT k, count(*) AS n, max(v) AS v FROM s GROUP BY k";
            database.run("REPROCESS MATERIALIZED VIEW v FROM 'earliest' AS " + max);
            awaitReplaced(database);
            database.run("INSERT INTO s VALUES (1, 1000, '2026-01-02')");
            assertEquals(List.of("0|4000", "1|4001", "2|4000"), database.rows("SELECT k, n FROM v ORDER BY k"));
            assertEquals(
                    List.of("t", "t", "t"),
                    database.rows("SELECT abs(v.v - t.v) <= 1 FROM v JOIN (" + max + ") t ON v.k = t.k"));
        }
    }

    /** What a continuous query gave is kept nowhere: its subscribers see what comes from the mended one. */
    @Test
    void subscribersOfAContinuousQuerySeeTheMendedOneFromThenOn() {
        try (TestDatabase database = open(2)) {
            database.run(
                    "CREATE STREAM s (k BIGINT, at TIMESTAMPTZ, WATERMARK FOR at AS at) WITH (retention = 'forever');"
                            + "CREATE CONTINUOUS QUERY q AS SELECT window_end, count(*) AS n FROM"
                            + " TUMBLE(TABLE s, DESCRIPTOR(at), INTERVAL '1 hour') WHERE k > 1 GROUP BY window_start, window_end;"
                            + "INSERT INTO s VALUES (1, '2026-01-01 00:10Z'), (2, '2026-01-01 01:10Z'), (1, '2026-01-01 01:20Z')");
            try (Session other = database.database().session();
                    StatementResults results = other.execute("SUBSCRIBE TO q")) {
                StatementResult.Changes changes = (StatementResult.Changes) results.next();
                database.run("REPROCESS CONTINUOUS QUERY q FROM 'earliest' AS SELECT window_end, count(*) AS n FROM"
                        + " TUMBLE(TABLE s, DESCRIPTOR(at), INTERVAL '1 hour') GROUP BY window_start, window_end");
                awaitReplaced(database);
                database.run("INSERT INTO s VALUES (1, '2026-01-01 03:00Z')");
                List<Object> counts = new ArrayList<>();
                Eventually.holds("a window is closed", () -> {
                    Optional<EpochChanges> next = changes.next(10_000);
                    if (next.isPresent()) {
                        try (EpochChanges epoch = next.get()) {
                            epoch.batches()
                                    .forEach(batch -> counts.add(batch.column(batch.columnCount() - 1)
                                            .getObject(0)));
                        }
                    }
                    return !counts.isEmpty();
                });
                assertEquals(List.of(2L), counts); // with the row that the wrong one had left out
            }
        }
    }

    @Test
    void whatCannotBeAskedAgainSaysWhy() {
        try (TestDatabase database = open(1)) {
            create(database);
            database.run(
                    "CREATE STREAM passing (k BIGINT); CREATE TABLE t (k BIGINT);"
                            + "CREATE MATERIALIZED VIEW now AS SELECT count(*) AS n FROM passing;"
                            + "CREATE MATERIALIZED VIEW rows AS SELECT count(*) AS n FROM t; CREATE VIEW plain AS SELECT 1 AS n");
            assertTrue(database.error("REPROCESS MATERIALIZED VIEW now FROM 'earliest'")
                    .startsWith("0A000 "));
            assertTrue(database.error("REPROCESS MATERIALIZED VIEW rows FROM 'earliest'")
                    .startsWith("0A000 "));
            assertTrue(database.error("REPROCESS VIEW plain FROM 'earliest'").startsWith("42809 "));
            assertTrue(database.error("REPROCESS TABLE t FROM 'earliest'").startsWith("42809 "));
            assertTrue(database.error("REPROCESS CONTINUOUS QUERY v FROM 'earliest'")
                    .startsWith("42809 "));
            assertTrue(database.error("REPROCESS MATERIALIZED VIEW none FROM 'earliest'")
                    .startsWith("42P01 "));
            assertTrue(
                    database.error("REPROCESS MATERIALIZED VIEW v FROM 'soon'").startsWith("22023 "));
            assertTrue(database.error("REPROCESS MATERIALIZED VIEW v FROM 'earliest' AS SELECT nothing FROM s")
                    .startsWith("42703 "));
            assertTrue(database.error("ALTER MATERIALIZED VIEW v APPLY REPLACEMENT now")
                    .startsWith("0A000 "));
            String ofItself = "REPROCESS MATERIALIZED VIEW v FROM 'earliest' AS SELECT v.k FROM v JOIN s ON v.k = s.k";
            assertTrue(database.error(ofItself).startsWith("42P16 "));
            assertEquals(List.of("now", "rows", "v"), database.rows("SELECT query FROM millrace.query_stats"));
            database.run("CREATE ROLE other; GRANT SELECT ON s, v TO other; SET ROLE other");
            assertTrue(database.error("REPROCESS MATERIALIZED VIEW v FROM 'earliest'")
                    .startsWith("42501 "));
            assertTrue(
                    database.error("CREATE MATERIALIZED VIEW w WITH (start = 'earliest', replaces = 'v') AS " + RIGHT)
                            .startsWith("42501 "));
        }
    }

    /** What the process leaves at different moments: it comes to the same answer as one that was never interrupted. */
    @Test
    void itGoesOnAfterACrash() {
        Random random = new Random(SEED);
        List<Path> images = new ArrayList<>();
        try (TestDatabase database = open(2)) {
            create(database);
            database.run("CHECKPOINT; PAUSE MATERIALIZED VIEW v; REPROCESS MATERIALIZED VIEW v FROM 'earliest' AS "
                    + RIGHT + "; PAUSE MATERIALIZED VIEW v_reprocessed"); // none takes the place of one that is paused
            images.add(killed("begun"));
            database.run("CHECKPOINT");
            insert(database, 1 + random.nextInt(1000));
            images.add(killed("halfway"));
            database.run("RESUME MATERIALIZED VIEW v_reprocessed; RESUME MATERIALIZED VIEW v");
            awaitReplaced(database);
            insert(database, 1 + random.nextInt(100));
            images.add(killed("replaced"));
        }
        for (Path image : images) {
            for (int round = 0; round < 2; round++) {
                try (TestDatabase again = new TestDatabase(image, 1 + random.nextInt(3))) {
                    if (!again.rows("SELECT 1 FROM millrace.query_stats WHERE state = 'paused'")
                            .isEmpty()) {
                        again.run("RESUME MATERIALIZED VIEW v; RESUME MATERIALIZED VIEW v_reprocessed");
                    }
                    awaitReplaced(again);
                    insert(again, 7);
                    assertEquals(again.rows(right("FROM s")), again.rows(ANSWER), image + ", seed " + SEED);
                    assertEquals(List.of("v"), again.rows("SELECT query FROM millrace.query_stats"));
                }
            }
        }
    }

    private Path killed(String name) {
        return DirectoryImage.copy(folder.resolve("data"), folder.resolve(name));
    }
}
