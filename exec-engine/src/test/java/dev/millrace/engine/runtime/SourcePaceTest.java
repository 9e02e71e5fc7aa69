package dev.millrace.engine.runtime;

import static dev.millrace.engine.runtime.TestPlans.byHash;
import static dev.millrace.engine.runtime.TestPlans.longs;
import static dev.millrace.engine.runtime.TestPlans.scan;
import static dev.millrace.engine.runtime.TestPlans.view;
import static dev.millrace.engine.runtime.TestPlans.watermark;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.batch.Batch;
import dev.millrace.connector.ScanRequest;
import dev.millrace.connector.Source;
import dev.millrace.connector.SourceContext;
import dev.millrace.connector.SourceReader;
import dev.millrace.engine.operators.OperatorFactory;
import dev.millrace.engine.relation.OnError;
import dev.millrace.plan.node.JoinTime;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.scheduler.SchedulingPolicies;
import dev.millrace.scheduler.SteppedWorkers;
import dev.millrace.scheduler.WorkerThreads;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.TestBatches;
import dev.millrace.testing.rows.ZSet;
import dev.millrace.testing.time.TestClock;
import dev.millrace.time.Clock;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Two sources that a join has meet by time, one with ten times as many rows for an hour as the other. */
@Timeout(120)
final class SourcePaceTest {
    private static final Schema EVENTS = longs("ts", "k");
    private static final int BATCH = 5; // rows
    private static final long END = 1_500_000; // of event time, in microseconds
    private static final long SPARSE = 1_000; // between two rows
    private static final long DENSE = 100;
    private static final int ALLOWED =
            32 + 2; // batches ahead, with the one just read and one of the other that is not told yet

    /** Rows with equal distances in time, dealt to the readers in turn. It notes how far one of its readers was ahead of another source's. */
    private static final class Clockwork implements Source {
        private final long distance;
        private final Map<Object, long[]> reached; // of each reader of both, Long.MAX_VALUE at its end
        private final AtomicLong mostAhead = new AtomicLong();
        private final long pauseAt; // where there is nothing at hand, once

        Clockwork(long distance, Map<Object, long[]> reached, long pauseAt) {
            this.distance = distance;
            this.reached = reached;
            this.pauseAt = pauseAt;
        }

        @Override
        public Schema schema() {
            return EVENTS;
        }

        @Override
        public boolean bounded() {
            return true;
        }

        @Override
        public boolean replayable() {
            return true;
        }

        @Override
        public List<SourceReader> open(ScanRequest request, SourceContext context) {
            List<SourceReader> readers = new ArrayList<>();
            for (int i = 0; i < request.parallelism(); i++) {
                readers.add(reader(i * distance, request, context));
            }
            return readers;
        }

        private SourceReader reader(long first, ScanRequest request, SourceContext context) {
            long[] mine = {first};
            SourceReader reader = new SourceReader() {
                private long next = first;
                private boolean paused = pauseAt == Long.MAX_VALUE;

                @Override
                public Optional<Batch> poll() {
                    if (next >= pauseAt && !paused) {
                        paused = true;
                        mine[0] = Long.MAX_VALUE; // nobody has to wait for it
                        return Optional.empty();
                    }
                    List<Row> rows = new ArrayList<>();
                    for (; rows.size() < BATCH && next < END; next += distance * request.parallelism()) {
                        Row row = Row.of(next, next / SPARSE);
                        rows.add(
                                new Row(request.columns().stream().map(row::get).toList()));
                    }
                    mine[0] = next < END ? next : Long.MAX_VALUE;
                    if (rows.isEmpty()) {
                        return Optional.empty();
                    }
                    long least = reached.values().stream()
                            .mapToLong(each -> each[0])
                            .min()
                            .orElseThrow();
                    if (next < END) {
                        mostAhead.accumulateAndGet(next - least, Math::max);
                    }
                    return Optional.of(TestBatches.of(EVENTS.select(request.columns()), context.allocator(), rows));
                }

                @Override
                public boolean isFinished() {
                    return next >= END;
                }

                @Override
                public long retryAfterMicros() {
                    return 1_000_000;
                }

                @Override
                public void close() {
                    mine[0] = Long.MAX_VALUE;
                }
            };
            reached.put(reader, mine);
            return reader;
        }
    }

    private final Map<Object, long[]> reached = new ConcurrentHashMap<>();

    private Clockwork source(long distance, long pauseAt) {
        return new Clockwork(distance, reached, pauseAt);
    }

