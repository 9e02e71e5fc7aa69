package dev.millrace.text;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.zone.ZoneOffsetTransition;
import java.time.zone.ZoneRules;
import java.util.Locale;
import java.util.Optional;
import java.util.TimeZone;

/**
 * What clocks of a time zone show, in microseconds since 1970-01-01 00:00. Remembers the offset and between which instants it holds, so that the zone's rules are
 * asked only around its transitions. Not thread-safe.
 */
public final class ZoneClock {
    private static final long MILLION = 1_000_000;
    private static final long SAFETY_MICROS = 2 * CivilDays.MICROS_PER_DAY; // more than any two offsets differ by

    private static final long BEGINNING = Long.MIN_VALUE / 2;
    private static final int MOST_LETTERS = 6; // of an abbreviation

    private final ZoneId zone;
    private final ZoneRules rules;
    private long from; // UTC, inclusive
    private long to; // UTC, exclusive
    private long offsetMicros;
    private Optional<String> name = Optional.empty(); // blank for none; empty when not asked yet
    private boolean namedSummer;

    public ZoneClock(ZoneId zone) {
        this.zone = zone;
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
     * The local time of an instant; infinite if that is.
     *
     * @throws MillraceException 22008 if there is none: it is at the end of all times
     */
    public long fromUtc(long utc) {
        return TimeRange.isFinite(utc) ? sum(utc, offset(utc)) : utc;
    }

    /** What the zone's clocks are called at an instant, such as {@code CEST}; empty where that is but a number. */
    public Optional<String> abbreviation(long utc) {
        offset(utc);
        if (from == BEGINNING && !rules.isFixedOffset()) {
            return Optional.of("LMT"); // before there were zones
        }
        boolean isSummer = rules.isDaylightSavings(Instant.ofEpochSecond(Math.floorDiv(utc, MILLION)));
        if (isSummer != namedSummer || name.isEmpty()) {
            String shown = TimeZone.getTimeZone(zone).getDisplayName(isSummer, TimeZone.SHORT, Locale.ENGLISH);
            boolean isName =
                    shown.length() <= MOST_LETTERS && shown.chars().allMatch(letter -> letter >= 'A' && letter <= 'Z');
            name = Optional.of(isName ? shown : "");
            namedSummer = isSummer;
        }
        return name.filter(known -> !known.isEmpty());
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
     * one after: PostgreSQL's choice. An infinite time is as infinite an instant.
     *
     * @throws MillraceException 22008 as {@link #fromUtc}
     */
    public long toUtc(long local) {
        if (!TimeRange.isFinite(local)) {
            return local;
        }
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
        from = before == null ? BEGINNING : before.toEpochSecond() * MILLION;
        to = after == null ? Long.MAX_VALUE / 2 : after.toEpochSecond() * MILLION;
    }
}
