package dev.millrace.sketch.csv;

import java.math.BigDecimal;
import java.time.DateTimeException;
import java.time.LocalDate;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Times as files write them, kept to the last digit.
 *
 * @param seconds since 1970, with as many digits as were written
 * @param form how it was written
 */
public record TimeText(BigDecimal seconds, Form form) {
    /** How times are written. */
    public enum Form {
        /** {@code 2026-01-31 23:59:59.5}, also with a T and a Z; {@code 31.01.2026 23:59:59}, also without the time. */
        TIMESTAMP,
        /** A number. */
        NUMBER
    }

    private static final Pattern DOTTED = Pattern.compile(
            "(\\d{1,2})\\.(\\d{1,2})\\.(\\d{4})(?:[ T](\\d{1,2})[:.](\\d{2})(?:[:.](\\d{2}(?:\\.\\d{1,9})?))?)?");

    /** Reads a timestamp, or nothing; numbers are not looked at. A day may stand first, between points. */
    static Optional<TimeText> parse(String text) {
        if (text.length() > 4 && (text.charAt(1) == '.' || text.charAt(2) == '.')) {
            return parseDotted(text);
        }
        if (text.length() < 16 || text.charAt(4) != '-' || text.charAt(7) != '-' || text.charAt(13) != ':') {
            return Optional.empty();
        }
        char between = text.charAt(10);
        if (between != ' ' && between != 'T') {
            return Optional.empty();
        }
        try {
            String rest = text.endsWith("Z") ? text.substring(16, text.length() - 1) : text.substring(16);
            long day = LocalDate.of(digits(text, 0, 4), digits(text, 5, 7), digits(text, 8, 10))
                    .toEpochDay();
            long minutes = day * 1440 + digits(text, 11, 13) * 60L + digits(text, 14, 16);
            BigDecimal second = rest.isEmpty()
                    ? BigDecimal.ZERO
                    : rest.charAt(0) == ':' ? new BigDecimal(rest.substring(1)) : new BigDecimal("x");
            return second.signum() < 0 || second.scale() > 9
                    ? Optional.empty()
                    : Optional.of(new TimeText(BigDecimal.valueOf(minutes * 60).add(second), Form.TIMESTAMP));
        } catch (NumberFormatException | DateTimeException e) {
            return Optional.empty();
        }
    }

    private static Optional<TimeText> parseDotted(String text) {
        Matcher matcher = DOTTED.matcher(text);
        if (!matcher.matches()) {
            return Optional.empty();
        }
        try {
            long day = LocalDate.of(
                            Integer.parseInt(matcher.group(3)),
                            Integer.parseInt(matcher.group(2)),
                            Integer.parseInt(matcher.group(1)))
                    .toEpochDay();
            long hour = matcher.group(4) == null ? 0 : Integer.parseInt(matcher.group(4));
            long minute = matcher.group(5) == null ? 0 : Integer.parseInt(matcher.group(5));
            BigDecimal second = matcher.group(6) == null ? BigDecimal.ZERO : new BigDecimal(matcher.group(6));
            long minutes = (day * 24 + hour) * 60 + minute;
            return hour > 23 || minute > 59 || second.compareTo(BigDecimal.valueOf(61)) >= 0
                    ? Optional.empty()
                    : Optional.of(new TimeText(BigDecimal.valueOf(minutes * 60).add(second), Form.TIMESTAMP));
        } catch (DateTimeException e) {
            return Optional.empty();
        }
    }

    private static int digits(String text, int from, int to) {
        int value = 0;
        for (int i = from; i < to; i++) {
            int digit = text.charAt(i) - '0';
            if (digit < 0 || digit > 9) {
                throw new NumberFormatException();
            }
            value = value * 10 + digit;
        }
        return value;
    }

    /** A time as it was written, given the ticks. */
    public static String format(long ticks, long ticksPerSecond, Form form) {
        int digits = Long.toString(ticksPerSecond).length() - 1;
        if (form == Form.NUMBER) {
            return BigDecimal.valueOf(ticks, digits).toPlainString();
        }
        long seconds = Math.floorDiv(ticks, ticksPerSecond);
        long fraction = Math.floorMod(ticks, ticksPerSecond);
        long inDay = Math.floorMod(seconds, 86_400L);
        String text = String.format(
                java.util.Locale.ROOT,
                "%s %02d:%02d:%02d",
                LocalDate.ofEpochDay(Math.floorDiv(seconds, 86_400L)),
                inDay / 3600,
                inDay / 60 % 60,
                inDay % 60);
        return digits == 0 ? text : text + "." + String.format(java.util.Locale.ROOT, "%0" + digits + "d", fraction);
    }
}
