package dev.millrace.text;

import dev.millrace.batch.Memory;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * A compiled pattern of dates, times or both, in the letters of PostgreSQL's to_timestamp; several patterns between
 * {@code |} are tried in their order, each against the whole text.
 *
 * <pre>
 *   YYYY  year, four digits            HH24  hour 0 to 24              SS   second
 *   YY    year 1970 to 2069, two       HH12  hour 1 to 12 (also HH)    MS   digits of a fraction of a second,
 *   MM M  month 1 to 12                AM PM meridian, any case        US   any number (also FF)
 *   MON   month's name or its start    MI    minute                    TZ   Z, UTC or +HH[[:]MM]
 *   DD D  day of the month             "x"   the text x itself         any other character: itself
 *   iso        what a timestamp column reads without a format
 *   unix unix_ms unix_us   a number of seconds, milliseconds or microseconds since 1970, perhaps with a fraction
 * </pre>
 *
 * <p>One or two digits do for all but the years, except where the next letter follows without anything between. A
 * missing date is 1970-01-01, a missing time midnight. Immutable, safe on any thread.
 */
public final class TimestampFormat {
    // A longer name before its beginnings.
    private static final String[] FIELDS = {
        "YYYY", "YY", "MON", "MM", "MI", "MS", "M", "DD", "D", "HH24", "HH12", "HH", "SS", "US", "FF", "AM", "PM", "TZ"
    };
    private static final String MONTH_NAMES =
            "january february march april may june july august september october " + "november december ";

    /** One step: a field, or a literal byte when {@code field} is empty. */
    private record Step(String field, byte literal, boolean followedByDigits) {}

    private final String text;
    private final Step[][] alternatives;

    private TimestampFormat(String text, Step[][] alternatives) {
        this.text = text;
        this.alternatives = alternatives;
    }

    /**
     * Compiles a pattern.
     *
     * @throws MillraceException when an alternative is empty or a quote is left open
     */
    public static TimestampFormat compile(String pattern) {
        String[] parts = pattern.split("\\|", -1);
        Step[][] alternatives = new Step[parts.length][];
        for (int i = 0; i < parts.length; i++) {
            alternatives[i] = compileOne(parts[i].trim(), pattern);
        }
        return new TimestampFormat(pattern, alternatives);
    }

    private static Step[] compileOne(String part, String pattern) {
        if (part.isEmpty()) {
            throw MillraceException.user(
                    SqlState.INVALID_PARAMETER_VALUE, "timestamp format \"" + pattern + "\" has an empty alternative");
        }
        switch (part.toLowerCase(Locale.ROOT)) {
            case "iso", "unix", "unix_ms", "unix_us" -> {
                return new Step[] {new Step(part.toLowerCase(Locale.ROOT), (byte) 0, false)};
            }
            default -> {}
        }
        List<Step> steps = new ArrayList<>();
        int at = 0;
        while (at < part.length()) {
            if (part.charAt(at) == '"') {
                int close = part.indexOf('"', at + 1);
                if (close < 0) {
                    throw MillraceException.user(
                            SqlState.INVALID_PARAMETER_VALUE, "timestamp format \"" + pattern + "\" has an open quote");
                }
                addLiteral(steps, part.substring(at + 1, close));
                at = close + 1;
                continue;
            }
            String field = fieldAt(part, at);
            if (field.isEmpty()) {
                addLiteral(steps, part.substring(at, at + 1));
                at++;
            } else {
                at += field.length();
                boolean digitsNext = at < part.length() && !fieldAt(part, at).isEmpty();
                steps.add(new Step(field, (byte) 0, digitsNext));
            }
        }
        return steps.toArray(Step[]::new);
    }

    private static void addLiteral(List<Step> steps, String literal) {
        for (byte b : literal.getBytes(java.nio.charset.StandardCharsets.UTF_8)) {
            steps.add(new Step("", b, false));
        }
    }

    private static String fieldAt(String part, int at) {
        for (String field : FIELDS) {
            if (part.regionMatches(true, at, field, 0, field.length())) {
                return field;
            }
        }
        return "";
    }

    int parse(long address, long limit, ValueParser out) {
        long at = Blanks.skip(address, limit);
        long end = Blanks.trimEnd(at, limit);
        int outcome = ValueParser.SYNTAX;
        for (Step[] alternative : alternatives) {
            int tried = parseOne(alternative, at, end, out);
            if (tried == ValueParser.OK) {
                return tried;
            }
            outcome = Math.max(outcome, tried); // a field out of range says more than a mismatch
        }
        return outcome;
    }

