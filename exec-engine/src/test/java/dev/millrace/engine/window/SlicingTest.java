package dev.millrace.engine.window;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.plan.node.WindowSpec;
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
                long start = end - slicing.sliceMicros();
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
        assertEquals(0, given.sliceMicros());
        assertEquals(7, given.lastWindowEnd(7));
        assertEquals(7, given.firstWindowEnd(7, 6));
        assertEquals(Slicing.NONE, given.firstWindowEnd(7, 7));
        assertFalse(given.grows(7));
        assertThrows(UnsupportedOperationException.class, () -> given.windowStart(7));
    }

    @Test
    void sessionsHaveNoSlices() {
        assertThrows(IllegalArgumentException.class, () -> Slicing.of(new WindowSpec.Session(5)));
    }
}
