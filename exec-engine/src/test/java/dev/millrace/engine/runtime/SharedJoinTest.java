package dev.millrace.engine.runtime;

import static dev.millrace.engine.runtime.TestPlans.byHash;
import static dev.millrace.engine.runtime.TestPlans.scan;
import static dev.millrace.engine.runtime.TestPlans.view;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.batch.Batch;
import dev.millrace.engine.epoch.Cut;
import dev.millrace.engine.epoch.EpochOutput;
import dev.millrace.engine.epoch.Epochs;
import dev.millrace.engine.join.SharedJoinOperator;
import dev.millrace.engine.operators.OperatorFactory;
import dev.millrace.engine.relation.RelationRegistry;
import dev.millrace.engine.statistic.OperatorStatistics;
import dev.millrace.engine.statistic.QueryState;
import dev.millrace.engine.task.OperatorStage;
import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.plan.node.PlanNode.JoinKind;
import dev.millrace.scheduler.SteppedWorkers;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.TestBatches;
import dev.millrace.testing.rows.ZSet;
import dev.millrace.testing.time.TestClock;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Joins of tables and views read those where they are kept, each as of the epoch that it is at. */
@Timeout(120)
class SharedJoinTest {
    private static final int ROUNDS = Integer.getInteger("millrace.shared.rounds", 60);
    private static final List<DataType> KEYS = List.of(DataType.BIGINT, DataType.TEXT, DataType.numeric(10, 2));
    private static final List<JoinKind> KINDS = List.of(
            JoinKind.INNER,
            JoinKind.INNER,
            JoinKind.INNER,
            JoinKind.LEFT,
            JoinKind.RIGHT,
            JoinKind.FULL,
            JoinKind.SEMI,
            JoinKind.ANTI);

    /** A query, with the rows that it has seen of the stream. */
    private record Joined(String left, String right, JoinKind kind, boolean differ, List<Row> stream, PlanNode plan) {}

    /** Relations and queries that change at random, and what the answers have to be. */
    private static final class Round implements AutoCloseable {
        private final SplittableRandom random;
        private final TestClock clock = new TestClock(1_000_000);
        private final SteppedLocalEngine engine;
        private final Schema schema;
        private final Map<String, List<Row>> tables = new LinkedHashMap<>();
        private final Map<String, Schema> schemas = new HashMap<>();
        private final Map<String, Joined> queries = new LinkedHashMap<>();
        private Optional<Cut> cut = Optional.empty();
        private int started;
        private int shared;

        Round(long seed) {
            random = new SplittableRandom(seed);
            schema = Schema.of(
                    new Field("k", KEYS.get(random.nextInt(KEYS.size())), true),
                    new Field("v", DataType.BIGINT, false));
            EngineOptions options =
                    EngineOptions.defaults().withWorkers(random.nextInt(1, 5)).withChannelBytes(600, 200);
            engine = new SteppedLocalEngine(options, clock, new SteppedWorkers(seed, clock), OperatorFactory::create);
            for (String table : List.of("t", "u")) {
                engine.relations().addTable(table, schema);
                tables.put(table, new ArrayList<>());
                schemas.put(table, schema);
            }
            engine.relations().addStream("s", schema);
            schemas.put("s", schema);
            List<Expression> same = List.of(
                    new Expression.Column(0, schema.type(0), true), new Expression.Column(1, schema.type(1), false));
            PlanNode all = new PlanNode.Calc(scan("t", schema), Optional.empty(), same, schema);
            engine.start("w", all, QueryOptions.view());
        }

        void run() {
            for (int event = 0; event < 60; event++) {
                int what = random.nextInt(14);
                if (what < 6) {
                    letGo();
                }
                switch (what) {
                    case 0, 1 -> start();
                    case 2 -> drop();
                    case 3 -> alter();
                    case 4 -> pauseOrResume();
                    case 5 -> restore();
                    case 6, 7 -> holdBack();
                    default -> change(List.of("t", "u", "s").get(random.nextInt(3)));
                }
                for (int step = random.nextInt(20); step > 0; step--) {
                    engine.step();
                }
                clock.advance(random.nextInt(60_000));
                if (random.nextInt(8) == 0) {
                    check();
                }
            }
            letGo();
            queries.keySet().forEach(name -> engine.query(name).resume());
            check();
        }

        /** Relations show nothing new, though queries get it. */
        private void holdBack() {
            letGo();
            List<EpochOutput> outputs = new ArrayList<>(List.of(output("w")));
            for (String table : tables.keySet()) {
                ((RelationRegistry) engine.relations()).output(table).ifPresent(outputs::add);
            }
            Epochs epochs =
                    ((LocalStandingQuery) engine.query("w")).tasks().resources().epochs();
            cut = Optional.of(epochs.cut(outputs));
            for (int epoch = 0; epoch < 4; epoch++) {
                change(List.of("t", "u", "s").get(random.nextInt(3)));
                for (int step = 0; step < 100; step++) {
                    engine.step();
                }
                clock.advance(200_000);
            }
        }

