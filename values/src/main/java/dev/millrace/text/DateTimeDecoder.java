package dev.millrace.text;

import dev.millrace.memory.Memory;
import java.nio.charset.StandardCharsets;
import java.time.ZoneId;
import java.util.Optional;

/**
 * Reads a date, a time and a zone in any of the forms, orders and separators that PostgreSQL takes: the text is split into fields by what their characters are, and each field
 * is what those before it leave open. Belongs to one {@link DateTimeText}; allocates nothing but for names of zones. Long because what a field means depends on all that is known,
 * which all of its forms share.
 *
 * <pre>
 *   1999-01-08 04:05:06.789 PST    Thu Jan 8 04:05:06 1999    19990108T040506-08    8-Jan-99    1999.008    J2451187    44-03-15 BC    04:05 PM
 * </pre>
 */
final class DateTimeDecoder {
    private static final int LONGEST = 128; // characters; PostgreSQL's MAXDATELEN
    private static final int MOST_FIELDS = 25;
    private static final int MOST_ZONE_HOURS = 15;
    private static final int UNIX_EPOCH = 2_440_588; // 1970-01-01 in Julian days

    // What is known so far, as bits.
    private static final int YEAR = 1;
    private static final int MONTH = 2;
    private static final int DAY = 4;
    private static final int DAY_OF_YEAR = 8;
    private static final int HOUR = 16;
    private static final int MINUTE = 32;
    private static final int SECOND = 64;
    private static final int ZONE = 128;
    private static final int SUMMER = 256;
    private static final int MERIDIAN = 512;
    private static final int ERA = 1024;
    private static final int WEEKDAY = 2048;
    private static final int DATE = YEAR | MONTH | DAY;
    private static final int TIME = HOUR | MINUTE | SECOND;

    /** What the characters of a field are. */
    private enum Kind {
        NUMBER,
        DATE,
        TIME,
        WORD,
        ZONE,
        SIGNED_WORD
    }

    private static final String[] MONTHS = {
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
        "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
                "december"
    };
    private static final String[] WEEKDAYS = {
        "sun",
        "sunday",
        "mon",
        "monday",
        "tue",
        "tues",
        "tuesday",
        "wed",
        "weds",
        "wednesday",
        "thu",
        "thur",
        "thurs",
        "thursday",
        "fri",
        "friday",
        "sat",
        "saturday"
    };

    /** A word that says what the number behind it is, or nothing. */
    private static final char NO_UNIT = 0;

    private final byte[] text = new byte[LONGEST];
    private int length;
    private int next; // place in the text
    private int from; // of the last field, inclusive
    private int to; // exclusive
    private Kind kind = Kind.NUMBER;
    private final int[] starts = new int[MOST_FIELDS];
    private final int[] ends = new int[MOST_FIELDS];
    private final Kind[] kinds = new Kind[MOST_FIELDS];

    private DateStyle.Order order = DateStyle.Order.MDY;
    private int known;
    private long year;
    private int month;
    private int day;
    private int dayOfYear;
    private int hour;
    private int minute;
    private int second;
    private int micros;
    private boolean isTextMonth;
    private boolean isShortYear;
    private boolean isJulian;
    private boolean isBeforeChrist;
    private int meridian; // hours to add, 0 or 12; -1 for a clock of 24 hours
    private char unit; // of the number to come
    private int outcome;

    // The result.
    private boolean isEpoch;
    private int infinity; // its sign, or 0
    private long zoneSeconds;
    private boolean zoneSeen;
    private Optional<ZoneClock> zoneNamed = Optional.empty();

    // The last name of a zone that was looked up.
    private String lastZoneName = "";
    private Optional<ZoneClock> lastZone = Optional.empty();
    private boolean zoneIsFixed;

    /** Has numbers of dates that say nothing by themselves taken in an order, from now on. */
    void inOrder(DateStyle.Order wanted) {
        order = wanted;
    }

