package dev.millrace.text;

import dev.millrace.memory.Memory;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/**
 * Reads dates, times and timestamps: ISO 8601 here, all other forms by a {@link DateTimeDecoder}. Holds the place it has come to, so it belongs to one parser.
 *
 * <p>Nearly all timestamps are {@code YYYY-MM-DD HH:MM:SS} and nearly all share their date with the one before: such a
 * date is compared with the last one as ten bytes instead of being read.
 */
final class DateTimeText {
    private static final int ISO_DATE_BYTES = 10;
    private static final int LONGEST_ZONE_NAME = 40;
    private static final int ISO_MINUTES_BYTES = 16;
    private static final int ISO_SECONDS_BYTES = 19;
    private static final long NOT_ISO = Long.MIN_VALUE;
    private static final int MAX_YEAR = 294_276; // PostgreSQL's last of a timestamp
    private static final int MAX_DATE_YEAR = 5_874_897;
    private static final int MIN_YEAR = -4713; // 4714 BC
    private static final long FIRST_DAY = CivilDays.of(MIN_YEAR, 11, 24);
    private static final int ISO_TIME_BYTES = 8;

    private final DateTimeDecoder decoder = new DateTimeDecoder();

    private long at;
    private long end;

    private long days;
    private long timeMicros;
    private boolean isEpoch; // the word, which is an instant
    private long zoneMicros;
    private boolean zoneSeen; // in the text, as its distance from UTC
    private Optional<ZoneClock> zoneNamed = Optional.empty(); // in the text
    private Optional<ZoneClock> zoneAround = Optional.empty(); // where the text has none

    // The last name of a zone that was read.
    private String lastZoneName = "";
    private Optional<ZoneClock> lastZone = Optional.empty();

    // The last ISO date read, as text and as days; at first 1970-01-01.
    private long lastDateText = 0x2d31302d30373931L;
    private short lastDateTextEnd = 0x3130;
    private long lastDays;

    // The last number read.
    private int number;
    private int numberDigits;

    void inStyle(TimeStyle style) {
        zoneAround = style.clock();
        decoder.inOrder(style.dates().order());
    }

    int parseDate(long address, long limit, ValueParser out) {
        if (limit - address == ISO_DATE_BYTES && isoDate(address)) {
            out.low = days;
            return ValueParser.OK;
        }
        int outcome = readAll(address, limit, MAX_DATE_YEAR);
        int infinity = decoder.infinity();
        out.low = infinity == 0 ? days : infinity > 0 ? Integer.MAX_VALUE : Integer.MIN_VALUE;
        return outcome;
    }

    int parseTime(long address, long limit, ValueParser out) {
        if (limit - address == ISO_TIME_BYTES) {
            long seconds = isoSeconds(address);
            if (seconds >= 0) {
                out.low = seconds * 1_000_000;
                return ValueParser.OK;
            }
        }
        long start = Blanks.skip(address, limit);
        int outcome = decoder.read(start, Blanks.trimEnd(start, limit), true);
        out.low = decoder.timeMicros();
        return outcome;
    }

    int parseTimestamp(long address, long limit, boolean zoned, ValueParser out) {
        long length = limit - address;
        if (length == ISO_MINUTES_BYTES || length == ISO_DATE_BYTES) {
            long local = isoMinutes(address, length);
            if (local != NOT_ISO) {
                forgetZone();
                out.low = zoned ? instant(local) : local;
                return ValueParser.OK;
            }
        }
        if (length >= ISO_SECONDS_BYTES && isoDate(address)) {
            byte between = Memory.getByte(address + ISO_DATE_BYTES);
            long seconds = isoSeconds(address + ISO_DATE_BYTES + 1);
            if (seconds >= 0 && (between == ' ' || between == 'T')) {
                long micros = days * CivilDays.MICROS_PER_DAY + seconds * 1_000_000;
                if (length == ISO_SECONDS_BYTES && (!zoned || zoneAround.isEmpty())) {
                    out.low = micros;
                    return ValueParser.OK;
                }
                at = address + ISO_SECONDS_BYTES;
                end = limit;
                timeMicros = 0;
                readFraction();
                forgetZone();
                int outcome = at < end ? readZone() : ValueParser.OK;
                if (outcome == ValueParser.OK && at == end) {
                    long local = micros + timeMicros;
                    out.low = zoned ? instant(local) : local;
                    return ValueParser.OK;
                }
            }
        }
        int outcome = readAll(address, limit, MAX_YEAR);
        if (outcome != ValueParser.OK) {
            return outcome;
        }
        if (decoder.infinity() != 0) {
            out.low = decoder.infinity() > 0 ? Long.MAX_VALUE : Long.MIN_VALUE;
            return ValueParser.OK;
        }
        if (Math.abs(days) > Long.MAX_VALUE / CivilDays.MICROS_PER_DAY - 2) {
            return ValueParser.RANGE;
        }
        long local = days * CivilDays.MICROS_PER_DAY + timeMicros;
        out.low = zoned ? instant(local) : local;
        return ValueParser.OK;
    }

