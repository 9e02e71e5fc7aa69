package dev.millrace.engine.runtime;

import static dev.millrace.engine.runtime.TestPlans.batch;
import static dev.millrace.engine.runtime.TestPlans.longs;
import static dev.millrace.engine.runtime.TestPlans.project;
import static dev.millrace.engine.runtime.TestPlans.scan;
import static dev.millrace.engine.runtime.TestPlans.sum;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.batch.Batch;
import dev.millrace.connector.Sink;
import dev.millrace.engine.relation.OnError;
import dev.millrace.engine.relation.WritableRelation;
import dev.millrace.engine.statistic.QueryState;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.time.Eventually;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** An engine with many queries at work closes as quickly as one with few, and has nothing left: close fails if a byte was. */
@Timeout(120)
final class EngineCloseTest {
    private static final Schema KV = longs("k", "v");

    /** Looks whether others go on while it is closed, which is in the midst of closing the engine. */
    private static final class LookingSink implements Sink {
        private final List<StandingQuery> others;
        private boolean settled;

        LookingSink(List<StandingQuery> others) {
            this.others = others;
        }

        @Override
        public void write(Batch batch) {}

        @Override
        public void commit(long epoch) {}

        @Override
        public void close() {
            Eventually.settles("what queries read that are yet to be dropped", () -> rowsRead(others));
            settled = true;
        }
    }

    private static long rowsRead(List<StandingQuery> queries) {
        return queries.stream().mapToLong(query -> query.statistics().rowsIn()).sum();
    }

    @Test
    void noQueryGoesOnWhileAnotherIsDropped() {
        LocalEngine engine = EngineTest.open(2);
        engine.relations().addSource("endless", new Endless(KV), OnError.FAIL);
        List<StandingQuery> queries = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
            queries.add(engine.start("q" + i, sum(scan("endless", KV), List.of(0), 1), QueryOptions.view()));
        }
        LookingSink looking = new LookingSink(queries);
        engine.start("last", scan("endless", KV), QueryOptions.streaming().withSink(looking));
        Eventually.holds("all are at work", () -> queries.stream().allMatch(query -> rowsRead(List.of(query)) > 0));
        engine.close();
        assertTrue(looking.settled);
        queries.forEach(query -> assertEquals(QueryState.DROPPED, query.state()));
    }

    @Test
    void whatIsWaitedForStepsThatHearNothingIsWaitedOnceForAll() {
        int count = 16;
        TestOperators.deafen();
        LocalEngine engine = EngineTest.open(count);
        WritableRelation stream = engine.relations().addStream("s", KV);
        for (int i = 0; i < count; i++) {
            engine.start("deaf" + i, project(scan("s", KV), 0), QueryOptions.view());
        }
        stream.append(batch(engine, KV, Row.of(TestOperators.DEAF, 1)));
        Eventually.holds("all are deaf", () -> TestOperators.deafRows() == count);
        long since = System.nanoTime();
        engine.close();
        long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - since);
        for (int i = 0; i < count; i++) {
            TestOperators.hear();
        }
        assertTrue(millis < 3_800, millis + " ms, where 250 ms for each of them are 4,000 ms, and for all 2,250 ms");
    }

    /** Does not come back from its first commit until it is let. */
    private static class StuckSink implements Sink {
        final Semaphore permits = new Semaphore(0);
        volatile boolean closed;

        @Override
        public void write(Batch batch) {}

        @Override
        public void commit(long epoch) {
            permits.acquireUninterruptibly();
        }

        @Override
        public void close() {
            closed = true;
        }
    }

    @Test
    void whatIsWaitedForSinksThatDoNotComeBackIsWaitedOnceForAll() {
        LocalEngine engine = EngineTest.open(1);
        WritableRelation stream = engine.relations().addStream("s", KV);
        List<StuckSink> sinks = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            sinks.add(new StuckSink());
            engine.start("q" + i, scan("s", KV), QueryOptions.streaming().withSink(sinks.get(i)));
        }
        stream.append(batch(engine, KV, Row.of(1, 1)));
        Eventually.holds("all are stuck", () -> sinks.stream().allMatch(sink -> sink.permits.hasQueuedThreads()));
        long since = System.nanoTime();
        engine.close();
        long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - since);
        sinks.forEach(sink -> sink.permits.release());
        Eventually.holds(
                "each is closed by who was stuck in it", () -> sinks.stream().allMatch(sink -> sink.closed));
        assertTrue(millis < 9_000, millis + " ms, where 3 s for each of them are 18 s, and for all 2.3 s");
    }

    @Test
    void aSinkThatIsStuckWithRowsIsLeftWithThem() {
        StuckSink sink = new StuckSink() {
            @Override
            public void write(Batch batch) {
                permits.acquireUninterruptibly();
            }

            @Override
            public void commit(long epoch) {} // an epoch before the rows' own does not hold it
        };
        LocalEngine engine = EngineTest.open(1);
        WritableRelation stream = engine.relations().addStream("s", KV);
        engine.start("q", scan("s", KV), QueryOptions.streaming().withSink(sink));
        stream.append(batch(engine, KV, Row.of(1, 1)));
        Eventually.holds("it is stuck", sink.permits::hasQueuedThreads);
        engine.close();
        assertTrue(engine.allocatedBytes() > 0, "the sink still has the rows");
        sink.permits.release();
        Eventually.holds("they are freed when it comes back", () -> engine.allocatedBytes() == 0);
        assertTrue(sink.closed);
    }
}
