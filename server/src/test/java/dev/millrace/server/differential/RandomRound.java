package dev.millrace.server.differential;

import dev.millrace.batch.Batch;
import dev.millrace.engine.checkpoint.MemoryCheckpoint;
import dev.millrace.engine.checkpoint.Resumption;
import dev.millrace.engine.runtime.EngineOptions;
import dev.millrace.engine.runtime.QueryOptions;
import dev.millrace.engine.runtime.QuerySnapshot;
import dev.millrace.engine.runtime.StandingQuery;
import dev.millrace.engine.statistic.QueryState;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.plan.node.PlanNode;
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
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * One database, one seed: some random queries, each as a standing query over a stream, as one over a table whose rows
 * also go again, and as a pull query over the table. Rows arrive in random chunks; now and then the queries over the
 * stream are stopped and continued from a snapshot; at random points, and at the end, all
 * answers are compared with the oracle's. What a window query shows of a stream must be all windows up to the watermark
 * and no other. Some views stand on a view, some begin as another query and are altered, some tell their answer every so
 * often ({@link Kept}).
 */
final class RandomRound implements AutoCloseable {
    static final String STREAM = "events";
    static final String TABLE = "facts";

    /** A view over the table, which queries over the table may read beside it. */
    static final String VIEW = "most_facts";

    /** Some rows are in it twice. */
    private static final String VIEW_TEXT = "SELECT * FROM " + TABLE + " WHERE k <> 1 OR g <> 'b' OR i > 50 UNION ALL"
            + " SELECT * FROM " + TABLE + " WHERE i < 0 AND k = 2";

    private static final long NO_WATERMARK = RandomRows.EARLIEST_MICROS;

    private static final Dual BEFORE_ALTERED = Dual.same("SELECT g, count(*) AS n FROM rel GROUP BY g");
    private static final long PATIENCE_NANOS = 20_000_000_000L;
    private static final long MOST_ROWS = 1_000_000;
    private static final List<String> SCHEDULES =
            List.of("every 20 ms", "every 7 rows", "every 1 h", "every 100 rows or 50 ms", "data", "");
    private static final String HEAP_FULL = "(the Java heap was full and ended the round)";

    private record Asked(int number, String view, String relation, Generated query) {
        /** What the view must show, in the oracle's words. */
        String duck() {
            String sql = query.duck(relation);
            return inTwo() ? upper("(" + sql + ")") : sql;
        }

        /** Of those in two, the view over the other: rows come to it many at a time. */
        private String upper(String beneath) {
            return number % 2 == 0
                    ? "SELECT c0, count(*) AS n FROM " + beneath + " GROUP BY c0"
                    : "SELECT count(*) AS n, count(DISTINCT c0) AS d FROM " + beneath;
        }

        boolean overStream() {
            return relation.equals(STREAM);
        }

        boolean inTwo() {
            return query.kept() == Kept.IN_TWO;
        }

        boolean isPaced() {
            return query.kept() == Kept.PACED;
        }

        /** Rows of a stream that came before are not there any more for the new query. */
        boolean isAltered() {
            return query.kept() == Kept.ALTERED && !overStream();
        }

        Asked as(Dual text) {
            return new Asked(number, view, relation, Generated.of(text));
        }
    }

    private record Saved(PlanNode plan, QuerySnapshot snapshot) {}

    /** A query whose answer is wrong; its number among those of the round. */
    static final class Disagreement extends AssertionError {
        private static final long serialVersionUID = 1L;

        private final int number;

        Disagreement(int number, String message, Throwable cause) {
            super(message, cause);
            this.number = number;
        }

        int number() {
            return number;
        }
    }

    private final long seed;
    private final Chance chance;
    private final Chance schedules; // of its own: queries and rows are the same without
    private final RandomRows rows;
    private final Oracle oracle = Oracle.open();
    private final DatabaseOptions options;
    private Database database;
    private Session session;
    private final List<Asked> standing = new ArrayList<>();
    private final List<Asked> toAlter = new ArrayList<>();
    private final List<Asked> pulled = new ArrayList<>();
    private final List<Row> inTable = new ArrayList<>();
    private final Map<String, Integer> refusals = new LinkedHashMap<>();
    private long latestInStreamMicros = NO_WATERMARK + RandomRows.DELAY_MICROS;

