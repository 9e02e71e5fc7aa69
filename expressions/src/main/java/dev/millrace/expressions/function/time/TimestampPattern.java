package dev.millrace.expressions.function.time;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.expressions.function.Pattern;
import dev.millrace.expressions.function.Text;
import dev.millrace.memory.Memory;
import dev.millrace.text.CivilDays;
import dev.millrace.text.TimeRange;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;

/**
 * TO_CHAR, TO_TIMESTAMP and TO_DATE of dates and times. Remembers for which times the last text written holds, since
 * rows come roughly in the order of time.
 */
public final class TimestampPattern {
    private final Pattern template = new Pattern();
    private List<DateTemplate.Part> parts = List.of();
    private long granularity = 1; // microseconds within which the text stays the same
    private long from;
    private long to;

    public void prepare(long address, int length) {
        if (template.changed(address, length)) {
            parts = DateTemplate.parse(template.text());
            granularity = granularity(parts);
            from = 0;
            to = 0;
        }
    }

    /** Microseconds within which what a template writes stays the same. */
    static long granularity(List<DateTemplate.Part> parts) {
        return parts.stream().mapToLong(part -> granularity(part.field())).min().orElse(Intervals.DAY_MICROS);
    }

    private static long granularity(DateTemplate.Field field) {
        return switch (field) {
            case US, FF4, FF5, FF6 -> 1;
            case MS, FF1, FF2, FF3 -> 1000;
            case SS, SECOND_OF_DAY, SECOND_OF_DAY_5 -> 1_000_000;
            case MI -> 60_000_000;
            case HH, HH12, HH24, MERIDIEM, MERIDIEM_PM, MERIDIEM_DOTS, MERIDIEM_DOTS_PM -> Intervals.HOUR_MICROS;
            default -> Intervals.DAY_MICROS;
        };
    }

    public void format(long micros, Text out) {
        format(micros, false, out);
    }

    /** The session's zone is UTC. */
    public void formatWithZone(long micros, Text out) {
        format(micros, true, out);
    }

    /** Whether a time has a text: an infinite one has none. */
    public boolean isDefined(long micros) {
        return TimeRange.isFinite(micros);
    }

    static MillraceException infinite() {
        return MillraceException.user(SqlState.DATETIME_FIELD_OVERFLOW, "to_char of an infinite timestamp is NULL")
                .withHint("NULLIF(.., 'infinity') where the timestamp itself cannot be NULL");
    }

    private void format(long micros, boolean zone, Text out) {
        if (!TimeRange.isFinite(micros)) {
            throw infinite();
        }
        if (micros >= from && micros < to) {
            return; // the result is still there: no other call writes to it
        }
        from = Math.floorDiv(micros, granularity) * granularity;
        to = from + granularity;
        long day = Math.floorDiv(micros, Intervals.DAY_MICROS);
        long date = CivilDays.packed(day);
        long time = micros - day * Intervals.DAY_MICROS;
        new DateFormatter(out.begin(), zone ? "UTC" : "", 0)
                .time(time / Intervals.HOUR_MICROS, time % Intervals.HOUR_MICROS)
                .date(day, Timestamps.year(date), Timestamps.month(date), Timestamps.day(date))
                .write(parts);
        out.written();
    }

    public void formatInterval(int months, int days, long micros, Text out) {
        new DateFormatter(out.begin(), "", 0)
                .time(micros / Intervals.HOUR_MICROS, micros % Intervals.HOUR_MICROS)
                .interval(months / 12, months % 12, days)
                .write(parts);
        out.written();
    }

    /** Microseconds of the time that a text in this form says; a zone in it counts. */
    public long parse(long address, int length) {
        byte[] bytes = new byte[length];
        Memory.copyOut(address, bytes, 0, length);
        return new DateReader(new String(bytes, StandardCharsets.UTF_8), Optional.empty()).read(parts);
    }

    /** The day that a text in this form says. */
    public int parseDate(long address, int length) {
        return (int) Math.floorDiv(parse(address, length), Intervals.DAY_MICROS);
    }
}
