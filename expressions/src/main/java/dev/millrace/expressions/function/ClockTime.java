package dev.millrace.expressions.function;

import java.time.Instant;
import java.time.temporal.ChronoUnit;

/** The time at which generated code asks for it. */
public final class ClockTime {
    private ClockTime() {}

    /** Microseconds since 1970, by the machine's clock; not before {@code now()}, whatever is done to that clock. */
    public static long micros(long nowMicros) {
        return Math.max(nowMicros, ChronoUnit.MICROS.between(Instant.EPOCH, Instant.now()));
    }
}
