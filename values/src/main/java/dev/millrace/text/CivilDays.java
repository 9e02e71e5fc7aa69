package dev.millrace.text;

/**
 * Days since 1970-01-01 and dates of the proleptic Gregorian calendar, where the year before 1 is 0 (PostgreSQL's 1 BC).
 * Years are counted from March, so that the leap day is the last (E. Richards, "Calendars", 2013).
 */
public final class CivilDays {
    public static final long MICROS_PER_DAY = 86_400_000_000L;

    private static final int DAYS_PER_ERA = 146_097; // 400 years
    private static final int EPOCH_SHIFT = 719_468; // from 0000-03-01 to 1970-01-01

    private CivilDays() {}

    public static long of(int year, int month, int day) {
        long y = month <= 2 ? year - 1L : year;
        long era = Math.floorDiv(y, 400L);
        long yearOfEra = y - era * 400;
        int monthFromMarch = (month + 9) % 12;
        long dayOfYear = (153L * monthFromMarch + 2) / 5 + day - 1;
        return era * DAYS_PER_ERA + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - EPOCH_SHIFT;
    }

    /** The date as year * 512 + month * 32 + day; the year by an arithmetic shift of 9. */
    public static long packed(long days) {
        long shifted = days + EPOCH_SHIFT;
        long era = Math.floorDiv(shifted, (long) DAYS_PER_ERA);
        int dayOfEra = (int) (shifted - era * DAYS_PER_ERA);
        int yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365;
        int dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100);
        int monthFromMarch = (5 * dayOfYear + 2) / 153;
        int day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1;
        int month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9;
        long year = era * 400 + yearOfEra + (month <= 2 ? 1 : 0);
        return year << 9 | (long) month << 5 | day;
    }

    public static boolean isValid(int year, int month, int day) {
        if (month < 1 || month > 12 || day < 1) {
            return false;
        }
        return day <= 28 || day <= lengthOfMonth(year, month);
    }

    public static int lengthOfMonth(int year, int month) {
        if (month == 2) {
            boolean leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
            return leap ? 29 : 28;
        }
        return month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31;
    }
}
