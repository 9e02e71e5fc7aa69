package dev.millrace.engine.runtime;

import static dev.millrace.engine.runtime.TestPlans.answer;
import static dev.millrace.engine.runtime.TestPlans.batch;
import static dev.millrace.engine.runtime.TestPlans.longs;
import static dev.millrace.engine.runtime.TestPlans.project;
import static dev.millrace.engine.runtime.TestPlans.scan;
import static dev.millrace.engine.runtime.TestPlans.sum;
import static dev.millrace.engine.runtime.TestPlans.view;
import static dev.millrace.engine.runtime.TestPlans.zset;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.batch.Batch;
import dev.millrace.engine.relation.OnError;
import dev.millrace.engine.relation.WritableRelation;
import dev.millrace.engine.runtime.TestPlans.CollectingSink;
import dev.millrace.engine.statistic.QueryState;
import dev.millrace.engine.subscription.EpochChanges;
import dev.millrace.engine.subscription.Subscription;
import dev.millrace.engine.subscription.SubscriptionOptions;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.scheduler.SchedulingPolicies;
import dev.millrace.scheduler.WorkerThreads;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.TestBatches;
import dev.millrace.testing.time.Eventually;
import dev.millrace.time.Clock;
import dev.millrace.type.Schema;
import java.util.List;
import java.util.Optional;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The engine from outside, on threads. */
@Timeout(120)
final class EngineTest {
    private static final long WAIT_MICROS = 60_000_000;
    private static final Schema KV = longs("k", "v");

    private LocalEngine engine;

    @BeforeEach
    void open() {
        engine = open(2);
    }

    static LocalEngine open(int workers) {
        EngineOptions options = EngineOptions.defaults().withWorkers(workers).withMemoryLimitBytes(256L << 20);
        return new LocalEngine(
                options,
                Clock.system(),
                new WorkerThreads(workers, SchedulingPolicies.named("fcfs"), Clock.system()),
                LocalEngine.newSinkThreads(),
                TestOperators::create);
    }

    @AfterEach
    void close() {
        engine.close(); // fails if a byte was left
    }

    @Test
    void anInsertIsInTheViewOnceItsEpochIsAwaited() {
        WritableRelation stream = engine.relations().addStream("s", KV);
        engine.start("totals", sum(scan("s", KV), List.of(0), 1), QueryOptions.view());
        engine.awaitEpoch(stream.append(batch(engine, KV, Row.of(1, 10), Row.of(2, 20))));
        assertEquals(zset(Row.of(1L, 10L), Row.of(2L, 20L)), view(engine, "totals"));
        engine.awaitEpoch(stream.append(batch(engine, KV, Row.of(1, 5))));
        assertEquals(zset(Row.of(1L, 15L), Row.of(2L, 20L)), view(engine, "totals"));
    }

    @Test
    void aBoundedSourceFinishesTheQuery() {
        engine.relations().addSource("src", source(100, 10), OnError.FAIL);
        CollectingSink sink = new CollectingSink();
        StandingQuery query = engine.start(
                "totals",
                sum(scan("src", KV), List.of(), 1),
                QueryOptions.view().withSink(sink));
        assertEquals(QueryState.FINISHED, query.await());
        long total = LongStream.range(0, 1000).sum();
        assertEquals(zset(Row.of(total)), view(engine, "totals"));
        assertEquals(zset(Row.of(total)), sink.rows);
        assertEquals(1000, query.statistics().rowsIn());
    }

    static ScriptedSource source(int batches, int rows) {
        return ScriptedSource.bounded(KV, script(batches, rows));
    }

    static List<List<Row>> script(int batches, int rows) {
        return java.util.stream.IntStream.range(0, batches)
                .mapToObj(b -> java.util.stream.IntStream.range(0, rows)
                        .mapToObj(r -> Row.of(r % 7, b * rows + r))
                        .toList())
                .toList();
    }

    @Test
    void flushWaitsForBoundedSourcesAndInserts() {
        engine.relations().addSource("src", source(500, 10), OnError.FAIL);
        WritableRelation stream = engine.relations().addStream("s", KV);
        engine.start("a", sum(scan("src", KV), List.of(), 1), QueryOptions.view());
        engine.start("b", sum(scan("s", KV), List.of(), 1), QueryOptions.view());
        stream.append(batch(engine, KV, Row.of(1, 42)));
        engine.flush(progress -> {});
        assertEquals(zset(Row.of(LongStream.range(0, 5000).sum())), view(engine, "a"));
        assertEquals(zset(Row.of(42L)), view(engine, "b"));
    }

