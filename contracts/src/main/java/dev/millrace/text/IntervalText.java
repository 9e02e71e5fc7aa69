package dev.millrace.text;

import dev.millrace.batch.Memory;

/**
 * Reads and writes intervals: PostgreSQL's {@code 1 year 2 mons 3 days 04:05:06.7 [ago]} with its abbreviations, ISO
 * 8601's {@code P1Y2M3DT4H5M6.7S}, and the standard's {@code 1-2} (years and months) and {@code 3 4:05:06}. A bare number
 * is seconds. A fraction of a unit goes into the smaller units: half a month is 15 days, half a day 12 hours.
 */
final class IntervalText {
    private static final long MICROS_PER_SECOND = 1_000_000;
    private static final long MICROS_PER_MINUTE = 60 * MICROS_PER_SECOND;
    private static final long MICROS_PER_HOUR = 60 * MICROS_PER_MINUTE;
    private static final int NANO_DIGITS = 9;

    private long at;
    private long end;
    private long months;
    private long days;
    private long micros;

    // The last number read: whole and, of the same sign, nanos of one.
    private boolean negative;
    private long whole;
    private long nanos;

    int parse(long address, long limit, ValueParser out) {
        at = Blanks.skip(address, limit);
        end = Blanks.trimEnd(at, limit);
        months = 0;
        days = 0;
        micros = 0;
        int outcome;
        try {
            boolean iso = at < end && (Memory.getByte(at) | 0x20) == 'p';
            outcome = iso ? readIso() : readVerbose();
        } catch (ArithmeticException e) {
            outcome = ValueParser.FIELD;
        }
        if (outcome != ValueParser.OK) {
            return outcome;
        }
        boolean fits = months == (int) months && days == (int) days && Math.abs(micros) <= Long.MAX_VALUE / 1000;
        out.high = (months & 0xffff_ffffL) | days << 32;
        out.low = micros;
        return fits ? ValueParser.OK : ValueParser.FIELD;
    }

    private int readVerbose() {
        if (at < end && Memory.getByte(at) == '@') {
            at = Blanks.skip(at + 1, end);
        }
        if (at == end) {
            return ValueParser.SYNTAX;
        }
        while (at < end) {
            if (takeWord("ago")) {
                months = -months;
                days = -days;
                micros = -micros;
                return at == end ? ValueParser.OK : ValueParser.SYNTAX;
            }
            if (!readNumber()) {
                return ValueParser.SYNTAX;
            }
            int outcome;
            if (at < end && Memory.getByte(at) == ':') {
                outcome = readClock();
            } else if (at < end && Memory.getByte(at) == '-' && nanos == 0) {
                outcome = readYearMonth();
            } else {
                at = Blanks.skip(at, end);
                outcome = readUnit();
            }
            if (outcome != ValueParser.OK) {
                return outcome;
            }
            at = Blanks.skip(at, end);
        }
        return ValueParser.OK;
    }

    private int readUnit() {
        if (at == end) {
            return addSeconds();
        }
        long start = at;
        while (at < end && isLetter()) {
            at++;
        }
        if (at == start) {
            // A number without a unit before a clock: days of the standard's form.
            return isDigit() || Memory.getByte(at) == '-' || Memory.getByte(at) == '+'
                    ? addDays(1)
                    : ValueParser.SYNTAX;
        }
        return addUnit(start, (int) (at - start));
    }

    private int addUnit(long start, int length) {
        if (is(start, length, "d", "day", "days")) {
            return addDays(1);
        }
        if (is(start, length, "h", "hr", "hrs", "hour", "hours")) {
            return addMicros(MICROS_PER_HOUR);
        }
        if (is(start, length, "m", "min", "mins", "minute", "minutes")) {
            return addMicros(MICROS_PER_MINUTE);
        }
        if (is(start, length, "s", "sec", "secs", "second", "seconds")) {
            return addSeconds();
        }
        if (is(start, length, "ms", "msec", "msecs", "millisecond", "milliseconds")) {
            return addMicros(1000);
        }
        if (is(start, length, "us", "usec", "usecs", "microsecond", "microseconds")) {
            return addMicros(1);
        }
        if (is(start, length, "w", "week", "weeks")) {
            return addDays(7);
        }
        if (is(start, length, "mon", "mons", "month", "months")) {
            return addMonths(1);
        }
        if (is(start, length, "y", "yr", "yrs", "year", "years")) {
            return addMonths(12);
        }
        if (is(start, length, "decade", "decades", "dec", "decs")) {
            return addMonths(120);
        }
        if (is(start, length, "century", "centuries", "cent", "c")) {
            return addMonths(1200);
        }
        if (is(start, length, "millennium", "millennia", "mil", "mils")) {
            return addMonths(12_000);
        }
        return ValueParser.SYNTAX;
    }