    RandomRound(long seed) {
        this.seed = seed;
        this.chance = new Chance(seed);
        this.schedules = new Chance(~seed);
        this.rows = new RandomRows(chance);
        this.options = DatabaseOptions.defaults()
                .withEngine(EngineOptions.defaults()
                        .withWorkers(chance.of(1, 2, 3))
                        .withBatchRows(chance.of(2, 16, 4096))
                        .withMemoryLimitBytes(256L << 20));
        this.database = Database.open(options);
        this.session = database.session();
    }

    /** How often which feature was refused as not available, by message. */
    Map<String, Integer> refusals() {
        return refusals;
    }

    /** @throws AssertionError if an answer is wrong, a {@link Disagreement} if it is clear whose */
    void run(List<Generated> queries) {
        try {
            create(queries);
            int chunks = chance.between(1, 6);
            for (int chunk = 0; chunk < chunks; chunk++) {
                scheduleSome();
                feed();
                if (chance.percent(20)) {
                    standing.stream().filter(each -> !each.inTwo()).forEach(this::restart);
                }
                if (chance.percent(12)) {
                    move();
                }
                if (chance.percent(25)) {
                    moveAll();
                }
                if (chunk == chunks - 1 || chance.percent(30)) {
                    alterAll();
                }
                if (chunk == chunks - 1 || chance.percent(30)) {
                    compareAll();
                }
            }
            checkKeys();
        } catch (OracleException e) {
            if (!e.getMessage().contains("INTERNAL Error")) {
                throw new AssertionError(e + "\n(seed " + seed + ")", e);
            }
            refusals.merge("(the oracle failed by itself and ended the round)", 1, Integer::sum);
        } catch (Disagreement e) {
            if (isOfTheHeap(e)) {
                refusals.merge(HEAP_FULL, 1, Integer::sum);
                return;
            }
            if (standing.stream().noneMatch(this::isTooLarge)) {
                throw e;
            }
            refusals.merge(
                    "(an answer of over " + MOST_ROWS + " rows filled the memory and ended the round)",
                    1,
                    Integer::sum);
        } catch (RuntimeException | AssertionError e) {
            if (isOfTheHeap(e)) {
                refusals.merge(HEAP_FULL, 1, Integer::sum);
                return;
            }
            throw new AssertionError(e + "\n(seed " + seed + ")", e);
        }
    }

    /** Rounds that run side by side share it: with batches of two rows one join of all with all can fill it for a moment. */
    private static boolean isOfTheHeap(Throwable failure) {
        return failure.getMessage().contains("on the Java heap")
                || failure.getMessage().contains("the Java heap of");
    }

    private void createRelations() {
        Answers.of(
                session,
                "CREATE STREAM " + STREAM + " (" + RandomRows.DECLARATIONS
                        + ", WATERMARK FOR ts AS ts - INTERVAL '5 seconds');"
                        + "CREATE TABLE " + TABLE + " (" + RandomRows.DECLARATIONS + ", PRIMARY KEY (id));"
                        + view(VIEW, VIEW_TEXT) + RandomIndexes.on(chance, TABLE));
    }

    private void create(List<Generated> queries) {
        createRelations();
        oracle.create(STREAM, RandomRows.ORACLE_SCHEMA);
        oracle.create(TABLE, RandomRows.ORACLE_SCHEMA);
        oracle.execute("CREATE VIEW " + VIEW + " AS " + VIEW_TEXT);
        if (chance.percent(50)) {
            feed(); // a view over a table begins with the rows that are there
        }
        for (int number = 0; number < queries.size(); number++) {
            Generated query = queries.get(number);
            Asked pull = new Asked(number, "pulled", TABLE, query);
            stand(new Asked(number, "stream_view_" + number, STREAM, query));
            if (query.kept() == Kept.OVER_STREAM) {
                continue;
            }
            if (accepted(pull, query.ours(TABLE))) {
                pulled.add(pull);
            }
            stand(new Asked(number, "table_view_" + number, TABLE, query));
        }
    }

