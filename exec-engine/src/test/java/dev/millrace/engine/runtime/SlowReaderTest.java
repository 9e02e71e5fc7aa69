package dev.millrace.engine.runtime;

import static dev.millrace.engine.runtime.TestPlans.answer;
import static dev.millrace.engine.runtime.TestPlans.batch;
import static dev.millrace.engine.runtime.TestPlans.longs;
import static dev.millrace.engine.runtime.TestPlans.project;
import static dev.millrace.engine.runtime.TestPlans.scan;
import static dev.millrace.engine.runtime.TestPlans.sum;
import static dev.millrace.engine.runtime.TestPlans.union;
import static dev.millrace.engine.runtime.TestPlans.view;
import static dev.millrace.engine.runtime.TestPlans.zset;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.batch.Batch;
import dev.millrace.connector.ScanRequest;
import dev.millrace.connector.Source;
import dev.millrace.connector.SourceContext;
import dev.millrace.connector.SourceReader;
import dev.millrace.engine.relation.OnError;
import dev.millrace.engine.relation.WritableRelation;
import dev.millrace.engine.statistic.QueryState;
import dev.millrace.engine.subscription.EpochChanges;
import dev.millrace.engine.subscription.Subscription;
import dev.millrace.engine.subscription.SubscriptionOptions;
import dev.millrace.operator.Operator;
import dev.millrace.operator.OperatorContext;
import dev.millrace.operator.Output;
import dev.millrace.plan.expression.Expression.Column;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.scheduler.SchedulingPolicies;
import dev.millrace.scheduler.WorkerThreads;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.time.Eventually;
import dev.millrace.time.Clock;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A query that is slow, or stuck, beside others that read the same relation. */
@Timeout(60)
final class SlowReaderTest {
    private static final Schema KV = longs("k", "v");
    private static final int ROUNDS = 100;

    private final Semaphore gate = new Semaphore(0); // a permit lets a batch through to the slow query
    private LocalEngine engine;

    @BeforeEach
    void open() {
        EngineOptions options = EngineOptions.defaults()
                .withWorkers(3)
                .withEpochMillis(5)
                .withMemoryLimitBytes(256L << 20)
                .withChannelBytes(20_000, 0);
        engine = new LocalEngine(
                options,
                Clock.system(),
                new WorkerThreads(3, SchedulingPolicies.named("fcfs"), Clock.system()),
                LocalEngine.newSinkThreads(),
                this::operator);
    }

    @AfterEach
    void close() {
        openGate();
        engine.close(); // fails if a byte was left
    }

    private void openGate() {
        gate.drainPermits();
        gate.release(1_000_000);
    }

    /** A projection that swaps the columns is slow. */
    private Operator operator(PlanNode node) {
        Operator inner = TestOperators.create(node);
        boolean isSlow = node instanceof PlanNode.Calc calc
                && ((Column) calc.projections().get(0)).index() > 0;
        return isSlow ? new Gate(inner) : inner;
    }

    private final class Gate implements Operator {
        private final Operator inner;

        Gate(Operator inner) {
            this.inner = inner;
        }

        @Override
        public void open(OperatorContext context) {
            inner.open(context);
        }

        @Override
        public void process(int port, Batch batch, Output output) {
            gate.acquireUninterruptibly();
            inner.process(port, batch, output);
        }

        @Override
        public void close() {
            inner.close();
        }
    }

    private StandingQuery startSlow() {
        return engine.start("slow", sum(project(scan("s", KV), 1, 0), List.of(), 0), QueryOptions.view());
    }

    private StandingQuery startLight() {
        return engine.start("light", sum(scan("s", KV), List.of(), 1), QueryOptions.view());
    }

    @Test
    void anAnswerIsCurrentWhileAnotherIsStuck() {
        WritableRelation stream = engine.relations().addStream("s", KV);
        startSlow();
        StandingQuery light = startLight();
        long last = 0;
        try (Subscription subscription = light.subscribe(SubscriptionOptions.changes())) {
            for (int round = 1; round <= ROUNDS; round++) {
                last = stream.append(batch(engine, KV, Row.of(1, 1)));
                assertFalse(engine.awaitEpoch(last, List.of("light")));
                assertEquals(zset(Row.of((long) round)), view(engine, "light"));
                try (EpochChanges changes = subscription.next(60_000_000).orElseThrow()) {
                    assertEquals(last, changes.epoch());
                }
            }
        }
        assertEquals(zset(Row.of(0L)), view(engine, "slow"));
        openGate();
        engine.awaitEpoch(last);
        assertEquals(zset(Row.of((long) ROUNDS)), view(engine, "slow"));
    }

