package dev.millrace.text;

import dev.millrace.memory.Memory;

/**
 * Reads and writes intervals: PostgreSQL's {@code 1 year 2 mons 3 days 04:05:06.7 [ago]} with its abbreviations, ISO
 * 8601's {@code P1Y2M3DT4H5M6.7S} and its alternative {@code P0001-02-03T04:05:06.7}, and the standard's {@code 1-2} (years and
 * months) and {@code 3 4:05:06}. A bare number is seconds. No unit is said twice. A fraction of a unit goes into the smaller units: half a month is 15
 * days, half a day 12 hours.
 */
final class IntervalText {
    private static final long MICROS_PER_SECOND = 1_000_000;
    private static final long MICROS_PER_MINUTE = 60 * MICROS_PER_SECOND;
    private static final long MICROS_PER_HOUR = 60 * MICROS_PER_MINUTE;
    private static final int NANO_DIGITS = 9;
    private static final long MOST_MICROS = Long.MAX_VALUE / 1000; // as vectors have them in nanoseconds
    private static final String[] WRITTEN = {"year", "mon", "day"};

    // The names of each unit; addUnit knows them by their places.
    private static final String[][] UNITS = {
        {"d", "day", "days"},
        {"h", "hr", "hrs", "hour", "hours"},
        {"m", "min", "mins", "minute", "minutes"},
        {"s", "sec", "secs", "second", "seconds"},
        {"ms", "msec", "msecs", "millisecond", "milliseconds"},
        {"us", "usec", "usecs", "microsecond", "microseconds"},
        {"w", "week", "weeks"},
        {"mon", "mons", "month", "months"},
        {"y", "yr", "yrs", "year", "years"},
        {"decade", "decades", "dec", "decs"},
        {"century", "centuries", "cent", "c"},
        {"millennium", "millennia", "millenniums", "mil", "mils"},
    };

    private static final int SUBSECONDS = 1 << 4 | 1 << 5; // by the places of their units
    private static final int SECONDS = 1 << 3;
    private static final int CLOCK = 1 << 1 | 1 << 2 | SECONDS | SUBSECONDS;
    private static final int MONTHS = 1 << 7;

    private long at;
    private long end;
    private int seen; // units that were read, by their places
    private long months;
    private long days;
    private long micros;

    // The last number read: whole and, of the same sign, nanos of one.
    private boolean negative;
    private long whole;
    private long nanos;
    private boolean fraction; // whether it has a point

