package dev.millrace.benchmarks.suite;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.millrace.benchmarks.process.ProcessClock;
import org.junit.jupiter.api.Test;

class ProgressLogTest {
    private static ProcessClock.Reading at(long seconds) {
        return new ProcessClock.Reading(seconds * 1_000_000_000L, 2 * seconds * 1_000_000_000L);
    }

    @Test
    void theFirstQuarterIsLeftOut() {
        ProgressLog progress = new ProgressLog();
        progress.sample(0, at(0));
        progress.sample(10, at(5));
        progress.sample(30, at(6));
        progress.sample(100, at(8));
        assertEquals(new ProgressLog.Steady(0.7, 2, 4), progress.steady());
    }

    @Test
    void aRunTooShortToTellCountsAsAWhole() {
        ProgressLog progress = new ProgressLog();
        progress.sample(0, at(0));
        progress.sample(100, at(1));
        assertEquals(new ProgressLog.Steady(1, 1, 2), progress.steady());
    }
}