    @Test
    void aPullQueryReadsAReplayableSourceWhole() {
        engine.relations().addSource("src", source(100, 10), OnError.FAIL);
        assertEquals(zset(Row.of(LongStream.range(0, 1000).sum())), answer(engine, sum(scan("src", KV), List.of(), 1)));
        assertEquals(1000, answer(engine, project(scan("src", KV), 1)).rows().size());
    }

    @Test
    void aPullQueryOverAStreamThatKeepsNothingIsRefused() {
        engine.relations().addStream("s", KV);
        MillraceException refused = assertThrows(MillraceException.class, () -> engine.run(scan("s", KV)));
        assertEquals(SqlState.FEATURE_NOT_SUPPORTED, refused.sqlState());
    }

    @Test
    void rowsThatAreTakenBackBeforeTheEndAreNotInAResult() {
        engine.close();
        engine = new LocalEngine(
                EngineOptions.defaults().withMemoryLimitBytes(64L << 20),
                Clock.system(),
                new WorkerThreads(2, SchedulingPolicies.named("fcfs"), Clock.system()),
                LocalEngine.newSinkThreads(),
                dev.millrace.engine.operators.OperatorFactory::create);
        engine.relations().addSource("l", source(3, 10), OnError.FAIL);
        engine.relations().addSource("r", source(3, 10), OnError.FAIL);
        PlanNode left = scan("l", KV);
        PlanNode right = scan("r", KV);
        List<dev.millrace.type.Field> fields = new java.util.ArrayList<>(KV.fields());
        KV.fields().forEach(field -> fields.add(new dev.millrace.type.Field(field.name(), field.type(), true)));
        PlanNode join = new PlanNode.Join(
                left,
                right,
                PlanNode.JoinKind.LEFT,
                List.of(1),
                List.of(1),
                Optional.empty(),
                Optional.empty(),
                new Schema(fields));
        List<Row> rows = answer(engine, join).rows();
        assertEquals(30, rows.size());
        assertTrue(rows.stream().allMatch(row -> row.get(1).equals(row.get(3))));
    }

    @Test
    void constantRowsAreAQuery() {
        PlanNode.Values values = new PlanNode.Values(
                List.of(List.of(
                        new dev.millrace.plan.expression.Expression.Literal(7L, dev.millrace.type.DataType.BIGINT))),
                longs("x"));
        assertEquals(zset(Row.of(7L)), answer(engine, values));
    }

    @Test
    void aTableKeepsItsRowsAndALaterQueryStartsWithThem() {
        WritableRelation table = engine.relations().addTable("t", KV);
        engine.awaitEpoch(table.append(batch(engine, KV, Row.of(1, 10), Row.of(2, 20))));
        assertEquals(zset(Row.of(1L, 10L), Row.of(2L, 20L)), view(engine, "t"));
        StandingQuery query = engine.start("q", sum(scan("t", KV), List.of(), 1), QueryOptions.view());
        engine.awaitEpoch(table.append(TestBatches.weighted(
                KV, engine.allocator(), List.of(Row.of(1, 10), Row.of(1, 11)), new long[] {-1, 1})));
        assertEquals(zset(Row.of(31L)), view(engine, "q"));
        assertEquals(zset(Row.of(1L, 11L), Row.of(2L, 20L)), view(engine, "t"));
        query.drop();
    }

    @Test
    void aQueryOverAQueryStartsWithItsAnswerAndFollows() {
        WritableRelation stream = engine.relations().addStream("s", KV);
        engine.start("a", sum(scan("s", KV), List.of(0), 1), QueryOptions.view());
        engine.awaitEpoch(stream.append(batch(engine, KV, Row.of(1, 10), Row.of(2, 20))));
        engine.start("b", sum(scan("a", longs("k", "sum")), List.of(), 1), QueryOptions.view());
        engine.awaitEpoch(stream.append(batch(engine, KV, Row.of(2, 5))));
        assertEquals(zset(Row.of(35L)), view(engine, "b"));
    }

    @Test
    void aSubscriberGetsTheAnswerAndThenWholeEpochs() {
        WritableRelation stream = engine.relations().addStream("s", KV);
        StandingQuery query = engine.start("a", sum(scan("s", KV), List.of(0), 1), QueryOptions.view());
        engine.awaitEpoch(stream.append(batch(engine, KV, Row.of(1, 10))));
        try (Subscription subscription = query.subscribe(SubscriptionOptions.withSnapshot())) {
            try (EpochChanges first = subscription.next(WAIT_MICROS).orElseThrow()) {
                assertTrue(first.snapshot());
                assertEquals(1, first.batches().size());
            }
            long epoch = stream.append(batch(engine, KV, Row.of(1, 5)));
            try (EpochChanges second = subscription.next(WAIT_MICROS).orElseThrow()) {
                assertEquals(epoch, second.epoch());
                dev.millrace.testing.rows.ZSet changes = new dev.millrace.testing.rows.ZSet();
                second.batches().forEach(changes::add);
                dev.millrace.testing.rows.ZSet expected = zset(Row.of(1L, 15L));
                expected.add(Row.of(1L, 10L), -1);
                assertEquals(expected, changes);
            }
            assertTrue(subscription.next(1_000).isEmpty());
            query.drop();
            assertTrue(subscription.next(WAIT_MICROS).isEmpty());
            assertTrue(subscription.isFinished());
        }
    }