    int parse(long address, long limit, ValueParser out) {
        at = Blanks.skip(address, limit);
        end = Blanks.trimEnd(at, limit);
        months = 0;
        days = 0;
        micros = 0;
        seen = 0;
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
        boolean fits = months == (int) months && days == (int) days && micros >= -MOST_MICROS && micros <= MOST_MICROS;
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
                outcome = isNew(CLOCK) ? readClock() : ValueParser.SYNTAX;
            } else if (at < end && Memory.getByte(at) == '-' && nanos == 0) {
                outcome = isNew(MONTHS) ? readYearMonth() : ValueParser.SYNTAX;
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
            return isNew(nanos == 0 ? SECONDS : SECONDS | SUBSECONDS) ? addSeconds() : ValueParser.SYNTAX;
        }
        long start = at;
        while (at < end && WordBytes.isLetter(at)) {
            at++;
        }
        if (at == start) {
            // A number without a unit before a clock: days of the standard's form.
            return isClock(at) && isNew(1) ? addDays(1) : ValueParser.SYNTAX;
        }
        return addUnit(start);
    }

    /** Whether digits with a colon behind them are there, perhaps with a sign. */
    private boolean isClock(long from) {
        long digit = Memory.getByte(from) == '-' || Memory.getByte(from) == '+' ? from + 1 : from;
        long behind = digit;
        while (behind < end && WordBytes.isDigit(behind)) {
            behind++;
        }
        return behind > digit && behind < end && Memory.getByte(behind) == ':';
    }

    /** Whether none of the units were read so far; from now on they are. */
    private boolean isNew(int units) {
        boolean isNew = (seen & units) == 0;
        seen |= units;
        return isNew;
    }

    private int addUnit(long start) {
        for (int unit = 0; unit < UNITS.length; unit++) {
            if (WordBytes.equalAny(start, at, UNITS[unit])) {
                int bits = 1 << unit;
                if (!isNew(bits == SECONDS && nanos != 0 ? SECONDS | SUBSECONDS : bits)) {
                    return ValueParser.SYNTAX;
                }
                return switch (unit) {
                    case 0 -> addDays(1);
                    case 1 -> addMicros(MICROS_PER_HOUR);
                    case 2 -> addMicros(MICROS_PER_MINUTE);
                    case 3 -> addMicros(MICROS_PER_SECOND);
                    case 4 -> addMicros(1000);
                    case 5 -> addMicros(1);
                    case 6 -> addDays(7);
                    case 7 -> addMonths(1);
                    case 8 -> addMonths(12);
                    case 9 -> addMonths(120);
                    case 10 -> addMonths(1200);
                    default -> addMonths(12_000);
                };
            }
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
        if (fraction) { // 1:30.5 is minutes and seconds
            if (clock > 59 * MICROS_PER_HOUR) {
                return ValueParser.FIELD;
            }
            clock = clock / 60 + whole * MICROS_PER_SECOND + fractionOf(MICROS_PER_SECOND);
            micros = Math.addExact(micros, minus ? -clock : clock);
            return ValueParser.OK;
        }
        clock += whole * MICROS_PER_MINUTE;
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
        boolean any = false; // in the part at hand
        boolean anywhere = false;
        while (at < end) {
            if ((Memory.getByte(at) | 0x20) == 't' && !time) {
                time = true;
                any = false;
                at++;
                continue;
            }
            long start = at;
            if (!readNumber()) {
                return ValueParser.SYNTAX;
            }
            int outcome;
            if (isAlternative(time)) {
                outcome = any ? ValueParser.SYNTAX : time ? readIsoClock(start) : readIsoDate(start);
            } else {
                outcome = readIsoUnit(time);
            }
            if (outcome != ValueParser.OK) {
                return outcome;
            }
            any = true;
            anywhere = true;
        }
        return anywhere ? ValueParser.OK : ValueParser.SYNTAX;
    }

    private int readIsoUnit(boolean time) {
        int unit = Memory.getByte(at++) | 0x20;
        return switch (unit) {
            case 'y' -> time ? ValueParser.SYNTAX : addMonths(12);
            case 'm' -> time ? addMicros(MICROS_PER_MINUTE) : addMonths(1);
            case 'w' -> time ? ValueParser.SYNTAX : addDays(7);
            case 'd' -> time ? ValueParser.SYNTAX : addDays(1);
            case 'h' -> time ? addMicros(MICROS_PER_HOUR) : ValueParser.SYNTAX;
            case 's' -> time ? addSeconds() : ValueParser.SYNTAX;
            default -> ValueParser.SYNTAX;
        };
    }

    /** Whether what follows a number is of the form without letters. */
    private boolean isAlternative(boolean time) {
        return at == end || Memory.getByte(at) == (time ? ':' : '-') || !time && (Memory.getByte(at) | 0x20) == 't';
    }

    private boolean isDigits(long start, int count) {
        for (long i = start; i < start + count; i++) {
            if (i >= end || !WordBytes.isDigit(i)) {
                return false;
            }
        }
        return start + count >= end || !WordBytes.isDigit(start + count);
    }

    /** Years, months and days: {@code 0001-02-03} or {@code 00010203}; its first number was read. */
    private int readIsoDate(long start) {
        if (isDigits(start, 8) && (at == end || Memory.getByte(at) != '-')) {
            long date = whole;
            whole = date / 10_000;
            long part = nanos;
            nanos = 0;
            addMonths(12);
            whole = date / 100 % 100;
            addMonths(1);
            whole = date % 100;
            nanos = part;
            return addDays(1);
        }
        addMonths(12);
        for (int unit = 1; unit <= 2 && at < end && Memory.getByte(at) == '-'; unit++) {
            at++;
            if (!readNumber()) {
                return ValueParser.SYNTAX;
            }
            if (unit == 1) {
                addMonths(1);
            } else {
                addDays(1);
            }
        }
        return at == end || (Memory.getByte(at) | 0x20) == 't' ? ValueParser.OK : ValueParser.SYNTAX;
    }

    /** Hours, minutes and seconds, which end the text: {@code 04:05:06.7} or {@code 040506}; its first number was read. */
    private int readIsoClock(long start) {
        if (isDigits(start, 6) && at == end) {
            long clock = whole;
            long seconds = clock / 10_000 * 3600 + clock / 100 % 100 * 60 + clock % 100;
            whole = seconds;
            return addSeconds();
        }
        addMicros(MICROS_PER_HOUR);
        long each = MICROS_PER_HOUR;
        while (each > MICROS_PER_SECOND && at < end && Memory.getByte(at) == ':') {
            at++;
            if (!readNumber()) {
                return ValueParser.SYNTAX;
            }
            each /= 60;
            addMicros(each);
        }
        return at == end ? ValueParser.OK : ValueParser.SYNTAX;
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
        fraction = false;
        whole = 0;
        nanos = 0;
        if (at < end && (Memory.getByte(at) == '-' || Memory.getByte(at) == '+')) {
            negative = Memory.getByte(at) == '-';
            at = Blanks.skip(at + 1, end); // 1 month - 1 second
        }
        long start = at;
        for (; at < end && WordBytes.isDigit(at); at++) {
            whole = Math.addExact(Math.multiplyExact(whole, 10L), Memory.getByte(at) - '0');
        }
        long digits = at - start;
        if (at < end && Memory.getByte(at) == '.') {
            at++;
            fraction = true;
            int places = 0;
            for (; at < end && WordBytes.isDigit(at); at++, places++) {
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

    private boolean takeWord(String word) {
        if (!WordBytes.startsWith(at, end, word)) {
            return false;
        }
        at += word.length();
        return true;
    }

    private boolean isDigitHere() {
        return at < end && WordBytes.isDigit(at);
    }

    /** Writes {@code 1 year 2 mons -3 days +04:05:06.7}: a sign wherever it differs from the part before. */
    static void write(TextBuffer out, int months, int days, long micros) {
        boolean anything = false;
        boolean negativeBefore = false;
        for (int unit = 0; unit < WRITTEN.length; unit++) {
            int count = unit == 0 ? months / 12 : unit == 1 ? months % 12 : days;
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
            out.appendAscii(WRITTEN[unit]);
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
