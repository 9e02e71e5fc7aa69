package dev.millrace.text;

/**
 * What dates and times may be, for those that come as numbers: as far as their texts go, from 4714 BC on, and {@code infinity} and {@code -infinity}. These are the
 * greatest and the least number there is, so that they compare as numbers do, as in PostgreSQL (section 8.5.1.4 of its manual).
 */
public final class TimeRange {
    private static final long FIRST_DAY = CivilDays.of(-4713, 11, 24); // the first Julian day
    private static final long LAST_DAY = CivilDays.of(5_874_897, 12, 31);
    private static final long FIRST_MICROS = FIRST_DAY * CivilDays.MICROS_PER_DAY;
    private static final long END_MICROS = CivilDays.of(292_278, 1, 1) * CivilDays.MICROS_PER_DAY; // what 64 bits hold

    private TimeRange() {}

    /** Whether a day since 1970-01-01 is a DATE. */
    public static boolean isDate(long days) {
        return days >= FIRST_DAY && days <= LAST_DAY || days == Integer.MAX_VALUE || days == Integer.MIN_VALUE;
    }

    /** Whether microseconds since midnight are a TIME; 24:00 is one. */
    public static boolean isTime(long micros) {
        return micros >= 0 && micros <= CivilDays.MICROS_PER_DAY;
    }

    /** Whether microseconds since 1970-01-01 00:00 are a TIMESTAMP. */
    public static boolean isTimestamp(long micros) {
        return micros >= FIRST_MICROS && micros < END_MICROS || !isFinite(micros);
    }

    /** Whether a DATE is a day, and not infinite. */
    public static boolean isDay(long days) {
        return days != Integer.MAX_VALUE && days != Integer.MIN_VALUE;
    }

    /** Whether a TIMESTAMP is a time, and not infinite. */
    public static boolean isFinite(long micros) {
        return micros != Long.MAX_VALUE && micros != Long.MIN_VALUE;
    }

    /** The DATE of a TIMESTAMP: its day since 1970-01-01, or as infinite as it is. */
    public static int dayOf(long micros) {
        return isFinite(micros)
                ? (int) Math.floorDiv(micros, CivilDays.MICROS_PER_DAY)
                : micros > 0 ? Integer.MAX_VALUE : Integer.MIN_VALUE;
    }
}