    @Test
    void aSubscriberMayHearOfEpochsThatChangedNothing() {
        Schema events = longs("ts", "k");
        WritableRelation stream = engine.relations().addStream("e", events);
        PlanNode windows = TestPlans.countPerWindow(TestPlans.watermark(scan("e", events), 0, 0, 0, 100), 0, 100);
        StandingQuery query = engine.start("w", windows, QueryOptions.streaming());
        try (Subscription told = query.subscribe(SubscriptionOptions.changes().withProgress());
                Subscription untold = query.subscribe(SubscriptionOptions.changes())) {
            long epoch = stream.append(batch(engine, events, Row.of(10, 1)));
            EpochChanges changes = told.next(WAIT_MICROS).orElseThrow();
            while (changes.epoch() < epoch) {
                changes = told.next(WAIT_MICROS).orElseThrow(); // of the start
            }
            assertEquals(epoch, changes.epoch());
            assertTrue(changes.batches().isEmpty());
            assertTrue(untold.next(1_000).isEmpty());
        }
    }

    @Test
    void aFailingQueryKeepsItsErrorAndOthersGoOn() {
        WritableRelation stream = engine.relations().addStream("s", KV);
        StandingQuery bad = engine.start("bad", project(scan("s", KV), 0, 1), QueryOptions.view());
        StandingQuery good = engine.start("good", sum(scan("s", KV), List.of(), 1), QueryOptions.view());
        engine.awaitEpoch(stream.append(batch(engine, KV, Row.of(1, 10))));
        engine.awaitEpoch(stream.append(batch(engine, KV, Row.of(TestOperators.POISON, 1))));
        engine.awaitEpoch(stream.append(batch(engine, KV, Row.of(1, 10))));
        assertEquals(QueryState.FAILED, bad.await());
        assertTrue(bad.failure().orElseThrow().getMessage().contains("poison"));
        assertEquals(zset(Row.of(1L, 10L)), view(engine, "bad"));
        assertEquals(zset(Row.of(21L)), view(engine, "good"));
        assertEquals(QueryState.RUNNING, good.state());
    }

    @Test
    void aPausedQueryTakesWhatWaitedWhenItGoesOn() {
        WritableRelation stream = engine.relations().addStream("s", KV);
        StandingQuery query = engine.start("a", sum(scan("s", KV), List.of(), 1), QueryOptions.view());
        StandingQuery other = engine.start("b", sum(scan("s", KV), List.of(), 1), QueryOptions.view());
        engine.awaitEpoch(stream.append(batch(engine, KV, Row.of(1, 1))));
        query.pause();
        assertEquals(QueryState.PAUSED, query.state());
        engine.awaitEpoch(stream.append(batch(engine, KV, Row.of(1, 2))));
        engine.awaitEpoch(stream.append(batch(engine, KV, Row.of(1, 4))));
        assertEquals(zset(Row.of(1L)), view(engine, "a"));
        assertEquals(zset(Row.of(7L)), view(engine, "b"));
        query.resume();
        engine.flush(progress -> {});
        assertEquals(zset(Row.of(7L)), view(engine, "a"));
        other.drop();
    }

    /** The last step of its tasks and the drop want the same query. */
    @Test
    void aQueryCanBeDroppedAtTheMomentItFinishes() {
        engine.relations().addSource("src", source(1, 10), OnError.FAIL);
        for (int trial = 0; trial < 300; trial++) {
            StandingQuery query = engine.start("q", sum(scan("src", KV), List.of(), 1), QueryOptions.view());
            for (int spin = 0; spin < trial * 20; spin++) {
                Thread.onSpinWait();
            }
            query.drop();
            assertEquals(QueryState.DROPPED, query.state());
        }
    }

    @Test
    void aDroppedQueryFreesEverythingWhileRowsFlow() {
        engine.relations().addSource("endless", new Endless(KV), OnError.FAIL);
        for (int i = 0; i < 20; i++) {
            StandingQuery query = engine.start(
                    "q" + i, sum(TestPlans.byHash(scan("endless", KV), 0), List.of(0), 1), QueryOptions.view());
            while (query.statistics().rowsIn() == 0) {
                Thread.onSpinWait();
            }
            query.drop();
            Eventually.holds("its memory is free", () -> engine.allocatedBytes() == 0); // after a step under way
        }
    }

