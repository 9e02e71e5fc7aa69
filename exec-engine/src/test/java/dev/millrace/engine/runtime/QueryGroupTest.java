package dev.millrace.engine.runtime;

import static dev.millrace.engine.runtime.TestPlans.longs;
import static dev.millrace.engine.runtime.TestPlans.scan;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.batch.Batch;
import dev.millrace.engine.group.GroupMembers;
import dev.millrace.engine.group.MembersOperator;
import dev.millrace.engine.heap.HeapBudget;
import dev.millrace.engine.operators.OperatorFactory;
import dev.millrace.engine.statistic.QueryState;
import dev.millrace.engine.subscription.EpochChanges;
import dev.millrace.engine.subscription.Subscription;
import dev.millrace.engine.subscription.SubscriptionOptions;
import dev.millrace.error.MillraceException;
import dev.millrace.plan.expression.AggregateCall;
import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.Expression.Call;
import dev.millrace.plan.expression.Expression.Column;
import dev.millrace.plan.expression.Expression.Literal;
import dev.millrace.plan.expression.ParameterPlace;
import dev.millrace.plan.node.GroupPlan;
import dev.millrace.plan.node.JoinTime;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.scheduler.SteppedWorkers;
import dev.millrace.testing.harness.CollectedOutput;
import dev.millrace.testing.harness.StateFixture;
import dev.millrace.testing.harness.TestContext;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.TestBatches;
import dev.millrace.testing.rows.ZSet;
import dev.millrace.testing.time.TestClock;
import dev.millrace.time.Clock;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** GroupMembers come, go, leave their group and fail at random moments: each is told what its query says, and shows it where it is a view, no row twice, none lost, none of another. */
@Timeout(300)
final class QueryGroupTest {
    private static final int SEEDS = Integer.getInteger("millrace.groups.seeds", 40);
    private static final Schema KV = longs("k", "v");
    private static final Schema ANSWER = longs("v", "ratio");

    /** {@code SELECT v, 100 / (v - $3) FROM s WHERE k = $1 AND v > $2}. */
    private static GroupPlan plan() {
        Expression k = column(0);
        Expression v = column(1);
        List<Field> fields = new ArrayList<>(ANSWER.fields());
        fields.add(0, GroupPlan.MEMBER);
        Schema answer = new Schema(fields);
        PlanNode.Calc shared = new PlanNode.Calc(
                scan("s", KV),
                Optional.of(test("and", test("eq", k, place(1)), test("gt", v, place(2)))),
                List.of(place(0), v, ratio(v, place(3))),
                answer);
        Schema rows = new Schema(List.of(KV.field(0), KV.field(1), GroupPlan.ROW));
        Schema members = new Schema(List.of(GroupPlan.MEMBER, KV.field(0), KV.field(1), KV.field(1)));
        PlanNode.Join matching = new PlanNode.Join(
                new PlanNode.Values(List.of(), rows),
                new PlanNode.Values(List.of(), members),
                PlanNode.JoinKind.INNER,
                List.of(0),
                List.of(1),
                Optional.of(test("gt", v, column(5))),
                Optional.of(new JoinTime.Current()),
                rows.concat(members));
        PlanNode.Calc computing =
                new PlanNode.Calc(matching, Optional.empty(), List.of(column(3), v, ratio(v, column(6))), answer);
        return new GroupPlan(shared, matching, computing);
    }

    /** {@code SELECT ratio, max(v), count(*) FROM (the same) GROUP BY ratio}. */
    private static GroupPlan grouped() {
        GroupPlan filters = plan();
        PlanNode.Aggregate groups = new PlanNode.Aggregate(
                new PlanNode.Values(List.of(), ANSWER),
                List.of(1),
                List.of(call(AggregateCall.Function.MAX, List.of(0)), call(AggregateCall.Function.COUNT, List.of())),
                PlanNode.Phase.SINGLE,
                true,
                longs("ratio", "max", "count"));
        return new GroupPlan(filters.shared(), filters.matching(), filters.computing(), List.of(groups));
    }

