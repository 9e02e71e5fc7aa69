package dev.millrace.text;

import dev.millrace.text.TimeStyle.IntervalStyle;

/** Writes intervals in the styles that are not PostgreSQL's default. Stateless; {@link IntervalText} writes that and reads all. */
final class StyledIntervals {
    private static final int MICROS_PER_SECOND = 1_000_000;
    private static final long MICROS_PER_HOUR = 3_600_000_000L;
    private static final String[] VERBOSE = {"year", "mon", "day", "hour", "min"};
    private static final String ISO_UNITS = "YMDHM";
    private static final int FIRST_OF_TIME = 3;

    private StyledIntervals() {}

    static void write(TextBuffer out, int months, int days, long micros, IntervalStyle style) {
        switch (style) {
            case POSTGRES -> IntervalText.write(out, months, days, micros);
            case POSTGRES_VERBOSE -> writeVerbose(out, months, days, micros);
            case SQL_STANDARD -> writeSqlStandard(out, months, days, micros);
            case ISO_8601 -> writeIso(out, months, days, micros);
        }
    }

    /** Years, months, days, hours, minutes. */
    private static long count(int unit, int months, int days, long micros) {
        return switch (unit) {
            case 0 -> months / 12;
            case 1 -> months % 12;
            case 2 -> days;
            case 3 -> micros / MICROS_PER_HOUR;
            default -> micros / (60 * MICROS_PER_SECOND) % 60;
        };
    }

    private static void writeVerbose(TextBuffer out, int months, int days, long micros) {
        out.append('@');
        int sign = 0; // of the first that is not zero: all are told as if that were positive
        for (int unit = 0; unit < VERBOSE.length; unit++) {
            long count = count(unit, months, days, micros);
            if (count == 0) {
                continue;
            }
            sign = sign == 0 ? Long.signum(count) : sign;
            out.append(' ');
            Digits.writeLong(out, sign * count);
            out.append(' ');
            out.appendAscii(VERBOSE[unit]);
            if (sign * count != 1) {
                out.append('s');
            }
        }
        long seconds = micros % (60L * MICROS_PER_SECOND);
        if (seconds != 0) {
            sign = sign == 0 ? Long.signum(seconds) : sign;
            out.append(' ');
            writeSeconds(out, sign * seconds);
            out.appendAscii(Math.abs(seconds) == MICROS_PER_SECOND ? " sec" : " secs");
        }
        if (sign == 0) {
            out.appendAscii(" 0");
        } else if (sign < 0) {
            out.appendAscii(" ago");
        }
    }

    private static void writeIso(TextBuffer out, int months, int days, long micros) {
        out.append('P');
        if ((months | days | micros) == 0) {
            out.appendAscii("T0S");
            return;
        }
        for (int unit = 0; unit < ISO_UNITS.length(); unit++) {
            if (unit == FIRST_OF_TIME && micros != 0) {
                out.append('T');
            }
            long count = count(unit, months, days, micros);
            if (count != 0) {
                Digits.writeLong(out, count);
                out.append(ISO_UNITS.charAt(unit));
            }
        }
        long seconds = micros % (60L * MICROS_PER_SECOND);
        if (seconds != 0) {
            writeSeconds(out, seconds);
            out.append('S');
        }
    }

    private static void writeSqlStandard(TextBuffer out, int months, int days, long micros) {
        boolean isNegative = months < 0 || days < 0 || micros < 0;
        boolean isPositive = months > 0 || days > 0 || micros > 0;
        boolean hasTime = days != 0 || micros != 0;
        if (isNegative && isPositive || months != 0 && hasTime) {
            writeSign(out, months);
            writeYearsAndMonths(out, months);
            out.append(' ');
            writeSign(out, days);
            Digits.writeLong(out, Math.abs((long) days));
            out.append(' ');
            writeSign(out, micros);
            writeClock(out, micros);
            return;
        }
        if (!isNegative && !isPositive) {
            out.append('0');
            return;
        }
        if (isNegative) {
            out.append('-');
        }
        if (months != 0) {
            writeYearsAndMonths(out, months);
            return;
        }
        if (days != 0) {
            Digits.writeLong(out, Math.abs((long) days));
            out.append(' ');
        }
        writeClock(out, micros);
    }

    private static void writeSign(TextBuffer out, long value) {
        out.append(value < 0 ? '-' : '+');
    }

    private static void writeYearsAndMonths(TextBuffer out, int months) {
        Digits.writeLong(out, Math.abs(months / 12));
        out.append('-');
        Digits.writeLong(out, Math.abs(months % 12));
    }

    /** {@code 4:05:06.5}, without a sign. */
    private static void writeClock(TextBuffer out, long micros) {
        Digits.writeLong(out, Math.abs(micros / MICROS_PER_HOUR));
        int seconds = (int) Math.abs(micros % MICROS_PER_HOUR / MICROS_PER_SECOND);
        out.append(':');
        out.end(Digits.two(out.room(2), seconds / 60));
        out.append(':');
        long to = Digits.two(out.room(20), seconds % 60);
        out.end(Digits.microseconds(to, (int) Math.abs(micros % MICROS_PER_SECOND)));
    }

    private static void writeSeconds(TextBuffer out, long micros) {
        if (micros < 0) {
            out.append('-');
        }
        Digits.writeLong(out, Math.abs(micros / MICROS_PER_SECOND));
        out.end(Digits.microseconds(out.room(8), (int) Math.abs(micros % MICROS_PER_SECOND)));
    }
}
