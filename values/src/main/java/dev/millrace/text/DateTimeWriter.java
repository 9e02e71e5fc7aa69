package dev.millrace.text;

import dev.millrace.memory.Memory;
import dev.millrace.text.DateStyle.Form;
import dev.millrace.text.DateStyle.Order;
import java.util.Optional;

/** Writes dates and times in PostgreSQL's styles. Stateless; {@link DateTimeText} reads them. */
final class DateTimeWriter {
    private static final String WEEKDAYS = "SunMonTueWedThuFriSat";
    private static final String MONTHS = "JanFebMarAprMayJunJulAugSepOctNovDec";
    private static final int EPOCH_WEEKDAY = 4; // 1970-01-01 was a Thursday
    private static final int LETTERS = 3;

    private DateTimeWriter() {}

    /** Writes {@code 2020-01-31}; years before 1 as {@code 0044-03-15 BC}. */
    static void writeDate(TextBuffer out, long days) {
        long packed = CivilDays.packed(days);
        long year = packed >> 9;
        out.end(writeDate(out.room(24), packed));
        if (year < 1) {
            out.appendAscii(" BC");
        }
    }

    /** Writes {@code 2020-01-31 23:59:58.5}. */
    static void writeTimestamp(TextBuffer out, long micros) {
        if (writeLocal(out, micros)) {
            out.appendAscii(" BC");
        }
    }

    /** Writes an instant as it is {@code offsetMicros} east of UTC, and the offset: {@code +02}, {@code -03:30}, {@code +00:53:28}. */
    static void writeInstant(TextBuffer out, long micros, long offsetMicros) {
        boolean isBeforeChrist = writeLocal(out, micros + offsetMicros);
        writeOffset(out, offsetMicros);
        if (isBeforeChrist) {
            out.appendAscii(" BC");
        }
    }

    /** Writes how far clocks are from UTC. */
    static void writeOffset(TextBuffer out, long offsetMicros) {
        int seconds = (int) (Math.abs(offsetMicros) / 1_000_000);
        long to = out.room(9);
        Memory.putByte(to++, (byte) (offsetMicros < 0 ? '-' : '+'));
        to = Digits.two(to, seconds / 3600);
        if (seconds % 3600 != 0) {
            Memory.putByte(to++, (byte) ':');
            to = Digits.two(to, seconds / 60 % 60);
        }
        if (seconds % 60 != 0) {
            Memory.putByte(to++, (byte) ':');
            to = Digits.two(to, seconds % 60);
        }
        out.end(to);
    }

    private static boolean writeLocal(TextBuffer out, long micros) {
        long days = Math.floorDiv(micros, CivilDays.MICROS_PER_DAY);
        long packed = CivilDays.packed(days);
        long to = writeDate(out.room(48), packed);
        Memory.putByte(to++, (byte) ' ');
        to = writeTime(to, micros - days * CivilDays.MICROS_PER_DAY);
        out.end(to);
        return packed >> 9 < 1;
    }

    static void writeTime(TextBuffer out, long micros) {
        out.end(writeTime(out.room(24), micros));
    }

    private static long writeDate(long address, long packed) {
        long year = packed >> 9;
        long shown = year < 1 ? 1 - year : year;
        long to = Digits.write(address, shown, Math.max(4, Digits.count(shown)));
        Memory.putByte(to++, (byte) '-');
        to = Digits.two(to, (int) (packed >> 5) & 15);
        Memory.putByte(to++, (byte) '-');
        return Digits.two(to, (int) packed & 31);
    }

    private static long writeTime(long address, long micros) {
        int seconds = (int) (micros / 1_000_000);
        long to = Digits.two(address, seconds / 3600);
        Memory.putByte(to++, (byte) ':');
        to = Digits.two(to, seconds / 60 % 60);
        Memory.putByte(to++, (byte) ':');
        to = Digits.two(to, seconds % 60);
        return Digits.microseconds(to, (int) (micros % 1_000_000));
    }

    // ---- other styles than ISO -------------------------------------------------------------------------------------
    /** In a style that is not ISO. */
    static void writeDate(TextBuffer out, long days, DateStyle style) {
        long packed = CivilDays.packed(days);
        boolean dayFirst = style.form() == Form.GERMAN || style.order() == Order.DMY;
        char between = switch (style.form()) {
            case SQL -> '/';
            case GERMAN -> '.';
            default -> '-';
        };
        writeDate(out, packed, dayFirst, between);
        writeEra(out, packed);
    }

    private static void writeDate(TextBuffer out, long packed, boolean dayFirst, char between) {
        two(out, dayFirst ? day(packed) : month(packed));
        out.append(between);
        two(out, dayFirst ? month(packed) : day(packed));
        out.append(between);
        writeYear(out, packed);
    }

    /** In a style that is not ISO. */
    static void writeTimestamp(TextBuffer out, long micros, DateStyle style) {
        writeEra(out, writeStyled(out, micros, style));
    }

    /** In a style that is not ISO: an instant as it is {@code offsetMicros} east of UTC, and what the zone is called then, or else the offset. */
    static void writeInstant(
            TextBuffer out, long micros, long offsetMicros, Optional<String> abbreviation, DateStyle style) {
        long packed = writeStyled(out, micros + offsetMicros, style);
        if (abbreviation.isPresent()) {
            out.append(' ');
            out.appendAscii(abbreviation.get());
        } else {
            if (style.form() == Form.POSTGRES) {
                out.append(' ');
            }
            writeOffset(out, offsetMicros);
        }
        writeEra(out, packed);
    }

    /** @return the day, packed */
    private static long writeStyled(TextBuffer out, long micros, DateStyle style) {
        long days = Math.floorDiv(micros, CivilDays.MICROS_PER_DAY);
        long time = micros - days * CivilDays.MICROS_PER_DAY;
        long packed = CivilDays.packed(days);
        if (style.form() != Form.POSTGRES) {
            boolean isGerman = style.form() == Form.GERMAN;
            writeDate(out, packed, isGerman || style.order() == Order.DMY, isGerman ? '.' : '/');
            out.append(' ');
            writeTime(out, time);
            return packed;
        }
        name(out, WEEKDAYS, Math.floorMod(days + EPOCH_WEEKDAY, 7));
        out.append(' ');
        if (style.order() == Order.DMY) {
            two(out, day(packed));
            out.append(' ');
            name(out, MONTHS, month(packed) - 1);
        } else {
            name(out, MONTHS, month(packed) - 1);
            out.append(' ');
            two(out, day(packed));
        }
        out.append(' ');
        writeTime(out, time);
        out.append(' ');
        writeYear(out, packed);
        return packed;
    }

    private static void writeYear(TextBuffer out, long packed) {
        long year = packed >> 9;
        long shown = year < 1 ? 1 - year : year;
        out.end(Digits.write(out.room(24), shown, Math.max(4, Digits.count(shown))));
    }

    private static void writeEra(TextBuffer out, long packed) {
        if (packed >> 9 < 1) {
            out.appendAscii(" BC");
        }
    }

    private static int month(long packed) {
        return (int) (packed >> 5) & 15;
    }

    private static int day(long packed) {
        return (int) packed & 31;
    }

    private static void two(TextBuffer out, int value) {
        out.end(Digits.two(out.room(2), value));
    }

    private static void name(TextBuffer out, String names, int number) {
        long at = out.room(LETTERS);
        for (int i = 0; i < LETTERS; i++) {
            Memory.putByte(at++, (byte) names.charAt(number * LETTERS + i));
        }
        out.end(at);
    }
}