    @Test
    void aResultThatIsClosedEarlyFreesEverything() {
        engine.relations().addSource("endless", new Endless(KV), OnError.FAIL);
        try (Result result = engine.run(scan("endless", KV))) {
            Optional<Batch> batch = result.next();
            batch.orElseThrow().close();
        }
        assertEquals(0, engine.allocatedBytes());
    }

    @Test
    void aSearchThatFindsNothingCanBeClosed() {
        engine.relations().addSource("barren", new Endless(KV, 0), OnError.FAIL);
        Result result = engine.run(scan("barren", KV));
        StandingQuery query = engine.start("q", scan("barren", KV), QueryOptions.view());
        result.close();
        query.drop();
        assertEquals(0, engine.allocatedBytes());
    }

    @Test
    void aCancelledResultSaysSo() throws InterruptedException {
        engine.relations().addSource("quiet", new ScriptedSource(KV, true, false, List.of()), OnError.FAIL);
        try (Result result = engine.run(scan("quiet", KV))) {
            Thread reader = Thread.currentThread();
            Thread canceller = new Thread(() -> {
                Eventually.waits(reader);
                result.cancel();
            });
            canceller.start();
            MillraceException cancelled = assertThrows(MillraceException.class, result::next);
            assertEquals(SqlState.QUERY_CANCELED, cancelled.sqlState());
            canceller.join();
        }
    }

    @Test
    void aLiveSourceFeedsAllQueries() {
        List<Object> steps = new java.util.ArrayList<>();
        steps.add(new ScriptedSource.Pause(50_000));
        steps.addAll(script(10, 10));
        engine.relations().addSource("live", new ScriptedSource(KV, false, true, steps), OnError.FAIL);
        StandingQuery a = engine.start("a", sum(scan("live", KV), List.of(), 1), QueryOptions.view());
        StandingQuery b = engine.start("b", sum(scan("live", KV), List.of(0), 1), QueryOptions.view());
        assertEquals(QueryState.FINISHED, a.await());
        assertEquals(QueryState.FINISHED, b.await());
        assertEquals(zset(Row.of(LongStream.range(0, 100).sum())), view(engine, "a"));
        // One that comes later reads a stream that is over.
        assertEquals(
                QueryState.FINISHED,
                engine.start("c", sum(scan("a", longs("sum")), List.of(), 0), QueryOptions.view())
                        .await());
        assertEquals(view(engine, "a"), view(engine, "c"));
    }

    @Test
    void aQueryOfAnUnknownRelationIsRefusedWithASuggestion() {
        engine.relations().addStream("readings", KV);
        CollectingSink sink = new CollectingSink();
        MillraceException unknown = assertThrows(
                MillraceException.class,
                () -> engine.start("q", scan("reading", KV), QueryOptions.view().withSink(sink)));
        assertEquals("did you mean \"readings\"?", unknown.hint().orElseThrow());
        assertTrue(sink.closed);
        assertTrue(engine.queries().isEmpty());
        assertFalse(engine.allocatedBytes() > 0);
    }

    @Test
    void aQuietEngineSleeps() {
        WritableRelation stream = engine.relations().addStream("s", KV);
        engine.start("a", sum(scan("s", KV), List.of(), 1), QueryOptions.view());
        engine.awaitEpoch(stream.append(batch(engine, KV, Row.of(1, 1))));
        var threads = java.lang.management.ManagementFactory.getThreadMXBean();
        // one that polls would use some time in each fifth of a second
        Eventually.settles("the time that the workers use", () -> cpuNanosOfWorkers(threads) / 1_000_000);
    }

    private static long cpuNanosOfWorkers(java.lang.management.ThreadMXBean threads) {
        long nanos = 0;
        for (var thread : threads.getThreadInfo(threads.getAllThreadIds())) {
            if (thread != null && thread.getThreadName().startsWith("millrace-")) {
                nanos += Math.max(0, threads.getThreadCpuTime(thread.getThreadId()));
            }
        }
        return nanos;
    }

    @Test
    void anInsertWakesItsSubscriber() {
        WritableRelation stream = engine.relations().addStream("s", KV);
        StandingQuery query = engine.start("a", sum(scan("s", KV), List.of(0), 1), QueryOptions.view());
        try (Subscription subscription = query.subscribe(SubscriptionOptions.changes())) {
            Eventually.holds("one that waits for no timer", () -> {
                long from = System.nanoTime();
                stream.append(batch(engine, KV, Row.of(1, 1)));
                subscription.next(WAIT_MICROS).orElseThrow().close();
                return System.nanoTime() - from < 1_000_000;
            });
        }
    }
}
