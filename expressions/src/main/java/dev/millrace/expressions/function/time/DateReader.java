package dev.millrace.expressions.function.time;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.text.CivilDays;
import dev.millrace.text.ZoneClock;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * Reads one time by a {@link DateTemplate}, as PostgreSQL's manual has it (section 9.8): blanks around values do not count, a separator of the template stands for any
 * one or none, and other text for as many characters, whatever they are.
 */
final class DateReader {
    private static final int MOST_YEARS = 300_000; // more than a timestamp can be of
    private static final int MOST_DIGITS = 9;
    private static final int NEAREST_YEAR = 2020; // that short years are near to

    private final String text;
    private final Optional<ZoneClock> clock;
    private int at;
    private int blanks; // that were passed over behind a value and no part of the template stands for yet

    // 0 is for what was not said.
    private int year;
    private boolean isShortYear;
    private int century;
    private int month;
    private int day;
    private int dayOfYear;
    private int isoYear;
    private int isoWeek;
    private int isoDay;
    private int isoDayOfYear;
    private long julian = Long.MIN_VALUE;
    private int hour;
    private boolean twelveHours;
    private boolean afternoon;
    private int minute;
    private int second;
    private int micros;
    private boolean beforeChrist;
    private int zoneSign = 1;
    private int zoneMinutes;
    private boolean saysZone;
    private boolean isCivil; // whether a part was of the Gregorian calendar
    private boolean isOfWeeks; // of ISO's

    /** @param clock of the zone that a text is in which says none; UTC if there is none */
    DateReader(String text, Optional<ZoneClock> clock) {
        this.text = text;
        this.clock = clock;
    }

    /** Microseconds since 1970-01-01 UTC. */
    long read(List<DateTemplate.Part> parts) {
        for (int i = 0; i < parts.size() && at < text.length(); i++) { // what the text does not have nobody asked for
            DateTemplate.Part part = parts.get(i);
            if (i == 0) {
                passBlanks(part);
            }
            if (part.field() == DateTemplate.Field.LITERAL) {
                pass(part);
                continue;
            }
            while (!part.exact() && at < text.length() && Character.isWhitespace(text.charAt(at))) {
                at++;
            }
            if (at == text.length()) {
                break;
            }
            boolean bounded = i + 1 < parts.size() && parts.get(i + 1).isNumber() && part.fill();
            requireOneCalendar(part);
            read(part, bounded && part.ordinal().isEmpty());
            at = Math.min(text.length(), at + part.ordinal().length());
            passBlanks(part);
        }
        return micros();
    }

    private void passBlanks(DateTemplate.Part part) {
        blanks = 0;
        while (!part.exact() && at < text.length() && Character.isWhitespace(text.charAt(at))) {
            at++;
            blanks++;
        }
    }

    /** Passes over what text of the template stands for. */
    private void pass(DateTemplate.Part part) {
        boolean isSeparator = part.isSeparator() && !part.exact();
        for (int i = 0; i < part.text().length() && at < text.length(); i++) {
            if (isSeparator ? !Character.isLetterOrDigit(text.charAt(at)) : blanks == 0 || part.exact()) {
                at++;
            } else {
                blanks = Math.max(0, blanks - 1);
            }
        }
    }

    private void requireOneCalendar(DateTemplate.Part part) {
        switch (part.field()) {
            case YEAR_WITH_COMMA, YYYY, YYY, YY, Y, MONTH_NAME, MONTH_SHORT, MM, ROMAN, DDD, DD, D, WW, W ->
                isCivil = true;
            case IYYY, IYY, IY, I, IDDD, ID, IW -> isOfWeeks = true;
            default -> {}
        }
        if (isCivil && isOfWeeks) {
            throw MillraceException.user(SqlState.INVALID_DATETIME_FORMAT, "invalid combination of date conventions")
                    .withHint("Do not mix Gregorian and ISO week date conventions in a formatting template.");
        }
    }