    /**
     * Reads a text without blanks around it.
     *
     * @param isTimeAlone whether a time is wanted, beside which a date only names the day of a zone's offset
     * @return an outcome of {@link ValueParser}
     */
    int read(long address, long end, boolean isTimeAlone) {
        forget();
        if (end - address > LONGEST) {
            return ValueParser.SYNTAX;
        }
        length = (int) (end - address);
        for (int i = 0; i < length; i++) {
            byte c = Memory.getByte(address + i);
            text[i] = c >= 'A' && c <= 'Z' ? (byte) (c | 0x20) : c;
        }
        int count = 0;
        while (nextField() && outcome == ValueParser.OK) {
            if (count == MOST_FIELDS) {
                return ValueParser.SYNTAX;
            }
            starts[count] = from;
            ends[count] = to;
            kinds[count++] = kind;
        }
        boolean hasDay = count > 1 // beside a time
                && (kinds[0] == Kind.DATE && kinds[1] == Kind.TIME || kinds[count - 1] == Kind.DATE);
        for (int i = 0; i < count && outcome == ValueParser.OK; i++) {
            from = starts[i];
            to = ends[i];
            kind = kinds[i];
            int found = field(!isTimeAlone || i == 0 && hasDay, isTimeAlone);
            if (outcome != ValueParser.OK) {
                return outcome;
            }
            if ((found & known) != 0) {
                return ValueParser.SYNTAX; // twice
            }
            known |= found;
        }
        return outcome == ValueParser.OK ? finish(isTimeAlone) : outcome;
    }

    private void forget() {
        next = 0;
        known = 0;
        micros = 0;
        hour = 0;
        minute = 0;
        second = 0;
        isTextMonth = false;
        isShortYear = false;
        isJulian = false;
        isBeforeChrist = false;
        meridian = -1;
        unit = NO_UNIT;
        outcome = ValueParser.OK;
        isEpoch = false;
        infinity = 0;
        zoneSeconds = 0;
        zoneSeen = false;
        zoneNamed = Optional.empty();
    }

    private int fail(int why) {
        outcome = why;
        return 0;
    }

    private int syntax() {
        return fail(ValueParser.SYNTAX);
    }

    // ---- fields ----------------------------------------------------------------------------------------------------

    private boolean isDigit(int at) {
        return at < length && text[at] >= '0' && text[at] <= '9';
    }

    private boolean isLetter(int at) {
        return at < length && text[at] >= 'a' && text[at] <= 'z';
    }

    private boolean isOneOf(int at, String characters) {
        return at < length && text[at] > 0 && characters.indexOf(text[at]) >= 0;
    }

    private boolean isPunctuation(int at) {
        byte c = text[at];
        return c > ' ' && c < 127 && !isDigit(at) && !isLetter(at);
    }

    /** Finds the next field; false at the end, and where there is none but characters. */
    private boolean nextField() {
        while (next < length && (Blanks.isBlank(text[next]) || isPunctuation(next) && !isOneOf(next, ".+-"))) {
            next++;
        }
        if (next == length) {
            return false;
        }
        from = next;
        if (isDigit(next)) {
            numberField();
        } else if (text[next] == '.') {
            next++;
            digits();
            kind = Kind.NUMBER;
        } else if (isLetter(next)) {
            wordField();
        } else if (text[next] == '+' || text[next] == '-') {
            signedField();
        } else {
            syntax();
        }
        to = next;
        return true;
    }

    private void digits() {
        while (isDigit(next)) {
            next++;
        }
    }

    private void numberField() {
        kind = Kind.NUMBER;
        digits();
        if (next < length && text[next] == ':') {
            kind = Kind.TIME;
            while (isDigit(next) || isOneOf(next, ":.")) {
                next++;
            }
        } else if (isOneOf(next, "-/.")) {
            byte separator = text[next++];
            if (!isDigit(next)) {
                kind = Kind.DATE;
                while (isDigit(next) || isLetter(next) || next < length && text[next] == separator) {
                    next++;
                }
                return;
            }
            kind = separator == '.' ? Kind.NUMBER : Kind.DATE;
            digits();
            if (next < length && text[next] == separator) {
                kind = Kind.DATE;
                while (isDigit(next) || next < length && text[next] == separator) {
                    next++;
                }
            }
        }
    }

    private void wordField() {
        kind = Kind.WORD;
        while (isLetter(next)) {
            next++;
        }
        to = next;
        if (isOneOf(next, "-/.") || (isOneOf(next, "+") || isDigit(next)) && !isKnownWord()) {
            kind = Kind.DATE; // or the name of a zone
            while (isDigit(next) || isLetter(next) || isOneOf(next, "+-/_.:")) {
                next++;
            }
        }
    }

