package dev.millrace.engine.window;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.plan.node.WindowSpec;
import dev.millrace.text.CalendarUnits;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Slices against windows that are enumerated one by one. */
class SlicingTest {
    private record Window(long start, long end) {
        boolean holds(long time) {
            return time >= start && time < end;
        }
    }

    private static final List<WindowSpec> WINDOWS = List.of(
            new WindowSpec.Tumble(5),
            new WindowSpec.Tumble(1),
            new WindowSpec.Tumble(7, 3),
            new WindowSpec.Hop(2, 6),
            new WindowSpec.Hop(4, 6),
            new WindowSpec.Hop(6, 4),
            new WindowSpec.Hop(5, 5),
            new WindowSpec.Hop(4, 6, 3),
            new WindowSpec.Cumulate(2, 8),
            new WindowSpec.Cumulate(3, 3),
            new WindowSpec.Cumulate(2, 6, 1));

    /** All windows about zero, in the order of their ends. */
    private static List<Window> windows(WindowSpec spec) {
        List<Window> windows = new ArrayList<>();
        for (long i = -60; i <= 60; i++) {
            if (spec instanceof WindowSpec.Tumble tumble) {
                long start = i * tumble.sizeMicros() + tumble.offsetMicros();
                windows.add(new Window(start, start + tumble.sizeMicros()));
            } else if (spec instanceof WindowSpec.Hop hop) {
                long start = i * hop.slideMicros() + hop.offsetMicros();
                windows.add(new Window(start, start + hop.sizeMicros()));
            } else if (spec instanceof WindowSpec.Cumulate cumulate) {
                long start = i * cumulate.sizeMicros() + cumulate.offsetMicros();
                for (long end = cumulate.stepMicros(); end <= cumulate.sizeMicros(); end += cumulate.stepMicros()) {
                    windows.add(new Window(start, start + end));
                }
            }
        }
        return windows;
    }

    @Test
    void aSliceLiesInEachWindowAsAWholeOrNotAtAll() {
        for (WindowSpec spec : WINDOWS) {
            Slicing slicing = Slicing.of(spec);
            for (long time = -25; time <= 25; time++) {
                long end = slicing.sliceEnd(time);
                long start = slicing.sliceStart(end);
                assertTrue(start <= time && time < end, () -> spec + " at " + start);
                for (Window window : windows(spec)) {
                    for (long other = start; other < end; other++) {
                        assertEquals(window.holds(time), window.holds(other), () -> spec + " " + window);
                    }
                }
            }
        }
    }

    @Test
    void firstAndLastWindowsOfASliceAreThoseThatHoldIt() {
        for (WindowSpec spec : WINDOWS) {
            Slicing slicing = Slicing.of(spec);
            for (long time = -25; time <= 25; time++) {
                long at = time;
                long slice = slicing.sliceEnd(time);
                List<Window> holding = windows(spec).stream()
                        .filter(window -> window.holds(at))
                        .toList();
                long last = holding.isEmpty()
                        ? Slicing.NONE
                        : holding.get(holding.size() - 1).end();
                assertEquals(last, slicing.lastWindowEnd(slice), () -> spec + " at " + at);
                for (Window window : holding) {
                    assertEquals(window.start(), slicing.windowStart(window.end()), () -> spec + " " + window);
                }
                List<Long> afters = new ArrayList<>(List.of(Long.MIN_VALUE));
                for (long after = time - 12; after <= time + 12; after++) {
                    afters.add(after);
                }
                for (long after : afters) {
                    long first = holding.stream()
                            .map(Window::end)
                            .filter(end -> end > after)
                            .findFirst()
                            .orElse(Slicing.NONE);
                    assertEquals(
                            first, slicing.firstWindowEnd(slice, after), () -> spec + " at " + at + " after " + after);
                }
            }
        }
    }

    @Test
    void onlyACumulatedWindowThatIsNotTheLastOfItsStartGrows() {
        for (WindowSpec spec : WINDOWS) {
            for (Window window : windows(spec)) {
                boolean isGrowing = spec instanceof WindowSpec.Cumulate cumulate
                        && window.end() - window.start() < cumulate.sizeMicros();
                assertEquals(isGrowing, Slicing.of(spec).grows(window.end()), () -> spec + " " + window);
            }
        }
    }

    @Test
    void windowsThatRowsCarryAreKnownByTheirEnd() {
        Slicing given = Slicing.of(new WindowSpec.Attached(0, 1));
        assertEquals(7, given.sliceEnd(7));
        assertTrue(given.areGiven());
        assertEquals(7, given.lastWindowEnd(7));
        assertEquals(7, given.firstWindowEnd(7, 6));
        assertEquals(Slicing.NONE, given.firstWindowEnd(7, 7));
        assertFalse(given.grows(7));
        assertThrows(UnsupportedOperationException.class, () -> given.windowStart(7));
    }

