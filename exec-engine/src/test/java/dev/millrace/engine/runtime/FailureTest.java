package dev.millrace.engine.runtime;

import static dev.millrace.engine.runtime.TestPlans.batch;
import static dev.millrace.engine.runtime.TestPlans.byHash;
import static dev.millrace.engine.runtime.TestPlans.join;
import static dev.millrace.engine.runtime.TestPlans.longs;
import static dev.millrace.engine.runtime.TestPlans.project;
import static dev.millrace.engine.runtime.TestPlans.scan;
import static dev.millrace.engine.runtime.TestPlans.sum;
import static dev.millrace.engine.runtime.TestPlans.view;
import static dev.millrace.engine.runtime.TestPlans.watermark;
import static dev.millrace.engine.runtime.TestPlans.zset;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.batch.Batch;
import dev.millrace.connector.RejectedRecord;
import dev.millrace.connector.Sink;
import dev.millrace.engine.relation.OnError;
import dev.millrace.engine.relation.RejectedRecords;
import dev.millrace.engine.relation.WritableRelation;
import dev.millrace.engine.statistic.LateRow;
import dev.millrace.engine.statistic.QueryState;
import dev.millrace.engine.subscription.EpochChanges;
import dev.millrace.engine.subscription.Subscription;
import dev.millrace.engine.subscription.SubscriptionOptions;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.TestBatches;
import dev.millrace.testing.rows.ZSet;
import dev.millrace.testing.time.Eventually;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What goes wrong stays where it went wrong, and is told. */
@Timeout(120)
final class FailureTest {
    private static final long WAIT_MICROS = 60_000_000;
    private static final Schema KV = longs("k", "v");

    private LocalEngine engine;

    @BeforeEach
    void open() {
        engine = EngineTest.open(2);
    }

    @AfterEach
    void close() {
        engine.close(); // fails if a byte was left
    }

    private static RejectedRecord rejected(long line) {
        return new RejectedRecord(
                "a.csv", line, "v", "invalid input syntax", SqlState.INVALID_TEXT_REPRESENTATION, "1,abc");
    }

    @Test
    void rowsOfARelationThatIsGoneAreClosed() {
        Batch rows = TestBatches.of(KV, engine.allocator(), List.of(Row.of(1, 1)));
        assertEquals(
                SqlState.UNDEFINED_TABLE,
                assertThrows(MillraceException.class, () -> engine.relations().accept("gone", List.of(rows)))
                        .sqlState());
    }

    @Test
    void rejectedRecordsCountOnceHoweverManyQueriesReadThem() {
        List<Object> steps = List.of(List.of(Row.of(1, 1)), rejected(2), rejected(5000), List.of(Row.of(1, 2)));
        engine.relations().addSource("src", ScriptedSource.bounded(KV, steps), OnError.DEAD_LETTER);
        engine.start("a", sum(scan("src", KV), List.of(), 1), QueryOptions.view())
                .await();
        engine.start("b", sum(scan("src", KV), List.of(), 1), QueryOptions.view())
                .await();
        assertEquals(2, TestPlans.answer(engine, scan("src", KV)).rows().size());
        RejectedRecords records = engine.relations().rejected("src");
        assertEquals(2, records.count());
        assertEquals(
                List.of(2L, 5000L),
                records.last().stream().map(RejectedRecord::position).toList());
        assertEquals(zset(Row.of(3L)), view(engine, "a"));
    }

    @Test
    void skippedRecordsAreCountedButNotKept() {
        engine.relations()
                .addSource("src", ScriptedSource.bounded(KV, List.of(rejected(2), rejected(3))), OnError.SKIP);
        engine.start("a", scan("src", KV), QueryOptions.view()).await();
        assertEquals(2, engine.relations().rejected("src").count());
        assertTrue(engine.relations().rejected("src").last().isEmpty());
    }

