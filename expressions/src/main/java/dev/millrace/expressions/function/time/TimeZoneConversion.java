package dev.millrace.expressions.function.time;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.expressions.function.Pattern;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.zone.ZoneOffsetTransition;
import java.time.zone.ZoneRules;
import java.util.Locale;

/**
 * AT TIME ZONE. Remembers the offset and between which instants it holds, so that the zone's rules are asked only around
 * its transitions.
 */
public final class TimeZoneConversion {
    private static final long MILLION = 1_000_000;
    private static final long SAFETY_MICROS = 2 * Intervals.DAY_MICROS; // more than any two offsets differ by

    private final Pattern name = new Pattern();
    private ZoneRules rules = ZoneOffset.UTC.getRules();
    private long from; // UTC, inclusive
    private long to; // UTC, exclusive
    private long offsetMicros;

    public void prepare(long address, int length) {
        if (name.changed(address, length)) {
            name.forget();
            rules = zone(name.text()).getRules();
            name.remember();
            from = 0;
            to = 0;
        }
    }

    private static ZoneId zone(String text) {
        try {
            if (text.matches("[+-]?\\d{1,2}(:\\d{2})?")) {
                // As POSIX has it, and with it PostgreSQL: positive is west of Greenwich.
                String[] parts = text.replaceAll("[+-]", "").split(":");
                int minutes = Integer.parseInt(parts[0]) * 60 + (parts.length > 1 ? Integer.parseInt(parts[1]) : 0);
                return ZoneOffset.ofTotalSeconds((text.startsWith("-") ? 60 : -60) * minutes);
            }
            for (String known : ZoneId.getAvailableZoneIds()) {
                if (known.equalsIgnoreCase(text)) {
                    return ZoneId.of(known);
                }
            }
            if (text.matches("[A-Za-z]{3,}[+-]\\d{1,2}(:\\d{2})?")) {
                return zone(text.replaceAll("^[A-Za-z]+", "")); // a name of one's own and how far west it is
            }
            if (text.equalsIgnoreCase("z")) {
                return ZoneOffset.UTC;
            }
            return ZoneId.of(text.toUpperCase(Locale.ROOT), ZoneId.SHORT_IDS);
        } catch (DateTimeException e) {
            throw MillraceException.user(SqlState.INVALID_PARAMETER_VALUE, "time zone \"" + text + "\" not recognized");
        }
    }

    /** The local time of an instant. */
    public long fromUtc(long utc) {
        if (utc < from || utc >= to) {
            lookUp(utc);
        }
        return utc + offsetMicros;
    }

    /**
     * The instant of a local time. Where clocks are set forward the offset before counts, where they are set back the
     * one after: PostgreSQL's choice.
     */
    public long toUtc(long local) {
        long utc = local - offsetMicros;
        if (utc >= from + SAFETY_MICROS && utc < to - SAFETY_MICROS) {
            return utc;
        }
        LocalDateTime time = LocalDateTime.ofEpochSecond(
                Math.floorDiv(local, MILLION), (int) Math.floorMod(local, MILLION) * 1000, ZoneOffset.UTC);
        ZoneOffsetTransition transition = rules.getTransition(time);
        ZoneOffset offset = transition == null
                ? rules.getOffset(time)
                : transition.isGap() ? transition.getOffsetBefore() : transition.getOffsetAfter();
        long result = local - offset.getTotalSeconds() * MILLION;
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