    private void signedField() {
        next++;
        int behind = next;
        while (behind < length && Blanks.isBlank(text[behind])) {
            behind++;
        }
        System.arraycopy(text, behind, text, next, length - behind); // the sign is of what follows
        length -= behind - next;
        if (isDigit(next)) {
            kind = Kind.ZONE;
            while (isDigit(next) || isOneOf(next, ":.-")) {
                next++;
            }
        } else if (isLetter(next)) {
            kind = Kind.SIGNED_WORD;
            while (isLetter(next)) {
                next++;
            }
        } else {
            syntax();
        }
    }

    private boolean is(String word) {
        return is(word, from, to);
    }

    private boolean is(String word, int start, int end) {
        if (end - start != word.length()) {
            return false;
        }
        for (int i = 0; i < word.length(); i++) {
            if (text[start + i] != word.charAt(i)) {
                return false;
            }
        }
        return true;
    }

    /** Of a name of three letters or all, or 0. */
    private int monthOf(int start, int end) {
        for (int i = 0; i < MONTHS.length; i++) {
            if (is(MONTHS[i], start, end)) {
                return i % 12 + 1;
            }
        }
        return is("sept", start, end) ? 9 : 0;
    }

    private boolean isWeekday() {
        for (String weekday : WEEKDAYS) {
            if (is(weekday)) {
                return true;
            }
        }
        return false;
    }

    /** The unit that a word gives to the number behind it. */
    private char unitOfWord() {
        if (is("j") || is("jd") || is("julian")) {
            return 'j';
        }
        return to - from == 1 && isOneOf(from, "ymdhst") ? (char) text[from] : is("mm") ? 'i' : NO_UNIT;
    }

    private boolean isKnownWord() {
        return monthOf(from, to) > 0
                || isWeekday()
                || unitOfWord() != NO_UNIT
                || is("am")
                || is("pm")
                || is("ad")
                || is("bc")
                || is("at")
                || is("on")
                || is("dst")
                || is("epoch")
                || is("infinity")
                || is("allballs");
    }

    // ---- what they mean --------------------------------------------------------------------------------------------

    /**
     * What a field means.
     *
     * @param mayBeDate whether it may be a date, if it looks like one
     * @return what is known by the field
     */
    private int field(boolean mayBeDate, boolean isTimeAlone) {
        return switch (kind) {
            case DATE -> dateField(mayBeDate, isTimeAlone);
            case TIME -> {
                if (unit != NO_UNIT && unit != 't') {
                    yield syntax();
                }
                unit = NO_UNIT;
                yield time();
            }
            case ZONE -> zone(from, to);
            case NUMBER -> number(mayBeDate, isTimeAlone);
            case WORD, SIGNED_WORD -> word(isTimeAlone);
        };
    }

    private int dateField(boolean mayBeDate, boolean isTimeAlone) {
        if (unit == 'j') {
            return julianWithZone();
        }
        if (!mayBeDate || unit != NO_UNIT || (known & (MONTH | DAY)) == (MONTH | DAY)) {
            if (!isDigit(from) && unit == NO_UNIT) {
                return zoneName();
            }
            return timeWithZone(isTimeAlone);
        }
        return date();
    }

    /** {@code J2451187-08}. */
    private int julianWithZone() {
        int sign = from;
        while (isDigit(sign)) {
            sign++;
        }
        long days = number(from, sign);
        if (days < 0) {
            return fail(ValueParser.FIELD);
        }
        setJulian(days);
        unit = NO_UNIT;
        return zone(sign, to) | DATE | TIME;
    }

    private void setJulian(long days) {
        isJulian = true;
        long packed = CivilDays.packed(days - UNIX_EPOCH);
        year = packed >> 9;
        month = (int) (packed >> 5) & 15;
        day = (int) packed & 31;
    }

    /** {@code 040506-08}. */
    private int timeWithZone(boolean isTimeAlone) {
        if (unit != NO_UNIT && unit != 't' || (known & TIME) == TIME) {
            return syntax();
        }
        unit = NO_UNIT;
        int sign = from;
        while (sign < to && text[sign] != '-') {
            sign++;
        }
        if (sign == to) {
            return syntax();
        }
        int found = zone(sign, to);
        return outcome != ValueParser.OK ? 0 : found | concatenated(from, sign, isTimeAlone ? known | DATE : known);
    }