    private void stand(Asked asked) {
        if (asked.isAltered()) {
            Asked before = asked.as(BEFORE_ALTERED);
            if (accepted(before, view(before.view, before.query.ours(TABLE)))) {
                standing.add(before);
                toAlter.add(asked);
            }
        } else if (accepted(asked, definition(asked))) {
            standing.add(asked);
        }
    }

    private static String definition(Asked asked) {
        String sql = asked.query.ours(asked.relation);
        return switch (asked.query.kept()) {
            case PLAIN, OVER_STREAM, ALTERED -> view(asked.view, sql);
            case LATE_INCLUDED -> view(asked.view + " WITH (late = 'include')", sql);
            case PACED -> view(asked.view, sql + " EMIT EVERY INTERVAL '1 millisecond'");
            case IN_TWO ->
                view("beneath_" + asked.view, sql) + "; " + view(asked.view, asked.upper("beneath_" + asked.view));
        };
    }

    private static String view(String name, String sql) {
        return "CREATE MATERIALIZED VIEW " + name + " AS " + sql;
    }

    private void alterAll() {
        for (Asked asked : toAlter) {
            if (accepted(asked, "ALTER MATERIALIZED VIEW " + asked.view + " AS " + asked.query.ours(asked.relation))) {
                standing.removeIf(each -> each.view.equals(asked.view));
                standing.add(asked);
            }
        }
        toAlter.clear();
    }

    /** A query that is refused as a whole is no failure, but somebody should know. */
    private boolean accepted(Asked asked, String statement) {
        try {
            Answers.of(session, statement);
            return true;
        } catch (MillraceException e) {
            if (e.sqlState() != SqlState.FEATURE_NOT_SUPPORTED) {
                throw failure(asked, e.sqlState() + " " + e.getMessage(), e);
            }
            refusals.merge(e.getMessage(), 1, Integer::sum);
            return false;
        } catch (RuntimeException | AssertionError e) {
            throw failure(asked, e.toString(), e);
        }
    }

    private Disagreement failure(Asked asked, String message, Throwable cause) {
        return new Disagreement(
                asked.number,
                message + "\n" + asked.view + ": " + definition(asked) + "\noracle: "
                        + asked.duck() + "\n(seed " + seed + ", "
                        + database.engine().options().workers() + " workers)",
                cause);
    }

    private void feed() {
        List<Row> more = rows.next(chance.of(1, 10, 100));
        if (standing.isEmpty()) {
            append(TABLE, more, List.of());
            return;
        }
        append(STREAM, more, List.of());
        List<Row> gone = new ArrayList<>();
        List<Row> added = new ArrayList<>(more);
        for (int tries = chance.below(1 + inTable.size() / 2); tries > 0; tries--) {
            Row row = inTable.remove(chance.below(inTable.size()));
            gone.add(row);
            if (chance.percent(20)) {
                added.add(rows.updated(row));
            }
        }
        append(TABLE, added, gone);
    }

    private void append(String relation, List<Row> added, List<Row> gone) {
        List<Row> changed = new ArrayList<>(added);
        changed.addAll(gone);
        long[] weights = new long[changed.size()];
        for (int row = 0; row < weights.length; row++) {
            weights[row] = row < added.size() ? 1 : -1;
        }
        var allocator = database.engine().allocator();
        Batch batch = gone.isEmpty()
                ? TestBatches.of(RandomRows.SCHEMA, allocator, changed)
                : TestBatches.weighted(RandomRows.SCHEMA, allocator, changed, weights);
        database.engine().relations().writable(relation).append(batch);
        List<Row> expected = new ArrayList<>();
        for (Row row : added) {
            boolean streamed = relation.equals(STREAM);
            expected.add(RandomRows.withWatermark(row, streamed ? watermarkMicros() : NO_WATERMARK));
            if (streamed) {
                latestInStreamMicros = Math.max(latestInStreamMicros, (Long) row.get(1));
            }
        }
        if (relation.equals(TABLE)) {
            inTable.addAll(added);
            gone.forEach(row -> oracle.execute("DELETE FROM " + TABLE + " WHERE id = " + row.get(0)));
        }
        oracle.insert(relation, expected);
    }

