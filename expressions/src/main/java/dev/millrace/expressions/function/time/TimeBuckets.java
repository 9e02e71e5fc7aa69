package dev.millrace.expressions.function.time;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.text.TimeRange;
import java.time.LocalDate;

/**
 * {@code time_bucket}: the beginning of the interval in which a time lies. Intervals of days and less are counted from
 * Monday, 2000-01-03, those of months from 2000-01-01, or from a given origin. Times are microseconds, dates days since 1970; infinite ones are their own bucket.
 */
public final class TimeBuckets {
    private static final long DAY = 86_400_000_000L;
    private static final long ORIGIN = 10_959 * DAY; // 2000-01-03
    private static final int FIRST_MONTH = 2000 * 12;

    private TimeBuckets() {}

    public static long of(int months, int days, long micros, long time) {
        return months == 0 || !TimeRange.isFinite(time)
                ? Timestamps.bin(0, days, micros, time, ORIGIN)
                : months(months, days, micros, time, FIRST_MONTH);
    }

    public static long of(int months, int days, long micros, long time, long origin) {
        return months == 0 || !TimeRange.isFinite(time) || !TimeRange.isFinite(origin)
                ? Timestamps.bin(0, days, micros, time, origin)
                : months(months, days, micros, time, month(origin));
    }

    /** Of buckets that begin so much later. */
    public static long of(int months, int days, long micros, long time, int offMonths, int offDays, long offMicros) {
        long earlier = Timestamps.subtract(time, offMonths, offDays, offMicros);
        return Timestamps.add(of(months, days, micros, earlier), offMonths, offDays, offMicros);
    }

    public static int ofDate(int months, int days, long micros, int day) {
        return TimeRange.dayOf(of(months, days, micros, Timestamps.ofDate(day)));
    }

    public static int ofDate(int months, int days, long micros, int day, int origin) {
        return TimeRange.dayOf(of(months, days, micros, Timestamps.ofDate(day), Timestamps.ofDate(origin)));
    }

    public static int ofDate(int months, int days, long micros, int day, int offMonths, int offDays, long offMicros) {
        return TimeRange.dayOf(of(months, days, micros, Timestamps.ofDate(day), offMonths, offDays, offMicros));
    }

    private static int month(long time) {
        LocalDate date = LocalDate.ofEpochDay(Math.floorDiv(time, DAY));
        return date.getYear() * 12 + date.getMonthValue() - 1;
    }

    private static long months(int months, int days, long micros, long time, int origin) {
        if (days != 0 || micros != 0 || months < 0) {
            throw MillraceException.user(
                    SqlState.INVALID_PARAMETER_VALUE,
                    "a bucket is of months, or of days and less, and greater than zero");
        }
        int first = Math.floorDiv(month(time) - origin, months) * months + origin;
        return LocalDate.of(Math.floorDiv(first, 12), Math.floorMod(first, 12) + 1, 1)
                        .toEpochDay()
                * DAY;
    }
}
