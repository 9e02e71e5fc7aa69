package dev.millrace.expressions.function.time;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.text.CivilDays;
import dev.millrace.text.TimeRange;

/**
 * Dates as days and timestamps as microseconds since 1970-01-01, both without zone; times as microseconds of a day. What is infinite ({@link TimeRange}) stays so
 * whatever is added to it, and is at no distance from anything.
 */
public final class Timestamps {
    static final long DAY_MICROS = Intervals.DAY_MICROS;

    private static final long FIRST_DAY = CivilDays.of(-4712, 1, 1); // 4713 BC
    private static final long LAST_DAY = CivilDays.of(5874897, 12, 31);
    private static final long FIRST_MICROS = FIRST_DAY * DAY_MICROS;
    private static final long END_MICROS = CivilDays.of(292278, 1, 1) * DAY_MICROS; // what 64 bits hold

    private Timestamps() {}

    static MillraceException outOfRange(String type) {
        return MillraceException.user(SqlState.DATETIME_FIELD_OVERFLOW, type + " out of range");
    }

    static int year(long packedDate) {
        return (int) (packedDate >> 9);
    }

    static int month(long packedDate) {
        return (int) (packedDate >> 5) & 15;
    }

    static int day(long packedDate) {
        return (int) packedDate & 31;
    }

    private static int checkedDay(long day) {
        if (day < FIRST_DAY || day > LAST_DAY) {
            throw outOfRange("date");
        }
        return (int) day;
    }

    static long checked(long micros) {
        if (micros < FIRST_MICROS || micros >= END_MICROS) {
            throw outOfRange("timestamp");
        }
        return micros;
    }

    public static int addDays(int day, int days) {
        return TimeRange.isDay(day) ? checkedDay((long) day + days) : day;
    }

    public static int subtractDays(int day, int days) {
        return TimeRange.isDay(day) ? checkedDay((long) day - days) : day;
    }

    /** How many days one date is after another. */
    public static int daysBetween(int later, int earlier) {
        if (!TimeRange.isDay(later) || !TimeRange.isDay(earlier)) {
            throw MillraceException.user(SqlState.DATETIME_FIELD_OVERFLOW, "cannot subtract infinite dates");
        }
        return later - earlier;
    }

    public static long ofDate(int day) {
        if (!TimeRange.isDay(day)) {
            return day > 0 ? Long.MAX_VALUE : Long.MIN_VALUE;
        }
        if (day >= END_MICROS / DAY_MICROS) {
            throw MillraceException.user(SqlState.DATETIME_FIELD_OVERFLOW, "date out of range for timestamp");
        }
        return day * DAY_MICROS;
    }

    public static long atTime(int day, long time) {
        return TimeRange.isDay(day) ? checked(ofDate(day) + time) : ofDate(day);
    }

    /** The time of day of a timestamp. */
    public static long timeOfDay(long timestamp) {
        if (!TimeRange.isFinite(timestamp)) {
            throw MillraceException.user(SqlState.DATETIME_FIELD_OVERFLOW, "an infinite timestamp has no time of day")
                    .withHint("isfinite(..) tells whether it has");
        }
        return Math.floorMod(timestamp, DAY_MICROS);
    }

    public static long addToTime(long time, int months, int days, long micros) {
        return Math.floorMod(time + micros % DAY_MICROS, DAY_MICROS);
    }

    public static long subtractFromTime(long time, int months, int days, long micros) {
        return Math.floorMod(time - micros % DAY_MICROS, DAY_MICROS);
    }

    /** Months first, to the same day or the month's last, then days, then time. */
    public static long add(long timestamp, int months, int days, long micros) {
        if (!TimeRange.isFinite(timestamp)) {
            return timestamp;
        }
        long result = timestamp;
        if (months != 0) {
            result = addMonths(result, months);
        }
        try {
            return checked(Math.addExact(Math.addExact(result, Math.multiplyExact((long) days, DAY_MICROS)), micros));
        } catch (ArithmeticException e) {
            throw outOfRange("timestamp");
        }
    }