        private EpochOutput output(String query) {
            return ((LocalStandingQuery) engine.query(query)).output().epochs();
        }

        private void letGo() {
            cut.ifPresent(Cut::close);
            cut = Optional.empty();
        }

        private String any() {
            List<String> names = List.copyOf(queries.keySet());
            return names.isEmpty() ? "" : names.get(random.nextInt(names.size()));
        }

        private void start() {
            List<String> relations = List.of("t", "u", "w", "s");
            Joined joined = joined(
                    relations.get(random.nextInt(4)),
                    relations.get(random.nextInt(4)),
                    KINDS.get(random.nextInt(KINDS.size())),
                    random.nextInt(3) == 0);
            String name = "q" + started++;
            engine.start(name, joined.plan, QueryOptions.view());
            queries.put(name, joined);
            shared += count(engine, name) > 0 ? 1 : 0;
        }

        private Joined joined(String left, String right, JoinKind kind, boolean differ) {
            PlanNode leftScan = byHash(scan(left, schema), 0);
            PlanNode rightScan = byHash(scan(right, schema), 0);
            boolean leftOnly = kind == JoinKind.SEMI || kind == JoinKind.ANTI;
            List<Field> fields = new ArrayList<>(leftScan.schema().fields());
            fields.addAll(leftOnly ? List.of() : rightScan.schema().fields());
            fields.replaceAll(field -> new Field(field.name(), field.type(), true));
            Optional<Expression> residual = differ
                    ? Optional.of(new Expression.Call(
                            "ne",
                            List.of(
                                    new Expression.Column(1, DataType.BIGINT, false),
                                    new Expression.Column(3, DataType.BIGINT, false)),
                            DataType.BOOLEAN,
                            false))
                    : Optional.empty();
            PlanNode plan = new PlanNode.Join(
                    leftScan, rightScan, kind, List.of(0), List.of(0), residual, Optional.empty(), new Schema(fields));
            return new Joined(left, right, kind, differ, new ArrayList<>(), plan);
        }

        private void drop() {
            String name = any();
            if (queries.remove(name) != null) {
                engine.query(name).drop();
            }
        }

        private void pauseOrResume() {
            String name = any();
            if (!name.isEmpty() && engine.query(name).state() == QueryState.RUNNING && random.nextBoolean()) {
                engine.query(name).pause();
            } else if (!name.isEmpty()) {
                engine.query(name).resume();
            }
        }

        /** Another query goes on where one was. */
        private void restore() {
            String name = any();
            if (!name.isEmpty() && engine.query(name).state() == QueryState.RUNNING) {
                engine.flush(progress -> {});
                QuerySnapshot snapshot = engine.query(name).snapshot();
                engine.query(name).drop();
                engine.start(name, queries.get(name).plan, QueryOptions.view().withRestore(snapshot));
            }
        }

        private void alter() {
            String table = random.nextBoolean() ? "t" : "u";
            if (schemas.get(table).size() > 3) {
                return;
            }
            engine.flush(progress -> {});
            List<Field> fields = new ArrayList<>(schemas.get(table).fields());
            fields.add(new Field("more" + fields.size(), DataType.TEXT, true));
            schemas.put(table, new Schema(fields));
            try (Batch rows = batch(table, tables.get(table), new long[0])) {
                engine.relations().alterTable(table, schemas.get(table), List.of(rows));
            }
        }

        private Batch batch(String relation, List<Row> rows, long[] weights) {
            List<Row> whole = new ArrayList<>();
            for (Row row : rows) {
                List<Object> values = new ArrayList<>(row.values());
                while (values.size() < schemas.get(relation).size()) {
                    values.add(null);
                }
                whole.add(new Row(values));
            }
            return weights.length == 0
                    ? TestBatches.of(schemas.get(relation), engine.allocator(), whole)
                    : TestBatches.weighted(schemas.get(relation), engine.allocator(), whole, weights);
        }

        private Object key(int number) {
            return switch (schema.type(0).kind()) {
                case BIGINT -> (long) number;
                case TEXT -> number % 2 == 0 ? "k" + number : "a key that is longer than fifteen bytes " + number;
                default -> BigDecimal.valueOf(number, 2);
            };
        }

        private void change(String relation) {
            List<Row> rows = new ArrayList<>();
            List<Long> weights = new ArrayList<>();
            for (int left = random.nextInt(1, 6); left > 0; left--) {
                List<Row> there = tables.getOrDefault(relation, List.of());
                if (!there.isEmpty() && random.nextInt(5) < 2) {
                    rows.add(there.remove(random.nextInt(there.size())));
                    weights.add(-1L);
                } else {
                    Object key = random.nextInt(12) == 0 ? null : key(random.nextInt(6));
                    Row row = Row.of(key, (long) random.nextInt(3));
                    rows.add(row);
                    weights.add(1L);
                    if (tables.containsKey(relation)) {
                        there.add(row);
                    } else {
                        queries.values().forEach(query -> query.stream.add(row));
                    }
                }
            }
            boolean adds = !weights.contains(-1L);
            long[] all = weights.stream().mapToLong(weight -> weight).toArray();
            engine.relations().writable(relation).append(List.of(batch(relation, rows, adds ? new long[0] : all)));
        }

