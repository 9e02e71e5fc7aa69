package dev.millrace.text;

import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.zone.ZoneOffsetTransition;
import java.time.zone.ZoneRules;

/**
 * The days or months of a calendar, one after the other, by number: in a time zone a day has 23 to 25 hours where clocks are set. Each begins at the first instant
 * at which clocks show its beginning or, where they never do, something later. Instants are in microseconds since 1970-01-01 00:00 of UTC. Remembers the last unit,
 * so that nothing is computed for instants of the same one. Not thread-safe.
 */
public final class CalendarUnits {
    /** What is counted. */
    public enum Unit {
        /** From Monday, 1970-01-05, which is 0. */
        DAY,
        /** From January of the year 0. */
        MONTH
    }

    private static final long MONDAY = 4; // 1970-01-05, in days

    /** Near the ends of what 64 bits hold in microseconds, and beyond those of all timestamps; units behind it begin a little later, all at once. */
    private static final long LAST_DAY = 106_750_000;

    private static final long LAST_START_DAY = LAST_DAY + 900;

    private final Unit unit;
    private final long laterMicros;
    private final ZoneRules rules;
    private long number; // of the last, which the instants from inclusive to exclusive are of
    private long from;
    private long to;

    /**
     * Units that begin later by what clocks show, such as days from six o'clock on.
     *
     * @param laterMicros from 0 to less than a day, of months to less than 28 days
     */
    public CalendarUnits(Unit unit, long laterMicros, ZoneId zone) {
        this.unit = unit;
        this.laterMicros = laterMicros;
        this.rules = zone.getRules();
    }

    /** The number of the unit that an instant is in. */
    public long at(long micros) {
        if (micros < from || micros >= to) {
            long last = LAST_DAY * CivilDays.MICROS_PER_DAY;
            find(Math.max(-last, Math.min(last, micros)));
        }
        return number;
    }

    private void find(long micros) {
        number = numberOf(micros + offset(Instant.ofEpochSecond(Math.floorDiv(micros, 1_000_000))) - laterMicros);
        while (start(number) > micros) {
            number--; // clocks were set back over its beginning
        }
        while (start(number + 1) <= micros) {
            number++;
        }
        from = start(number);
        to = start(number + 1);
    }

    private long numberOf(long local) {
        long day = Math.floorDiv(local, CivilDays.MICROS_PER_DAY);
        if (unit == Unit.DAY) {
            return day - MONDAY;
        }
        long packed = CivilDays.packed(day);
        return (packed >> 9) * 12 + (packed >> 5 & 15) - 1;
    }

    /** The instant at which a unit begins. */
    public long start(long ofNumber) {
        long day = unit == Unit.DAY
                ? ofNumber + MONDAY
                : CivilDays.of((int) Math.floorDiv(ofNumber, 12L), (int) Math.floorMod(ofNumber, 12L) + 1, 1);
        long near = Math.max(-LAST_START_DAY, Math.min(LAST_START_DAY, day));
        return firstShown(near * CivilDays.MICROS_PER_DAY + laterMicros);
    }

    private long firstShown(long local) {
        if (rules.isFixedOffset()) {
            return local - offset(Instant.EPOCH);
        }
        LocalDateTime time = LocalDateTime.ofEpochSecond(
                Math.floorDiv(local, 1_000_000L), Math.floorMod(local, 1_000_000) * 1000, ZoneOffset.UTC);
        ZoneOffsetTransition transition = rules.getTransition(time);
        if (transition == null) {
            return local - rules.getOffset(time).getTotalSeconds() * 1_000_000L;
        }
        return transition.isGap()
                ? transition.toEpochSecond() * 1_000_000
                : local - transition.getOffsetBefore().getTotalSeconds() * 1_000_000L;
    }

    private long offset(Instant instant) {
        return rules.getOffset(instant).getTotalSeconds() * 1_000_000L;
    }

    /** The length of the longest unit there may be. */
    public long longestMicros() {
        return (unit == Unit.DAY ? 2 : 32) * CivilDays.MICROS_PER_DAY;
    }
}
