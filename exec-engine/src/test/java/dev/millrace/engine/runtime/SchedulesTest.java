package dev.millrace.engine.runtime;

import static dev.millrace.engine.runtime.TestPlans.batch;
import static dev.millrace.engine.runtime.TestPlans.longs;
import static dev.millrace.engine.runtime.TestPlans.scan;
import static dev.millrace.engine.runtime.TestPlans.sum;
import static dev.millrace.engine.runtime.TestPlans.zset;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.engine.intake.Schedule;
import dev.millrace.engine.relation.OnError;
import dev.millrace.engine.relation.WritableRelation;
import dev.millrace.engine.statistic.QueryState;
import dev.millrace.engine.subscription.EpochChanges;
import dev.millrace.engine.subscription.Subscription;
import dev.millrace.engine.subscription.SubscriptionOptions;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.plan.node.WindowSpec;
import dev.millrace.scheduler.SteppedWorkers;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.ZSet;
import dev.millrace.testing.time.TestClock;
import dev.millrace.type.Schema;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** When a query takes what has come: a clock that a test moves, and one thread. */
@Timeout(60)
final class SchedulesTest {
    private static final Schema KV = longs("k", "v");
    private final TestClock clock = new TestClock(1_000_000);

    private SteppedLocalEngine engine(long channelBytes) {
        EngineOptions options = EngineOptions.defaults()
                .withWorkers(1)
                .withMemoryLimitBytes(64L << 20)
                .withChannelBytes(channelBytes, channelBytes / 2);
        return new SteppedLocalEngine(options, clock, new SteppedWorkers(4, clock), TestOperators::create);
    }

    private static QueryOptions view(String schedule) {
        return QueryOptions.view().withSchedule(Schedule.of(schedule));
    }

    private static StandingQuery total(Engine engine, String schedule) {
        return engine.start("total", sum(scan("s", KV), List.of(), 1), view(schedule));
    }

    private void append(SteppedLocalEngine engine, long value) {
        engine.relations().writable("s").append(batch(engine, KV, Row.of(1, value)));
        engine.runUntilIdle();
    }

    private static ZSet answer(Engine engine) {
        return TestPlans.view(engine, "total");
    }

    @Test
    void rowsWaitForTheirTimeAndAreThenOneEpoch() {
        try (SteppedLocalEngine engine = engine(1 << 20)) {
            engine.relations().addStream("s", KV);
            StandingQuery total = total(engine, "every 500 ms");
            engine.runUntilIdle();
            ZSet before = answer(engine);
            try (Subscription changes = total.subscribe(SubscriptionOptions.changes())) {
                for (int i = 1; i <= 4; i++) {
                    clock.advance(50_000);
                    append(engine, i);
                    assertEquals(before, answer(engine));
                }
                assertEquals(4, waitingRows(total));
                clock.advance(300_000);
                engine.runUntilIdle();
                assertEquals(zset(Row.of(10L)), answer(engine));
                assertEquals(0, waitingRows(total));
                assertEquals(1, epochs(changes));
            }
        }
    }

    private static long waitingRows(StandingQuery query) {
        return query.statistics().operators().stream()
                .mapToLong(operator -> operator.turns().queuedRows())
                .max()
                .orElseThrow();
    }

    private static int epochs(Subscription subscription) {
        int count = 0;
        for (Optional<EpochChanges> next = subscription.next(0); next.isPresent(); next = subscription.next(0)) {
            count += next.get().batches().isEmpty() ? 0 : 1;
            next.get().close();
        }
        return count;
    }

    @Test
    void aRowThatComesLongAfterTheLastIntakeDoesNotWait() {
        try (SteppedLocalEngine engine = engine(1 << 20)) {
            engine.relations().addStream("s", KV);
            total(engine, "every 500 ms");
            engine.runUntilIdle();
            clock.advance(600_000);
            append(engine, 7);
            assertEquals(zset(Row.of(7L)), answer(engine));
        }
    }

    @Test
    void enoughRowsAreAnIntake() {
        try (SteppedLocalEngine engine = engine(1 << 20)) {
            engine.relations().addStream("s", KV);
            total(engine, "every 3 rows");
            engine.runUntilIdle();
            ZSet before = answer(engine);
            append(engine, 1);
            append(engine, 2);
            clock.advance(60_000_000);
            engine.runUntilIdle();
            assertEquals(before, answer(engine));
            append(engine, 3);
            assertEquals(zset(Row.of(6L)), answer(engine));
        }
    }

    @Test
    void aQueryThatWaitsHasNoTimerWhereNothingWaits() {
        try (SteppedLocalEngine engine = engine(1 << 20)) {
            engine.relations().addStream("s", KV);
            total(engine, "every 500 ms");
            append(engine, 1);
            clock.advance(600_000);
            engine.runUntilIdle();
            clock.advance(10_000_000);
            engine.runUntilIdle();
            assertEquals(Long.MAX_VALUE, engine.nextTimerNanos());
        }
    }

