package dev.millrace.engine.watermark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.operator.Operator;
import dev.millrace.plan.node.WindowSpec;
import dev.millrace.text.CalendarUnits;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** From which time on rows are in time, by what it is defined as. */
class LateBoundTest {
    private static final long HOUR = 3_600_000_000L;

    /** The end of the first window of days that holds a time. */
    private static long firstEnd(WindowSpec.Calendar days, long time) {
        CalendarUnits units = days.units();
        long number = units.at(time);
        long least = Long.MAX_VALUE;
        for (long start = number - 20; start <= number; start++) {
            if (days.counted() instanceof WindowSpec.Tumble tumble
                    && Math.floorMod(start, tumble.sizeMicros()) == 0
                    && start + tumble.sizeMicros() > number) {
                least = Math.min(least, start + tumble.sizeMicros());
            } else if (days.counted() instanceof WindowSpec.Hop hop
                    && Math.floorMod(start, hop.slideMicros()) == 0
                    && start + hop.sizeMicros() > number) {
                least = Math.min(least, start + hop.sizeMicros());
            } else if (days.counted() instanceof WindowSpec.Cumulate cumulate
                    && Math.floorMod(start, cumulate.sizeMicros()) == 0
                    && start + cumulate.sizeMicros() > number) {
                least = Math.min(
                        least,
                        start
                                + Math.floorDiv(number - start, cumulate.stepMicros()) * cumulate.stepMicros()
                                + cumulate.stepMicros());
            }
        }
        return units.start(least);
    }

    @Test
    void aRowOfTheCalendarsWindowsIsLateWhenItsFirstOneHasEnded() {
        long about = Instant.parse("2026-10-25T01:00:00Z").getEpochSecond() * 1_000_000;
        for (WindowSpec counted : List.of(
                new WindowSpec.Tumble(1),
                new WindowSpec.Tumble(7),
                new WindowSpec.Hop(1, 3),
                new WindowSpec.Hop(2, 5),
                new WindowSpec.Cumulate(1, 4))) {
            WindowSpec.Calendar days = new WindowSpec.Calendar(counted, CalendarUnits.Unit.DAY, 0, "Europe/Berlin");
            LateBound bound = LateBound.of(Optional.of(days));
            for (long watermark = about - 60 * HOUR; watermark < about + 60 * HOUR; watermark += HOUR) {
                long at = bound.at(watermark);
                for (long time = watermark - 200 * HOUR; time < watermark + 2 * HOUR; time += HOUR) {
                    assertEquals(firstEnd(days, time) <= watermark, time < at, counted + " at " + watermark);
                }
                long change = bound.nextChange(watermark);
                assertTrue(change > watermark);
                assertEquals(at, bound.at(change - 1), counted::toString);
                assertTrue(bound.at(change) > at, counted::toString);
                assertEquals(change, bound.nextTick(watermark));
            }
            assertEquals(Long.MIN_VALUE, bound.at(Operator.NO_WATERMARK));
        }
    }

    @Test
    void itIsKnownHowLongARowIsKeptAtMost() {
        WindowSpec months =
                new WindowSpec.Calendar(new WindowSpec.Tumble(12), CalendarUnits.Unit.MONTH, 0, "Europe/Berlin");
        assertTrue(LateBound.of(Optional.of(months)).lifeMicros() >= 366 * 24 * HOUR);
        WindowSpec long10000 =
                new WindowSpec.Calendar(new WindowSpec.Hop(1, 120_000), CalendarUnits.Unit.MONTH, 0, "Europe/Berlin");
        assertTrue(LateBound.of(Optional.of(long10000)).lifeMicros() > 0);
    }
}
