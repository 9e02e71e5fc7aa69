package dev.millrace.engine.runtime;

import static dev.millrace.engine.runtime.TestPlans.byHash;
import static dev.millrace.engine.runtime.TestPlans.countPerWindow;
import static dev.millrace.engine.runtime.TestPlans.join;
import static dev.millrace.engine.runtime.TestPlans.longs;
import static dev.millrace.engine.runtime.TestPlans.project;
import static dev.millrace.engine.runtime.TestPlans.scan;
import static dev.millrace.engine.runtime.TestPlans.single;
import static dev.millrace.engine.runtime.TestPlans.sum;
import static dev.millrace.engine.runtime.TestPlans.union;
import static dev.millrace.engine.runtime.TestPlans.view;
import static dev.millrace.engine.runtime.TestPlans.watermark;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.engine.intake.Schedule;
import dev.millrace.engine.relation.OnError;
import dev.millrace.engine.relation.WritableRelation;
import dev.millrace.engine.statistic.QueryState;
import dev.millrace.engine.statistic.WatermarkStatistics;
import dev.millrace.engine.subscription.SubscriptionOptions;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.plan.node.WindowSpec;
import dev.millrace.scheduler.SteppedWorkers;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.TestBatches;
import dev.millrace.testing.rows.ZSet;
import dev.millrace.testing.time.TestClock;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The engine in one thread: any order of its steps gives the answers that threads give. */
@Timeout(120)
final class SteppedEngineTest {
    private static final Schema KV = longs("k", "v");
    private static final Schema EVENTS = longs("ts", "k");
    private static final String[] NAMES = {"a", "b", "c", "d"};
    private static final String[] SCHEDULES = {"every 250 ms", "every 20 rows", "every 1 h", "1 s or 100 rows", "data"};

    private static SteppedLocalEngine stepped(int workers, long seed, TestClock clock) {
        EngineOptions options = EngineOptions.defaults()
                .withWorkers(workers)
                .withMemoryLimitBytes(64L << 20)
                .withChannelBytes(600, 200);
        return new SteppedLocalEngine(options, clock, new SteppedWorkers(seed, clock), TestOperators::create);
    }

    /** Views over views, unions and joins, over two appended streams and a source of its own. */
    private static void startAll(Engine engine) {
        engine.relations().addStream("s", KV);
        engine.relations().addTable("t", KV);
        engine.relations().addSource("src", EngineTest.source(40, 5), OnError.FAIL);
        PlanNode s = scan("s", KV);
        PlanNode t = scan("t", KV);
        engine.start("a", sum(byHash(union(s, t), 0), List.of(0), 1), QueryOptions.view());
        engine.start("b", sum(byHash(scan("src", KV), 0), List.of(0), 1), QueryOptions.view());
        engine.start(
                "c",
                project(
                        byHash(
                                join(
                                        byHash(scan("a", longs("k", "sum")), 0),
                                        byHash(scan("b", longs("k", "sum")), 0),
                                        0,
                                        0),
                                1),
                        1,
                        3),
                QueryOptions.view());
        engine.start("d", sum(single(scan("c", longs("x", "y"))), List.of(), 1), QueryOptions.view());
    }

    private static void append(Engine engine, String relation, SplittableRandom data) {
        List<Row> rows = new ArrayList<>();
        for (int i = data.nextInt(1, 10); i > 0; i--) {
            rows.add(Row.of(data.nextInt(9), data.nextInt(1000)));
        }
        engine.relations().writable(relation).append(TestBatches.of(KV, engine.allocator(), rows));
    }

    private static List<ZSet> answers(Engine engine) {
        return List.of(view(engine, "a"), view(engine, "b"), view(engine, "c"), view(engine, "d"), view(engine, "t"));
    }

    private static List<ZSet> threaded() {
        try (LocalEngine engine = EngineTest.open(2)) {
            startAll(engine);
            SplittableRandom data = new SplittableRandom(99);
            for (int i = 0; i < 40; i++) {
                append(engine, i % 3 == 0 ? "t" : "s", data);
            }
            engine.flush(progress -> {});
            return answers(engine);
        }
    }

    /** The last epoch of a query over a bounded source may become visible after its tasks are gone. */
    @Test
    void threadsGiveTheSameAnswerEachTime() {
        List<ZSet> expected = threaded();
        for (int trial = 0; trial < 40; trial++) {
            assertEquals(expected, threaded());
        }
    }

