package dev.millrace.benchmarks.suite;

import dev.millrace.time.Clock;
import java.util.concurrent.atomic.AtomicLong;

/** Processing time that only moves when it is told to, so that what it decides can be foreseen; timers run. Safe on any thread. */
final class StandingClock implements Clock {
    private final AtomicLong micros = new AtomicLong(1_700_000_000_000_000L);

    @Override
    public long epochMicros() {
        return micros.get();
    }

    @Override
    public long nanoTime() {
        return System.nanoTime();
    }

    void advanceSeconds(long seconds) {
        micros.addAndGet(seconds * 1_000_000);
    }
}
