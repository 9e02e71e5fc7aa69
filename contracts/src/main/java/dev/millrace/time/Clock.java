package dev.millrace.time;

import java.time.Instant;

/**
 * What time it is. Everything outside {@code main} takes one of these; the simulated clock of the tests implements it.
 * Safe on any thread.
 */
public interface Clock {
    /** Microseconds since 1970-01-01 00:00 UTC: for event and processing time. May step. */
    long epochMicros();

    /** Nanoseconds since some origin, never going back: for durations. */
    long nanoTime();

    /** The machine's clock. */
    static Clock system() {
        return SystemClock.INSTANCE;
    }

    /** A clock whose time of day stands at one moment, for a statement that has one time throughout; durations go on. */
    static Clock standingAt(long epochMicros, Clock running) {
        return new Clock() {
            @Override
            public long epochMicros() {
                return epochMicros;
            }

            @Override
            public long nanoTime() {
                return running.nanoTime();
            }
        };
    }

    /** The machine's clock; made here once so that only {@code main} need name it. */
    enum SystemClock implements Clock {
        INSTANCE;

        @Override
        public long epochMicros() {
            Instant now = Instant.now();
            return now.getEpochSecond() * 1_000_000L + now.getNano() / 1_000;
        }

        @Override
        public long nanoTime() {
            return System.nanoTime();
        }
    }
}