    /** Numbers, and perhaps the name of a month, between separators. The name comes first, as it says what the numbers are. */
    private int date() {
        int before = known;
        for (int at = from; at < to; ) {
            int start = partStart(at);
            int end = partEnd(start);
            if (start == to) {
                return syntax();
            }
            int named = isLetter(start) ? monthOf(start, end) : 0;
            if (isLetter(start) && (named == 0 || (known & MONTH) != 0)) {
                return syntax();
            }
            if (named > 0) {
                month = named;
                known |= MONTH;
            }
            at = end + 1; // whatever follows separates it
        }
        boolean hasName = known != before;
        for (int at = from; at < to; ) {
            int start = partStart(at);
            int end = partEnd(start);
            int found = isLetter(start) ? 0 : partOfDate(start, end, hasName);
            if (outcome != ValueParser.OK) {
                return 0;
            }
            if ((known & found) != 0) {
                return syntax();
            }
            known |= found;
            at = end + 1;
        }
        int found = known & ~before;
        boolean isDate = (known & ~(DAY_OF_YEAR | ZONE)) == DATE;
        known = before;
        return isDate ? found : syntax();
    }

    private int partStart(int at) {
        int start = at;
        while (start < to && !isDigit(start) && !isLetter(start)) {
            start++;
        }
        return start;
    }

    private int partEnd(int start) {
        int end = start;
        while (end < to && (isDigit(start) ? isDigit(end) : isLetter(end))) {
            end++;
        }
        return end;
    }

    private int number(boolean mayBeDate, boolean isTimeAlone) {
        if (unit != NO_UNIT) {
            return numberOfUnit();
        }
        int point = from;
        while (point < to && text[point] != '.') {
            point++;
        }
        boolean hasPoint = point < to;
        int soFar = isTimeAlone ? known | DATE : known;
        if (hasPoint && (isTimeAlone ? mayBeDate : (soFar & DATE) == 0)) {
            return date(); // 1999.008
        }
        if (hasPoint && point - from > 2) {
            return concatenated(from, to, soFar);
        }
        if (!hasPoint && to - from >= 6 && ((soFar & DATE) == 0 || (soFar & TIME) == 0)) {
            return concatenated(from, to, soFar);
        }
        if (hasPoint && isTimeAlone) {
            return syntax();
        }
        int kept = known;
        known = soFar;
        int found = partOfDate(from, to, isTextMonth);
        known = kept;
        return found;
    }

    /** A number behind the word that says what it is: {@code J2451187}, {@code y1999m1d8}, {@code T040506}. */
    private int numberOfUnit() {
        char of = unit;
        unit = NO_UNIT;
        int end = from;
        while (isDigit(end) && end < to) {
            end++;
        }
        boolean hasPoint = end < to;
        if (hasPoint && of != 'j' && of != 't' && of != 's') {
            return syntax();
        }
        if (of == 't') {
            int found = concatenated(from, to, known | DATE);
            return outcome == ValueParser.OK && found != TIME ? syntax() : found;
        }
        long value = number(from, end);
        if (value < 0) {
            return fail(ValueParser.FIELD);
        }
        return switch (of) {
            case 'y' -> {
                year = value;
                yield YEAR;
            }
            case 'm' -> {
                boolean isMinute = (known & (MONTH | HOUR)) == (MONTH | HOUR);
                if (isMinute) {
                    minute = (int) value;
                } else {
                    month = (int) value;
                }
                yield isMinute ? MINUTE : MONTH;
            }
            case 'd' -> {
                day = (int) value;
                yield DAY;
            }
            case 'h' -> {
                hour = (int) value;
                yield HOUR;
            }
            case 'i' -> {
                minute = (int) value;
                yield MINUTE;
            }
            case 's' -> {
                second = (int) value;
                yield hasPoint && !fraction(end, to) ? syntax() : SECOND;
            }
            default -> { // Julian
                setJulian(value);
                yield DATE | (hasPoint ? partOfDay(end) : 0);
            }
        };
    }

