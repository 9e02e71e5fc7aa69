package dev.millrace.engine.runtime;

import static dev.millrace.engine.runtime.TestPlans.batch;
import static dev.millrace.engine.runtime.TestPlans.byHash;
import static dev.millrace.engine.runtime.TestPlans.countPerWindow;
import static dev.millrace.engine.runtime.TestPlans.longs;
import static dev.millrace.engine.runtime.TestPlans.scan;
import static dev.millrace.engine.runtime.TestPlans.single;
import static dev.millrace.engine.runtime.TestPlans.view;
import static dev.millrace.engine.runtime.TestPlans.watermark;
import static dev.millrace.engine.runtime.TestPlans.zset;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.millrace.engine.relation.WritableRelation;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.scheduler.SteppedWorkers;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.time.TestClock;
import dev.millrace.type.Schema;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** An instance that goes on with a watermark of before holds nobody back for longer than one without. */
@Timeout(120)
final class RestoredWatermarkTest {
    private static final Schema EVENTS = longs("ts", "k");
    private static final int IDLE_MICROS = 1_000_000;
    private static final PlanNode WINDOWS =
            countPerWindow(single(watermark(byHash(scan("s", EVENTS), 1), 0, 0, IDLE_MICROS, 100)), 0, 100);

    private static SteppedLocalEngine stepped(long seed, TestClock clock) {
        return new SteppedLocalEngine(
                EngineOptions.defaults().withWorkers(2), clock, new SteppedWorkers(seed, clock), TestOperators::create);
    }

    private static QuerySnapshot snapshotOfTwoInstances(TestClock clock) {
        try (SteppedLocalEngine engine = stepped(1, clock)) {
            WritableRelation stream = engine.relations().addStream("s", EVENTS);
            StandingQuery query = engine.start("w", WINDOWS, QueryOptions.view());
            Row[] ofBoth = new Row[20];
            for (int k = 0; k < ofBoth.length; k++) {
                ofBoth[k] = Row.of(10, k);
            }
            stream.append(batch(engine, EVENTS, ofBoth));
            engine.runUntilIdle();
            return query.snapshot();
        }
    }

    /** Whether its first epoch's end comes to it before or after it has been without rows for too long. */
    @ParameterizedTest
    @ValueSource(longs = {0, 10 * IDLE_MICROS})
    void anInstanceWithoutRowsBecomesIdleInTime(long beforeItRunsMicros) {
        for (long seed = 1; seed <= 20; seed++) {
            TestClock clock = new TestClock(0);
            QuerySnapshot snapshot = snapshotOfTwoInstances(clock);
            try (SteppedLocalEngine engine = stepped(seed, clock)) {
                WritableRelation stream = engine.relations().addStream("s", EVENTS);
                engine.start("w", WINDOWS, QueryOptions.view().withRestore(snapshot));
                clock.advance(beforeItRunsMicros);
                engine.runUntilIdle();
                clock.advance(IDLE_MICROS + 1);
                engine.runUntilIdle();
                stream.append(batch(engine, EVENTS, Row.of(1_010, 0), Row.of(2_000, 0)));
                engine.runUntilIdle();
                assertEquals(zset(Row.of(1L, 1_000L, 1_100L)), view(engine, "w"), "seed " + seed);
            }
        }
    }
}
