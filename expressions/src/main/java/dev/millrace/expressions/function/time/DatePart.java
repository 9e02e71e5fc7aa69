package dev.millrace.expressions.function.time;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.expressions.function.Int128;
import dev.millrace.expressions.function.Pattern;
import dev.millrace.text.CivilDays;
import dev.millrace.text.TimeRange;
import java.util.Locale;

/** DATE_PART and EXTRACT of one field: the first gives DOUBLE, the second NUMERIC of a given scale. */
public final class DatePart {
    private static final String TIMESTAMP = "timestamp without time zone";
    private static final String TIME = "time without time zone";
    private static final long MILLION = 1_000_000;
    private static final long MINUTE_MICROS = 60 * MILLION;
    private static final long[] TEN_TO = {1, 10, 100, 1000, 10_000, 100_000, MILLION};
    private static final long YEAR_MICROS = 31_557_600 * MILLION; // 365.25 days

    private final Pattern name = new Pattern();
    private DateField field = DateField.EPOCH;
    private boolean fractional;

    public void prepare(long address, int length) {
        if (name.changed(address, length)) {
            name.forget();
            field = DateField.of(name.text(), TIMESTAMP);
            fractional = field == DateField.EPOCH
                    || field == DateField.SECOND
                    || field == DateField.MILLISECONDS
                    || field == DateField.JULIAN;
            name.remember();
        }
    }

    /** Whether the field of a time has a value: that of an infinite one has it where it grows with time. */
    public boolean isDefined(long micros) {
        return TimeRange.isFinite(micros) || growsWithTime();
    }

    /** The same of a date. */
    public boolean isDefined(int day) {
        return TimeRange.isDay(day) || growsWithTime();
    }

    private boolean growsWithTime() {
        return switch (field) {
            case YEAR, DECADE, CENTURY, MILLENNIUM, ISOYEAR, JULIAN, EPOCH -> true;
            default -> false;
        };
    }

    private MillraceException infinite(String value) {
        return MillraceException.user(
                        SqlState.DATETIME_FIELD_OVERFLOW,
                        "the " + field.name().toLowerCase(Locale.ROOT) + " of an infinite time is " + value)
                .withHint("isfinite(..) tells whether a time is finite");
    }

    public double ofTimestamp(long micros) {
        if (!TimeRange.isFinite(micros)) {
            if (!growsWithTime()) {
                throw infinite("NULL");
            }
            return micros > 0 ? Double.POSITIVE_INFINITY : Double.NEGATIVE_INFINITY;
        }
        return fractional ? millionths(micros) / 1e6 : whole(micros);
    }

    public double ofTimestamptz(long micros) {
        return isZone() && TimeRange.isFinite(micros) ? 0 : ofTimestamp(micros); // the session's zone is UTC
    }

    public double ofDate(int day) {
        return ofTimestamp(micros(day));
    }

    public double ofTime(long micros) {
        checkTime();
        return micros == Intervals.DAY_MICROS && field == DateField.HOUR ? 24 : ofTimestamp(micros);
    }

    /** Seconds of an interval's months and days, in years of 365.25 days. */
    private static long seconds(int months, int days) {
        return months / 12 * (YEAR_MICROS / MILLION)
                + (months % 12 * (long) Intervals.DAYS_PER_MONTH + days) * (Intervals.DAY_MICROS / MILLION);
    }

    private static boolean exceedsMicros(long seconds) {
        return Math.abs(seconds) > Long.MAX_VALUE / (2 * MILLION);
    }

    public double ofInterval(int months, int days, long micros) {
        if (field == DateField.EPOCH && exceedsMicros(seconds(months, days))) {
            return seconds(months, days) + micros / 1e6;
        }
        return fractional ? millionths(months, days, micros) / 1e6 : whole(months, days, micros);
    }

    public void extractTimestamp(long micros, int scale, Int128 out) {
        if (!TimeRange.isFinite(micros)) { // NUMERIC of declared digits has no infinity
            throw infinite(growsWithTime() ? "infinite, which date_part(..) gives" : "NULL");
        }
        set(fractional ? millionths(micros) : whole(micros), scale, out);
    }

    public void extractTimestamptz(long micros, int scale, Int128 out) {
        if (isZone() && TimeRange.isFinite(micros)) {
            set(0, scale, out);
        } else {
            extractTimestamp(micros, scale, out);
        }
    }

    /** As in PostgreSQL a date has no time of day to extract, whereas DATE_PART takes it for midnight. */
    public void extractDate(int day, int scale, Int128 out) {
        if (field.compareTo(DateField.HOUR) <= 0 || isZone()) {
            throw field.notSupportedFor("date");
        }
        extractTimestamp(micros(day), scale, out);
    }