    @Test
    void aBadRecordFailsTheQueryUnderFailAndNamesTheLine() {
        engine.relations()
                .addSource(
                        "src", ScriptedSource.bounded(KV, List.of(List.of(Row.of(1, 1)), rejected(2))), OnError.FAIL);
        StandingQuery query = engine.start("a", scan("src", KV), QueryOptions.view());
        assertEquals(QueryState.FAILED, query.await());
        assertEquals(
                "a.csv:2, column \"v\": invalid input syntax",
                query.failure().orElseThrow().getMessage());
        try (Result result = engine.run(sum(scan("src", KV), List.of(), 1))) {
            assertThrows(MillraceException.class, result::next);
        }
    }

    @Test
    void aQueryThatFailsWhileItIsStartedHoldsUpNoEpoch() {
        engine.relations().addSource("src", new FailsAtOnce(KV), OnError.FAIL);
        for (int i = 0; i < 300; i++) {
            StandingQuery query = engine.start("q", sum(scan("src", KV), List.of(), 1), QueryOptions.view());
            assertEquals(QueryState.FAILED, query.await());
            engine.awaitEpoch(query.firstEpoch());
            query.drop();
        }
    }

    @Test
    void lateRowsAreKeptWithTheirWatermark() {
        Schema events = longs("ts", "k");
        WritableRelation stream = engine.relations().addStream("e", events);
        StandingQuery query = engine.start("q", watermark(scan("e", events), 0, 0, 0, 100), QueryOptions.view());
        engine.awaitEpoch(stream.append(batch(engine, events, Row.of(50, 1), Row.of(250, 2), Row.of(60, 3))));
        assertEquals(zset(Row.of(50L, 1L), Row.of(250L, 2L)), view(engine, "q"));
        LateRow late = query.lateRows().get(0);
        assertEquals(250, late.watermarkMicros());
        assertEquals("(\"1970-01-01 00:00:00.00006\",3)", late.row());
        assertEquals(1, query.statistics().lateRows());
    }

    /** Often: it is made to give way in the midst of a step. */
    @RepeatedTest(20)
    void aQueryThatAsksForTooMuchMemoryFailsAlone() {
        engine.close();
        EngineOptions options = EngineOptions.defaults().withWorkers(1).withMemoryLimitBytes(8L << 20);
        engine = new LocalEngine(
                options,
                dev.millrace.time.Clock.system(),
                new dev.millrace.scheduler.WorkerThreads(
                        1, dev.millrace.scheduler.SchedulingPolicies.named("fcfs"), dev.millrace.time.Clock.system()),
                LocalEngine.newSinkThreads(),
                TestOperators::create);
        engine.relations().addSource("endless", new Endless(KV), OnError.FAIL);
        WritableRelation stream = engine.relations().addStream("s", KV);
        engine.start("small", sum(scan("s", KV), List.of(), 1), QueryOptions.view());
        StandingQuery greedy = engine.start("greedy", scan("endless", KV), QueryOptions.view());
        assertEquals(QueryState.FAILED, greedy.await());
        assertEquals(SqlState.OUT_OF_MEMORY, greedy.failure().orElseThrow().sqlState());
        greedy.drop();
        engine.awaitEpoch(stream.append(batch(engine, KV, Row.of(1, 7))));
        assertEquals(zset(Row.of(7L)), view(engine, "small"));
    }

