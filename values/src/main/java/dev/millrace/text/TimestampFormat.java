package dev.millrace.text;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

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
 *   unix_days              a number of days since 1970
 * </pre>
 *
 * <p>One or two digits do for all but the years, except where the next letter follows without anything between. A
 * missing date is 1970-01-01, a missing time midnight. Immutable, safe on any thread.
 */
public final class TimestampFormat {
    /** What a step reads. */
    enum Part {
        YEAR("YYYY"),
        SHORT_YEAR("YY"),
        MONTH_NAME("MON"),
        MONTH("MM", "M"),
        DAY("DD", "D"),
        HOUR("HH24", "HH12", "HH"),
        MINUTE("MI"),
        SECOND("SS"),
        FRACTION("MS", "US", "FF"),
        MERIDIAN("AM", "PM"),
        ZONE("TZ"),
        LITERAL,
        ISO("ISO"),
        UNIX("UNIX"),
        UNIX_MILLIS("UNIX_MS"),
        UNIX_MICROS("UNIX_US"),
        UNIX_DAYS("UNIX_DAYS");

        private final List<String> names;

        Part(String... names) {
            this.names = List.of(names);
        }

        boolean isWhole() {
            return this == ISO || this == UNIX || this == UNIX_MILLIS || this == UNIX_MICROS || this == UNIX_DAYS;
        }
    }

    /** One step; {@code literal} counts for a LITERAL, {@code exact} when digits follow without anything between. */
    private record Step(Part part, byte literal, boolean exact) {}

    private static final int MOST_DIGITS = 18;
    private static final int MOST_DIGITS_OF_DAYS = 8;
    private static final long MICROS_PER_DAY = 86_400_000_000L;

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
        for (Part whole : Part.values()) {
            if (whole.isWhole() && part.equalsIgnoreCase(whole.names.get(0))) {
                return new Step[] {new Step(whole, (byte) 0, false)};
            }
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
                boolean fieldNext = at < part.length() && !fieldAt(part, at).isEmpty();
                steps.add(new Step(named(field), (byte) 0, fieldNext));
            }
        }
        return steps.toArray(Step[]::new);
    }

    private static void addLiteral(List<Step> steps, String literal) {
        for (byte b : literal.getBytes(StandardCharsets.UTF_8)) {
            steps.add(new Step(Part.LITERAL, b, false));
        }
    }

    /** The longest name of a field that the pattern has there, or nothing. */
    private static String fieldAt(String pattern, int at) {
        String longest = "";
        for (Part part : Part.values()) {
            for (String name : part.isWhole() ? List.<String>of() : part.names) {
                if (name.length() > longest.length() && pattern.regionMatches(true, at, name, 0, name.length())) {
                    longest = name;
                }
            }
        }
        return longest;
    }

    private static Part named(String name) {
        for (Part part : Part.values()) {
            if (part.names.contains(name)) {
                return part;
            }
        }
        throw new IllegalArgumentException(name);
    }

    int parse(long address, long limit, DateTimeFields fields, ValueParser out) {
        long at = Blanks.skip(address, limit);
        long end = Blanks.trimEnd(at, limit);
        int outcome = ValueParser.SYNTAX;
        for (Step[] alternative : alternatives) {
            int tried = parseOne(alternative, at, end, fields, out);
            if (tried == ValueParser.OK) {
                return tried;
            }
            outcome = Math.max(outcome, tried); // a field out of range says more than a mismatch
        }
        return outcome;
    }

    private static int parseOne(Step[] steps, long at, long end, DateTimeFields fields, ValueParser out) {
        switch (steps[0].part()) {
            case ISO -> {
                return out.tryTimestamptz(at, (int) (end - at)) ? ValueParser.OK : ValueParser.SYNTAX;
            }
            case UNIX -> {
                return NumericText.parse(at, end, MOST_DIGITS, 6, out);
            }
            case UNIX_MILLIS -> {
                return NumericText.parse(at, end, MOST_DIGITS, 3, out);
            }
            case UNIX_MICROS -> {
                return NumericText.parse(at, end, MOST_DIGITS, 0, out);
            }
            case UNIX_DAYS -> {
                int parsed = NumericText.parse(at, end, MOST_DIGITS_OF_DAYS, 0, out);
                out.low *= MICROS_PER_DAY;
                return parsed;
            }
            default -> fields.start(at, end);
        }
        for (Step step : steps) {
            boolean taken = step.part() == Part.LITERAL
                    ? fields.takeByte(step.literal())
                    : fields.take(step.part(), step.exact());
            if (!taken) {
                return ValueParser.SYNTAX;
            }
        }
        return fields.isAtEnd() ? fields.finish(out) : ValueParser.SYNTAX;
    }

    /** The pattern. */
    @Override
    public String toString() {
        return text;
    }
}