    /** @param bounded whether there are so many digits, as others follow them; else all that are there belong to the number */
    private int number(DateTemplate.Part part, int digits, boolean bounded) {
        int start = at;
        boolean signed = at < text.length() && (text.charAt(at) == '-' || text.charAt(at) == '+');
        at += signed ? 1 : 0;
        int first = at;
        int limit = bounded ? digits - (signed ? 1 : 0) : MOST_DIGITS;
        while (at < text.length() && at - first < limit && Character.digit(text.charAt(at), 10) >= 0) {
            at++;
        }
        if (at == first || bounded && at - first < limit) {
            String shown = text.substring(start, Math.min(text.length(), start + digits));
            throw MillraceException.user(
                    SqlState.INVALID_DATETIME_FORMAT, "invalid value \"" + shown + "\" for \"" + part.name() + "\"");
        }
        int value = Integer.parseInt(text.substring(first, at)); // of nine digits at most
        if (!bounded && at < text.length() && Character.isDigit(text.charAt(at))) {
            throw outOfRange();
        }
        return text.charAt(start) == '-' ? -value : value;
    }

    /** What two parts of the template say of one field must be the same. */
    private int once(DateTemplate.Part part, int known, int value) {
        if (known != 0 && known != value) {
            throw MillraceException.user(
                    SqlState.INVALID_DATETIME_FORMAT,
                    "conflicting values for \"" + part.name() + "\" field in formatting string");
        }
        return value;
    }

    private int name(DateTemplate.Part part, List<String> names, boolean whole) {
        for (int i = 0; i < names.size(); i++) {
            String name = whole ? names.get(i) : names.get(i).substring(0, 3);
            if (text.regionMatches(true, at, name, 0, name.length())) {
                at += name.length();
                return i;
            }
        }
        throw MillraceException.user(
                SqlState.INVALID_DATETIME_FORMAT,
                "invalid value \"" + text.substring(at) + "\" for \"" + part.name() + "\"");
    }

    private boolean word(String word) {
        if (text.regionMatches(true, at, word, 0, word.length())) {
            at += word.length();
            return true;
        }
        return false;
    }

