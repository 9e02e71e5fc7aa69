package dev.millrace.testing.time;

import dev.millrace.time.Clock;
import java.util.concurrent.atomic.AtomicLong;

/** A clock that stands still until it is moved. Safe on any thread. */
public final class TestClock implements Clock {
    private final AtomicLong micros;

    public TestClock(long epochMicros) {
        micros = new AtomicLong(epochMicros);
    }

    @Override
    public long epochMicros() {
        return micros.get();
    }

    @Override
    public long nanoTime() {
        return micros.get() * 1_000;
    }

    /** Moves on by so many microseconds, at least 0. */
    public void advance(long byMicros) {
        if (byMicros < 0) {
            throw new IllegalArgumentException("time does not go back: " + byMicros);
        }
        micros.addAndGet(byMicros);
    }
}