    /** The fraction of a Julian day, as a time. */
    private int partOfDay(int point) {
        if (point + 1 == to) {
            return TIME; // a point alone
        }
        double part = Double.parseDouble(new String(text, point, to - point, StandardCharsets.US_ASCII));
        long inDay = (long) (part * CivilDays.MICROS_PER_DAY);
        micros = (int) (inDay % 1_000_000);
        second = (int) (inDay / 1_000_000 % 60);
        minute = (int) (inDay / 60_000_000 % 60);
        hour = (int) (inDay / 3_600_000_000L);
        return TIME;
    }

    /** One number of a date, by what is known: a year has more than two digits or is where the order has it. */
    private int partOfDate(int start, int end, boolean hasName) {
        int digitsEnd = start;
        while (digitsEnd < end && isDigit(digitsEnd)) {
            digitsEnd++;
        }
        long value = number(start, digitsEnd);
        if (value < 0) {
            return fail(ValueParser.FIELD);
        }
        if (digitsEnd < end) {
            if (digitsEnd - start > 2) {
                return concatenated(start, end, known | DATE);
            }
            if (digitsEnd == start || !fraction(digitsEnd, end)) {
                return syntax();
            }
        }
        int width = end - start;
        if (width == 3 && (known & DATE) == YEAR && value >= 1 && value <= 366) {
            dayOfYear = (int) value;
            return DAY_OF_YEAR | MONTH | DAY;
        }
        boolean isYear = width >= 3 || order == DateStyle.Order.YMD;
        return switch (known & DATE) {
            case 0 -> isYear ? setYear(value, width) : order == DateStyle.Order.DMY ? setDay(value) : setMonth(value);
            case YEAR, DAY -> setMonth(value);
            case MONTH -> hasName && isYear ? setYear(value, width) : setDay(value);
            case YEAR | MONTH -> {
                if (hasName && width >= 3 && isShortYear) { // 8-Jan-1999, whose 8 was taken for the year
                    int found = setDay(year);
                    setYear(value, width);
                    yield found;
                }
                yield setDay(value);
            }
            case MONTH | DAY -> setYear(value, width);
            case DATE -> concatenated(start, end, known);
            default -> syntax();
        };
    }

    private int setYear(long value, int width) {
        year = value;
        isShortYear = width <= 2;
        return YEAR;
    }

    private int setMonth(long value) {
        month = (int) value;
        return MONTH;
    }

    private int setDay(long value) {
        day = (int) value;
        return DAY;
    }

    /** {@code 19990108}, {@code 990108}, {@code 040506.789}, {@code 0405}: by what is known, a date before a time. */
    private int concatenated(int start, int end, int soFar) {
        int point = start;
        while (point < end && text[point] != '.') {
            point++;
        }
        int width = point - start;
        if (point < end) {
            if (!fraction(point, end)) {
                return syntax();
            }
        } else if ((soFar & DATE) != DATE && width >= 6) {
            day = (int) number(point - 2, point);
            month = (int) number(point - 4, point - 2);
            year = number(start, point - 4);
            isShortYear = width == 6;
            return year < 0 ? fail(ValueParser.FIELD) : DATE;
        }
        if ((soFar & TIME) == TIME || width != 6 && width != 4) {
            return syntax();
        }
        hour = (int) number(start, start + 2);
        minute = (int) number(start + 2, start + 4);
        second = width == 6 ? (int) number(start + 4, point) : 0;
        return TIME;
    }

    /** {@code H:MM}, {@code HH:MM:SS.ffffff}; of two numbers with a fraction minutes and seconds. */
    private int time() {
        int[] parts = timeParts;
        int count = 0;
        int at = from;
        while (count < parts.length && isDigit(at) && at < to) {
            int start = at;
            while (at < to && isDigit(at)) {
                at++;
            }
            long value = number(start, at);
            if (value < 0) {
                return fail(ValueParser.FIELD);
            }
            parts[count++] = (int) value;
            if (at < to && text[at] == ':' && count < parts.length) {
                at++;
                if (at == to) {
                    return syntax();
                }
            } else {
                break;
            }
        }
        boolean hasFraction = at < to;
        if (count < 2 || hasFraction && !fraction(at, to)) {
            return syntax();
        }
        boolean isOfMinutes = count == 2 && hasFraction;
        hour = isOfMinutes ? 0 : parts[0];
        minute = isOfMinutes ? parts[0] : parts[1];
        second = isOfMinutes ? parts[1] : count == 3 ? parts[2] : 0;
        return isTime() ? TIME : fail(ValueParser.FIELD);
    }