    public static long subtract(long timestamp, int months, int days, long micros) {
        if (months == Integer.MIN_VALUE || days == Integer.MIN_VALUE || micros == Long.MIN_VALUE) {
            throw Intervals.outOfRange();
        }
        return add(timestamp, -months, -days, -micros);
    }

    private static long addMonths(long timestamp, int months) {
        long day = Math.floorDiv(timestamp, DAY_MICROS);
        long date = CivilDays.packed(day);
        long month = year(date) * 12L + month(date) - 1 + months;
        int newYear = (int) Math.floorDiv(month, 12L);
        int newMonth = (int) Math.floorMod(month, 12L) + 1;
        int newDay = Math.min(day(date), CivilDays.lengthOfMonth(newYear, newMonth));
        if (newYear > 292_277 || newYear < -4712) {
            throw outOfRange("timestamp");
        }
        return CivilDays.of(newYear, newMonth, newDay) * DAY_MICROS + (timestamp - day * DAY_MICROS);
    }

    /** Whole days, and the rest of the same sign. */
    public static void difference(long a, long b, Interval out) {
        if (!TimeRange.isFinite(a) || !TimeRange.isFinite(b)) {
            throw MillraceException.user(SqlState.DATETIME_FIELD_OVERFLOW, "cannot subtract infinite timestamps");
        }
        long micros;
        try {
            micros = Math.subtractExact(a, b);
        } catch (ArithmeticException e) {
            throw Intervals.outOfRange();
        }
        long days = micros / DAY_MICROS;
        out.set(0, (int) days, micros - days * DAY_MICROS);
    }

    /** The difference in years, months and days of the calendar, as people say their age. */
    public static void age(long a, long b, Interval out) {
        requireFinite(a);
        requireFinite(b);
        boolean negative = a < b;
        long later = negative ? b : a;
        long earlier = negative ? a : b;
        long laterDay = Math.floorDiv(later, DAY_MICROS);
        long earlierDay = Math.floorDiv(earlier, DAY_MICROS);
        long laterDate = CivilDays.packed(laterDay);
        long earlierDate = CivilDays.packed(earlierDay);
        long micros = later - laterDay * DAY_MICROS - (earlier - earlierDay * DAY_MICROS);
        int days = day(laterDate) - day(earlierDate);
        int months = (year(laterDate) - year(earlierDate)) * 12 + month(laterDate) - month(earlierDate);
        if (micros < 0) {
            micros += DAY_MICROS;
            days--;
        }
        if (days < 0) {
            days += CivilDays.lengthOfMonth(year(earlierDate), month(earlierDate));
            months--;
        }
        if (negative) {
            out.set(-months, -days, -micros);
        } else {
            out.set(months, days, micros);
        }
    }

    /** The start of the stride, counted from an origin, in which a timestamp lies. */
    public static long bin(int months, int days, long micros, long timestamp, long origin) {
        if (!TimeRange.isFinite(timestamp)) {
            return timestamp;
        }
        if (!TimeRange.isFinite(origin)) {
            throw MillraceException.user(SqlState.DATETIME_FIELD_OVERFLOW, "origin out of range");
        }
        if (months != 0) {
            throw MillraceException.user(
                    SqlState.FEATURE_NOT_SUPPORTED,
                    "timestamps cannot be binned into intervals containing months or years");
        }
        long stride;
        try {
            stride = Math.addExact(Math.multiplyExact((long) days, DAY_MICROS), micros);
            if (stride <= 0) {
                throw MillraceException.user(SqlState.DATETIME_FIELD_OVERFLOW, "stride must be greater than zero");
            }
            long distance = Math.subtractExact(timestamp, origin);
            return checked(Math.addExact(origin, Math.multiplyExact(Math.floorDiv(distance, stride), stride)));
        } catch (ArithmeticException e) {
            throw outOfRange("timestamp");
        }
    }