    /** Gives queries turns: their answers are the same once all has had its effect. */
    private void scheduleSome() {
        for (Asked each : standing) {
            if (schedules.percent(25)) {
                schedule(each, each.view);
                if (each.inTwo() && schedules.percent(50)) {
                    schedule(each, "beneath_" + each.view);
                }
            }
        }
    }

    private void schedule(Asked asked, String view) {
        String schedule = schedules.of(SCHEDULES);
        accepted(
                asked,
                "ALTER MATERIALIZED VIEW " + view
                        + (schedule.isEmpty() ? " RESET (schedule)" : " SET (schedule = '" + schedule + "')"));
    }

    /** Stops a standing query and goes on from a snapshot of its state. */
    private void restart(Asked each) {
        StandingQuery running = database.engine().query(each.view);
        if (running.state() != QueryState.RUNNING) {
            return; // a query whose condition is never true has read all there is
        }
        session.flush(); // what was appended before the snapshot must be in it, for the new query does not see it
        try {
            QuerySnapshot snapshot = running.snapshot();
            running.drop();
            database.engine()
                    .start(each.view, running.plan(), QueryOptions.view().withRestore(snapshot));
        } catch (RuntimeException | AssertionError e) {
            throw failure(each, "restarted: " + e, e);
        }
    }

    /**
     * Goes on in another database, with another number of workers, from a checkpoint of the whole engine, which is taken while
     * rows are under way. Plans are those of before: sizes that are known by now may have made them others.
     */
    private void moveAll() {
        MemoryCheckpoint saved = new MemoryCheckpoint();
        Map<String, PlanNode> plans = new LinkedHashMap<>();
        database.engine().queries().forEach(query -> plans.put(query.name(), query.plan()));
        database.engine().checkpoint(saved, () -> {});
        session.close();
        database.close();
        database = Database.open(options.withWorkers(chance.of(1, 2, 3, 4)));
        session = database.session();
        try (Resumption resumption = database.engine().restore(saved)) {
            createRelations();
            standing.forEach(each -> accepted(each, definition(each)));
            List<String> anew = new ArrayList<>(plans.keySet());
            anew.retainAll(resumption.begunAnew().keySet());
            Collections.reverse(anew); // readers first
            anew.forEach(name -> database.engine().query(name).drop());
            Collections.reverse(anew);
            anew.forEach(name -> database.engine().start(name, plans.get(name), QueryOptions.view()));
            if (!resumption.begunAnew().isEmpty()) {
                throw new AssertionError("begun anew: " + resumption.begunAnew());
            }
        }
    }

    /**
     * Goes on in another database, with another number of workers: each query from a snapshot of its state, but for those
     * of two parts. Of the stream's rows, which are gone, these could not be asked again.
     */
    private void move() {
        standing.removeIf(each -> each.inTwo() && each.overStream());
        session.flush();
        Map<String, Saved> saved = new HashMap<>();
        for (Asked each : standing) {
            StandingQuery running = database.engine().query(each.view);
            if (running.state() == QueryState.RUNNING && !each.inTwo()) {
                try {
                    saved.put(each.view, new Saved(running.plan(), running.snapshot()));
                } catch (RuntimeException | AssertionError e) {
                    throw failure(each, "snapshot: " + e, e);
                }
            }
        }
        session.close();
        database.close();
        database = Database.open(options.withWorkers(chance.of(1, 2, 3, 4)));
        session = database.session();
        createRelations();
        append(TABLE, inTable);
        session.flush();
        standing.forEach(each -> {
            accepted(each, definition(each));
            if (saved.containsKey(each.view)) {
                restore(each, saved.get(each.view));
            }
        });
    }

    private void restore(Asked each, Saved saved) {
        try {
            session.flush();
            database.engine().query(each.view).drop();
            database.engine().start(each.view, saved.plan, QueryOptions.view().withRestore(saved.snapshot));
        } catch (RuntimeException | AssertionError e) {
            throw failure(each, "moved: " + e, e);
        }
    }

    private void append(String relation, List<Row> rows) {
        if (!rows.isEmpty()) {
            database.engine()
                    .relations()
                    .writable(relation)
                    .append(TestBatches.of(RandomRows.SCHEMA, database.engine().allocator(), rows));
        }
    }

