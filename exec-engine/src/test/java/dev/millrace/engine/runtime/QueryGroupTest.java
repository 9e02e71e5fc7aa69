package dev.millrace.engine.runtime;

import static dev.millrace.engine.runtime.TestPlans.longs;
import static dev.millrace.engine.runtime.TestPlans.scan;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.engine.operators.OperatorFactory;
import dev.millrace.engine.statistic.QueryState;
import dev.millrace.engine.subscription.EpochChanges;
import dev.millrace.engine.subscription.Subscription;
import dev.millrace.engine.subscription.SubscriptionOptions;
import dev.millrace.error.MillraceException;
import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.Expression.Call;
import dev.millrace.plan.expression.Expression.Column;
import dev.millrace.plan.expression.Expression.Literal;
import dev.millrace.plan.expression.ParameterPlace;
import dev.millrace.plan.node.GroupPlan;
import dev.millrace.plan.node.JoinTime;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.scheduler.SteppedWorkers;
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
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** GroupMembers come, go, leave their group and fail at random moments: each is told what its query says, no row twice, none lost, none of another. */
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
        final ZSet expected = new ZSet();
        final ZSet heard = new ZSet();
        final StandingQuery query;
        Subscription subscription;
        boolean failed;

        private Model(long key, long above, long from, StandingQuery query) {
            this.key = key;
            this.above = above;
            this.from = from;
            this.query = query;
            this.subscription = query.subscribe(SubscriptionOptions.changes());
        }

        /** A member; none where the group has ended, as the last one may leave it at any time. */
        static Optional<Model> of(QueryGroup group, String name, SplittableRandom random) {
            long key = random.nextInt(4);
            long above = random.nextInt(20);
            long from = random.nextInt(100) < 30 ? random.nextInt(40) : 1_000;
            return group.join(name, List.of(literal(key), literal(above), literal(from)))
                    .map(query -> new Model(key, above, from, query));
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
            if (failed) {
                return;
            }
            failed = fails(rows);
            if (!failed) {
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
            assertEquals(expected, heard, name);
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
            query.drop();
        }
    }

    private static void churn(Engine engine, long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        engine.relations().addStream("s", KV);
        QueryGroup group = engine.group("group", plan(), QueryOptions.streaming());
        Map<String, Model> members = new TreeMap<>();
        members.put("first", Model.of(group, "first", random).orElseThrow());
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
                    Model.of(group, name, random).ifPresent(member -> members.put(name, member));
                }
            } else if (what < 80 && members.size() > 1) {
                members.remove(some).close();
            } else if (what < 87 && !members.get(some).failed) {
                members.get(some).query.pause();
                members.get(some).query.resume();
                assertTrue(members.get(some).query.group().isEmpty());
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
                churn(engine, seed);
            } catch (RuntimeException | AssertionError e) {
                throw new AssertionError("seed " + seed + ": " + e, e);
            }
        }
    }

    @Test
    void whoeverComesAndGoesEachMemberIsToldItsRowsByThreads() {
        for (long seed = 1; seed <= SEEDS; seed++) {
            try (Engine engine = Engine.open(EngineOptions.defaults().withWorkers(2), Clock.system())) {
                churn(engine, seed);
            } catch (RuntimeException | AssertionError e) {
                throw new AssertionError("seed " + seed + ": " + e, e);
            }
        }
    }

    @Test
    void aNameThatAMemberHasIsTaken() {
        try (Engine engine = Engine.open(EngineOptions.defaults().withWorkers(2), Clock.system())) {
            engine.relations().addStream("s", KV);
            QueryGroup group = engine.group("group", plan(), QueryOptions.streaming());
            SplittableRandom random = new SplittableRandom(1);
            try (Model member = Model.of(group, "a", random).orElseThrow()) {
                assertThrows(MillraceException.class, () -> Model.of(group, "a", random));
                assertThrows(MillraceException.class, () -> engine.start("a", scan("s", KV), QueryOptions.streaming()));
                assertEquals(List.of("a"), engine.relations().readers("s"));
                assertEquals(1, engine.queries().size());
                assertEquals("a", member.query.name());
            }
        }
    }
}
