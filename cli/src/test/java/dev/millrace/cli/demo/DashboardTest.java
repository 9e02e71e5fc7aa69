package dev.millrace.cli.demo;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jline.utils.AttributedString;
import org.junit.jupiter.api.Test;

class DashboardTest {
    private final Vitals vitals = new Vitals();

    private static DemoFeed.Added row(Object... values) {
        List<Optional<String>> texts = new ArrayList<>();
        for (Object value : values) {
            texts.add(Optional.of(value.toString()));
        }
        return new DemoFeed.Added(1_700_000_000_001_500L, texts);
    }

    private void fill() {
        for (int i = 0; i < 500; i++) {
            vitals.sample(row("2023-11-14 22:13:20+00", i % 100 / 100.0, 4L << 30, 16L << 30, 1.5, 0));
            vitals.second(row("2023-11-14 22:13:20+00", 0.5, 0.9, 20, 1e6, 2e6));
            vitals.tenSeconds(row("2023-11-14 22:13:20+00", 0.6, 1.0));
            vitals.alarm(row("2023-11-14 22:13:20+00", 0.93));
        }
        for (int core = 0; core < 64; core++) {
            vitals.core(row(core, 1, 0.5, 1));
        }
        vitals.soFar(row(10, 200, 0.5, 0.9, 1e9, 1e12));
    }

    private String frame(int columns, int lines) {
        List<AttributedString> frame = new Dashboard(vitals).frame(columns, lines, 12.3);
        assertEquals(lines, frame.size());
        frame.forEach(line -> assertEquals(columns, line.columnLength(), line.toString()));
        return frame.stream().map(AttributedString::toString).collect(Collectors.joining("\n"));
    }

    @Test
    void aFrameFillsTheTerminalExactly() {
        for (int[] size : new int[][] {{80, 24}, {120, 40}, {60, 20}, {81, 25}, {250, 70}, {30, 10}}) {
            frame(size[0], size[1]);
        }
        fill();
        for (int[] size : new int[][] {{80, 24}, {120, 40}, {60, 20}, {81, 25}, {250, 70}, {30, 10}}) {
            frame(size[0], size[1]);
        }
    }

    @Test
    void theAnswersAreInIt() {
        assertTrue(frame(80, 24).contains("less than 80 % over 3 s"));
        fill();
        String frame = frame(80, 24);
        assertTrue(frame.contains("now  99 %   10 s  60 %   peak 100 %"), frame);
        assertTrue(frame.contains("25 %  4.0 of 16.0 GiB"), frame);
        assertTrue(frame.contains("22:13:20   93 % over 3 s"), frame);
        assertTrue(frame.contains("1.5 ms from reading to answer"), frame);
    }

    @Test
    void theShownSqlFitsItsPanel() {
        for (DemoQueries.Step step : DemoQueries.STEPS) {
            assertTrue(step.sql().lines().count() <= 5, step.purpose());
            assertTrue(step.sql().lines().allMatch(line -> line.length() <= 76), step.purpose());
        }
    }

    @Test
    void barsGrowWithTheirValues() {
        assertEquals(
                "▁▃▅█",
                Sparkline.draw(new double[] {0, 40, 60, 100}, 100, 4, Colours.LOAD)
                        .toString());
        assertEquals(
                List.of("  ▁█", "▁▆██"),
                Sparkline.draw(new double[] {0, 40, 55, 100}, 100, 4, 2, Colours.LOAD).stream()
                        .map(AttributedString::toString)
                        .toList());
        assertEquals("██▌··", Sparkline.gauge(0.5, 5, Colours.GOOD).toString());
    }
}
