package dev.millrace.expressions.function.time;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.expressions.function.number.Numbers;

/** Intervals as months, days and microseconds, which convert into each other only where PostgreSQL does it. */
public final class Intervals {
    static final long HOUR_MICROS = 3_600_000_000L;
    static final long DAY_MICROS = 24 * HOUR_MICROS;
    static final int DAYS_PER_MONTH = 30;

    private Intervals() {}

    static MillraceException outOfRange() {
        return MillraceException.user(SqlState.DATETIME_FIELD_OVERFLOW, "interval out of range");
    }

    /** All are. */
    public static boolean isFinite(int months, int days, long micros) {
        return true;
    }

    /** Compares as if a month had 30 days and a day 24 hours. */
    public static int compare(int aMonths, int aDays, long aMicros, int bMonths, int bDays, long bMicros) {
        // Days and the rest of a day apart, so that nothing overflows.
        long a = aMonths * (long) DAYS_PER_MONTH + aDays + Math.floorDiv(aMicros, DAY_MICROS);
        long b = bMonths * (long) DAYS_PER_MONTH + bDays + Math.floorDiv(bMicros, DAY_MICROS);
        return a != b
                ? Long.compare(a, b)
                : Long.compare(Math.floorMod(aMicros, DAY_MICROS), Math.floorMod(bMicros, DAY_MICROS));
    }

    public static void add(int aMonths, int aDays, long aMicros, int bMonths, int bDays, long bMicros, Interval out) {
        try {
            out.set(Math.addExact(aMonths, bMonths), Math.addExact(aDays, bDays), Math.addExact(aMicros, bMicros));
        } catch (ArithmeticException e) {
            throw outOfRange();
        }
    }

    public static void subtract(
            int aMonths, int aDays, long aMicros, int bMonths, int bDays, long bMicros, Interval out) {
        try {
            out.set(
                    Math.subtractExact(aMonths, bMonths),
                    Math.subtractExact(aDays, bDays),
                    Math.subtractExact(aMicros, bMicros));
        } catch (ArithmeticException e) {
            throw outOfRange();
        }
    }

    /** As {@code extract(epoch FROM ..)} counts: years of 365.25 days, months of 30. */
    public static long toEpochMillis(int months, int days, long micros) {
        long hours = months / 12 * 8766L + months % 12 * 720L + days * 24L;
        return Math.addExact(hours * 3_600_000L, Math.floorDiv(micros, 1000L));
    }

    public static void negate(int months, int days, long micros, Interval out) {
        subtract(0, 0, 0, months, days, micros, out);
    }

    /** Fractions of months become days, fractions of days become time. */
    public static void multiply(int months, int days, long micros, double factor, Interval out) {
        scale(months, days, micros, factor, 1, out);
    }

    /** Fractions of months become days, fractions of days become time. */
    public static void divide(int months, int days, long micros, double divisor, Interval out) {
        if (divisor == 0) {
            throw Numbers.divisionByZero();
        }
        scale(months, days, micros, 1, divisor, out);
    }

    private static void scale(int months, int days, long micros, double factor, double divisor, Interval out) {
        double scaledMonths = months * factor / divisor;
        double scaledDays = days * factor / divisor;
        int wholeMonths = toInt(scaledMonths);
        int wholeDays = toInt(scaledDays);
        double daysOfMonths = roundToMicros((scaledMonths - wholeMonths) * DAYS_PER_MONTH);
        double secondsOfDays =
                roundToMicros((scaledDays - wholeDays + daysOfMonths - (int) daysOfMonths) * (DAY_MICROS / 1_000_000));
        if (Math.abs(secondsOfDays) >= DAY_MICROS / 1_000_000) {
            int more = (int) (secondsOfDays / (DAY_MICROS / 1_000_000));
            wholeDays += more;
            secondsOfDays -= more * (double) (DAY_MICROS / 1_000_000);
        }
        double time = Math.rint(micros * factor / divisor + secondsOfDays * 1_000_000);
        if (!(Math.abs(time) < 0x1p63)) {
            throw outOfRange();
        }
        out.set(wholeMonths, toInt((double) wholeDays + (int) daysOfMonths), (long) time);
    }

    /** As PostgreSQL, which hides in this way that 0.1 months are not quite three days in binary. */
    private static double roundToMicros(double value) {
        return Math.rint(value * 1_000_000) / 1_000_000;
    }

    private static int toInt(double value) {
        if (!(Math.abs(value) <= Integer.MAX_VALUE)) {
            throw outOfRange();
        }
        return (int) value;
    }

    /** Seconds rounded to so many digits, a half away from zero: what INTERVAL(p) keeps. */
    public static void rounded(int months, int days, long micros, int digits, Interval out) {
        long rounded = Timestamps.rounded(micros, digits);
        if (Long.signum(rounded) * Long.signum(micros) < 0) { // beyond the greatest number
            throw outOfRange();
        }
        out.set(months, days, rounded);
    }

    /** Full 24 hours become days. */
    public static void justifyHours(int months, int days, long micros, Interval out) {
        long more = micros / DAY_MICROS;
        long rest = micros - more * DAY_MICROS;
        long allDays = days + more;
        if (allDays > 0 && rest < 0) {
            rest += DAY_MICROS;
            allDays--;
        } else if (allDays < 0 && rest > 0) {
            rest -= DAY_MICROS;
            allDays++;
        }
        out.set(months, toInt(allDays), rest);
    }

    /** Full 30 days become months. */
    public static void justifyDays(int months, int days, long micros, Interval out) {
        long more = days / DAYS_PER_MONTH;
        int rest = (int) (days - more * DAYS_PER_MONTH);
        long allMonths = months + more;
        if (allMonths > 0 && rest < 0) {
            rest += DAYS_PER_MONTH;
            allMonths--;
        } else if (allMonths < 0 && rest > 0) {
            rest -= DAYS_PER_MONTH;
            allMonths++;
        }
        out.set(toInt(allMonths), rest, micros);
    }

    /** Both, and all parts with one sign. */
    public static void justify(int months, int days, long micros, Interval out) {
        long wholeDays = days + micros / DAY_MICROS;
        long rest = micros % DAY_MICROS;
        long allMonths = months + wholeDays / DAYS_PER_MONTH;
        long restDays = wholeDays % DAYS_PER_MONTH;
        if (allMonths > 0 && (restDays < 0 || (restDays == 0 && rest < 0))) {
            restDays += DAYS_PER_MONTH;
            allMonths--;
        } else if (allMonths < 0 && (restDays > 0 || (restDays == 0 && rest > 0))) {
            restDays -= DAYS_PER_MONTH;
            allMonths++;
        }
        if (restDays > 0 && rest < 0) {
            rest += DAY_MICROS;
            restDays--;
        } else if (restDays < 0 && rest > 0) {
            rest -= DAY_MICROS;
            restDays++;
        }
        out.set(toInt(allMonths), (int) restDays, rest);
    }

    /** {@code make_interval}. */
    public static void of(
            int years, int months, int weeks, int days, int hours, int minutes, double seconds, Interval out) {
        if (Double.isNaN(seconds) || Double.isInfinite(seconds)) {
            throw outOfRange();
        }
        try {
            long micros =
                    Math.addExact(hours * HOUR_MICROS + minutes * 60_000_000L, (long) Math.rint(seconds * 1_000_000));
            out.set(
                    Math.addExact(Math.multiplyExact(years, 12), months),
                    Math.addExact(Math.multiplyExact(weeks, 7), days),
                    micros);
        } catch (ArithmeticException e) {
            throw outOfRange();
        }
    }
}
