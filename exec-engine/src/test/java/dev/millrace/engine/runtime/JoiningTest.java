package dev.millrace.engine.runtime;

import static dev.millrace.engine.runtime.TestPlans.batch;
import static dev.millrace.engine.runtime.TestPlans.longs;
import static dev.millrace.engine.runtime.TestPlans.project;
import static dev.millrace.engine.runtime.TestPlans.scan;
import static dev.millrace.engine.runtime.TestPlans.sum;
import static dev.millrace.engine.runtime.TestPlans.union;
import static dev.millrace.engine.runtime.TestPlans.view;
import static dev.millrace.engine.runtime.TestPlans.zset;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.batch.Batch;
import dev.millrace.connector.Sink;
import dev.millrace.engine.relation.WritableRelation;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.scheduler.SteppedWorkers;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.TestBatches;
import dev.millrace.testing.time.TestClock;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Queries that come to a stream at work: each sees what comes after it, all of it, and waits for no other reader. */
@Timeout(60)
class JoiningTest {
    private static final Schema KV = longs("k", "v");

    /** Commits when it is told to. */
    private static final class HeldSink implements Sink {
        final CountDownLatch writing = new CountDownLatch(1);
        final CountDownLatch released = new CountDownLatch(1);

        @Override
        public void write(Batch batch) {
            writing.countDown();
        }

        @Override
        public void commit(long epoch) {
            try {
                released.await();
            } catch (InterruptedException e) {
                throw MillraceException.external(SqlState.IO_ERROR, "interrupted", e);
            }
        }

        @Override
        public void close() {}
    }

    @Test
    void aNewQueryDoesNotWaitForAReaderThatIsStuck() throws InterruptedException {
        try (LocalEngine engine = EngineTest.open(1)) {
            WritableRelation stream = engine.relations().addStream("s", KV);
            HeldSink sink = new HeldSink();
            engine.start("stuck", scan("s", KV), QueryOptions.streaming().withSink(sink));
            stream.append(batch(engine, KV, Row.of(1, 7)));
            assertTrue(sink.writing.await(30, TimeUnit.SECONDS));
            engine.start("new", sum(scan("s", KV), List.of(), 1), QueryOptions.view());
            long epoch = stream.append(batch(engine, KV, Row.of(1, 100)));
            engine.start("newer", sum(scan("s", KV), List.of(), 1), QueryOptions.view());
            sink.released.countDown();
            engine.awaitEpoch(epoch);
            engine.flush(progress -> {});
            assertEquals(zset(Row.of(100L)), view(engine, "new"));
            assertEquals(zset(Row.of(0L)), view(engine, "newer"));
        }
    }

    /** Passing queries in a chain, sums over any of them and over several; whoever comes late misses what was before. */
    @Test
    void eachQuerySeesExactlyWhatComesAfterIt() {
        for (long seed = 1; seed <= 150; seed++) {
            SplittableRandom random = new SplittableRandom(seed);
            TestClock clock = new TestClock(1_000_000);
            EngineOptions options =
                    EngineOptions.defaults().withWorkers(random.nextInt(1, 4)).withChannelBytes(600, 200);
            try (SteppedLocalEngine engine =
                    new SteppedLocalEngine(options, clock, new SteppedWorkers(seed, clock), TestOperators::create)) {
                assertEquals(expected(engine, clock, random), sums(engine), "seed " + seed);
            }
        }
    }

    /** Runs at random, and says what each sum has to be. */
    private static Map<String, Long> expected(SteppedLocalEngine engine, TestClock clock, SplittableRandom random) {
        WritableRelation stream = engine.relations().addStream("s", KV);
        List<String> passing = new ArrayList<>(List.of("s"));
        Map<String, Long> factors = new HashMap<>();
        Map<String, Long> expected = new HashMap<>();
        for (int event = 0; event < 40; event++) {
            String from = passing.get(random.nextInt(passing.size()));
            String also = passing.get(random.nextInt(passing.size()));
            switch (random.nextInt(6)) {
                case 0 -> {
                    engine.start("p" + event, project(scan(from, KV), 0, 1), QueryOptions.streaming());
                    passing.add("p" + event);
                }
                case 1 -> {
                    boolean both = random.nextBoolean();
                    engine.start(
                            "v" + event,
                            sum(both ? union(scan(from, KV), scan(also, KV)) : scan(from, KV), List.of(), 1),
                            QueryOptions.view());
                    factors.put("v" + event, both ? 2L : 1L);
                    expected.put("v" + event, 0L);
                }
                default -> {
                    long value = random.nextInt(1, 1000);
                    stream.append(List.of(TestBatches.of(KV, engine.allocator(), List.of(Row.of(1, value)))));
                    factors.forEach((name, factor) -> expected.merge(name, factor * value, Long::sum));
                }
            }
            for (int step = random.nextInt(12); step > 0; step--) {
                engine.step();
            }
            clock.advance(random.nextInt(60_000));
        }
        engine.flush(progress -> {});
        return expected;
    }

    private static Map<String, Long> sums(Engine engine) {
        Map<String, Long> sums = new HashMap<>();
        for (StandingQuery query : engine.queries()) {
            if (query.materialized()) {
                List<Row> rows = view(engine, query.name()).rows();
                assertEquals(1, rows.size(), "rows of " + query.name());
                sums.put(query.name(), (Long) rows.get(0).get(0));
            }
        }
        return sums;
    }
}