    @Test
    void aTableIsReadWhileAViewOfItIsStuck() {
        WritableRelation table = engine.relations().addTable("s", KV);
        startSlow();
        long last = table.append(batch(engine, KV, Row.of(1, 1)));
        assertFalse(engine.awaitEpoch(last, List.of("s")));
        assertEquals(zset(Row.of(1L, 1L)), view(engine, "s"));
    }

    /** The stream stops when the slow reader is as far behind as it may be; all that it brought till then is in the others. */
    @Test
    void whatALiveSourceBroughtIsShownThoughAReaderHoldsItBack() {
        AtomicBoolean mayBegin = new AtomicBoolean();
        engine.relations().addSource("s", new Live(new Endless(KV), mayBegin), OnError.FAIL);
        StandingQuery light = startLight();
        StandingQuery slow = startSlow();
        mayBegin.set(true);
        Eventually.holds("the stream is held back", () -> isFull(slow));
        Eventually.holds("all that was brought is in the answer", () -> {
            long rows = rowsIn(light);
            return view(engine, "light").equals(zset(Row.of(rows * (rows - 1) / 2)));
        });
        long before = rowsIn(light);
        gate.release(10);
        Eventually.holds("it goes on when there is room", () -> rowsIn(light) > before);
    }

    /** A source that is read once, for all, from the moment on when it may begin. */
    private record Live(Endless rows, AtomicBoolean mayBegin) implements Source {
        @Override
        public Schema schema() {
            return rows.schema();
        }

        @Override
        public boolean bounded() {
            return false;
        }

        @Override
        public boolean replayable() {
            return false;
        }

        @Override
        public List<SourceReader> open(ScanRequest request, SourceContext context) {
            SourceReader reader = rows.open(request, context).get(0);
            return List.of(new SourceReader() {
                @Override
                public Optional<Batch> poll() {
                    return mayBegin.get() ? reader.poll() : Optional.empty();
                }

                @Override
                public boolean isFinished() {
                    return false;
                }

                @Override
                public long retryAfterMicros() {
                    return 1_000;
                }

                @Override
                public void close() {
                    reader.close();
                }
            });
        }
    }

    private static long rowsIn(StandingQuery query) {
        return query.statistics().rowsIn();
    }

    private static boolean isFull(StandingQuery query) {
        return ((LocalStandingQuery) query).tasks().feeds.get(0).channel().isFull();
    }

    @Test
    void whatIsReadTogetherIsOfOneEpochHoweverFarOneIsBehind() throws InterruptedException {
        WritableRelation stream = engine.relations().addStream("s", KV);
        startSlow();
        startLight();
        AtomicBoolean stop = new AtomicBoolean();
        AtomicReference<Throwable> failed = new AtomicReference<>();
        List<Thread> threads = new ArrayList<>();
        threads.add(repeat(stop, failed, random -> {
            int value = random.nextInt(1, 100);
            stream.append(batch(engine, KV, Row.of(value, value)));
        }));
        threads.add(repeat(stop, failed, random -> {
            if (gate.availablePermits() == 0) {
                gate.release(random.nextInt(1, 20));
            }
            Thread.onSpinWait();
        }));
        int[] read = {0, 0};
        for (int reader = 0; reader < read.length; reader++) {
            int self = reader;
            threads.add(repeat(stop, failed, random -> {
                List<Row> rows = answer(engine, union(scan("slow", longs("sum")), scan("light", longs("sum"))))
                        .rows();
                assertEquals(2, rows.size());
                assertEquals(rows.get(0), rows.get(1), "two answers of different epochs");
                read[self]++;
            }));
        }
        Eventually.holds("enough is read", () -> failed.get() != null || read[0] >= ROUNDS && read[1] >= ROUNDS);
        stop.set(true);
        openGate();
        for (Thread thread : threads) {
            thread.join();
        }
        assertEquals(Optional.empty(), Optional.ofNullable(failed.get()));
        engine.flush(progress -> {});
        assertEquals(view(engine, "light"), view(engine, "slow"));
        assertTrue(engine.queries().stream().allMatch(query -> query.state() == QueryState.RUNNING));
    }

    private interface Step {
        void run(SplittableRandom random);
    }

    private static Thread repeat(AtomicBoolean stop, AtomicReference<Throwable> failed, Step step) {
        Thread thread = new Thread(() -> {
            SplittableRandom random = new SplittableRandom(11);
            try {
                while (!stop.get()) {
                    step.run(random);
                }
            } catch (Throwable e) {
                failed.compareAndSet(null, e);
            }
        });
        thread.start();
        return thread;
    }
}
