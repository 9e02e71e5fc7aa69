package dev.millrace.storage.retention;

import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;

/**
 * How old rows may be, by the calendar in UTC: a month before the 31st of March is the last day of February.
 *
 * @param months of the calendar, which come first; 12 for a year
 * @param micros beside them, of which a day has 24 hours
 */
public record RetentionAge(int months, long micros) {
    /** Of more than any time that there is a number for. */
    private static final int MOST_MONTHS = 12 * 250_000;

    private static final long MICROS_OF_MONTH = 30L * 24 * 3600 * 1_000_000; // as PostgreSQL counts where it must

    public RetentionAge {
        if (months < 0 || micros < 0 || months == 0 && micros == 0 || months > MOST_MONTHS) {
            throw new IllegalArgumentException("an age is of more than nothing, and has an end");
        }
    }

    /** The time so long before another one, both in microseconds since 1970 UTC; the smallest number for one that there is none for. */
    long before(long nowMicros) {
        long then = nowMicros;
        if (months > 0) {
            OffsetDateTime now =
                    Instant.EPOCH.plus(nowMicros, ChronoUnit.MICROS).atOffset(ZoneOffset.UTC);
            then = ChronoUnit.MICROS.between(
                    Instant.EPOCH, now.minusMonths(months).toInstant());
        }
        long before = then - micros;
        return before <= then ? before : Long.MIN_VALUE;
    }

    /** About how long that is, in microseconds. */
    long aboutMicros() {
        long ofMonths = months * MICROS_OF_MONTH;
        return ofMonths > Long.MAX_VALUE - micros ? Long.MAX_VALUE : ofMonths + micros;
    }
}
