package dev.millrace.expressions.function.time;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.expressions.function.number.NumberFormatter;
import dev.millrace.text.TextBuffer;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/** Writes one time by a {@link DateTemplate}. */
final class DateFormatter {
    static final List<String> MONTHS = List.of(
            "January",
            "February",
            "March",
            "April",
            "May",
            "June",
            "July",
            "August",
            "September",
            "October",
            "November",
            "December");
    static final List<String> DAYS =
            List.of("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday");
    static final List<String> ROMAN = List.of("I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII");
    private static final int NAME_WIDTH = 9;

    /** Fields that only a date has. */
    private static final Set<DateTemplate.Field> CALENDAR = EnumSet.of(
            DateTemplate.Field.ERA,
            DateTemplate.Field.ERA_AD,
            DateTemplate.Field.ERA_DOTS,
            DateTemplate.Field.ERA_DOTS_AD,
            DateTemplate.Field.MONTH_NAME,
            DateTemplate.Field.MONTH_SHORT,
            DateTemplate.Field.DAY_NAME,
            DateTemplate.Field.DAY_SHORT,
            DateTemplate.Field.D,
            DateTemplate.Field.ID,
            DateTemplate.Field.TZ,
            DateTemplate.Field.OF);

    private final TextBuffer out;
    private final String zone;
    private final int offset; // of clocks from UTC, in seconds
    private long hour;
    private int minute;
    private int second;
    private int micros;
    private long dayNumber;
    private int year;
    private int month;
    private int day;
    private boolean isInterval;

    /**
     * @param zone what clocks are called there; blank for a time without a zone
     * @param offset how far they are east of UTC, in seconds
     */
    DateFormatter(TextBuffer out, String zone, int offset) {
        this.out = out;
        this.zone = zone;
        this.offset = offset;
    }

    DateFormatter time(long newHour, long microsOfHour) {
        hour = newHour;
        minute = (int) (microsOfHour / 60_000_000);
        second = (int) (microsOfHour / 1_000_000 % 60);
        micros = (int) (microsOfHour % 1_000_000);
        return this;
    }

    DateFormatter date(long newDayNumber, int newYear, int newMonth, int newDay) {
        dayNumber = newDayNumber;
        year = newYear;
        month = newMonth;
        day = newDay;
        return this;
    }

    DateFormatter interval(int years, int months, int days) {
        isInterval = true;
        return date(days, years, months, days);
    }

    void write(List<DateTemplate.Part> parts) {
        for (DateTemplate.Part part : parts) {
            if (part.field() == DateTemplate.Field.LITERAL) {
                out.append(part.text().getBytes(java.nio.charset.StandardCharsets.UTF_8));
            } else {
                write(part);
            }
        }
    }