    private void compareAll() {
        session.flush();
        standing.forEach(this::compare);
        for (Asked each : pulled) {
            Answers answers = answers(each, each.query.ours(TABLE));
            String sql = atEnd(each.query.duck(TABLE));
            check(
                    each,
                    each.query.ordered()
                            ? oracle.differencesInOrder(sql, answers.schema(), answers.rows())
                            : oracle.differences(sql, answers.schema(), ZSet.of(answers.rows())));
        }
    }

    /** No two rows of a view agree in what is said to be its key. */
    private void checkKeys() {
        Map<Object, List<String>> keys = new HashMap<>();
        Answers.of(session, "SELECT table_name, column_name FROM information_schema.key_column_usage")
                .rows()
                .forEach(row -> keys.computeIfAbsent(row.get(0), view -> new ArrayList<>())
                        .add('"' + row.get(1).toString() + '"'));
        for (Asked each : standing) {
            List<String> key = keys.getOrDefault(each.view, List.of());
            if (!key.isEmpty()) {
                List<Row> values = answers(each, "SELECT " + String.join(", ", key) + " FROM " + each.view)
                        .rows();
                check(each, new HashSet<>(values).size() == values.size() ? "" : "rows agree in their key " + key);
            }
        }
    }

    /** Joins of joins by few keys may have answers that no engine of this size holds, nor others beside them. */
    private boolean isTooLarge(Asked each) {
        if (database.state(each.view).isEmpty()) {
            return false;
        }
        Optional<MillraceException> failure = database.engine().query(each.view).failure();
        if (failure.isEmpty() || failure.get().sqlState() != SqlState.OUT_OF_MEMORY) {
            return false;
        }
        Schema count = new Schema(List.of(new Field("n", DataType.BIGINT, false)));
        List<Row> rows = oracle.query("SELECT count(*) AS n FROM (" + expected(each) + ") AS answer", count);
        return (Long) rows.get(0).get(0) > MOST_ROWS;
    }

    /** The oracle's query for what a standing one shows now. */
    private String expected(Asked each) {
        String sql = each.duck();
        if (each.overStream() && each.query.windowEnd().isPresent()) {
            sql = closedWindows(sql, each.query.windowEnd().getAsInt(), watermarkMicros() - each.query.heldMicros());
        }
        return each.overStream()
                ? sql.replace(RandomTimes.NOW, "make_timestamp(" + watermarkMicros() + ")")
                : atEnd(sql);
    }

    private void compare(Asked each) {
        String sql = expected(each);
        long untilNanos = System.nanoTime() + PATIENCE_NANOS;
        String differences = differences(each, sql);
        while (each.isPaced() && !differences.isEmpty() && System.nanoTime() < untilNanos) {
            session.flush();
            differences = differences(each, sql);
        }
        check(each, differences);
    }

    private String differences(Asked each, String sql) {
        Answers answers = answers(each, "SELECT * FROM " + each.view);
        return oracle.differences(sql, answers.schema(), ZSet.of(answers.rows()));
    }

    /** Over rows that are all there are. */
    private static String atEnd(String sql) {
        return sql.replace(RandomTimes.NOW, "TIMESTAMP '2200-01-01'");
    }

    private void check(Asked asked, String differences) {
        if (!differences.isEmpty()) {
            throw failure(asked, differences, null);
        }
    }

    private Answers answers(Asked each, String sql) {
        try {
            return Answers.of(session, sql);
        } catch (RuntimeException | AssertionError e) {
            throw failure(each, e.toString(), e);
        }
    }

    private long watermarkMicros() {
        return latestInStreamMicros - RandomRows.DELAY_MICROS;
    }

    /** Of a window query only the rows whose windows the watermark has passed. */
    private static String closedWindows(String sql, int windowEnd, long watermark) {
        StringBuilder names = new StringBuilder();
        for (int column = 0; column <= windowEnd; column++) {
            names.append(column == 0 ? "o" : ", o").append(column);
        }
        return "SELECT * FROM (" + sql + ") AS answer(" + names + ") WHERE o" + windowEnd + " <= make_timestamp("
                + watermark + ")";
    }

    @Override
    public void close() {
        oracle.close();
        session.close();
        database.close();
    }
}
