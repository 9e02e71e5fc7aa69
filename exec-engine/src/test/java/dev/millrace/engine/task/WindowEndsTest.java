package dev.millrace.engine.task;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.plan.node.WindowSpec;
import org.junit.jupiter.api.Test;

/** What a query's watermarks say of its windows' ends. */
final class WindowEndsTest {
    private static final long SECOND = 1_000_000;

    private static WindowEnds of(WindowSpec window) {
        return WindowEnds.of(window).orElseThrow();
    }

    @Test
    void eachEndOfAWindowIsSeenOnceWithTheTimeItTook() {
        WindowEnds ends = of(new WindowSpec.Tumble(10 * SECOND));
        ends.reached(95 * SECOND, 1_000 * SECOND, 0); // which windows this completes nobody knows
        assertFalse(ends.estimates().isKnown());
        ends.reached(99 * SECOND, 1_002 * SECOND, 2_000 * SECOND);
        assertFalse(ends.estimates().isKnown());
        ends.reached(103 * SECOND, 1_005 * SECOND, 5_000 * SECOND); // of 100 s, which was 905 s ago
        assertTrue(ends.estimates().isKnown());
        assertEquals(
                (1_005 - 905 - 1_000 + 10) * 1_000 * SECOND, ends.estimates().deadlineNanos());
        assertEquals(15_000 * SECOND, ends.estimates().expectedNanos(), 1); // ten seconds later
        ends.reached(104 * SECOND, 1_006 * SECOND, 6_000 * SECOND);
        assertEquals(15_000 * SECOND, ends.estimates().expectedNanos(), 1);
        ends.reached(131 * SECOND, 1_035 * SECOND, 35_000 * SECOND); // several at once: the last counts
        assertEquals(45_000 * SECOND, ends.estimates().expectedNanos(), 1);
    }

    @Test
    void windowsEndWhereTheirSlideAndOffsetSay() {
        assertEquals(7 * SECOND, firstEnd(new WindowSpec.Tumble(5 * SECOND, 2 * SECOND)));
        assertEquals(5 * SECOND, firstEnd(new WindowSpec.Hop(3 * SECOND, 5 * SECOND)));
        assertEquals(6 * SECOND, firstEnd(new WindowSpec.Cumulate(2 * SECOND, 10 * SECOND)));
        assertTrue(WindowEnds.of(new WindowSpec.Session(SECOND)).isEmpty());
        assertTrue(WindowEnds.of(WindowSpec.INSTANT).isEmpty());
    }

    /** The first end that is seen after four seconds, where time on the clock is event time. */
    private static long firstEnd(WindowSpec window) {
        WindowEnds ends = of(window);
        ends.reached(4 * SECOND, 4 * SECOND, 4_000 * SECOND);
        for (long tenth = 41; ; tenth++) {
            long micros = tenth * SECOND / 10;
            ends.reached(micros, micros, 1_000 * micros);
            if (ends.estimates().isKnown()) {
                return micros;
            }
        }
    }

    @Test
    void timesOfAnyCenturyAreTaken() {
        WindowEnds ends = of(new WindowSpec.Tumble(Long.MAX_VALUE / 2));
        ends.reached(Long.MIN_VALUE / 2, 0, 0);
        ends.reached(Long.MAX_VALUE - 1, 0, 0);
        assertTrue(ends.estimates().isKnown());
        assertTrue(Double.isFinite(ends.estimates().slackNanos(0, 0)));
    }
}