    private void read(DateTemplate.Part part, boolean bounded) {
        switch (part.field()) {
            case HH, HH12 -> {
                hour = once(part, hour, number(part, 2, bounded));
                twelveHours = true;
                if (hour < 1 || hour > 12) {
                    throw MillraceException.user(
                                    SqlState.INVALID_DATETIME_FORMAT,
                                    "hour \"" + hour + "\" is invalid for the 12-hour clock")
                            .withHint("Use the 24-hour clock, or give an hour between 1 and 12.");
                }
            }
            case HH24 -> hour = once(part, hour, number(part, 2, bounded));
            case MI -> minute = once(part, minute, number(part, 2, bounded));
            case SS -> second = once(part, second, number(part, 2, bounded));
            case MS -> micros = fraction(part, 3, bounded);
            case US, FF6 -> micros = fraction(part, 6, bounded);
            case FF1 -> micros = fraction(part, 1, bounded);
            case FF2 -> micros = fraction(part, 2, bounded);
            case FF3 -> micros = fraction(part, 3, bounded);
            case FF4 -> micros = fraction(part, 4, bounded);
            case FF5 -> micros = fraction(part, 5, bounded);
            case SECOND_OF_DAY, SECOND_OF_DAY_5 -> {
                int seconds = number(part, 5, bounded);
                hour = once(part, hour, seconds / 3600);
                minute = once(part, minute, seconds / 60 % 60);
                second = once(part, second, seconds % 60);
            }
            case MERIDIEM, MERIDIEM_PM, MERIDIEM_DOTS, MERIDIEM_DOTS_PM -> {
                afternoon = word("pm") || word("p.m.");
                if (!afternoon && !word("am") && !word("a.m.")) {
                    throw invalid(part);
                }
            }
            case YEAR_WITH_COMMA -> {
                int thousands = number(part, 3, false) * 1000;
                word(",");
                year = once(part, year, thousands + number(part, 3, bounded));
            }
            case YYYY -> year = once(part, year, number(part, 4, bounded));
            case YYY, YY, Y -> {
                isShortYear = part.field() != DateTemplate.Field.YYY;
                year = once(part, year, shortYear(part, bounded));
            }
            case IYYY -> isoYear = once(part, isoYear, number(part, 4, bounded));
            case IYY, IY, I -> isoYear = once(part, isoYear, shortYear(part, bounded));
            case ERA, ERA_AD, ERA_DOTS, ERA_DOTS_AD -> {
                beforeChrist = word("bc") || word("b.c.");
                if (!beforeChrist && !word("ad") && !word("a.d.")) {
                    throw invalid(part);
                }
            }
            case MONTH_NAME -> month = once(part, month, name(part, DateFormatter.MONTHS, true) + 1);
            case MONTH_SHORT -> month = once(part, month, name(part, DateFormatter.MONTHS, false) + 1);
            case MM -> month = once(part, month, number(part, 2, bounded));
            case DAY_NAME -> name(part, DateFormatter.DAYS, true);
            case DAY_SHORT -> name(part, DateFormatter.DAYS, false);
            case DDD -> dayOfYear = once(part, dayOfYear, number(part, 3, bounded));
            case IDDD -> isoDayOfYear = once(part, isoDayOfYear, number(part, 3, bounded));
            case WW -> dayOfYear = once(part, dayOfYear, 7 * number(part, 2, bounded) - 6);
            case D, Q -> number(part, 1, bounded); // read, and without effect
            case CC -> century = once(part, century, number(part, 2, bounded));
            case W -> day = once(part, day, 7 * number(part, 1, bounded) - 6);
            case DD -> day = once(part, day, number(part, 2, bounded));
            case ID -> isoDay = once(part, isoDay, number(part, 1, bounded));
            case IW -> isoWeek = once(part, isoWeek, number(part, 2, bounded));
            case J -> julian = number(part, MOST_DIGITS, false);
            case ROMAN -> month = once(part, month, roman(part));
            case TZ, OF, TZH -> zone(part, bounded);
            case TZM -> {
                saysZone = true;
                zoneMinutes += zoneSign * number(part, 2, bounded);
            }
            case LITERAL -> throw new AssertionError(part);
        }
    }

    private MillraceException invalid(DateTemplate.Part part) {
        return MillraceException.user(
                SqlState.INVALID_DATETIME_FORMAT,
                "invalid value \"" + text.substring(Math.min(at, text.length())) + "\" for \"" + part.name() + "\"");
    }

    /** A year of less than four digits is the one that ends so and is the nearest to 2020. */
    private int shortYear(DateTemplate.Part part, boolean bounded) {
        int start = at;
        int value = number(part, part.name().length(), bounded);
        if (at - start >= 4 || value < 0 || value >= 1000) {
            return value;
        }
        int cycle = value < 100 ? 100 : 1000;
        int before = NEAREST_YEAR / cycle * cycle + value % cycle;
        return before - NEAREST_YEAR >= cycle / 2 ? before - cycle : before;
    }

    /** Of a second; so many digits of it, as whole ones in a template with others behind it, or rounded. */
    private int fraction(DateTemplate.Part part, int digits, boolean bounded) {
        int start = at;
        int value = number(part, digits, bounded);
        for (int read = at - start; read < 6; read++) {
            value *= 10;
        }
        if (value < 0 || value >= 1_000_000) {
            throw outOfRange();
        }
        return (int) Timestamps.rounded(value, digits);
    }

    private int roman(DateTemplate.Part part) {
        for (int i = DateFormatter.ROMAN.size(); i > 0; i--) {
            String numeral = DateFormatter.ROMAN.get(i - 1);
            boolean whole = text.regionMatches(true, at, numeral, 0, numeral.length())
                    && (at + numeral.length() == text.length()
                            || "IVX".indexOf(Character.toUpperCase(text.charAt(at + numeral.length()))) < 0);
            if (whole) {
                at += numeral.length();
                return i;
            }
        }
        throw invalid(part);
    }

