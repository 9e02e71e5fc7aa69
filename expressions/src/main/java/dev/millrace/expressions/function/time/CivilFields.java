package dev.millrace.expressions.function.time;

import dev.millrace.text.CivilDays;

/** What calendars derive from a day: weeks, centuries and the like. Years are astronomical: 0 is 1 BC. */
final class CivilFields {
    private static final int DAYS_FROM_MONDAY_TO_EPOCH = 3; // 1970-01-01 was a Thursday
    private static final long JULIAN_DAY_OF_EPOCH = 2_440_588;

    private CivilFields() {}

    /** 0 for Monday to 6. */
    static int dayOfWeek(long day) {
        return (int) Math.floorMod(day + DAYS_FROM_MONDAY_TO_EPOCH, 7L);
    }

    static int dayOfYear(long day) {
        return (int) (day - CivilDays.of(Timestamps.year(CivilDays.packed(day)), 1, 1)) + 1;
    }

    /** The year that an ISO week belongs to: that of its Thursday. */
    static int isoYear(long day) {
        return Timestamps.year(CivilDays.packed(day - dayOfWeek(day) + 3));
    }

    /** The number of the ISO week, 1 to 53. */
    static int isoWeek(long day) {
        long thursday = day - dayOfWeek(day) + 3;
        return (dayOfYear(thursday) - 1) / 7 + 1;
    }

    static long julianDay(long day) {
        return day + JULIAN_DAY_OF_EPOCH;
    }

    static int quarter(int month) {
        return (month - 1) / 3 + 1;
    }

    /** There is no year 0 in what people see. */
    static int shownYear(int year) {
        return year > 0 ? year : year - 1;
    }

    static int decade(int year) {
        return Math.floorDiv(year, 10);
    }

    /** The century, from 1, or negative before Christ. */
    static int century(int year) {
        return year > 0 ? (year + 99) / 100 : -((99 - (year - 1)) / 100);
    }

    static int millennium(int year) {
        return year > 0 ? (year + 999) / 1000 : -((999 - (year - 1)) / 1000);
    }
}
