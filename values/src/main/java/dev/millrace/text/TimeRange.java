package dev.millrace.text;

/** What dates and times may be, for those that come as numbers: as far as their texts go, from 4714 BC on. */
public final class TimeRange {
    private static final long FIRST_DAY = CivilDays.of(-4713, 11, 24); // the first Julian day
    private static final long LAST_DAY = CivilDays.of(5_874_897, 12, 31);
    private static final long FIRST_MICROS = FIRST_DAY * CivilDays.MICROS_PER_DAY;
    private static final long END_MICROS = CivilDays.of(292_278, 1, 1) * CivilDays.MICROS_PER_DAY; // what 64 bits hold

    private TimeRange() {}

    /** Whether a day since 1970-01-01 is a DATE. */
    public static boolean isDate(long days) {
        return days >= FIRST_DAY && days <= LAST_DAY;
    }

    /** Whether microseconds since midnight are a TIME; 24:00 is one. */
    public static boolean isTime(long micros) {
        return micros >= 0 && micros <= CivilDays.MICROS_PER_DAY;
    }

    /** Whether microseconds since 1970-01-01 00:00 are a TIMESTAMP. */
    public static boolean isTimestamp(long micros) {
        return micros >= FIRST_MICROS && micros < END_MICROS;
    }
}
