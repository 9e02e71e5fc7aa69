package dev.millrace.text;

import dev.millrace.memory.Memory;

/**
 * The fields that a {@link TimestampFormat} reads out of a text, one after another: year, month, ..., zone. Holds the
 * place it has come to, so it belongs to one parser.
 */
final class DateTimeFields {
    private static final String[] MONTHS = {
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december"
    };
    private static final int SHORTEST_MONTH = 3;
    private static final int ROUNDING_DIGITS = 7; // one more than are kept
    private static final int NO_MERIDIAN = -1;

    private long at;
    private long end;
    private int year;
    private int month;
    private int day;
    private int hour;
    private int minute;
    private int second;
    private int micros;
    private int meridian; // hours to add, 0 or 12
    private int zoneMinutes;
    private int number; // the last read

    void start(long address, long limit) {
        at = address;
        end = limit;
        year = 1970;
        month = 1;
        day = 1;
        hour = 0;
        minute = 0;
        second = 0;
        micros = 0;
        meridian = NO_MERIDIAN;
        zoneMinutes = 0;
    }

    boolean isAtEnd() {
        return at == end;
    }

    boolean takeByte(byte wanted) {
        return at < end && Memory.getByte(at++) == wanted;
    }

    /** Reads a field; {@code exact} when as many digits as it can have must be there. */
    boolean take(TimestampFormat.Part part, boolean exact) {
        switch (part) {
            case YEAR -> {
                boolean read = takeNumber(4, true);
                year = number;
                return read;
            }
            case SHORT_YEAR -> {
                boolean read = takeNumber(2, true);
                year = number + (number < 70 ? 2000 : 1900);
                return read;
            }
            case MONTH -> {
                boolean read = takeNumber(2, exact);
                month = number;
                return read;
            }
            case DAY -> {
                boolean read = takeNumber(2, exact);
                day = number;
                return read;
            }
            case HOUR -> {
                boolean read = takeNumber(2, exact);
                hour = number;
                return read;
            }
            case MINUTE -> {
                boolean read = takeNumber(2, exact);
                minute = number;
                return read;
            }
            case SECOND -> {
                boolean read = takeNumber(2, exact);
                second = number;
                return read;
            }
            case MONTH_NAME -> {
                return takeMonthName();
            }
            case FRACTION -> {
                return takeFraction();
            }
            case MERIDIAN -> {
                return takeMeridian();
            }
            case ZONE -> {
                return takeZone();
            }
            default -> throw new IllegalArgumentException(part + " is no field");
        }
    }

    /** The fields as microseconds since 1970-01-01 00:00, in the parser's result. */
    int finish(ValueParser out) {
        if (meridian != NO_MERIDIAN) {
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
        long seconds = CivilDays.of(year, month, day) * 86_400 + hour * 3600L + (minute - zoneMinutes) * 60L + second;
        out.low = seconds * 1_000_000 + micros;
        return ValueParser.OK;
    }

    private boolean takeNumber(int most, boolean exact) {
        int digits = 0;
        number = 0;
        while (digits < most && at < end && WordBytes.isDigit(at)) {
            number = number * 10 + Memory.getByte(at++) - '0';
            digits++;
        }
        return exact ? digits == most : digits > 0;
    }

    private boolean takeMonthName() {
        long start = at;
        while (at < end && WordBytes.isLetter(at)) {
            at++;
        }
        for (int i = 0; i < MONTHS.length; i++) {
            if (WordBytes.prefixOf(start, at, MONTHS[i], SHORTEST_MONTH)) {
                month = i + 1;
                return true;
            }
        }
        return false;
    }

    private boolean takeFraction() {
        int digits = 0;
        int scaled = 0;
        for (; at < end && WordBytes.isDigit(at); at++) {
            if (digits < ROUNDING_DIGITS) {
                scaled = scaled * 10 + Memory.getByte(at) - '0';
                digits++;
            }
        }
        if (digits == 0) {
            return false;
        }
        for (; digits < ROUNDING_DIGITS; digits++) {
            scaled *= 10;
        }
        micros = (scaled + 5) / 10;
        return true;
    }

    private boolean takeMeridian() {
        boolean am = WordBytes.startsWith(at, end, "am");
        if (!am && !WordBytes.startsWith(at, end, "pm")) {
            return false;
        }
        meridian = am ? 0 : 12;
        at += 2;
        return true;
    }

    private boolean takeZone() {
        if (WordBytes.startsWith(at, end, "z")) {
            at++;
            return true;
        }
        if (WordBytes.startsWith(at, end, "utc") || WordBytes.startsWith(at, end, "gmt")) {
            at += 3;
            return true;
        }
        if (at == end) {
            return false;
        }
        byte sign = Memory.getByte(at++);
        if ((sign != '+' && sign != '-') || !takeNumber(2, true)) {
            return false;
        }
        int minutes = number * 60;
        boolean colon = at < end && Memory.getByte(at) == ':';
        if (colon || (end - at >= 2 && WordBytes.isDigit(at))) {
            at += colon ? 1 : 0;
            if (!takeNumber(2, true)) {
                return false;
            }
            minutes += number;
        }
        zoneMinutes = sign == '-' ? -minutes : minutes;
        return true;
    }
}