    public static long ofEpochSeconds(double seconds) {
        if (Double.isInfinite(seconds)) {
            return seconds > 0 ? Long.MAX_VALUE : Long.MIN_VALUE;
        }
        double micros = Math.rint(seconds * 1_000_000);
        if (Double.isNaN(seconds)) {
            throw MillraceException.user(SqlState.DATETIME_FIELD_OVERFLOW, "timestamp cannot be NaN");
        }
        if (Math.abs(micros) >= 0x1p63) {
            throw MillraceException.user(
                    SqlState.DATETIME_FIELD_OVERFLOW, "timestamp out of range: \"" + seconds + "\"");
        }
        return checked((long) micros);
    }

    /** The whole months from one time to another; the last day of a month counts for the later days of longer ones. */
    public static long wholeMonths(long from, long to) {
        requireFinite(from);
        requireFinite(to);
        if (from > to) {
            return -wholeMonths(to, from);
        }
        long first = CivilDays.packed(Math.floorDiv(from, DAY_MICROS));
        long last = CivilDays.packed(Math.floorDiv(to, DAY_MICROS));
        long months = (year(last) - year(first)) * 12L + month(last) - month(first);
        boolean ends = day(last) == CivilDays.lengthOfMonth(year(last), month(last));
        int firstDay = ends ? Math.min(day(first), day(last)) : day(first);
        boolean whole = firstDay < day(last)
                || firstDay == day(last) && Math.floorMod(from, DAY_MICROS) <= Math.floorMod(to, DAY_MICROS);
        return whole ? months : months - 1;
    }

    private static void requireFinite(long micros) {
        if (!TimeRange.isFinite(micros)) {
            throw outOfRange("timestamp");
        }
    }

    public static boolean isFinite(long timestamp) {
        return TimeRange.isFinite(timestamp);
    }

    public static boolean isFiniteDate(int day) {
        return TimeRange.isDay(day);
    }

    public static long toEpochMillis(long micros) {
        requireFinite(micros);
        return Math.floorDiv(micros, 1000L);
    }

    public static long ofEpochMillis(long millis) {
        return Math.abs(millis) > END_MICROS / 1000 ? checked(END_MICROS) : checked(millis * 1000);
    }

    public static int makeDate(int year, int month, int day) {
        int astronomical = year < 0 ? year + 1 : year;
        if (year == 0 || year > 5_874_897 || year < -4713 || !CivilDays.isValid(astronomical, month, day)) {
            throw MillraceException.user(
                    SqlState.DATETIME_FIELD_OVERFLOW,
                    "date field value out of range: " + year + "-" + twoDigits(month) + "-" + twoDigits(day));
        }
        return checkedDay(CivilDays.of(astronomical, month, day));
    }

    public static long makeTime(int hour, int minute, double second) {
        boolean valid = hour >= 0
                && minute >= 0
                && minute <= 59
                && second >= 0
                && second <= 60
                && (hour < 24 || (hour == 24 && minute == 0 && second == 0));
        if (!valid) {
            throw MillraceException.user(
                    SqlState.DATETIME_FIELD_OVERFLOW,
                    "time field value out of range: " + hour + ":" + twoDigits(minute) + ":" + second);
        }
        return hour * Intervals.HOUR_MICROS + minute * 60_000_000L + (long) Math.rint(second * 1_000_000);
    }

    public static long makeTimestamp(int year, int month, int day, int hour, int minute, double second) {
        return atTime(makeDate(year, month, day), makeTime(hour, minute, second));
    }

    private static String twoDigits(int number) {
        return (number >= 0 && number < 10 ? "0" : "") + number;
    }

    /** Rounded to so many digits of a second, a half away from zero: what TIMESTAMP(p) and TIME(p) keep. */
    public static long rounded(long micros, int digits) {
        if (digits >= 6 || digits < 0 || !TimeRange.isFinite(micros)) {
            return micros;
        }
        long unit = 1;
        for (int i = digits; i < 6; i++) {
            unit *= 10;
        }
        long down = micros / unit * unit; // towards zero
        long rest = Math.abs(micros - down);
        return rest >= unit - rest ? down + Long.signum(micros) * unit : down;
    }
}