    @Test
    void anyOrderOfStepsGivesTheAnswerThatThreadsGive() {
        List<ZSet> expected = threaded();
        for (long seed = 1; seed <= 60; seed++) {
            TestClock clock = new TestClock(1_000_000);
            SplittableRandom steps = new SplittableRandom(seed);
            try (SteppedLocalEngine engine = stepped(steps.nextInt(1, 4), seed, clock)) {
                startAll(engine);
                SplittableRandom data = new SplittableRandom(99);
                for (int i = 0; i < 40; i++) {
                    append(engine, i % 3 == 0 ? "t" : "s", data);
                    for (int step = steps.nextInt(20); step > 0; step--) {
                        engine.step();
                    }
                    clock.advance(steps.nextInt(200_000));
                    disturb(engine, steps);
                }
                engine.flush(progress -> {});
                assertEquals(expected, answers(engine), "seed " + seed);
            }
        }
    }

    /** Queries that come, go and pause must not change what others answer. */
    private static void disturb(Engine engine, SplittableRandom random) {
        switch (random.nextInt(14)) {
            case 0 -> {
                StandingQuery passing =
                        engine.start("passing", sum(scan("a", longs("k", "sum")), List.of(), 1), QueryOptions.view());
                for (int i = random.nextInt(5); i > 0; i--) {
                    ((SteppedEngine) engine).step();
                }
                passing.drop();
            }
            case 1 -> {
                String name = random.nextBoolean() ? "a" : "c";
                StandingQuery query = engine.query(name);
                query.pause();
                for (int i = random.nextInt(30); i > 0; i--) {
                    ((SteppedEngine) engine).step();
                }
                query.resume();
            }
            case 2 ->
                engine.query("d").subscribe(SubscriptionOptions.withSnapshot()).close();
            case 3 -> {
                ZSet total = view(engine, "d");
                assertTrue(total.rows().size() <= 1);
            }
            case 4, 5 -> {
                String schedule = SCHEDULES[random.nextInt(SCHEDULES.length)];
                engine.query(NAMES[random.nextInt(NAMES.length)]).schedule(Schedule.of(schedule));
            }
            default -> {}
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void windowsCloseByWatermarksInAnyOrder(int workers) {
        ZSet expected = new ZSet();
        List<List<Row>> script = new ArrayList<>();
        for (int b = 0; b < 30; b++) {
            List<Row> rows = new ArrayList<>();
            for (int r = 0; r < 4; r++) {
                rows.add(Row.of(10 * b + r, b % 3));
            }
            script.add(rows);
        }
        for (int window = 0; window < 3; window++) {
            expected.add(Row.of(40L, 100L * window, 100L * window + 100), 1);
        }
        for (long seed = 1; seed <= 20; seed++) {
            TestClock clock = new TestClock(0);
            try (SteppedLocalEngine engine = stepped(workers, seed, clock)) {
                engine.relations().addSource("e", ScriptedSource.bounded(EVENTS, script), OnError.FAIL);
                PlanNode assigned = watermark(scan("e", EVENTS), 0, 1_000, 0, 100);
                engine.start("w", countPerWindow(single(assigned), 0, 100), QueryOptions.view());
                engine.flush(progress -> {});
                assertEquals(QueryState.FINISHED, engine.query("w").await());
                assertEquals(expected, view(engine, "w"), "seed " + seed);
                assertEquals(0, engine.query("w").statistics().lateRows());
            }
        }
    }

    @Test
    void anIdleInputDoesNotHoldWindowsOpen() {
        TestClock clock = new TestClock(0);
        try (SteppedLocalEngine engine = stepped(1, 5, clock)) {
            WritableRelation busy = engine.relations().addStream("busy", EVENTS);
            engine.relations().addStream("idle", EVENTS);
            PlanNode both = union(
                    watermark(scan("busy", EVENTS), 0, 0, 5_000_000, 100),
                    watermark(scan("idle", EVENTS), 0, 0, 5_000_000, 100));
            StandingQuery query = engine.start("w", countPerWindow(both, 0, 100), QueryOptions.view());
            busy.append(TestPlans.batch(engine, EVENTS, Row.of(10, 0), Row.of(250, 0)));
            engine.runUntilIdle();
            assertEquals(new ZSet(), view(engine, "w"));
            WatermarkStatistics holder = query.statistics().watermarks().stream()
                    .filter(WatermarkStatistics::holdsBack)
                    .findFirst()
                    .orElseThrow();
            assertEquals("idle", holder.relation());
            clock.advance(4_000_000);
            busy.append(TestPlans.batch(engine, EVENTS, Row.of(251, 0)));
            engine.runUntilIdle();
            assertEquals(new ZSet(), view(engine, "w"));
            clock.advance(2_000_000);
            engine.runUntilIdle();
            assertEquals(TestPlans.zset(Row.of(1L, 0L, 100L)), view(engine, "w"));
            assertTrue(query.statistics().watermarks().stream()
                    .anyMatch(watermark -> watermark.relation().equals("idle") && watermark.idle()));
        }
    }

    @Test
    void windowsOfTheMachinesOwnTimeCloseByTheClock() {
        TestClock clock = new TestClock(0);
        for (int workers = 1; workers <= 2; workers++) {
            try (SteppedLocalEngine engine = stepped(workers, 5, clock)) {
                WritableRelation events = engine.relations().addStream("events", EVENTS);
                long start = clock.epochMicros() - clock.epochMicros() % 100;
                PlanNode timed = new PlanNode.Watermark(
                        scan("events", EVENTS),
                        0,
                        0,
                        PlanNode.Watermark.FOLLOWS_CLOCK,
                        Optional.of(new WindowSpec.Tumble(100)));
                engine.start("w", countPerWindow(timed, 0, 100), QueryOptions.view());
                engine.runUntilIdle();
                clock.advance(start + 1000 - clock.epochMicros());
                events.append(TestPlans.batch(engine, EVENTS, Row.of(start + 1000, 0), Row.of(start + 1000, 0)));
                engine.runUntilIdle();
                assertEquals(new ZSet(), view(engine, "w"));
                clock.advance(99);
                engine.runUntilIdle();
                assertEquals(new ZSet(), view(engine, "w"));
                clock.advance(1);
                engine.runUntilIdle();
                ZSet first = TestPlans.zset(Row.of(2L, start + 1000, start + 1100));
                assertEquals(first, view(engine, "w"));
                clock.advance(1_000_000);
                engine.runUntilIdle();
                long now = clock.epochMicros();
                events.append(TestPlans.batch(engine, EVENTS, Row.of(now, 0)));
                engine.runUntilIdle();
                assertEquals(first, view(engine, "w"));
                clock.advance(100);
                engine.runUntilIdle();
                assertEquals(2, view(engine, "w").rows().size());
                assertEquals(0, engine.query("w").statistics().lateRows());
            }
        }
    }

    @Test
    void aBusySourceClosesAnEpochAfterItsTime() {
        TestClock clock = new TestClock(0);
        try (SteppedLocalEngine engine = stepped(1, 5, clock)) {
            engine.relations().addSource("endless", new Endless(KV), OnError.FAIL);
            StandingQuery query = engine.start("q", sum(scan("endless", KV), List.of(), 0), QueryOptions.view());
            for (int i = 0; i < 10; i++) {
                engine.step();
            }
            long first = query.statistics().lastEpoch();
            for (int i = 0; i < 50; i++) {
                engine.step();
            }
            assertEquals(first, query.statistics().lastEpoch(), "closed though the source is busy");
            clock.advance(150_000);
            for (int i = 0; i < 10; i++) {
                engine.step();
            }
            assertTrue(query.statistics().lastEpoch() > first);
        }
    }

    @Test
    void aSnapshotRestoresAQueryBetweenEpochs() {
        TestClock clock = new TestClock(0);
        try (SteppedLocalEngine engine = stepped(2, 3, clock)) {
            WritableRelation stream = engine.relations().addStream("s", KV);
            PlanNode plan = sum(byHash(scan("s", KV), 0), List.of(0), 1);
            StandingQuery query = engine.start("q", plan, QueryOptions.view());
            engine.awaitEpoch(stream.append(TestPlans.batch(engine, KV, Row.of(1, 10), Row.of(2, 20))));
            QuerySnapshot snapshot = query.snapshot();
            query.drop();
            engine.start("q", plan, QueryOptions.view().withRestore(snapshot));
            assertEquals(TestPlans.zset(Row.of(1L, 10L), Row.of(2L, 20L)), view(engine, "q"));
            engine.awaitEpoch(stream.append(TestPlans.batch(engine, KV, Row.of(1, 1))));
            assertEquals(TestPlans.zset(Row.of(1L, 11L), Row.of(2L, 20L)), view(engine, "q"));
        }
    }
}