    private void forgetZone() {
        zoneMicros = 0;
        zoneSeen = false;
        zoneNamed = Optional.empty();
        isEpoch = false;
    }

    /** The instant of a local time in the zone that was read, or else in the one around. */
    private long instant(long local) {
        if (zoneSeen || zoneNamed.isEmpty() && (isEpoch || zoneAround.isEmpty())) {
            return local - zoneMicros;
        }
        return zoneNamed.or(() -> zoneAround).get().toUtc(local);
    }

    /** Reads {@code YYYY-MM-DD} into {@link #days}; false when it is not exactly that. */
    private boolean isoDate(long address) {
        long text = Memory.getLong(address);
        short textEnd = Memory.getShort(address + 8);
        if (text == lastDateText && textEnd == lastDateTextEnd) {
            days = lastDays;
            return true;
        }
        if (Memory.getByte(address + 4) != '-' || Memory.getByte(address + 7) != '-') {
            return false;
        }
        int century = twoDigits(address);
        int year = twoDigits(address + 2);
        int month = twoDigits(address + 5);
        int day = twoDigits(address + 8);
        if ((century | year | month | day) < 0) {
            return false;
        }
        year += century * 100;
        if (year == 0 || !CivilDays.isValid(year, month, day)) {
            return false;
        }
        days = CivilDays.of(year, month, day);
        lastDateText = text;
        lastDateTextEnd = textEnd;
        lastDays = days;
        return true;
    }

    /** {@code YYYY-MM-DD}, perhaps with {@code HH:MM} below 24:00 behind it, or {@link #NOT_ISO}. */
    private long isoMinutes(long address, long length) {
        if (!isoDate(address)) {
            return NOT_ISO;
        }
        int hour = 0;
        int minute = 0;
        if (length == ISO_MINUTES_BYTES) {
            byte between = Memory.getByte(address + ISO_DATE_BYTES);
            hour = twoDigits(address + 11);
            minute = twoDigits(address + 14);
            boolean valid = (hour | minute) >= 0
                    && hour < 24
                    && minute < 60
                    && (between == ' ' || between == 'T')
                    && Memory.getByte(address + 13) == ':';
            if (!valid) {
                return NOT_ISO;
            }
        }
        return days * CivilDays.MICROS_PER_DAY + (hour * 60L + minute) * 60_000_000;
    }

    /** Seconds of {@code HH:MM:SS} below 24:00:00, or -1. */
    private static long isoSeconds(long address) {
        int hour = twoDigits(address);
        int minute = twoDigits(address + 3);
        int second = twoDigits(address + 6);
        boolean valid = (hour | minute | second) >= 0
                && hour < 24
                && minute < 60
                && second < 60
                && Memory.getByte(address + 2) == ':'
                && Memory.getByte(address + 5) == ':';
        return valid ? hour * 3600L + minute * 60L + second : -1;
    }

    /** Two digits as a number, or a negative number. */
    private static int twoDigits(long address) {
        int tens = Memory.getByte(address) - '0';
        int ones = Memory.getByte(address + 1) - '0';
        return (tens | ones | 9 - tens | 9 - ones) < 0 ? -1 : tens * 10 + ones;
    }