    private void write(DateTemplate.Part part) {
        if (isInterval && CALENDAR.contains(part.field())) {
            throw MillraceException.user(
                            SqlState.INVALID_DATETIME_FORMAT, "invalid format specification for an interval value")
                    .withHint("Intervals are not tied to specific calendar dates.");
        }
        int shownYear = isInterval ? year : Math.abs(CivilFields.shownYear(year));
        switch (part.field()) {
            case HH, HH12 -> number(part, hour % 12 == 0 ? 12 : Math.abs(hour % 12), 2);
            case HH24 -> number(part, hour, 2);
            case MI -> number(part, minute, 2);
            case SS -> number(part, second, 2);
            case MS, FF3 -> fraction(part, 3);
            case US, FF6 -> fraction(part, 6);
            case FF1 -> fraction(part, 1);
            case FF2 -> fraction(part, 2);
            case FF4 -> fraction(part, 4);
            case FF5 -> fraction(part, 5);
            case SECOND_OF_DAY, SECOND_OF_DAY_5 -> number(part, hour * 3600 + minute * 60L + second, 1);
            case MERIDIEM, MERIDIEM_PM -> word(part, Math.floorMod(hour, 24L) < 12 ? "AM" : "PM", 0);
            case MERIDIEM_DOTS, MERIDIEM_DOTS_PM -> word(part, Math.floorMod(hour, 24L) < 12 ? "A.M." : "P.M.", 0);
            case YEAR_WITH_COMMA -> {
                number(part, shownYear / 1000, 1);
                out.append(',');
                number(part, shownYear % 1000, 3, true);
            }
            case YYYY -> number(part, shownYear, 4);
            case YYY -> number(part, shownYear % 1000, 3);
            case YY -> number(part, shownYear % 100, 2);
            case Y -> number(part, shownYear % 10, 1);
            case IYYY -> number(part, isoYear(), 4);
            case IYY -> number(part, isoYear() % 1000, 3);
            case IY -> number(part, isoYear() % 100, 2);
            case I -> number(part, isoYear() % 10, 1);
            case ERA, ERA_AD -> word(part, year > 0 ? "AD" : "BC", 0);
            case ERA_DOTS, ERA_DOTS_AD -> word(part, year > 0 ? "A.D." : "B.C.", 0);
            case MONTH_NAME -> word(part, month(), part.fill() ? NAME_WIDTH : 0);
            case MONTH_SHORT -> word(part, first(month(), 3), 0);
            case MM -> number(part, month, 2);
            case DAY_NAME -> word(part, dayName(), part.fill() ? NAME_WIDTH : 0);
            case DAY_SHORT -> word(part, first(dayName(), 3), 0);
            case DDD -> number(part, isInterval ? day : CivilFields.dayOfYear(dayNumber), 3);
            case IDDD ->
                number(part, (CivilFields.isoWeek(dayNumber) - 1) * 7L + CivilFields.dayOfWeek(dayNumber) + 1, 3);
            case DD -> number(part, day, 2);
            case D -> number(part, (CivilFields.dayOfWeek(dayNumber) + 1) % 7 + 1, 1);
            case ID -> number(part, CivilFields.dayOfWeek(dayNumber) + 1L, 1);
            case W -> number(part, (day - 1) / 7 + 1, 1);
            case WW -> number(part, (CivilFields.dayOfYear(dayNumber) - 1) / 7 + 1, 2);
            case IW -> number(part, CivilFields.isoWeek(dayNumber), 2);
            case CC -> number(part, isInterval ? year / 100 : CivilFields.century(year), 2);
            case J -> number(part, CivilFields.julianDay(dayNumber), 1);
            case Q -> {
                if (!isInterval || month != 0) {
                    number(part, CivilFields.quarter(month), 1);
                }
            }
            case ROMAN -> word(part, roman(), part.fill() && !roman().isEmpty() ? 4 : 0);
            case TZ -> word(part, zone, 0);
            case TZH -> offsetHours();
            case TZM -> offsetMinutes();
            case OF -> {
                offsetHours();
                if (offset % 3600 != 0) {
                    out.append(':');
                    offsetMinutes();
                }
            }
            case LITERAL -> throw new AssertionError(part);
        }
    }

    private void offsetHours() {
        out.append(offset < 0 ? '-' : '+');
        twoDigits(Math.abs(offset) / 3600);
    }

    private void offsetMinutes() {
        twoDigits(Math.abs(offset) % 3600 / 60);
    }

    private void twoDigits(int value) {
        out.append((byte) ('0' + value / 10));
        out.append((byte) ('0' + value % 10));
    }

    /** Whole years of an interval count as twelve months of the last one, and months before as counted from its end. */
    private String roman() {
        if (month != 0) {
            return ROMAN.get(month > 0 ? month - 1 : 12 + month);
        }
        return year == 0 ? "" : year > 0 ? ROMAN.get(11) : ROMAN.get(0);
    }

    private long isoYear() {
        return Math.abs(CivilFields.shownYear(CivilFields.isoYear(dayNumber)));
    }

    private String month() {
        return month == 0 ? "" : MONTHS.get(month - 1);
    }

    private String dayName() {
        return DAYS.get(CivilFields.dayOfWeek(dayNumber));
    }

    private static String first(String name, int letters) {
        return name.substring(0, Math.min(letters, name.length()));
    }

    private void fraction(DateTemplate.Part part, int digits) {
        int value = micros;
        for (int i = digits; i < 6; i++) {
            value /= 10;
        }
        number(part, value, digits, true);
    }

    private void number(DateTemplate.Part part, long value, int width) {
        number(part, value, width, part.fill());
    }

    private void number(DateTemplate.Part part, long value, int width, boolean fill) {
        if (value < 0) {
            out.append('-');
        }
        String digits = Long.toString(Math.abs(value));
        for (int i = digits.length(); fill && i < width; i++) {
            out.append('0');
        }
        out.appendAscii(digits);
        if (!part.ordinal().isEmpty()) {
            String suffix = NumberFormatter.ordinal(Math.abs(value));
            out.appendAscii(part.ordinal().equals("TH") ? suffix.toUpperCase(Locale.ROOT) : suffix);
        }
    }

    private void word(DateTemplate.Part part, String word, int width) {
        out.appendAscii(
                switch (part.letters()) {
                    case UPPER -> word.toUpperCase(Locale.ROOT);
                    case LOWER -> word.toLowerCase(Locale.ROOT);
                    case CAPITAL -> word;
                });
        for (int i = word.length(); i < width; i++) {
            out.append(' ');
        }
    }
}