    private static AggregateCall call(AggregateCall.Function function, List<Integer> arguments) {
        return new AggregateCall(
                function, arguments, false, OptionalInt.empty(), List.of(), List.of(), DataType.BIGINT);
    }

    private static Expression column(int index) {
        return new Column(index, DataType.BIGINT, false);
    }

    private static Expression place(int number) {
        return ParameterPlace.of(number, DataType.BIGINT);
    }

    private static Expression test(String function, Expression... arguments) {
        return new Call(function, List.of(arguments), DataType.BOOLEAN, false);
    }

    private static Expression ratio(Expression v, Expression from) {
        Expression hundred = new Literal(100L, DataType.BIGINT);
        Expression difference = new Call("subtract", List.of(v, from), DataType.BIGINT, false);
        return new Call("divide", List.of(hundred, difference), DataType.BIGINT, false);
    }

    /** What a member's query says, and what its subscriber heard. */
    private static final class Model implements AutoCloseable {
        final long key;
        final long above;
        final long from;
        final boolean groups;
        final Map<Long, Row> ofRatio = new TreeMap<>(); // groups
        final ZSet expected = new ZSet();
        final ZSet heard = new ZSet();
        final ZSet shown = new ZSet(); // of a view
        final StandingQuery query;
        final Engine engine;
        Optional<StandingQuery> reader = Optional.empty(); // of all its rows
        Subscription subscription;
        boolean failed;

        private Model(long key, long above, long from, boolean groups, StandingQuery query, Engine engine) {
            this.engine = engine;
            this.groups = groups;
            this.key = key;
            this.above = above;
            this.from = from;
            this.query = query;
            this.subscription = query.subscribe(SubscriptionOptions.changes());
        }

        /** A member; none where the group has ended, as the last one may leave it at any time. */
        static Optional<Model> of(Engine engine, QueryGroup group, String name, SplittableRandom random) {
            long key = random.nextInt(4);
            long above = random.nextInt(20);
            boolean groups = group.plan().keepsState();
            long from = groups ? 41 + random.nextInt(20) : random.nextInt(100) < 30 ? random.nextInt(40) : 1_000;
            return group.join(name, List.of(literal(key), literal(above), literal(from)))
                    .map(query -> new Model(key, above, from, groups, query, engine));
        }

        private static Literal literal(long value) {
            return new Literal(value, DataType.BIGINT);
        }

        boolean wants(Row row) {
            return (Long) row.get(0) == key && (Long) row.get(1) > above;
        }

        boolean fails(List<Row> rows) {
            return rows.stream().anyMatch(row -> wants(row) && (Long) row.get(1) == from);
        }

        /** Rows of an epoch, all of them if one fails. */
        void comes(List<Row> rows) {
            rows.stream()
                    .filter(row -> !groups && wants(row) && (Long) row.get(1) != from)
                    .forEach(row -> shown.add(Row.of(row.get(1), 100 / ((Long) row.get(1) - from)), 1));
            if (failed) {
                return;
            }
            failed = fails(rows);
            if (groups) {
                rows.stream().filter(this::wants).forEach(row -> {
                    long v = (Long) row.get(1);
                    ofRatio.merge(
                            100 / (v - from),
                            Row.of(v, 1L),
                            (before, one) -> Row.of(Math.max((Long) before.get(0), v), (Long) before.get(1) + 1));
                });
            } else if (!failed) {
                rows.stream()
                        .filter(this::wants)
                        .forEach(row -> expected.add(Row.of(row.get(1), 100 / ((Long) row.get(1) - from)), 1));
            }
        }