    public void extractTime(long micros, int scale, Int128 out) {
        checkTime();
        if (micros == Intervals.DAY_MICROS && field == DateField.HOUR) {
            set(24, scale, out);
        } else {
            extractTimestamp(micros, scale, out);
        }
    }

    public void extractInterval(int months, int days, long micros, int scale, Int128 out) {
        if (field == DateField.EPOCH) {
            if (exceedsMicros(seconds(months, days)) || Math.abs(micros) > Long.MAX_VALUE / 2) {
                throw Intervals.outOfRange();
            }
        }
        set(fractional ? millionths(months, days, micros) : whole(months, days, micros), scale, out);
    }

    private static long micros(int day) {
        return TimeRange.isDay(day) ? day * Intervals.DAY_MICROS : Timestamps.ofDate(day);
    }

    private void set(long value, int scale, Int128 out) {
        long unscaled = fractional ? value / TEN_TO[6 - scale] : value * TEN_TO[scale];
        out.set(unscaled >> 63, unscaled);
    }

    private boolean isZone() {
        return field.compareTo(DateField.TIMEZONE) >= 0;
    }

    private void checkTime() {
        if (field.compareTo(DateField.HOUR) > 0 && field != DateField.EPOCH) {
            throw field.notSupportedFor(TIME);
        }
    }

    private long millionths(long micros) {
        return switch (field) {
            case EPOCH -> micros;
            case SECOND -> Math.floorMod(micros, MINUTE_MICROS);
            case MILLISECONDS -> Math.floorMod(micros, MINUTE_MICROS) * 1000;
            default -> {
                long day = Math.floorDiv(micros, Intervals.DAY_MICROS);
                long rest = micros - day * Intervals.DAY_MICROS;
                yield CivilFields.julianDay(day) * MILLION + Math.round(rest / (Intervals.DAY_MICROS / 1e6));
            }
        };
    }

    private long whole(long micros) {
        switch (field) {
            case MICROSECONDS -> {
                return Math.floorMod(micros, MINUTE_MICROS);
            }
            case MINUTE -> {
                return Math.floorMod(micros, Intervals.HOUR_MICROS) / MINUTE_MICROS;
            }
            case HOUR -> {
                return Math.floorMod(micros, Intervals.DAY_MICROS) / Intervals.HOUR_MICROS;
            }
            default -> {
                return ofDay(Math.floorDiv(micros, Intervals.DAY_MICROS));
            }
        }
    }

    private long ofDay(long day) {
        switch (field) {
            case DOW -> {
                return (CivilFields.dayOfWeek(day) + 1) % 7;
            }
            case ISODOW -> {
                return CivilFields.dayOfWeek(day) + 1L;
            }
            case DOY -> {
                return CivilFields.dayOfYear(day);
            }
            case WEEK -> {
                return CivilFields.isoWeek(day);
            }
            case ISOYEAR -> {
                return CivilFields.shownYear(CivilFields.isoYear(day));
            }
            default -> {
                return ofDate(CivilDays.packed(day));
            }
        }
    }

    private long ofDate(long date) {
        int year = Timestamps.year(date);
        return switch (field) {
            case DAY -> Timestamps.day(date);
            case MONTH -> Timestamps.month(date);
            case QUARTER -> CivilFields.quarter(Timestamps.month(date));
            case YEAR -> CivilFields.shownYear(year);
            case DECADE -> CivilFields.decade(year);
            case CENTURY -> CivilFields.century(year);
            case MILLENNIUM -> CivilFields.millennium(year);
            default -> throw field.notSupportedFor(TIMESTAMP);
        };
    }

    private long millionths(int months, int days, long micros) {
        return switch (field) {
            case EPOCH ->
                months / 12 * YEAR_MICROS
                        + (months % 12 * (long) Intervals.DAYS_PER_MONTH + days) * Intervals.DAY_MICROS
                        + micros;
            case SECOND -> micros % MINUTE_MICROS;
            case MILLISECONDS -> micros % MINUTE_MICROS * 1000;
            default -> throw field.notSupportedFor("interval");
        };
    }

    private long whole(int months, int days, long micros) {
        return switch (field) {
            case MICROSECONDS -> micros % MINUTE_MICROS;
            case MINUTE -> micros / MINUTE_MICROS % 60;
            case HOUR -> micros / Intervals.HOUR_MICROS;
            case DAY -> days;
            case MONTH -> months % 12;
            case QUARTER -> months % 12 / 3 + 1;
            case YEAR -> months / 12;
            case DECADE -> months / 120;
            case CENTURY -> months / 1200;
            case MILLENNIUM -> months / 12_000;
            default -> throw field.notSupportedFor("interval");
        };
    }
}