    private void zone(DateTemplate.Part part, boolean bounded) {
        saysZone = true;
        if (word("utc") || word("gmt") || word("z")) {
            return;
        }
        boolean isHours = part.field() == DateTemplate.Field.TZH;
        char sign = at < text.length() ? text.charAt(at) : ' ';
        boolean isSeparated = isHours && Character.isDigit(sign);
        if (isSeparated) { // a sign behind more blanks than the template has separators is no separator
            sign = blanks > 0 && at > 0 && text.charAt(at - 1) == '-' ? '-' : '+';
        } else if (sign != '+' && sign != '-') {
            throw MillraceException.notAvailableYet(
                    "the time zone \"" + text.substring(at).toUpperCase(Locale.ROOT) + "\" in to_timestamp");
        }
        int minutes = Math.abs(number(part, isSeparated ? 2 : 3, bounded || !isHours)) * 60;
        if (!isHours && at < text.length() && text.charAt(at) == ':') {
            at++;
            minutes += number(part, 2, true);
        }
        zoneSign = sign == '-' ? -1 : 1;
        zoneMinutes = zoneSign * minutes;
    }

    private long micros() {
        long days = days();
        int hours = hour;
        if (twelveHours) {
            hours = hour % 12 + (afternoon ? 12 : 0);
        }
        if (hours < 0 || hours > 23 || minute < 0 || minute > 59 || second < 0 || second > 59) {
            throw outOfRange();
        }
        long time = hours * Intervals.HOUR_MICROS + (minute * 60L + second) * 1_000_000 + micros;
        if (Math.abs(days) > MOST_YEARS * 366L) {
            throw outOfRange(); // before it does not fit 64 bits
        }
        long local = days * Intervals.DAY_MICROS + time;
        return Timestamps.checked(
                clock.isPresent() && !saysZone ? clock.get().toUtc(local) : local - zoneMinutes * 60_000_000L);
    }

    private long days() {
        if (julian != Long.MIN_VALUE) {
            return julian - CivilFields.julianDay(0);
        }
        if (Math.abs((long) isoYear) > MOST_YEARS) {
            throw outOfRange();
        }
        if (isoYear != 0) {
            if (isoDayOfYear > 7 * 53) {
                throw outOfRange();
            }
            long fourth = CivilDays.of(isoYear, 1, 4); // always in week 1
            long first = fourth - CivilFields.dayOfWeek(fourth);
            return isoDayOfYear > 0
                    ? first + isoDayOfYear - 1
                    : first + (Math.max(1, isoWeek) - 1) * 7L + Math.max(1, isoDay) - 1;
        }
        int civilYear = year(); // without a year it is 1 BC
        if (Math.abs((long) civilYear) > MOST_YEARS) {
            throw outOfRange();
        }
        if (dayOfYear > 0) {
            if (!CivilDays.isValid(civilYear, 1, 1)
                    || dayOfYear > CivilDays.of(civilYear + 1, 1, 1) - CivilDays.of(civilYear, 1, 1)) {
                throw outOfRange();
            }
            return CivilDays.of(civilYear, 1, 1) + dayOfYear - 1;
        }
        int civilMonth = month == 0 ? 1 : month;
        int civilDay = day == 0 ? 1 : day;
        if (!CivilDays.isValid(civilYear, civilMonth, civilDay)) {
            throw outOfRange();
        }
        return CivilDays.of(civilYear, civilMonth, civilDay);
    }

    /** The year, where 1 BC is 0. A century counts for a year of two digits, and begins with its first year. */
    private int year() {
        int said = year;
        if (century != 0 && (isShortYear || year == 0)) {
            int inCentury = isShortYear ? Math.floorMod(year, 100) : 1;
            said = inCentury == 0 ? century * 100 : (century - 1) * 100 + inCentury;
        }
        said = beforeChrist ? -said : said;
        return said < 0 ? said + 1 : said;
    }

    private MillraceException outOfRange() {
        return MillraceException.user(
                SqlState.DATETIME_FIELD_OVERFLOW, "date/time field value out of range: \"" + text + "\"");
    }
}