    private int readAll(long address, long limit, int maxYear) {
        long start = Blanks.skip(address, limit);
        int outcome = decoder.read(start, Blanks.trimEnd(start, limit), false);
        if (outcome != ValueParser.OK || decoder.infinity() != 0) {
            return outcome;
        }
        if (decoder.year() > maxYear || decoder.year() < MIN_YEAR) {
            return ValueParser.RANGE;
        }
        days = decoder.days();
        timeMicros = decoder.timeMicros();
        isEpoch = decoder.isEpoch();
        zoneSeen = decoder.hasDistance();
        zoneMicros = decoder.distanceMicros();
        zoneNamed = decoder.zone();
        return days < FIRST_DAY ? ValueParser.RANGE : ValueParser.OK;
    }

    /** A point and digits, added to the time as microseconds; a half is rounded up. */
    private void readFraction() {
        if (at == end || Memory.getByte(at) != '.') {
            return;
        }
        at++;
        int micros = 0;
        int digits = 0;
        for (; at < end && WordBytes.isDigit(at); at++, digits++) {
            int digit = Memory.getByte(at) - '0';
            if (digits < 6) {
                micros = micros * 10 + digit;
            } else if (digits == 6 && digit >= 5) {
                micros++;
            }
        }
        for (; digits < 6; digits++) {
            micros *= 10;
        }
        timeMicros += micros;
    }

    /** Nothing, Z, a zone's name, +HH, +HHMM, +HH:MM or +HH:MM:SS; leaves the offset east of UTC. */
    private int readZone() {
        at = Blanks.skip(at, end);
        if (at == end) {
            return ValueParser.OK;
        }
        byte sign = Memory.getByte(at);
        if (sign != '+' && sign != '-') {
            readZoneName();
            at = Blanks.skip(at, end);
            return ValueParser.OK; // what is not a zone is for the caller to refuse
        }
        at++;
        if (!takeNumber() || numberDigits > 4) {
            return ValueParser.SYNTAX;
        }
        int hours = numberDigits > 2 ? number / 100 : number;
        int minutes = numberDigits > 2 ? number % 100 : 0;
        int seconds = 0;
        if (numberDigits <= 2 && at < end && Memory.getByte(at) == ':') {
            at++;
            if (!takeNumber()) {
                return ValueParser.SYNTAX;
            }
            minutes = number;
            if (at < end && Memory.getByte(at) == ':') {
                at++;
                if (!takeNumber()) {
                    return ValueParser.SYNTAX;
                }
                seconds = number;
            }
        }
        if (hours > 15 || minutes > 59 || seconds > 59) {
            return ValueParser.FIELD;
        }
        long micros = (hours * 3600L + minutes * 60L + seconds) * 1_000_000;
        zoneMicros = sign == '-' ? -micros : micros;
        zoneSeen = true;
        at = Blanks.skip(at, end);
        return ValueParser.OK;
    }

    private void readZoneName() {
        long start = at;
        while (start < end && start - at < LONGEST_ZONE_NAME && isOfZoneName(start)) {
            start++;
        }
        int length = (int) (start - at);
        if (length == 0 || length == 2) { // BC, which is no zone
            return;
        }
        byte[] bytes = new byte[length];
        Memory.copyOut(at, bytes, 0, length);
        String name = new String(bytes, StandardCharsets.US_ASCII);
        if (!name.equals(lastZoneName)) {
            lastZone = TimeZones.find(name).map(ZoneClock::new);
            lastZoneName = name;
        }
        if (lastZone.isPresent()) {
            zoneNamed = lastZone;
            at = start;
        }
    }

    private static boolean isOfZoneName(long at) {
        byte c = Memory.getByte(at);
        return WordBytes.isLetter(at) || WordBytes.isDigit(at) || c == '/' || c == '_' || c == '+' || c == '-';
    }

    private boolean takeNumber() {
        long start = at;
        long value = 0;
        while (at < end && WordBytes.isDigit(at) && at - start < 9) {
            value = value * 10 + Memory.getByte(at++) - '0';
        }
        number = (int) value;
        numberDigits = (int) (at - start);
        return numberDigits > 0;
    }
}