    /** Windows of days and months about some time, in the order of their ends. */
    private static List<Window> windows(WindowSpec.Calendar calendar, long about) {
        CalendarUnits units = calendar.units();
        long number = units.at(about);
        List<Window> windows = new ArrayList<>();
        for (long start = number - 60; start <= number + 60; start++) {
            if (calendar.counted() instanceof WindowSpec.Tumble tumble) {
                if (Math.floorMod(start - tumble.offsetMicros(), tumble.sizeMicros()) == 0) {
                    windows.add(new Window(units.start(start), units.start(start + tumble.sizeMicros())));
                }
            } else if (calendar.counted() instanceof WindowSpec.Hop hop) {
                if (Math.floorMod(start - hop.offsetMicros(), hop.slideMicros()) == 0) {
                    windows.add(new Window(units.start(start), units.start(start + hop.sizeMicros())));
                }
            } else if (calendar.counted() instanceof WindowSpec.Cumulate cumulate
                    && Math.floorMod(start - cumulate.offsetMicros(), cumulate.sizeMicros()) == 0) {
                for (long end = cumulate.stepMicros(); end <= cumulate.sizeMicros(); end += cumulate.stepMicros()) {
                    windows.add(new Window(units.start(start), units.start(start + end)));
                }
            }
        }
        windows.removeIf(window -> window.start() == window.end()); // clocks left it out
        return windows;
    }

    @Test
    void windowsOfTheCalendarAreAsTheyAreCounted() {
        long[] abouts = {
            Instant.parse("2026-03-29T01:00:00Z").getEpochSecond() * 1_000_000, // Berlin's clocks are set forward
            Instant.parse("2026-10-25T01:00:00Z").getEpochSecond() * 1_000_000, // and back
            Instant.parse("2011-12-30T10:00:00Z").getEpochSecond() * 1_000_000, // Apia has no such day
        };
        List<WindowSpec> counted = List.of(
                new WindowSpec.Tumble(1),
                new WindowSpec.Tumble(7),
                new WindowSpec.Tumble(3, 1),
                new WindowSpec.Hop(1, 3),
                new WindowSpec.Hop(2, 3, 1),
                new WindowSpec.Cumulate(1, 7));
        for (String zone : List.of("UTC", "Europe/Berlin", "Pacific/Apia")) {
            for (CalendarUnits.Unit unit : CalendarUnits.Unit.values()) {
                for (WindowSpec windows : counted) {
                    for (long about : abouts) {
                        boolean skips = zone.equals("Pacific/Apia") && !(windows instanceof WindowSpec.Tumble);
                        if (!skips) { // there two windows that overlap may end together
                            compare(new WindowSpec.Calendar(windows, unit, 0, zone), about);
                            compare(new WindowSpec.Calendar(windows, unit, 6 * 3_600_000_000L, zone), about);
                        }
                    }
                }
            }
        }
    }

    private static void compare(WindowSpec.Calendar spec, long about) {
        Slicing slicing = Slicing.of(spec);
        List<Window> all = windows(spec, about);
        long hour = 3_600_000_000L;
        for (long time = about - 60 * hour; time <= about + 60 * hour; time += hour / 2) {
            long at = time;
            long slice = slicing.sliceEnd(time);
            assertTrue(slicing.sliceStart(slice) <= time && time < slice, spec::toString);
            List<Window> holding =
                    all.stream().filter(window -> window.holds(at)).toList();
            assertFalse(holding.isEmpty());
            assertEquals(holding.get(holding.size() - 1).end(), slicing.lastWindowEnd(slice), spec::toString);
            long end = slicing.firstWindowEnd(slice, Long.MIN_VALUE);
            for (Window window : holding) {
                assertEquals(window.end(), end, spec::toString);
                assertEquals(window.start(), slicing.windowStart(end), spec::toString);
                boolean isGrowing = spec.counted() instanceof WindowSpec.Cumulate cumulate
                        && window.end() < spec.units().start(spec.units().at(window.start()) + cumulate.sizeMicros());
                assertEquals(isGrowing, slicing.grows(end), spec::toString);
                end = slicing.firstWindowEnd(slice, end);
            }
            assertEquals(Slicing.NONE, end, spec::toString);
        }
    }

    @Test
    void sessionsHaveNoSlices() {
        assertThrows(IllegalArgumentException.class, () -> Slicing.of(new WindowSpec.Session(5)));
    }
}
