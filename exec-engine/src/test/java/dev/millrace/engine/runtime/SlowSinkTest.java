package dev.millrace.engine.runtime;

import static dev.millrace.engine.runtime.TestPlans.batch;
import static dev.millrace.engine.runtime.TestPlans.scan;
import static dev.millrace.engine.runtime.TestPlans.sum;
import static dev.millrace.engine.runtime.TestPlans.view;
import static dev.millrace.engine.runtime.TestPlans.zset;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.batch.Batch;
import dev.millrace.connector.Sink;
import dev.millrace.engine.relation.OnError;
import dev.millrace.engine.relation.WritableRelation;
import dev.millrace.engine.statistic.QueryState;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.scheduler.SchedulingPolicies;
import dev.millrace.scheduler.WorkerThreads;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.time.Eventually;
import dev.millrace.time.Clock;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** One worker, so that a sink that held it would hold everybody. */
@Timeout(120)
class SlowSinkTest {
    private static final Schema KV = TestPlans.longs("k", "v");
    private final LocalEngine engine = new LocalEngine(
            EngineOptions.defaults().withWorkers(1).withChannelBytes(64 << 10, 32 << 10),
            Clock.system(),
            new WorkerThreads(1, SchedulingPolicies.named("fcfs"), Clock.system()),
            LocalEngine.newSinkThreads(),
            TestOperators::create);

    @AfterEach
    void close() {
        engine.close();
    }

    /** Takes a call only when it has a permit. */
    private static class GatedSink implements Sink {
        final Semaphore permits = new Semaphore(0);
        final CountDownLatch called = new CountDownLatch(1);
        final TestPlans.CollectingSink taken = new TestPlans.CollectingSink();
        final List<String> threads = new ArrayList<>();

        private void pass() {
            synchronized (threads) {
                threads.add(Thread.currentThread().getName());
            }
            called.countDown();
            try {
                permits.acquire();
            } catch (InterruptedException e) {
                throw MillraceException.external(SqlState.IO_ERROR, "interrupted", e);
            }
        }

        @Override
        public void write(Batch batch) {
            pass();
            taken.write(batch);
        }

        @Override
        public void commit(long epoch) {
            pass();
            taken.commit(epoch);
        }

        @Override
        public void close() {
            taken.close();
        }
    }

    @Test
    void aBlockedSinkHoldsNoWorker() throws InterruptedException {
        engine.relations().addSource("endless", new Endless(KV), OnError.FAIL);
        GatedSink sink = new GatedSink();
        StandingQuery blocked = engine.start(
                "blocked", scan("endless", KV), QueryOptions.streaming().withSink(sink));
        assertTrue(sink.called.await(30, TimeUnit.SECONDS));
        WritableRelation stream = engine.relations().addStream("s", KV);
        engine.start("other", sum(scan("s", KV), List.of(), 1), QueryOptions.view());
        for (int i = 0; i < 20; i++) {
            engine.awaitEpoch(stream.append(batch(engine, KV, Row.of(1, 7))));
        }
        assertEquals(zset(Row.of(140L)), view(engine, "other"));
        Eventually.settles("what it reads", () -> blocked.statistics().rowsIn());
        blocked.drop();
        Eventually.holds("the sink's own thread may have to close it", () -> sink.taken.closed);
        synchronized (sink.threads) {
            assertTrue(
                    sink.threads.stream().allMatch(name -> name.startsWith("millrace-sink")), sink.threads::toString);
        }
    }

    @Test
    void nobodySeesAnEpochBeforeTheSinkHasCommittedIt() throws InterruptedException {
        WritableRelation stream = engine.relations().addStream("s", KV);
        GatedSink sink = new GatedSink();
        StandingQuery query =
                engine.start("q", scan("s", KV), QueryOptions.view().withSink(sink));
        long epoch = stream.append(batch(engine, KV, Row.of(1, 7)));
        assertTrue(sink.called.await(30, TimeUnit.SECONDS));
        WritableRelation otherStream = engine.relations().addStream("t", KV);
        engine.start("other", scan("t", KV), QueryOptions.view());
        engine.awaitEpoch(otherStream.append(batch(engine, KV, Row.of(2, 8))));
        assertEquals(zset(), view(engine, "q"));
        sink.permits.release(1000);
        engine.awaitEpoch(epoch);
        assertEquals(zset(Row.of(1L, 7L)), view(engine, "q"));
        assertEquals(zset(Row.of(1L, 7L)), sink.taken.rows);
        assertTrue(query.snapshot().epoch() >= epoch);
        assertEquals(List.of(epoch), sink.taken.commits);
    }

    private static List<List<Row>> batches() {
        List<List<Row>> batches = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
            List<Row> rows = new ArrayList<>();
            for (int j = 0; j < 20; j++) {
                rows.add(Row.of(i, 20 * i + j));
            }
            batches.add(rows);
        }
        return batches;
    }

    @Test
    void aFinishedQueryHasWrittenAll() {
        for (int round = 0; round < 20; round++) {
            engine.relations().addSource("src" + round, ScriptedSource.bounded(KV, batches()), OnError.FAIL);
            GatedSink sink = new GatedSink();
            sink.permits.release(10_000);
            StandingQuery query = engine.start(
                    "q" + round,
                    scan("src" + round, KV),
                    QueryOptions.streaming().withSink(sink));
            assertEquals(QueryState.FINISHED, query.await());
            assertEquals(1000, sink.taken.rows.rows().size());
            assertFalse(sink.taken.commits.isEmpty());
            query.drop();
            assertTrue(sink.taken.closed);
        }
    }

    @Test
    void aSinkThatFailsToCommitFailsItsQueryAndHidesTheEpoch() {
        WritableRelation stream = engine.relations().addStream("s", KV);
        GatedSink sink = new GatedSink() {
            @Override
            public void commit(long epoch) {
                throw MillraceException.external(SqlState.DISK_FULL, "no space left on device");
            }
        };
        sink.permits.release(10);
        StandingQuery query =
                engine.start("q", scan("s", KV), QueryOptions.view().withSink(sink));
        engine.awaitEpoch(stream.append(batch(engine, KV, Row.of(1, 7))));
        assertEquals(QueryState.FAILED, query.await());
        assertEquals(SqlState.DISK_FULL, query.failure().orElseThrow().sqlState());
        assertEquals(zset(), view(engine, "q"));
        assertThrows(MillraceException.class, query::snapshot);
    }
}