        void check(String name) {
            try {
                for (Optional<EpochChanges> next = subscription.next(0);
                        next.isPresent();
                        next = subscription.next(0)) {
                    try (EpochChanges epoch = next.get()) {
                        epoch.batches().forEach(heard::add);
                    }
                }
                assertTrue(!failed, name + " goes on though a row failed");
            } catch (MillraceException e) {
                assertEquals("22012", e.sqlState().code(), e::toString);
                assertTrue(failed, name + " failed without reason: " + e);
                assertEquals(QueryState.FAILED, query.state());
            }
            if (groups) {
                ZSet all = new ZSet();
                ofRatio.forEach((ratio, group) -> all.add(Row.of(ratio, group.get(0), group.get(1)), 1));
                assertEquals(all, heard, name);
            } else {
                assertEquals(expected, heard, name);
            }
            if (query.materialized()) {
                checkShown(name);
            }
        }

        private void checkShown(String name) {
            if (failed) {
                assertEquals(
                        "22012",
                        assertThrows(MillraceException.class, () -> read(engine, query))
                                .sqlState()
                                .code());
                return;
            }
            ZSet all = groups ? heard : shown;
            assertEquals(all, read(engine, query), name);
            reader.ifPresent(over -> assertEquals(all, read(engine, over), "over " + name));
            try (Subscription late = query.subscribe(SubscriptionOptions.withSnapshot());
                    EpochChanges snapshot = late.next(0).orElseThrow()) {
                ZSet told = new ZSet();
                snapshot.batches().forEach(told::add);
                assertEquals(all, told, "snapshot of " + name);
            }
        }

        /** Somebody reads it from now on. */
        void isRead() {
            if (reader.isEmpty()) {
                String name = query.name();
                reader = Optional.of(engine.start("over " + name, scan(name, query.schema()), QueryOptions.view()));
                assertTrue(query.group().isEmpty());
            }
        }

        void goOn() {
            subscription.close();
            assertEquals(1, Math.min(1, query.leaveOutFailedRows()));
            query.resume();
            failed = false;
            subscription = query.subscribe(SubscriptionOptions.changes());
        }

        @Override
        public void close() {
            subscription.close();
            reader.ifPresent(StandingQuery::drop);
            query.drop();
        }
    }

    private static ZSet read(Engine engine, StandingQuery view) {
        ZSet rows = new ZSet();
        try (Result result = engine.run(scan(view.name(), view.schema()))) {
            for (Optional<Batch> next = result.next(); next.isPresent(); next = result.next()) {
                try (Batch batch = next.get()) {
                    rows.add(batch);
                }
            }
        }
        return rows;
    }

    private static void churn(Engine engine, GroupPlan plan, QueryOptions options, long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        engine.relations().addStream("s", KV);
        QueryGroup group = engine.group("group", plan, options);
        Map<String, Model> members = new TreeMap<>();
        members.put("first", Model.of(engine, group, "first", random).orElseThrow());
        for (int step = 0; step < 120; step++) {
            int what = random.nextInt(100);
            List<String> names = List.copyOf(members.keySet());
            String some = names.get(random.nextInt(names.size()));
            if (what < 50) {
                List<Row> rows = new ArrayList<>();
                for (int i = random.nextInt(1, 12); i > 0; i--) {
                    rows.add(Row.of((long) random.nextInt(4), (long) random.nextInt(40)));
                }
                boolean fails = members.values().stream().anyMatch(member -> member.fails(rows));
                if (fails) {
                    engine.flush(progress -> {}); // the whole epoch in which one does is not told
                }
                engine.relations().writable("s").append(TestBatches.of(KV, engine.allocator(), rows));
                if (fails || random.nextBoolean()) {
                    engine.flush(progress -> {}); // else who comes now comes behind an epoch that is under way
                }
                members.values().forEach(member -> member.comes(rows));
            } else if (what < 70) {
                String name = "q" + random.nextInt(12);
                if (!members.containsKey(name)) {
                    Model.of(engine, group, name, random).ifPresent(member -> members.put(name, member));
                }
            } else if (what < 80 && members.size() > 1) {
                members.remove(some).close();
            } else if (what < 87 && !members.get(some).failed) {
                members.get(some).query.pause();
                members.get(some).query.resume();
                assertTrue(members.get(some).query.group().isEmpty());
            } else if (what < 90 && !members.get(some).failed && options.materialized()) {
                members.get(some).isRead();
            } else {
                engine.flush(progress -> {});
                members.forEach((name, member) -> member.check(name));
                members.values().stream().filter(member -> member.failed).forEach(Model::goOn);
            }
        }
        engine.flush(progress -> {});
        members.forEach((name, member) -> member.check(name));
        members.values().forEach(Model::close);
        assertTrue(group.isOver());
        engine.relations().drop("s");
    }

