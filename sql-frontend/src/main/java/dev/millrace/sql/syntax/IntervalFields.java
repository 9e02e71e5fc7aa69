package dev.millrace.sql.syntax;

import dev.millrace.plan.expression.IntervalValue;
import java.util.List;
import java.util.Optional;

/**
 * The fields of {@code INTERVAL DAY TO MINUTE}: what a number without a unit counts, and what smaller parts are cut off. A type
 * carries them as the number of its fields, behind that of its digits.
 *
 * @param first the place of the first among {@link #NAMES}
 * @param last of the last, which is the first where there is but one
 */
public record IntervalFields(int first, int last) {
    /** From the largest on. */
    public static final List<String> NAMES = List.of("year", "month", "day", "hour", "minute", "second");

    private static final int MINUTE = 4;
    private static final int SECOND = 5;
    private static final long HOUR_MICROS = 3_600_000_000L;
    private static final long MINUTE_MICROS = 60_000_000L;

    /** The number in a type; no digits of seconds are so many. */
    public int number() {
        return 100 + first * NAMES.size() + last;
    }

    public static Optional<IntervalFields> ofNumber(int number) {
        int fields = number - 100;
        return fields >= 0 && fields < NAMES.size() * NAMES.size()
                ? Optional.of(new IntervalFields(fields / NAMES.size(), fields % NAMES.size()))
                : Optional.empty();
    }

    public String lastName() {
        return NAMES.get(last);
    }

    /** Whether parts of an interval may be smaller than the last field; digits of seconds are another matter. */
    public boolean cuts() {
        return last < SECOND;
    }

    /** What a text means with these fields, as one that needs none. */
    public String read(String text) {
        String value = text.strip();
        if (value.matches("[+-]?[0-9]*\\.?[0-9]+|[+-]?[0-9]+\\.")) {
            return value + " " + lastName();
        }
        if (lastName().equals("hour") && value.matches("[+-]?[0-9]+\\s+[+-]?[0-9]+")) {
            return value.replaceFirst("\\s+", " days ") + " hours";
        }
        boolean minutes = first == MINUTE && last == SECOND && value.indexOf(':') == value.lastIndexOf(':');
        return minutes ? value.replaceFirst("(?<sign>[+-]?)(?<minutes>[0-9]+:)", "${sign}00:${minutes}") : value;
    }

    /** An interval without the parts smaller than the last field. */
    public IntervalValue cut(IntervalValue value) {
        return switch (lastName()) {
            case "year" -> new IntervalValue(value.months() - value.months() % 12, 0, 0);
            case "month" -> new IntervalValue(value.months(), 0, 0);
            case "day" -> new IntervalValue(value.months(), value.days(), 0);
            case "hour" -> cut(value, HOUR_MICROS);
            case "minute" -> cut(value, MINUTE_MICROS);
            default -> value;
        };
    }

    private static IntervalValue cut(IntervalValue value, long unit) {
        return new IntervalValue(value.months(), value.days(), value.micros() - value.micros() % unit);
    }
}
