package dev.millrace.storage.log;

import dev.millrace.time.Clock;

/** Goes on when the test says so. */
final class StandingClock implements Clock {
    private long nanos;

    void advanceMillis(long millis) {
        nanos += millis * 1_000_000;
    }

    @Override
    public long epochMicros() {
        return nanos / 1000;
    }

    @Override
    public long nanoTime() {
        return nanos;
    }
}