    /** Rows of one key whose times differ by no more than a sparse step; without times they only have one key. */
    private static PlanNode join(boolean byTime) {
        PlanNode left = byHash(watermark(scan("sparse", EVENTS), 0, 0, 1_000_000, 100), 1);
        PlanNode right = byHash(watermark(scan("dense", EVENTS), 0, 0, 1_000_000, 100), 1);
        return new PlanNode.Join(
                left,
                right,
                PlanNode.JoinKind.INNER,
                List.of(1),
                List.of(1),
                Optional.empty(),
                byTime ? Optional.of(new JoinTime.Bounds(0, 0, -SPARSE, SPARSE)) : Optional.empty(),
                EVENTS.concat(EVENTS));
    }

    private static ZSet expected() {
        ZSet rows = new ZSet();
        for (long left = 0; left < END; left += SPARSE) {
            for (long right = left; right < left + SPARSE; right += DENSE) {
                rows.add(Row.of(left, left / SPARSE, right, right / SPARSE), 1);
            }
        }
        return rows;
    }

    private ZSet run(Engine engine, Clockwork sparse, Clockwork dense, boolean byTime) {
        engine.relations().addSource("sparse", sparse, OnError.FAIL);
        engine.relations().addSource("dense", dense, OnError.FAIL);
        engine.start("q", join(byTime), QueryOptions.view());
        if (engine instanceof SteppedLocalEngine stepped) {
            stepped.runUntilIdle();
        } else {
            ((LocalEngine) engine).flush(progress -> {});
        }
        return view(engine, "q");
    }

    private static SteppedLocalEngine stepped(int workers, long seed, TestClock clock) {
        EngineOptions options = EngineOptions.defaults().withWorkers(workers).withMemoryLimitBytes(64L << 20);
        return new SteppedLocalEngine(options, clock, new SteppedWorkers(seed, clock), OperatorFactory::create);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3})
    void noneIsReadFarAheadOfTheOther(int workers) {
        for (long seed = 1; seed <= 10; seed++) {
            reached.clear();
            Clockwork sparse = source(SPARSE, Long.MAX_VALUE);
            try (SteppedLocalEngine engine = stepped(workers, seed, new TestClock(0))) {
                assertEquals(expected(), run(engine, sparse, source(DENSE, Long.MAX_VALUE), true));
            }
            long batches = sparse.mostAhead.get() / (BATCH * SPARSE * workers);
            assertTrue(batches <= ALLOWED, batches + " batches ahead with seed " + seed);
        }
    }

    /** Without times the order is of no matter, and that of the tasks. It shows that the test above sees what it looks for. */
    @Test
    void nobodyWaitsWhereTimesDoNotMeet() {
        long most = 0;
        for (long seed = 1; seed <= 10; seed++) {
            reached.clear();
            Clockwork sparse = source(SPARSE, Long.MAX_VALUE);
            try (SteppedLocalEngine engine = stepped(2, seed, new TestClock(0))) {
                assertEquals(expected(), run(engine, sparse, source(DENSE, Long.MAX_VALUE), false));
            }
            most = Math.max(most, sparse.mostAhead.get() / (BATCH * SPARSE * 2));
        }
        assertTrue(most > 1.5 * ALLOWED, most + " batches ahead");
    }

    /** The dense one has nothing for a second at a fifth of its rows: the sparse one is read to its end meanwhile. */
    @Test
    void nobodyWaitsForASourceThatHasNothing() {
        for (long seed = 1; seed <= 10; seed++) {
            reached.clear();
            TestClock clock = new TestClock(0);
            Clockwork sparse = source(SPARSE, Long.MAX_VALUE);
            Clockwork dense = source(DENSE, END / 5);
            try (SteppedLocalEngine engine = stepped(2, seed, clock)) {
                engine.relations().addSource("sparse", sparse, OnError.FAIL);
                engine.relations().addSource("dense", dense, OnError.FAIL);
                engine.start("q", join(true), QueryOptions.view());
                engine.runUntilIdle();
                assertTrue(
                        reached.entrySet().stream().allMatch(each -> each.getValue()[0] == Long.MAX_VALUE),
                        "some wait, seed " + seed);
                clock.advance(2_000_000);
                engine.runUntilIdle();
                assertEquals(expected(), view(engine, "q"));
            }
        }
    }

    /** By threads, where a wake that is lost would have the sources wait for ever. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 4})
    void allIsReadByThreads(int workers) {
        for (int trial = 0; trial < 15; trial++) {
            reached.clear();
            EngineOptions options =
                    EngineOptions.defaults().withWorkers(workers).withMemoryLimitBytes(64L << 20);
            try (LocalEngine engine = new LocalEngine(
                    options,
                    Clock.system(),
                    new WorkerThreads(workers, SchedulingPolicies.named("fcfs"), Clock.system()),
                    LocalEngine.newSinkThreads(),
                    OperatorFactory::create)) {
                assertEquals(
                        expected(), run(engine, source(SPARSE, Long.MAX_VALUE), source(DENSE, Long.MAX_VALUE), true));
            }
        }
    }
}