    /** HH:MM[:SS[.f]], its sign that of the hours; the number before the colon was read. */
    private int readClock() {
        boolean minus = negative;
        if (nanos != 0) {
            return ValueParser.SYNTAX;
        }
        long clock = Math.multiplyExact(whole, MICROS_PER_HOUR);
        at++;
        if (!isDigitHere() || !readNumber()) {
            return ValueParser.SYNTAX;
        }
        if (whole > 59) {
            return ValueParser.FIELD;
        }
        clock += whole * MICROS_PER_MINUTE;
        if (nanos != 0) {
            return ValueParser.SYNTAX;
        }
        if (at < end && Memory.getByte(at) == ':') {
            at++;
            if (!isDigitHere() || !readNumber()) {
                return ValueParser.SYNTAX;
            }
            if (whole > 59) {
                return ValueParser.FIELD;
            }
            clock += whole * MICROS_PER_SECOND + fractionOf(MICROS_PER_SECOND);
        }
        micros = Math.addExact(micros, minus ? -clock : clock);
        return ValueParser.OK;
    }

    /** Y-M of the standard. */
    private int readYearMonth() {
        boolean minus = negative;
        long years = whole;
        at++;
        if (!isDigitHere() || !readNumber() || nanos != 0) {
            return ValueParser.SYNTAX;
        }
        if (whole > 11) {
            return ValueParser.FIELD;
        }
        long total = Math.addExact(Math.multiplyExact(years, 12L), whole);
        months = Math.addExact(months, minus ? -total : total);
        return ValueParser.OK;
    }

    private int readIso() {
        at++;
        boolean time = false;
        boolean any = false;
        while (at < end) {
            if ((Memory.getByte(at) | 0x20) == 't' && !time) {
                time = true;
                at++;
                continue;
            }
            if (!readNumber() || at == end) {
                return ValueParser.SYNTAX;
            }
            any = true;
            int unit = Memory.getByte(at++) | 0x20;
            int outcome = switch (unit) {
                case 'y' -> time ? ValueParser.SYNTAX : addMonths(12);
                case 'm' -> time ? addMicros(MICROS_PER_MINUTE) : addMonths(1);
                case 'w' -> time ? ValueParser.SYNTAX : addDays(7);
                case 'd' -> time ? ValueParser.SYNTAX : addDays(1);
                case 'h' -> time ? addMicros(MICROS_PER_HOUR) : ValueParser.SYNTAX;
                case 's' -> time ? addSeconds() : ValueParser.SYNTAX;
                default -> ValueParser.SYNTAX;
            };
            if (outcome != ValueParser.OK) {
                return outcome;
            }
        }
        return any ? ValueParser.OK : ValueParser.SYNTAX;
    }

    private int addMonths(long each) {
        long signed = negative ? -whole : whole;
        months = Math.addExact(months, Math.multiplyExact(signed, each));
        if (nanos != 0) {
            if (each > 1) { // of a year or more: months, rounded
                long part = Math.round(nanos * (double) each / 1e9);
                months += negative ? -part : part;
            } else { // of a month: days of 30, then time
                spillDays(nanos * 30);
            }
        }
        return ValueParser.OK;
    }

    private int addDays(long each) {
        long signed = negative ? -whole : whole;
        days = Math.addExact(days, Math.multiplyExact(signed, each));
        spillDays(nanos * each);
        return ValueParser.OK;
    }

