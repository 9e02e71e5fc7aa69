package dev.millrace.text;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.zone.ZoneOffsetTransition;
import java.time.zone.ZoneRules;

/**
 * What clocks of a time zone show, in microseconds since 1970-01-01 00:00. Remembers the offset and between which instants it holds, so that the zone's rules are
 * asked only around its transitions. Not thread-safe.
 */
public final class ZoneClock {
    private static final long MILLION = 1_000_000;
    private static final long SAFETY_MICROS = 2 * CivilDays.MICROS_PER_DAY; // more than any two offsets differ by

    private final ZoneRules rules;
    private long from; // UTC, inclusive
    private long to; // UTC, exclusive
    private long offsetMicros;

    public ZoneClock(ZoneId zone) {
        this.rules = zone.getRules();
    }

    /** Microseconds east of UTC at an instant. */
    public long offset(long utc) {
        if (utc < from || utc >= to) {
            lookUp(utc);
        }
        return offsetMicros;
    }

    /**
     * The local time of an instant.
     *
     * @throws MillraceException 22008 if there is none: it is at the end of all times
     */
    public long fromUtc(long utc) {
        return sum(utc, offset(utc));
    }

    /** Whether there is one. */
    public boolean shows(long utc) {
        long offset = offset(utc);
        return ((utc ^ utc + offset) & (offset ^ utc + offset)) >= 0;
    }

    private static long sum(long micros, long distance) {
        long sum = micros + distance;
        if (((micros ^ sum) & (distance ^ sum)) < 0) {
            throw MillraceException.user(SqlState.DATETIME_FIELD_OVERFLOW, "timestamp out of range");
        }
        return sum;
    }

    /**
     * The instant of a local time. Where clocks are set forward the offset before counts, where they are set back the
     * one after: PostgreSQL's choice.
     *
     * @throws MillraceException 22008 as {@link #fromUtc}
     */
    public long toUtc(long local) {
        long utc = sum(local, -offsetMicros);
        if (utc >= from + SAFETY_MICROS && utc < to - SAFETY_MICROS) {
            return utc;
        }
        LocalDateTime time = LocalDateTime.ofEpochSecond(
                Math.floorDiv(local, MILLION), (int) Math.floorMod(local, MILLION) * 1000, ZoneOffset.UTC);
        ZoneOffsetTransition transition = rules.getTransition(time);
        ZoneOffset offset = transition == null
                ? rules.getOffset(time)
                : transition.isGap() ? transition.getOffsetBefore() : transition.getOffsetAfter();
        long result = sum(local, -offset.getTotalSeconds() * MILLION);
        lookUp(result);
        return result;
    }

    private void lookUp(long utc) {
        Instant instant = Instant.ofEpochSecond(Math.floorDiv(utc, MILLION), Math.floorMod(utc, MILLION) * 1000);
        offsetMicros = rules.getOffset(instant).getTotalSeconds() * MILLION;
        ZoneOffsetTransition before = rules.isFixedOffset() ? null : rules.previousTransition(instant.plusNanos(1));
        ZoneOffsetTransition after = rules.isFixedOffset() ? null : rules.nextTransition(instant);
        // Half of the range stands for eternity, so that the safety margin does not overflow.
        from = before == null ? Long.MIN_VALUE / 2 : before.toEpochSecond() * MILLION;
        to = after == null ? Long.MAX_VALUE / 2 : after.toEpochSecond() * MILLION;
    }
}