    @Test
    void whoeverComesAndGoesEachMemberIsToldItsRowsInAnyOrderOfSteps() {
        for (long seed = 1; seed <= SEEDS; seed++) {
            TestClock clock = new TestClock(1_000_000);
            EngineOptions options = EngineOptions.defaults()
                    .withWorkers(1 + (int) (seed % 3))
                    .withMemoryLimitBytes(64L << 20)
                    .withChannelBytes(600, 200);
            try (SteppedLocalEngine engine =
                    new SteppedLocalEngine(options, clock, new SteppedWorkers(seed, clock), OperatorFactory::create)) {
                churn(engine, plan(), QueryOptions.streaming(), seed);
                churn(engine, grouped(), QueryOptions.streaming(), seed);
                churn(engine, plan(), QueryOptions.view(), seed);
                churn(engine, grouped(), QueryOptions.view(), seed);
            } catch (RuntimeException | AssertionError e) {
                throw new AssertionError("seed " + seed + ": " + e, e);
            }
        }
    }

    @Test
    void whoeverComesAndGoesEachMemberIsToldItsRowsByThreads() {
        for (long seed = 1; seed <= SEEDS; seed++) {
            try (Engine engine = Engine.open(EngineOptions.defaults().withWorkers(2), Clock.system())) {
                churn(engine, plan(), QueryOptions.streaming(), seed);
                churn(engine, grouped(), QueryOptions.streaming(), seed);
                churn(engine, plan(), QueryOptions.view(), seed);
                churn(engine, grouped(), QueryOptions.view(), seed);
            } catch (RuntimeException | AssertionError e) {
                throw new AssertionError("seed " + seed + ": " + e, e);
            }
        }
    }

    @Test
    void whatMembersKeepIsWrittenAsItWas() {
        try (BufferAllocator allocator = new RootAllocator()) {
            List<Row> rows = List.of(Row.of(1L, 7L), Row.of(2L, 9L), Row.of(1L, 30L), Row.of(3L, 3L));
            CollectedOutput first = new CollectedOutput();
            CollectedOutput second = new CollectedOutput();
            try (MembersOperator operator = kept(allocator);
                    MembersOperator again = kept(allocator)) {
                step(operator, 1, rows, allocator, new CollectedOutput());
                again.restore(StateFixture.check("members", operator));
                step(operator, 2, rows, allocator, first);
                step(again, 2, rows, allocator, second);
            }
            assertEquals(first.rows(), second.rows());
            assertTrue(first.rows().toString().contains("4]=1"), "counts of both: " + first.rows());
        }
    }

    private static MembersOperator kept(BufferAllocator allocator) {
        GroupMembers members = new GroupMembers(false);
        members.add(
                "a",
                List.of(Model.literal(1), Model.literal(0), Model.literal(1_000)),
                Long.MIN_VALUE,
                Optional.of("a"));
        members.add(
                "b", List.of(Model.literal(2), Model.literal(5), Model.literal(50)), Long.MIN_VALUE, Optional.of("b"));
        MembersOperator operator =
                new MembersOperator(grouped(), members, OperatorFactory::create, HeapBudget.ofProcess());
        operator.open(new TestContext(allocator));
        return operator;
    }

