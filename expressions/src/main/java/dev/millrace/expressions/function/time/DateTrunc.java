package dev.millrace.expressions.function.time;

import dev.millrace.expressions.function.Pattern;
import dev.millrace.text.CivilDays;
import dev.millrace.text.TimeRange;

/** DATE_TRUNC to one field. Remembers the last period, since rows come roughly in the order of time. */
public final class DateTrunc {
    private final Pattern name = new Pattern();
    private DateField field = DateField.DAY;
    private long from; // the last period: from inclusive, to exclusive
    private long to;

    public void prepare(long address, int length) {
        if (name.changed(address, length)) {
            name.forget();
            field = DateField.of(name.text(), "timestamp without time zone");
            name.remember();
            from = 0;
            to = 0;
        }
    }

    public long timestamp(long micros) {
        if (micros >= from && micros < to) {
            return from;
        }
        if (!TimeRange.isFinite(micros)) {
            return micros;
        }
        return switch (field) {
            case MICROSECONDS -> micros;
            case MILLISECONDS -> period(Math.floorDiv(micros, 1000L) * 1000, 1000);
            case SECOND -> period(Math.floorDiv(micros, 1_000_000L) * 1_000_000, 1_000_000);
            case MINUTE -> period(Math.floorDiv(micros, 60_000_000L) * 60_000_000, 60_000_000);
            case HOUR ->
                period(Math.floorDiv(micros, Intervals.HOUR_MICROS) * Intervals.HOUR_MICROS, Intervals.HOUR_MICROS);
            case DAY ->
                period(Math.floorDiv(micros, Intervals.DAY_MICROS) * Intervals.DAY_MICROS, Intervals.DAY_MICROS);
            default -> {
                // Periods of several days: the day that begins them. The period remembered is this day alone.
                long day = Math.floorDiv(micros, Intervals.DAY_MICROS);
                yield firstDay(day) * Intervals.DAY_MICROS;
            }
        };
    }

    private long period(long start, long length) {
        from = start;
        to = start + length;
        return start;
    }

    private long firstDay(long day) {
        if (field == DateField.WEEK) {
            return day - CivilFields.dayOfWeek(day);
        }
        long date = CivilDays.packed(day);
        int year = Timestamps.year(date);
        int month = Timestamps.month(date);
        return switch (field) {
            case MONTH -> day - Timestamps.day(date) + 1;
            case QUARTER -> CivilDays.of(year, 3 * CivilFields.quarter(month) - 2, 1);
            case YEAR -> CivilDays.of(year, 1, 1);
            case DECADE -> CivilDays.of(CivilFields.decade(year) * 10, 1, 1);
            case CENTURY -> {
                int century = CivilFields.century(year);
                yield CivilDays.of(century > 0 ? century * 100 - 99 : century * 100 + 1, 1, 1);
            }
            case MILLENNIUM -> {
                int millennium = CivilFields.millennium(year);
                yield CivilDays.of(millennium > 0 ? millennium * 1000 - 999 : millennium * 1000 + 1, 1, 1);
            }
            default -> throw field.notSupportedFor("timestamp without time zone");
        };
    }

    public void interval(int months, int days, long micros, Interval out) {
        switch (field) {
            case MICROSECONDS -> out.set(months, days, micros);
            case MILLISECONDS -> out.set(months, days, micros / 1000 * 1000);
            case SECOND -> out.set(months, days, micros / 1_000_000 * 1_000_000);
            case MINUTE -> out.set(months, days, micros / 60_000_000 * 60_000_000);
            case HOUR -> out.set(months, days, micros / Intervals.HOUR_MICROS * Intervals.HOUR_MICROS);
            case DAY -> out.set(months, days, 0);
            case MONTH -> out.set(months, 0, 0);
            case QUARTER -> out.set(months / 3 * 3, 0, 0);
            case YEAR -> out.set(months / 12 * 12, 0, 0);
            case DECADE -> out.set(months / 120 * 120, 0, 0);
            case CENTURY -> out.set(months / 1200 * 1200, 0, 0);
            case MILLENNIUM -> out.set(months / 12_000 * 12_000, 0, 0);
            default -> throw field.notSupportedFor("interval");
        }
    }
}
