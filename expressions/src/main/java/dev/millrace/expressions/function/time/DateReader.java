package dev.millrace.expressions.function.time;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.text.CivilDays;
import dev.millrace.text.ZoneClock;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** Reads one time by a {@link DateTemplate}. Blanks before fields do not count, and separators match each other. */
final class DateReader {
    private static final int MOST_YEARS = 300_000; // more than a timestamp can be of

    private final String text;
    private final Optional<ZoneClock> clock;
    private int at;

    private int year = Integer.MIN_VALUE;
    private int month = 1;
    private int day = 1;
    private int dayOfYear;
    private int isoYear;
    private int isoWeek;
    private int isoDay = 1;
    private int isoDayOfYear;
    private long julian = Long.MIN_VALUE;
    private int hour;
    private boolean twelveHours;
    private boolean afternoon;
    private int minute;
    private int second;
    private int micros;
    private boolean beforeChrist;
    private int zoneMinutes;
    private boolean saysZone;

    /** @param clock of the zone that a text is in which says none; UTC if there is none */
    DateReader(String text, Optional<ZoneClock> clock) {
        this.text = text;
        this.clock = clock;
    }

    /** Microseconds since 1970-01-01 UTC. */
    long read(List<DateTemplate.Part> parts) {
        for (int i = 0; i < parts.size(); i++) {
            DateTemplate.Part part = parts.get(i);
            if (part.field() == DateTemplate.Field.LITERAL) {
                skip(part);
            } else {
                skipBlanks();
                if (at == text.length()) {
                    break; // what the text does not have is as if the format had not asked for it
                }
                boolean bounded = i + 1 < parts.size() && parts.get(i + 1).isNumber();
                read(part, bounded);
                if (!part.ordinal().isEmpty()) {
                    at = Math.min(text.length(), at + 2);
                }
            }
        }
        return micros();
    }

    private void skip(DateTemplate.Part part) {
        for (int i = 0; i < part.text().length() && at < text.length(); i++) {
            boolean separator =
                    !part.quoted() && !Character.isLetterOrDigit(part.text().charAt(i));
            if (!separator || !Character.isLetterOrDigit(text.charAt(at)) && !startsSignedNumber(part)) {
                at++;
            }
        }
    }

    /** A minus before digits behind a blank of the template belongs to the number. */
    private boolean startsSignedNumber(DateTemplate.Part part) {
        return part.text().equals(" ") && (text.charAt(at) == '-' || text.charAt(at) == '+');
    }

    private void skipBlanks() {
        while (at < text.length() && Character.isWhitespace(text.charAt(at))) {
            at++;
        }
    }