    private static int parseOne(Step[] steps, long start, long end, ValueParser out) {
        switch (steps[0].field()) {
            case "iso" -> {
                return out.tryTimestamptz(start, (int) (end - start)) ? ValueParser.OK : ValueParser.SYNTAX;
            }
            case "unix" -> {
                return NumericText.parse(start, end, 18, 6, out);
            }
            case "unix_ms" -> {
                return NumericText.parse(start, end, 18, 3, out);
            }
            case "unix_us" -> {
                return NumericText.parse(start, end, 18, 0, out);
            }
            default -> {}
        }
        int year = 1970;
        int month = 1;
        int day = 1;
        int hour = 0;
        int minute = 0;
        int second = 0;
        int micros = 0;
        int meridian = -1; // hours to add, 0 or 12
        long zoneMinutes = 0;
        long at = start;
        for (Step step : steps) {
            if (step.field().isEmpty()) {
                if (at == end || Memory.getByte(at) != step.literal()) {
                    return ValueParser.SYNTAX;
                }
                at++;
                continue;
            }
            switch (step.field()) {
                case "MON" -> {
                    int length = 0;
                    while (at + length < end && (Memory.getByte(at + length) | 0x20) >= 'a') {
                        length++;
                    }
                    month = monthNamed(at, length);
                    if (month == 0) {
                        return ValueParser.SYNTAX;
                    }
                    at += length;
                }
                case "AM", "PM" -> {
                    if (end - at < 2 || (Memory.getByte(at + 1) | 0x20) != 'm') {
                        return ValueParser.SYNTAX;
                    }
                    int letter = Memory.getByte(at) | 0x20;
                    if (letter != 'a' && letter != 'p') {
                        return ValueParser.SYNTAX;
                    }
                    meridian = letter == 'p' ? 12 : 0;
                    at += 2;
                }
                case "TZ" -> {
                    long read = zone(at, end);
                    if (read < 0) {
                        return ValueParser.SYNTAX;
                    }
                    at += read & 15;
                    zoneMinutes = (read >> 4) - 1440;
                }
                case "MS", "US", "FF" -> {
                    long digitsStart = at;
                    long scaled = 0;
                    for (; at < end && isDigit(at); at++) {
                        if (at - digitsStart < 7) {
                            scaled = scaled * 10 + Memory.getByte(at) - '0';
                        }
                    }
                    long digits = Math.min(7, at - digitsStart);
                    if (digits == 0) {
                        return ValueParser.SYNTAX;
                    }
                    for (; digits < 7; digits++) {
                        scaled *= 10;
                    }
                    micros = (int) ((scaled + 5) / 10);
                }
                default -> {
                    boolean isYear = step.field().equals("YYYY");
                    int most = isYear ? 4 : 2;
                    boolean exact = isYear || step.field().equals("YY") || step.followedByDigits();
                    int digits = 0;
                    int value = 0;
                    while (digits < most && at < end && isDigit(at)) {
                        value = value * 10 + Memory.getByte(at++) - '0';
                        digits++;
                    }
                    if (digits == 0 || (exact && digits != most)) {
                        return ValueParser.SYNTAX;
                    }
                    switch (step.field()) {
                        case "YYYY" -> year = value;
                        case "YY" -> year = value + (value < 70 ? 2000 : 1900);
                        case "MM", "M" -> month = value;
                        case "DD", "D" -> day = value;
                        case "HH24", "HH12", "HH" -> hour = value;
                        case "MI" -> minute = value;
                        default -> second = value;
                    }
                }
            }
        }
        if (at != end) {
            return ValueParser.SYNTAX;
        }
        if (meridian >= 0) {
            if (hour < 1 || hour > 12) {
                return ValueParser.FIELD;
            }
            hour = hour % 12 + meridian;
        }
        if (year == 0 || !CivilDays.isValid(year, month, day) || minute > 59 || second > 60) {
            return ValueParser.FIELD;
        }
        if (hour > 24 || (hour == 24 && (minute | second | micros) != 0)) {
            return ValueParser.FIELD;
        }
        long seconds =
                CivilDays.of(year, month, day) * 86_400 + hour * 3600L + minute * 60L + second - zoneMinutes * 60;
        out.low = seconds * 1_000_000 + micros;
        return ValueParser.OK;
    }

    private static int monthNamed(long at, int length) {
        if (length < 3) {
            return 0;
        }
        int month = 1;
        for (int name = 0; name < MONTH_NAMES.length(); name = MONTH_NAMES.indexOf(' ', name) + 1, month++) {
            int same = 0;
            while (same < length && (Memory.getByte(at + same) | 0x20) == MONTH_NAMES.charAt(name + same)) {
                same++;
            }
            if (same == length) {
                return month;
            }
        }
        return 0;
    }

    /** The bytes of a zone in the lower four bits and its minutes east of UTC plus 1440 above them, or -1. */
    private static long zone(long at, long end) {
        if (at == end) {
            return -1;
        }
        int sign = Memory.getByte(at);
        if ((sign | 0x20) == 'z') {
            return 1440L << 4 | 1;
        }
        if (end - at >= 3 && (Memory.getByte(at) | 0x20) == 'u' && (Memory.getByte(at + 1) | 0x20) == 't') {
            return 1440L << 4 | 3;
        }
        if ((sign != '+' && sign != '-') || end - at < 3 || !isDigit(at + 1) || !isDigit(at + 2)) {
            return -1;
        }
        int minutes = ((Memory.getByte(at + 1) - '0') * 10 + Memory.getByte(at + 2) - '0') * 60;
        long next = at + 3;
        boolean colon = next < end && Memory.getByte(next) == ':';
        long more = colon ? next + 1 : next;
        if (end - more >= 2 && isDigit(more) && isDigit(more + 1)) {
            minutes += (Memory.getByte(more) - '0') * 10 + Memory.getByte(more + 1) - '0';
            next = more + 2;
        } else if (colon) {
            return -1;
        }
        if (minutes >= 1440) {
            return -1;
        }
        return (1440L + (sign == '-' ? -minutes : minutes)) << 4 | (next - at);
    }

    private static boolean isDigit(long at) {
        byte c = Memory.getByte(at);
        return c >= '0' && c <= '9';
    }

    /** The pattern. */
    @Override
    public String toString() {
        return text;
    }
}