    private final int[] timeParts = new int[3];

    private boolean isTime() {
        return hour <= 24
                && minute <= 59
                && second <= 60
                && (hour < 24 || (minute | second | micros) == 0)
                && (hour * 3600L + minute * 60L + second) * 1_000_000 + micros <= CivilDays.MICROS_PER_DAY;
    }

    /** A point and digits as microseconds; a half is rounded up. */
    private boolean fraction(int point, int end) {
        int scaled = 0;
        int count = 0;
        int at = point + 1;
        for (; at < end && isDigit(at); at++, count++) {
            int digit = text[at] - '0';
            if (count < 6) {
                scaled = scaled * 10 + digit;
            } else if (count == 6 && digit >= 5) {
                scaled++;
            }
        }
        for (int digits = count; digits < 6; digits++) {
            scaled *= 10;
        }
        micros = scaled;
        return at == end;
    }

    /** Digits as a number; -1 for one of more than nine. */
    private long number(int start, int end) {
        long value = 0;
        for (int at = start; at < end; at++) {
            value = value * 10 + text[at] - '0';
            if (value > Integer.MAX_VALUE) {
                return -1;
            }
        }
        return value;
    }

    // ---- zones and words -------------------------------------------------------------------------------------------

    /** {@code +HH}, {@code +HHMM}, {@code +HH:MM} or {@code +HH:MM:SS}. */
    private int zone(int start, int end) {
        if (start == end || text[start] != '+' && text[start] != '-') {
            return syntax();
        }
        int at = start + 1;
        int[] parts = zoneParts;
        int count = 0;
        while (count < parts.length && at < end && isDigit(at)) {
            int first = at;
            while (at < end && isDigit(at)) {
                at++;
            }
            parts[count++] = (int) Math.min(9_999, Math.max(0, number(first, at)));
            if (at == end || text[at] != ':') {
                break;
            }
            at++;
            if (at == end) {
                return syntax();
            }
        }
        if (count == 0 || at < end) {
            return syntax();
        }
        boolean isConcatenated = count == 1 && end - start > 3;
        long hours = isConcatenated ? parts[0] / 100 : parts[0];
        long minutes = isConcatenated ? parts[0] % 100 : count > 1 ? parts[1] : 0;
        long seconds = count > 2 ? parts[2] : 0;
        if (hours > MOST_ZONE_HOURS || minutes > 59 || seconds > 59) {
            return fail(ValueParser.FIELD);
        }
        long distance = hours * 3600 + minutes * 60 + seconds;
        zoneSeconds = text[start] == '-' ? -distance : distance;
        zoneSeen = true;
        return ZONE;
    }

    private final int[] zoneParts = new int[3];

    private int zoneName() {
        String name = new String(text, from, to - from, StandardCharsets.US_ASCII);
        if (!name.equals(lastZoneName)) {
            Optional<ZoneId> found = TimeZones.find(name);
            lastZone = found.map(ZoneClock::new);
            zoneIsFixed = found.filter(zone -> zone.getRules().isFixedOffset()).isPresent();
            lastZoneName = name;
        }
        if (lastZone.isEmpty()) {
            return syntax();
        }
        zoneNamed = lastZone;
        return ZONE;
    }