    private static void step(
            MembersOperator operator, long epoch, List<Row> rows, BufferAllocator allocator, CollectedOutput output) {
        operator.process(0, TestBatches.of(KV, allocator, rows), output);
        operator.onEpochEnd(epoch, output);
    }

    @Test
    void whoReadsAViewWhileItLeavesItsGroupReadsAllOfIt() throws InterruptedException {
        List<Literal> literals = List.of(Model.literal(1), Model.literal(0), Model.literal(1_000));
        for (int round = 0; round < 4; round++) {
            try (Engine engine = Engine.open(EngineOptions.defaults().withWorkers(2), Clock.system())) {
                engine.relations().addStream("s", KV);
                QueryGroup group = engine.group("group", plan(), QueryOptions.view());
                List<StandingQuery> views = new ArrayList<>();
                for (int i = 0; i < 40; i++) {
                    views.add(group.join("v" + i, literals).orElseThrow());
                }
                AtomicInteger current = new AtomicInteger(); // the one that leaves next, and the rows that all have
                AtomicReference<Throwable> failure = new AtomicReference<>();
                Thread reader = new Thread(() -> {
                    for (int i = current.get(); i < views.size(); i = current.get()) {
                        int rows = read(engine, views.get(i)).rows().size();
                        if (rows < i) {
                            throw new AssertionError(rows + " rows where there were " + i);
                        }
                    }
                });
                reader.setUncaughtExceptionHandler((thread, why) -> failure.set(why));
                reader.start();
                for (int row = 1; row <= views.size(); row++) {
                    views.get(row - 1).pause();
                    views.get(row - 1).resume();
                    engine.awaitEpoch(engine.relations()
                            .writable("s")
                            .append(TestBatches.of(KV, engine.allocator(), List.of(Row.of(1L, (long) row)))));
                    current.set(row);
                }
                reader.join();
                assertEquals(null, failure.get());
                for (StandingQuery view : views) {
                    assertEquals(views.size(), read(engine, view).rows().size());
                }
            }
        }
    }

    @Test
    void rowsThatNobodySeesAnyMoreAreFreed() {
        try (Engine engine = Engine.open(EngineOptions.defaults().withWorkers(2), Clock.system())) {
            engine.relations().addStream("s", KV);
            QueryGroup group = engine.group("group", grouped(), QueryOptions.view());
            List<Literal> literals = List.of(Model.literal(1), Model.literal(0), Model.literal(1_000));
            StandingQuery view = group.join("a", literals).orElseThrow();
            for (int row = 0; row < 2_000; row++) {
                engine.awaitEpoch(engine.relations()
                        .writable("s")
                        .append(TestBatches.of(KV, engine.allocator(), List.of(Row.of(1L, 5L)))));
            }
            assertEquals(1, view.statistics().viewRows());
            assertTrue(
                    view.statistics().memoryBytes() < 64 << 10,
                    () -> view.statistics().memoryBytes() + " bytes");
        }
    }

    @Test
    void aNameThatAMemberHasIsTaken() {
        try (Engine engine = Engine.open(EngineOptions.defaults().withWorkers(2), Clock.system())) {
            engine.relations().addStream("s", KV);
            QueryGroup group = engine.group("group", plan(), QueryOptions.streaming());
            SplittableRandom random = new SplittableRandom(1);
            try (Model member = Model.of(engine, group, "a", random).orElseThrow()) {
                assertThrows(MillraceException.class, () -> Model.of(engine, group, "a", random));
                assertThrows(MillraceException.class, () -> engine.start("a", scan("s", KV), QueryOptions.streaming()));
                assertEquals(List.of("a"), engine.relations().readers("s"));
                assertEquals(1, engine.queries().size());
                assertEquals("a", member.query.name());
            }
        }
    }
}