    /** Both sides of the join sum the same rows, so it has one row in every epoch, until one side fails in the midst of one. */
    @Test
    void aQueryThatReadsAFailedOneFailsBeforeItShowsHalfAnEpoch() {
        WritableRelation stream = engine.relations().addStream("s", KV);
        engine.start("poisoned", project(scan("s", KV), 0, 1), QueryOptions.streaming());
        engine.start("one", sum(scan("poisoned", KV), List.of(), 1), QueryOptions.view());
        engine.start("other", sum(scan("s", KV), List.of(), 1), QueryOptions.view());
        PlanNode both = join(scan("one", longs("sum")), scan("other", longs("sum")), 0, 0);
        StandingQuery query = engine.start("both", both, QueryOptions.view());
        ZSet answer = new ZSet();
        try (Subscription subscription = query.subscribe(SubscriptionOptions.withSnapshot())) {
            for (int i = 1; i <= 20; i++) {
                stream.append(batch(engine, KV, Row.of(i, i)));
            }
            stream.append(batch(engine, KV, Row.of(TestOperators.POISON, 1)));
            MillraceException failure = assertThrows(MillraceException.class, () -> {
                while (true) {
                    follow(subscription, answer);
                }
            });
            assertTrue(
                    failure.getMessage().startsWith("query \"one\" failed: query \"poisoned\" failed: "),
                    failure::getMessage);
        }
        assertEquals(QueryState.FAILED, query.await());
        engine.flush(progress -> {});
        assertEquals(zset(Row.of(211L)), view(engine, "other"));
    }

    private static void follow(Subscription subscription, ZSet answer) {
        Optional<EpochChanges> next = subscription.next(1_000_000);
        if (next.isPresent()) {
            try (EpochChanges changes = next.get()) {
                changes.batches().forEach(answer::add);
                assertEquals(1, answer.rows().size(), "in epoch " + changes.epoch());
            }
        }
    }

    @Test
    void aFailingSinkFailsItsQuery() {
        WritableRelation stream = engine.relations().addStream("s", KV);
        boolean[] closed = {false};
        StandingQuery query =
                engine.start("q", scan("s", KV), QueryOptions.streaming().withSink(new Sink() {
                    @Override
                    public void write(Batch batch) {
                        throw MillraceException.external(SqlState.DISK_FULL, "no space left on device");
                    }

                    @Override
                    public void commit(long epoch) {}

                    @Override
                    public void close() {
                        closed[0] = true;
                    }
                }));
        engine.awaitEpoch(stream.append(batch(engine, KV, Row.of(1, 1))));
        assertEquals(QueryState.FAILED, query.await());
        assertEquals(SqlState.DISK_FULL, query.failure().orElseThrow().sqlState());
        query.drop();
        assertTrue(closed[0]);
    }

    @Test
    void aQueryThatReadsAFailedOneKeepsWhatItHas() {
        WritableRelation stream = engine.relations().addStream("s", KV);
        engine.start("a", project(scan("s", KV), 0, 1), QueryOptions.view());
        engine.start("b", sum(scan("a", KV), List.of(), 1), QueryOptions.view());
        engine.awaitEpoch(stream.append(batch(engine, KV, Row.of(1, 5))));
        engine.awaitEpoch(stream.append(batch(engine, KV, Row.of(1, 5), Row.of(TestOperators.POISON, 1))));
        engine.awaitEpoch(stream.append(batch(engine, KV, Row.of(1, 5))));
        assertEquals(QueryState.FAILED, engine.query("a").await());
        assertEquals(zset(Row.of(5L)), view(engine, "b"));
        assertEquals(List.of("b"), engine.relations().readers("a"));
    }

    @Test
    void aSlowConsumerHoldsTheSourceBackWithinBounds() throws InterruptedException {
        engine.close();
        EngineOptions options = EngineOptions.defaults()
                .withWorkers(2)
                .withMemoryLimitBytes(16L << 20)
                .withChannelBytes(100_000, 50_000);
        engine = new LocalEngine(
                options,
                dev.millrace.time.Clock.system(),
                new dev.millrace.scheduler.WorkerThreads(
                        2,
                        dev.millrace.scheduler.SchedulingPolicies.named("round_robin"),
                        dev.millrace.time.Clock.system()),
                LocalEngine.newSinkThreads(),
                TestOperators::create);
        engine.relations().addSource("endless", new Endless(KV), OnError.FAIL);
        CountDownLatch blocked = new CountDownLatch(1);
        CountDownLatch release = new CountDownLatch(1);
        StandingQuery query = engine.start(
                "q", byHash(scan("endless", KV), 0), QueryOptions.streaming().withSink(new Sink() {
                    @Override
                    public void write(Batch batch) {
                        blocked.countDown();
                        try {
                            release.await();
                        } catch (InterruptedException e) {
                            throw new IllegalStateException(e);
                        }
                    }

                    @Override
                    public void commit(long epoch) {}

                    @Override
                    public void close() {}
                }));
        blocked.await();
        long bytes = Eventually.settles("what is held for it", engine::allocatedBytes);
        assertTrue(bytes < 4_000_000, bytes + " bytes");
        release.countDown();
        query.drop();
    }