    private int word(boolean isTimeAlone) {
        int named = monthOf(from, to);
        if (isTimeAlone && (named > 0 || isWeekday())) {
            return syntax();
        }
        if (named > 0) {
            boolean isFirstNumberADay =
                    (known & MONTH) != 0 && !isTextMonth && (known & DAY) == 0 && month >= 1 && month <= 31;
            if (isFirstNumberADay) { // 8 Jan 1999 in the order of months first
                day = month;
            }
            isTextMonth = true;
            month = named;
            return isFirstNumberADay ? DAY : MONTH;
        }
        if (is("at") || is("on")) {
            return 0;
        }
        if (isWeekday()) {
            return WEEKDAY;
        }
        if (is("am") || is("pm")) {
            meridian = is("am") ? 0 : 12;
            return MERIDIAN;
        }
        if (is("ad") || is("bc")) {
            isBeforeChrist = is("bc");
            return ERA;
        }
        if (is("epoch")) {
            isEpoch = true;
            return DATE | TIME | ZONE;
        }
        if (is("infinity") || is("-infinity")) {
            if (isTimeAlone || from != starts[0] || to != length) {
                return syntax();
            }
            infinity = is("infinity") ? 1 : -1;
            return DATE | TIME | ZONE;
        }
        if (is("allballs")) {
            zoneSeen = true;
            return TIME | ZONE;
        }
        if (is("dst") && (known & ZONE) != 0 && (zoneNamed.isEmpty() || zoneIsFixed)) { // MET DST
            zoneSeconds +=
                    3600 + zoneNamed.map(zone -> zone.offset(0) / 1_000_000).orElse(0L);
            zoneNamed = Optional.empty();
            zoneSeen = true;
            return SUMMER;
        }
        char unitOf = unitOfWord();
        if (unitOf == 't' && !isTimeAlone && (known & DATE) != DATE) {
            return syntax();
        }
        if (unitOf != NO_UNIT) {
            unit = unitOf;
            return 0;
        }
        return zoneName();
    }

    // ---- the result ------------------------------------------------------------------------------------------------

    private int finish(boolean isTimeAlone) {
        if (unit != NO_UNIT) {
            return ValueParser.SYNTAX;
        }
        if (infinity != 0) {
            return ValueParser.OK;
        }
        if (isEpoch) {
            year = 1970;
            month = 1;
            day = 1;
            return ValueParser.OK;
        }
        int date = validDate();
        if (date != ValueParser.OK) {
            return date;
        }
        if (meridian >= 0) {
            if (hour > 12) {
                return ValueParser.FIELD;
            }
            hour = hour % 12 + meridian;
        }
        if (!isTime()) {
            return ValueParser.FIELD;
        }
        if (isTimeAlone) {
            boolean isKnown =
                    zoneNamed.isEmpty() || zoneIsFixed || (known & DATE) == DATE; // a zone's offset is that of a day
            return isKnown && (known & TIME) == TIME ? ValueParser.OK : ValueParser.SYNTAX;
        }
        return (known & DATE) == DATE ? ValueParser.OK : ValueParser.SYNTAX;
    }

    private int validDate() {
        if ((known & YEAR) != 0 && !isJulian) {
            if (isBeforeChrist) {
                if (year <= 0) {
                    return ValueParser.FIELD;
                }
                year = 1 - year;
            } else if (isShortYear) {
                year += year < 70 ? 2000 : 1900;
            } else if (year <= 0) {
                return ValueParser.FIELD;
            }
        }
        if ((known & DAY_OF_YEAR) != 0) {
            long packed = CivilDays.packed(CivilDays.of((int) year, 1, 1) + dayOfYear - 1);
            year = packed >> 9;
            month = (int) (packed >> 5) & 15;
            day = (int) packed & 31;
        }
        if ((known & MONTH) != 0 && (month < 1 || month > 12) || (known & DAY) != 0 && (day < 1 || day > 31)) {
            return ValueParser.FIELD;
        }
        boolean isWhole = (known & DATE) == DATE;
        return isWhole && !CivilDays.isValid((int) year, month, day) ? ValueParser.FIELD : ValueParser.OK;
    }

    /** The year, where 1 BC is 0. */
    long year() {
        return year;
    }

    /** Days since 1970-01-01. */
    long days() {
        return CivilDays.of((int) year, month, day);
    }

    /** Microseconds since midnight; 0 where there was no time. */
    long timeMicros() {
        return (hour * 3600L + minute * 60L + second) * 1_000_000 + micros;
    }

    /** Whether it was the word, which is an instant. */
    boolean isEpoch() {
        return isEpoch;
    }

    /** The sign of infinity, which has no date and no time; 0 for what is finite. */
    int infinity() {
        return infinity;
    }

    /** Whether a zone was there as its distance from UTC. */
    boolean hasDistance() {
        return zoneSeen;
    }

    /** East of UTC. */
    long distanceMicros() {
        return zoneSeconds * 1_000_000;
    }

    /** A zone that was there by its name. */
    Optional<ZoneClock> zone() {
        return zoneNamed;
    }
}