    private int number(DateTemplate.Part part, int digits, boolean bounded) {
        int start = at;
        boolean signed = at < text.length() && (text.charAt(at) == '-' || text.charAt(at) == '+');
        at += signed ? 1 : 0;
        int first = at;
        int limit = bounded || part.fill() && digits < 4 ? digits : 9;
        while (at < text.length() && at - first < limit && Character.isDigit(text.charAt(at))) {
            at++;
        }
        if (at == first) {
            String shown = text.substring(start, Math.min(text.length(), start + digits));
            throw MillraceException.user(
                    SqlState.INVALID_DATETIME_FORMAT,
                    "invalid value \"" + shown + "\" for \"" + part.field().name() + "\"");
        }
        int value = Integer.parseInt(text.substring(first, at)); // of nine digits at most
        if (at < text.length() && at - first == 9 && limit == 9 && Character.isDigit(text.charAt(at))) {
            throw outOfRange();
        }
        return text.charAt(start) == '-' ? -value : value;
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
                "invalid value \"" + text.substring(at) + "\" for \""
                        + part.field().name() + "\"");
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
                hour = number(part, 2, bounded);
                twelveHours = true;
                if (hour < 1 || hour > 12) {
                    throw MillraceException.user(
                                    SqlState.INVALID_DATETIME_FORMAT,
                                    "hour \"" + hour + "\" is invalid for the 12-hour clock")
                            .withHint("Use the 24-hour clock, or give an hour between 1 and 12.");
                }
            }
            case HH24 -> hour = number(part, 2, bounded);
            case MI -> minute = number(part, 2, bounded);
            case SS -> second = number(part, 2, bounded);
            case MS, FF3 -> micros = fraction(part, 3);
            case US, FF6 -> micros = fraction(part, 6);
            case FF1 -> micros = fraction(part, 1);
            case FF2 -> micros = fraction(part, 2);
            case FF4 -> micros = fraction(part, 4);
            case FF5 -> micros = fraction(part, 5);
            case SECOND_OF_DAY, SECOND_OF_DAY_5 -> {
                int seconds = number(part, 5, bounded);
                hour = seconds / 3600;
                minute = seconds / 60 % 60;
                second = seconds % 60;
            }
            case MERIDIEM, MERIDIEM_PM, MERIDIEM_DOTS, MERIDIEM_DOTS_PM -> {
                afternoon = word("pm") || word("p.m.");
                if (!afternoon && !word("am") && !word("a.m.")) {
                    throw invalid(part);
                }
            }
            case YEAR_WITH_COMMA -> {
                year = number(part, 3, false) * 1000;
                word(",");
                year += number(part, 3, bounded);
            }
            case YYYY -> year = number(part, 4, bounded);
            case YYY, YY, Y -> year = shortYear(part, bounded);
            case IYYY -> isoYear = number(part, 4, bounded);
            case IYY, IY, I -> isoYear = shortYear(part, bounded);
            case ERA, ERA_AD, ERA_DOTS, ERA_DOTS_AD -> {
                beforeChrist = word("bc") || word("b.c.");
                if (!beforeChrist && !word("ad") && !word("a.d.")) {
                    throw invalid(part);
                }
            }
            case MONTH_NAME -> month = name(part, DateFormatter.MONTHS, true) + 1;
            case MONTH_SHORT -> month = name(part, DateFormatter.MONTHS, false) + 1;
            case MM -> month = number(part, 2, bounded);
            case DAY_NAME -> name(part, DateFormatter.DAYS, true);
            case DAY_SHORT -> name(part, DateFormatter.DAYS, false);
            case DDD -> dayOfYear = number(part, 3, bounded);
            case IDDD -> isoDayOfYear = number(part, 3, bounded);
            case WW -> dayOfYear = 7 * number(part, 2, bounded) - 6;
            case D, CC, Q -> number(part, part.field().name().length(), bounded); // read, and without effect
            case W -> day = 7 * number(part, 1, bounded) - 6;
            case DD -> day = number(part, 2, bounded);
            case ID -> isoDay = number(part, 1, bounded);
            case IW -> isoWeek = number(part, 2, bounded);
            case J -> julian = number(part, 9, bounded);
            case ROMAN -> month = roman(part);
            case TZ, OF, TZH -> zone(part);
            case TZM -> minutesOfZone(part, bounded);
            case LITERAL -> throw new AssertionError(part);
        }
    }

    private MillraceException invalid(DateTemplate.Part part) {
        return MillraceException.user(
                SqlState.INVALID_DATETIME_FORMAT,
                "invalid value \"" + text.substring(Math.min(at, text.length())) + "\" for \""
                        + part.field().name() + "\"");
    }

    /** Years of two digits are from 1970 to 2069, of three from 1970 to 2969. */
    private int shortYear(DateTemplate.Part part, boolean bounded) {
        int start = at;
        int digits = part.field().name().length();
        int value = number(part, digits, bounded);
        int read = at - start;
        return switch (read) {
            case 1, 2 -> value < 70 ? 2000 + value : 1900 + value;
            case 3 -> value < 100 ? 2000 + value : value < 520 ? 2000 + value : 1000 + value;
            default -> value;
        };
    }

    private int fraction(DateTemplate.Part part, int digits) {
        int start = at;
        int value = number(part, digits, true);
        for (int read = at - start; read < 6; read++) {
            value *= 10;
        }
        return value;
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

    private void minutesOfZone(DateTemplate.Part part, boolean bounded) {
        saysZone = true;
        zoneMinutes += Integer.signum(zoneMinutes == 0 ? 1 : zoneMinutes) * number(part, 2, bounded);
    }

    private void zone(DateTemplate.Part part) {
        saysZone = true;
        if (word("utc") || word("gmt") || word("z")) {
            return;
        }
        if (at == text.length() || "+-".indexOf(text.charAt(at)) < 0) {
            throw MillraceException.notAvailableYet(
                    "the time zone \"" + text.substring(at).toUpperCase(Locale.ROOT) + "\" in to_timestamp");
        }
        boolean west = text.charAt(at) == '-';
        int minutes = Math.abs(number(part, 2, true)) * 60;
        if (part.field() != DateTemplate.Field.TZH && at < text.length() && text.charAt(at) == ':') {
            at++;
            minutes += number(part, 2, true);
        }
        zoneMinutes = west ? -minutes : minutes;
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
            return isoDayOfYear > 0 ? first + isoDayOfYear - 1 : first + (Math.max(1, isoWeek) - 1) * 7L + isoDay - 1;
        }
        int civilYear = year == Integer.MIN_VALUE ? 0 : year; // without a year it is 1 BC
        if (beforeChrist || civilYear < 0) {
            civilYear = 1 - Math.abs(civilYear);
        }
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
        if (!CivilDays.isValid(civilYear, month, day)) {
            throw outOfRange();
        }
        return CivilDays.of(civilYear, month, day);
    }

    private MillraceException outOfRange() {
        return MillraceException.user(
                SqlState.DATETIME_FIELD_OVERFLOW, "date/time field value out of range: \"" + text + "\"");
    }
}