    /** Adds that many billionths of days, whole days apart. */
    private void spillDays(long billionths) {
        long wholeDays = billionths / 1_000_000_000;
        long part = Math.round((billionths % 1_000_000_000) * (CivilDays.MICROS_PER_DAY / 1e9));
        days += negative ? -wholeDays : wholeDays;
        micros = Math.addExact(micros, negative ? -part : part);
    }

    private int addSeconds() {
        return addMicros(MICROS_PER_SECOND);
    }

    private int addMicros(long each) {
        long total = Math.addExact(Math.multiplyExact(whole, each), fractionOf(each));
        micros = Math.addExact(micros, negative ? -total : total);
        return ValueParser.OK;
    }

    private long fractionOf(long unit) {
        return unit == MICROS_PER_SECOND ? (nanos + 500) / 1000 : Math.round(nanos * (unit / 1e9));
    }

    private boolean readNumber() {
        negative = false;
        whole = 0;
        nanos = 0;
        if (at < end && (Memory.getByte(at) == '-' || Memory.getByte(at) == '+')) {
            negative = Memory.getByte(at) == '-';
            at++;
        }
        long start = at;
        for (; at < end && isDigit(); at++) {
            whole = Math.addExact(Math.multiplyExact(whole, 10L), Memory.getByte(at) - '0');
        }
        long digits = at - start;
        if (at < end && Memory.getByte(at) == '.') {
            at++;
            int places = 0;
            for (; at < end && isDigit(); at++, places++) {
                if (places < NANO_DIGITS) {
                    nanos = nanos * 10 + Memory.getByte(at) - '0';
                }
            }
            digits += places;
            for (; places < NANO_DIGITS; places++) {
                nanos *= 10;
            }
        }
        return digits > 0;
    }

    private boolean is(long start, int length, String... words) {
        for (String word : words) {
            if (word.length() == length && matches(start, word)) {
                return true;
            }
        }
        return false;
    }

    private boolean takeWord(String word) {
        if (end - at < word.length() || !matches(at, word)) {
            return false;
        }
        at += word.length();
        return true;
    }

    private static boolean matches(long start, String word) {
        for (int i = 0; i < word.length(); i++) {
            if ((Memory.getByte(start + i) | 0x20) != word.charAt(i)) {
                return false;
            }
        }
        return true;
    }

    private boolean isDigitHere() {
        return at < end && isDigit();
    }

    private boolean isDigit() {
        byte c = Memory.getByte(at);
        return c >= '0' && c <= '9';
    }

    private boolean isLetter() {
        int c = Memory.getByte(at) | 0x20;
        return c >= 'a' && c <= 'z';
    }

    /** Writes {@code 1 year 2 mons -3 days +04:05:06.7}: a sign wherever it differs from the part before. */
    static void write(TextBuffer out, int months, int days, long micros) {
        boolean anything = false;
        boolean negativeBefore = false;
        int[] counts = {months / 12, months % 12, days};
        String[] units = {"year", "mon", "day"};
        for (int i = 0; i < counts.length; i++) {
            int count = counts[i];
            if (count == 0) {
                continue;
            }
            if (anything) {
                out.append(' ');
            }
            if (negativeBefore && count > 0) {
                out.append('+');
            }
            Digits.writeLong(out, count);
            out.append(' ');
            out.appendAscii(units[i]);
            if (count != 1) {
                out.append('s');
            }
            negativeBefore = count < 0;
            anything = true;
        }
        if (micros != 0 || !anything) {
            if (anything) {
                out.append(' ');
            }
            if (micros < 0) {
                out.append('-');
            } else if (negativeBefore) {
                out.append('+');
            }
            writeClock(out, Math.abs(micros));
        }
    }

    private static void writeClock(TextBuffer out, long micros) {
        long hours = micros / MICROS_PER_HOUR;
        int seconds = (int) (micros % MICROS_PER_HOUR / MICROS_PER_SECOND);
        long to = out.room(40);
        to = Digits.write(to, hours, Math.max(2, Digits.count(hours)));
        Memory.putByte(to++, (byte) ':');
        to = Digits.two(to, seconds / 60);
        Memory.putByte(to++, (byte) ':');
        to = Digits.two(to, seconds % 60);
        out.end(Digits.microseconds(to, (int) (micros % MICROS_PER_SECOND)));
    }
}