    @Test
    void aSubscriberThatIsTooSlowIsCutOffOrWaitedFor() throws InterruptedException {
        WritableRelation stream = engine.relations().addStream("s", KV);
        StandingQuery query = engine.start("q", scan("s", KV), QueryOptions.streaming());
        List<Row> rows = new ArrayList<>();
        for (int i = 0; i < 1000; i++) {
            rows.add(Row.of(i, i));
        }
        try (Subscription cut = query.subscribe(SubscriptionOptions.changes().endWhenFull(20_000))) {
            for (int i = 0; i < 10; i++) {
                engine.awaitEpoch(stream.append(TestBatches.of(KV, engine.allocator(), rows)));
            }
            cut.next(WAIT_MICROS).orElseThrow().close();
            MillraceException slow = assertThrows(MillraceException.class, () -> cut.next(WAIT_MICROS));
            assertEquals(SqlState.CONFIGURATION_LIMIT_EXCEEDED, slow.sqlState());
        }
        try (Subscription patient =
                query.subscribe(SubscriptionOptions.changes().whenFull(SubscriptionOptions.WhenFull.WAIT, 20_000))) {
            Thread writer = new Thread(() -> {
                for (int i = 0; i < 50; i++) {
                    stream.append(TestBatches.of(KV, engine.allocator(), rows));
                }
            });
            writer.start();
            long seen = 0;
            while (seen < 50_000) {
                try (EpochChanges changes = patient.next(WAIT_MICROS).orElseThrow()) {
                    for (Batch batch : changes.batches()) {
                        seen += batch.rowCount();
                    }
                }
            }
            writer.join();
        }
    }

    @Test
    void aWaitingSubscriberDoesNotKeepOthersFromStarting() {
        WritableRelation stream = engine.relations().addStream("s", KV);
        StandingQuery query = engine.start("q", scan("s", KV), QueryOptions.view());
        try (Subscription full =
                query.subscribe(SubscriptionOptions.changes().whenFull(SubscriptionOptions.WhenFull.WAIT, 1))) {
            stream.append(batch(engine, KV, Row.of(1, 1)));
            stream.append(batch(engine, KV, Row.of(1, 2)));
            engine.start("other", sum(scan("q", KV), List.of(), 1), QueryOptions.view());
            full.next(WAIT_MICROS).orElseThrow().close();
        }
    }

    @Test
    void appendedRowsAreChecked() {
        WritableRelation stream = engine.relations().addStream("s", KV);
        MillraceException columns =
                assertThrows(MillraceException.class, () -> stream.append(batch(engine, longs("k"), Row.of(1))));
        assertEquals(SqlState.DATATYPE_MISMATCH, columns.sqlState());
        engine.relations().drop("s");
        MillraceException dropped =
                assertThrows(MillraceException.class, () -> stream.append(batch(engine, KV, Row.of(1, 1))));
        assertEquals(SqlState.UNDEFINED_TABLE, dropped.sqlState());
    }

    @Test
    void aRelationThatIsReadCannotBeDropped() {
        engine.relations().addStream("s", KV);
        StandingQuery query = engine.start("q", scan("s", KV), QueryOptions.view());
        MillraceException read =
                assertThrows(MillraceException.class, () -> engine.relations().drop("s"));
        assertEquals(SqlState.DEPENDENT_OBJECTS_STILL_EXIST, read.sqlState());
        query.drop();
        engine.relations().drop("s");
    }
}
