package dev.millrace.engine.runtime;

import static dev.millrace.engine.runtime.TestPlans.byHash;
import static dev.millrace.engine.runtime.TestPlans.longs;
import static dev.millrace.engine.runtime.TestPlans.scan;
import static dev.millrace.engine.runtime.TestPlans.view;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.engine.operators.OperatorFactory;
import dev.millrace.engine.relation.WritableRelation;
import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.IntervalValue;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.plan.node.PlanNode.TimeFilter;
import dev.millrace.scheduler.SteppedWorkers;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.TestBatches;
import dev.millrace.testing.rows.ZSet;
import dev.millrace.testing.time.TestClock;
import dev.millrace.type.DataType;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.LongUnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Rows that come and leave by the clock, in a whole engine whose clock the test moves. */
@Timeout(120)
final class TimeFilterTest {
    private static final Schema ROWS = longs("ts", "v");
    private static final long SECOND = 1_000_000;
    private static final long START = 1_700_000_000 * SECOND;

    /** What all times are multiples of, so that rows are often right at a bound. */
    private static final long QUANTUM = SECOND / 4;

    private static Expression now(long minusMicros) {
        Expression now = new Expression.Cast(
                new Expression.Call("now", List.of(), DataType.TIMESTAMPTZ, false), DataType.TIMESTAMP);
        return new Expression.Call(
                "subtract",
                List.of(now, new Expression.Literal(new IntervalValue(0, 0, minusMicros), DataType.INTERVAL)),
                DataType.TIMESTAMP,
                false);
    }

    private static SteppedLocalEngine stepped(int workers, long seed, TestClock clock) {
        EngineOptions options = EngineOptions.defaults()
                .withWorkers(workers)
                .withMemoryLimitBytes(64L << 20)
                .withChannelBytes(600, 200);
        return new SteppedLocalEngine(options, clock, new SteppedWorkers(seed, clock), OperatorFactory::create);
    }

    private static ZSet between(ZSet rows, long from, boolean withFrom, long to, boolean withTo) {
        ZSet there = new ZSet();
        rows.forEach((row, weight) -> {
            long time = (Long) row.get(0);
            if ((withFrom ? time >= from : time > from) && (withTo ? time <= to : time < to)) {
                there.add(row, weight);
            }
        });
        return there;
    }

    /** The answer is that of a batch query at the time, however rows come, are taken back, and time goes on. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6})
    void eachAnswerIsThatOfItsMoment(long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        TestClock clock = new TestClock(START);
        boolean atFrom = seed % 2 == 0;
        boolean atTo = seed % 3 == 0;
        try (SteppedLocalEngine engine = stepped(1 + (int) seed % 2, seed, clock)) {
            WritableRelation rows = engine.relations().addTable("rows", ROWS);
            PlanNode scan = byHash(scan("rows", ROWS), 1);
            PlanNode come = new TimeFilter(scan, 0, now(2 * SECOND), false, atTo);
            PlanNode last = new TimeFilter(come, 0, now(10 * SECOND), true, atFrom);
            engine.start("last", last, QueryOptions.view());
            ZSet all = new ZSet();
            for (int round = 0; round < 60; round++) {
                List<Row> added = new ArrayList<>();
                for (int i = random.nextInt(4); i > 0; i--) {
                    added.add(Row.of(
                            clock.epochMicros() - 15 * SECOND + random.nextLong(80) * QUANTUM, random.nextLong(5)));
                }
                if (!added.isEmpty()) {
                    rows.append(TestBatches.of(ROWS, engine.allocator(), added));
                    added.forEach(row -> all.add(TestBatches.canonical(ROWS, row), 1));
                }
                if (random.nextInt(3) == 0 && !all.rows().isEmpty()) {
                    Row gone = List.copyOf(all.rows())
                            .get(random.nextInt(all.rows().size()));
                    all.add(gone, -1);
                    rows.append(TestBatches.weighted(ROWS, engine.allocator(), List.of(gone), new long[] {-1}));
                }
                engine.runUntilIdle();
                clock.advance((1 + random.nextLong(12)) * QUANTUM);
                engine.runUntilIdle();
                long now = clock.epochMicros();
                assertEquals(
                        between(all, now - 10 * SECOND, atFrom, now - 2 * SECOND, atTo),
                        view(engine, "last"),
                        "seed " + seed + ", round " + round);
            }
            clock.advance(60 * SECOND);
            engine.runUntilIdle();
            assertEquals(new ZSet(), view(engine, "last"));
        }
    }

    /** A bound that moves in steps: nothing is looked at in between. */
    @Test
    void rowsOfTodayLeaveAtMidnight() {
        TestClock clock = new TestClock(START);
        long day = 86_400 * SECOND;
        LongUnaryOperator midnight = time -> time - Math.floorMod(time, day);
        try (SteppedLocalEngine engine = stepped(1, 7, clock)) {
            WritableRelation rows = engine.relations().addStream("rows", ROWS);
            Expression today = new Expression.Call(
                    "date_trunc",
                    List.of(new Expression.Literal("day", DataType.TEXT), now(0)),
                    DataType.TIMESTAMP,
                    false);
            engine.start("today", new TimeFilter(scan("rows", ROWS), 0, today, true, true), QueryOptions.view());
            Row first = Row.of(midnight.applyAsLong(START), 1L);
            rows.append(TestBatches.of(ROWS, engine.allocator(), List.of(Row.of(START - day, 0L), first)));
            engine.runUntilIdle();
            assertEquals(TestPlans.zset(first), view(engine, "today"));
            long epoch = engine.query("today").statistics().lastEpoch();
            long tomorrow = midnight.applyAsLong(START) + day;
            clock.advance(tomorrow - 1 - clock.epochMicros());
            engine.runUntilIdle();
            assertEquals(TestPlans.zset(first), view(engine, "today"));
            assertEquals(epoch, engine.query("today").statistics().lastEpoch(), "there was nothing to do");
            clock.advance(1);
            engine.runUntilIdle();
            assertEquals(new ZSet(), view(engine, "today"));
            assertTrue(engine.query("today").statistics().lastEpoch() > epoch);
        }
    }
}