    @Test
    void moreThanMayWaitIsAnIntakeAndNobodyIsHeldUp() {
        try (SteppedLocalEngine engine = engine(64)) {
            WritableRelation stream = engine.relations().addStream("s", KV);
            total(engine, "every 1 h");
            engine.runUntilIdle();
            for (int i = 0; i < 1_000; i++) {
                engine.awaitEpoch(stream.append(batch(engine, KV, Row.of(1, 1))));
            }
            long seen = (Long) answer(engine).rows().get(0).get(0);
            assertTrue(seen > 900, seen + " of 1000");
        }
    }

    @Test
    void anotherScheduleHoldsAtOnce() {
        try (SteppedLocalEngine engine = engine(1 << 20)) {
            engine.relations().addStream("s", KV);
            StandingQuery total = total(engine, "every 1 h");
            engine.runUntilIdle();
            append(engine, 1);
            total.schedule(Schedule.of("every 2 rows"));
            engine.runUntilIdle();
            assertEquals(Schedule.of("2 rows"), total.schedule());
            assertEquals(zset(Row.of(1L)), answer(engine));
            append(engine, 2);
            assertEquals(zset(Row.of(1L)), answer(engine));
            total.schedule(Schedule.DATA);
            engine.runUntilIdle();
            assertEquals(zset(Row.of(3L)), answer(engine));
            append(engine, 4);
            assertEquals(zset(Row.of(7L)), answer(engine));
        }
    }

    @Test
    void whoNeedsAllGetsAll() {
        try (SteppedLocalEngine engine = engine(1 << 20)) {
            engine.relations().addStream("s", KV);
            StandingQuery total = total(engine, "every 1 h");
            engine.runUntilIdle();
            append(engine, 1);
            engine.flush(progress -> {});
            assertEquals(zset(Row.of(1L)), answer(engine));
            append(engine, 2);
            engine.awaitEpoch(total.takeIn());
            assertEquals(zset(Row.of(3L)), answer(engine));
            append(engine, 3);
            engine.start("late", scan("total", longs("sum")), QueryOptions.view());
            engine.runUntilIdle();
            assertEquals(zset(Row.of(6L)), TestPlans.view(engine, "late"));
            append(engine, 4);
            total.pause();
            assertEquals(zset(Row.of(10L)), answer(engine));
            append(engine, 5);
            total.resume();
            engine.runUntilIdle();
            assertEquals(zset(Row.of(15L)), answer(engine));
        }
    }

    /** One reads the other, each at its own times. */
    @Test
    void chainedQueriesAreFlushedTogether() {
        try (SteppedLocalEngine engine = engine(1 << 20)) {
            engine.relations().addStream("s", KV);
            engine.start("sums", sum(scan("s", KV), List.of(0), 1), view("every 1 h"));
            engine.start("total", sum(scan("sums", longs("k", "sum")), List.of(), 1), view("every 1000 rows"));
            engine.runUntilIdle();
            for (int i = 0; i < 20; i++) {
                append(engine, i);
            }
            engine.flush(progress -> {});
            assertEquals(zset(Row.of(190L)), answer(engine));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"every 1 h", "every 7 rows", "every 100 ms", "every 1000000 rows"})
    void aSourceThatComesToItsEndIsReadToIt(String schedule) {
        try (SteppedLocalEngine engine = engine(400)) {
            engine.relations().addSource("src", EngineTest.source(40, 5), OnError.FAIL);
            StandingQuery total = engine.start("total", sum(scan("src", KV), List.of(), 1), view(schedule));
            engine.start("data", sum(scan("src", KV), List.of(), 1), QueryOptions.view());
            engine.flush(progress -> {});
            assertEquals(QueryState.FINISHED, total.await());
            assertEquals(TestPlans.view(engine, "data"), answer(engine));
        }
    }

    /** Windows of the machine's own time, of which one ends while a row of it waits. */
    @Test
    void timeDoesNotGoOnWithoutRowsThatWait() {
        Schema events = longs("ts", "k");
        try (SteppedLocalEngine engine = engine(1 << 20)) {
            WritableRelation stream = engine.relations().addStream("e", events);
            PlanNode timed = new PlanNode.Watermark(
                    scan("e", events), 0, 0, PlanNode.Watermark.FOLLOWS_CLOCK, Optional.of(new WindowSpec.Tumble(100)));
            StandingQuery windows = engine.start("w", TestPlans.countPerWindow(timed, 0, 100), view("every 500 ms"));
            engine.runUntilIdle();
            clock.advance(600_000);
            long start = clock.epochMicros();
            assertEquals(0, start % 100);
            for (int i = 0; i < 2; i++) { // the second waits
                stream.append(batch(engine, events, Row.of(start, 0)));
                engine.runUntilIdle();
            }
            assertEquals(1, waitingRows(windows));
            clock.advance(200);
            engine.runUntilIdle();
            assertEquals(new ZSet(), TestPlans.view(engine, "w"));
            clock.advance(600_000);
            engine.runUntilIdle();
            clock.advance(100); // what is left of the window since the clock was looked at
            engine.runUntilIdle();
            assertEquals(zset(Row.of(2L, start, start + 100)), TestPlans.view(engine, "w"));
            assertEquals(0, windows.statistics().lateRows());
        }
    }
}