        private void check() {
            letGo();
            engine.flush(progress -> {});
            queries.forEach((name, joined) -> {
                if (engine.query(name).state() != QueryState.PAUSED) {
                    String what = name + ": " + joined.left + " " + joined.kind + " " + joined.right
                            + (joined.differ ? " with a condition" : "");
                    assertEquals("", expected(joined).differences(view(engine, name)), what);
                }
            });
        }

        private List<Row> rows(String relation, Joined joined) {
            if (relation.equals("s")) {
                return joined.stream;
            }
            return tables.get(relation.equals("w") ? "t" : relation); // of which "w" is a view
        }

        private ZSet expected(Joined joined) {
            List<Row> left = rows(joined.left, joined);
            List<Row> right = rows(joined.right, joined);
            boolean leftOnly = joined.kind == JoinKind.SEMI || joined.kind == JoinKind.ANTI;
            ZSet answer = new ZSet();
            List<Row> met = new ArrayList<>();
            for (Row a : left) {
                boolean meets = false;
                for (Row b : right) {
                    if (a.get(0) != null
                            && a.get(0).equals(b.get(0))
                            && (!joined.differ || !a.get(1).equals(b.get(1)))) {
                        meets = true;
                        met.add(b);
                        if (!leftOnly) {
                            answer.add(Row.of(a.get(0), a.get(1), b.get(0), b.get(1)), 1);
                        }
                    }
                }
                if (joined.kind == JoinKind.SEMI && meets || joined.kind == JoinKind.ANTI && !meets) {
                    answer.add(a, 1);
                } else if (!meets && (joined.kind == JoinKind.LEFT || joined.kind == JoinKind.FULL)) {
                    answer.add(Row.of(a.get(0), a.get(1), null, null), 1);
                }
            }
            if (joined.kind == JoinKind.RIGHT || joined.kind == JoinKind.FULL) {
                right.stream()
                        .filter(b -> !met.contains(b))
                        .forEach(b -> answer.add(Row.of(null, null, b.get(0), b.get(1)), 1));
            }
            return answer;
        }

        @Override
        public void close() {
            engine.close();
        }
    }

    private static long count(LocalEngine engine, String query) {
        return ((LocalStandingQuery) engine.query(query))
                .tasks().stages.stream()
                        .filter(placed -> placed.stage() instanceof OperatorStage stage
                                && stage.operator() instanceof SharedJoinOperator)
                        .count();
    }

    @Test
    void answersAreThoseOfAllRowsWheneverAQueryBeginsStopsOrIsBehind() {
        int shared = 0;
        for (long seed = 1; seed <= ROUNDS; seed++) {
            try (Round round = new Round(seed)) {
                round.run();
                shared += round.shared;
            } catch (RuntimeException | AssertionError e) {
                throw new AssertionError("seed " + seed + ": " + e.getMessage(), e);
            }
        }
        assertTrue(shared > ROUNDS, shared + " queries shared a side");
    }

    @Test
    void tenJoinsKeepTheRowsOfATableOnce() {
        Schema schema = TestPlans.longs("k", "v");
        try (LocalEngine engine = EngineTest.open(2)) {
            engine.relations().addTable("t", schema);
            engine.relations().addStream("s", schema);
            List<Row> rows = new ArrayList<>();
            for (long key = 0; key < 20_000; key++) {
                rows.add(Row.of(key, key));
            }
            engine.awaitEpoch(
                    engine.relations().writable("t").append(List.of(TestBatches.of(schema, engine.allocator(), rows))));
            long before = engine.allocatedBytes();
            PlanNode plan = TestPlans.join(byHash(scan("s", schema), 0), byHash(scan("t", schema), 0), 0, 0);
            engine.start("first", plan, QueryOptions.streaming());
            engine.flush(progress -> {});
            long withIndex = engine.allocatedBytes();
            for (int query = 0; query < 9; query++) {
                engine.start("q" + query, plan, QueryOptions.streaming());
            }
            engine.flush(progress -> {});
            long withTen = engine.allocatedBytes();
            assertEquals(2, count(engine, "first"));
            assertTrue(withIndex - before < 64 * 20_000L * 2, "an index of " + (withIndex - before));
            assertTrue(withTen - withIndex < 56 * 20_000L, "nine more of " + (withTen - withIndex));
            for (StandingQuery query : engine.queries()) {
                OperatorStatistics join = query.statistics().operators().stream()
                        .filter(operator -> operator.name().equals("Join"))
                        .findFirst()
                        .orElseThrow();
                assertEquals(0, join.stateEntries());
            }
            engine.queries().forEach(StandingQuery::drop);
            engine.await(() -> engine.allocatedBytes() <= before + 4096); // the index goes with the last that uses it
        }
    }
}
