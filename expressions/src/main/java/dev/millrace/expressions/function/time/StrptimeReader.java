package dev.millrace.expressions.function.time;

import dev.millrace.error.MillraceException;
import dev.millrace.text.CivilDays;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;

/**
 * Reads one time by the parts of a {@link StrftimePattern}. What the text does not say is that of 1900-01-01 00:00;
 * weekdays must be weekdays but say nothing; a blank in the format is one or more in the text.
 */
final class StrptimeReader {
    private static final java.util.regex.Pattern ZONE =
            java.util.regex.Pattern.compile("([+-])([0-9]{2})(?::?([0-9]{2}))?");
    private static final int FIRST_YEAR_OF_LAST_CENTURY = 69;

    private final String text;
    private int at;
    private String failure = "";

    private int year = 1900;
    private int month = 1;
    private int day = 1;
    private int dayOfYear;
    private int hour;
    private int minute;
    private int second;
    private long fraction; // microseconds
    private String meridiem = "";
    private int zoneMinutes;

    StrptimeReader(String text) {
        this.text = text;
    }

    String text() {
        return text;
    }

    /** Why the text could not be read; empty if it was. */
    String failure() {
        return failure;
    }

    long micros() {
        long days = dayOfYear > 0 ? CivilDays.of(year, 1, 1) + dayOfYear - 1 : CivilDays.of(year, month, day);
        int hours = meridiem.equals("am") && hour == 12 ? 0 : meridiem.equals("pm") && hour < 12 ? hour + 12 : hour;
        return days * Intervals.DAY_MICROS
                + hours * Intervals.HOUR_MICROS
                + (minute - zoneMinutes) * 60_000_000L
                + second * 1_000_000L
                + fraction;
    }

    void read(List<StrftimePattern.Part> parts) {
        skipBlanks();
        for (StrftimePattern.Part part : parts) {
            boolean read = part.isLiteral() ? literal(part.text().charAt(0)) : field(part.code());
            if (!read) {
                return;
            }
        }
        skipBlanks();
        if (at < text.length()) {
            fail("trailing characters");
        } else if (dayOfYear > 365 + (CivilDays.isValid(year, 2, 29) ? 1 : 0) || !CivilDays.isValid(year, month, day)) {
            fail("there is no such day");
        }
    }

    private boolean fail(String why) {
        failure = why + " at character " + (at + 1);
        return false;
    }

    private void skipBlanks() {
        while (at < text.length() && Character.isWhitespace(text.charAt(at))) {
            at++;
        }
    }

    private boolean literal(char c) {
        if (Character.isWhitespace(c)) {
            int start = at;
            skipBlanks();
            return at > start || fail("expected a blank");
        }
        if (at >= text.length() || text.charAt(at) != c) {
            return fail("expected \"" + c + "\"");
        }
        at++;
        return true;
    }

    private boolean field(char code) {
        switch (code) {
            case 'a' -> {
                return name(DateFormatter.DAYS, 3) > 0;
            }
            case 'A' -> {
                return name(DateFormatter.DAYS, 0) > 0;
            }
            case 'b', 'h', 'B' -> {
                month = name(DateFormatter.MONTHS, code == 'B' ? 0 : 3);
                return month > 0;
            }
            case 'p' -> {
                return meridiem();
            }
            case 'z' -> {
                return zone();
            }
            case 'f', 'n', 'g' -> {
                return fraction(code == 'f' ? 6 : code == 'g' ? 3 : 9);
            }
            case 'Z' ->
                throw MillraceException.notAvailableYet("strptime with the name of a zone, %Z,")
                        .withHint("%z reads an offset; strptime(..) AT TIME ZONE 'Europe/Berlin' takes a name");
            case 'U', 'W', 'V', 'G' ->
                throw MillraceException.notAvailableYet("strptime with the number of a week, %" + code + ",")
                        .withHint("to_date(text, 'IYYY-IW-ID') reads ISO weeks");
            default -> {
                return number(code);
            }
        }
    }

    private boolean number(char code) {
        int digits = code == 'Y' ? 4 : code == 'j' ? 3 : code == 'u' || code == 'w' ? 1 : 2;
        int start = at;
        int value = 0;
        while (at < text.length() && at < start + digits && isDigit(text.charAt(at))) {
            value = value * 10 + (text.charAt(at++) - '0');
        }
        if (at == start) {
            return fail("expected a number");
        }
        int least = "dmIju".indexOf(code) >= 0 ? 1 : 0;
        int most = switch (code) {
            case 'd' -> 31;
            case 'm', 'I' -> 12;
            case 'j' -> 366;
            case 'H' -> 23;
            case 'M', 'S' -> 59;
            case 'u' -> 7;
            case 'w' -> 6;
            default -> 9999;
        };
        if (value < least || value > most) {
            at = start;
            return fail("expected a number from " + least + " to " + most);
        }
        switch (code) {
            case 'd' -> day = value;
            case 'm' -> month = value;
            case 'y' -> year = value + (value >= FIRST_YEAR_OF_LAST_CENTURY ? 1900 : 2000);
            case 'Y' -> year = value;
            case 'j' -> dayOfYear = value;
            case 'H', 'I' -> hour = value;
            case 'M' -> minute = value;
            case 'S' -> second = value;
            default -> {}
        }
        return true;
    }

    private static boolean isDigit(char c) {
        return c >= '0' && c <= '9';
    }

    /** The number from 1 of the name that stands here, cut to so many letters unless 0; 0 if there is none. */
    private int name(List<String> names, int letters) {
        for (int i = 0; i < names.size(); i++) {
            String name = letters == 0 ? names.get(i) : names.get(i).substring(0, letters);
            if (text.regionMatches(true, at, name, 0, name.length())) {
                at += name.length();
                return i + 1;
            }
        }
        fail("expected a name");
        return 0;
    }

    private boolean meridiem() {
        String word = text.substring(at, Math.min(text.length(), at + 2)).toLowerCase(Locale.ROOT);
        if (!word.equals("am") && !word.equals("pm")) {
            return fail("expected AM or PM");
        }
        meridiem = word;
        at += 2;
        return true;
    }

    private boolean fraction(int digits) {
        int start = at;
        long value = 0;
        while (at < text.length() && at < start + digits && isDigit(text.charAt(at))) {
            value = value * 10 + (text.charAt(at++) - '0');
        }
        if (at == start) {
            return fail("expected a number");
        }
        for (int i = at - start; i < 9; i++) {
            value *= 10;
        }
        fraction = value / 1000;
        return true;
    }

    /** {@code +02}, {@code -0230} or {@code +02:30}, or Z. */
    private boolean zone() {
        if (at < text.length() && text.charAt(at) == 'Z') {
            at++;
            return true;
        }
        Matcher offset = ZONE.matcher(text).region(at, text.length());
        if (!offset.lookingAt()) {
            return fail("expected a distance from UTC");
        }
        int minutes = offset.group(3) == null ? 0 : Integer.parseInt(offset.group(3));
        zoneMinutes = Integer.parseInt(offset.group(2)) * 60 + minutes;
        zoneMinutes = offset.group(1).equals("-") ? -zoneMinutes : zoneMinutes;
        at = offset.end();
        return true;
    }
}
