package dev.millrace.text;

import dev.millrace.memory.Memory;
import dev.millrace.text.DateStyle.Form;
import dev.millrace.text.DateStyle.Order;
import java.util.Optional;

/** Writes dates and times in the styles that are not ISO's. Stateless; {@link DateTimeWriter} writes those. */
final class StyledDateTimes {
    private static final String WEEKDAYS = "SunMonTueWedThuFriSat";
    private static final String MONTHS = "JanFebMarAprMayJunJulAugSepOctNovDec";
    private static final int EPOCH_WEEKDAY = 4; // 1970-01-01 was a Thursday
    private static final int LETTERS = 3;

    private StyledDateTimes() {}

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

    static void writeTimestamp(TextBuffer out, long micros, DateStyle style) {
        writeEra(out, writeLocal(out, micros, style));
    }

    /** An instant as it is {@code offsetMicros} east of UTC, and what the zone is called then, or else the offset. */
    static void writeInstant(
            TextBuffer out, long micros, long offsetMicros, Optional<String> abbreviation, DateStyle style) {
        long packed = writeLocal(out, micros + offsetMicros, style);
        if (abbreviation.isPresent()) {
            out.append(' ');
            out.appendAscii(abbreviation.get());
        } else {
            if (style.form() == Form.POSTGRES) {
                out.append(' ');
            }
            DateTimeWriter.writeOffset(out, offsetMicros);
        }
        writeEra(out, packed);
    }

    /** @return the day, packed */
    private static long writeLocal(TextBuffer out, long micros, DateStyle style) {
        long days = Math.floorDiv(micros, CivilDays.MICROS_PER_DAY);
        long time = micros - days * CivilDays.MICROS_PER_DAY;
        long packed = CivilDays.packed(days);
        if (style.form() != Form.POSTGRES) {
            boolean isGerman = style.form() == Form.GERMAN;
            writeDate(out, packed, isGerman || style.order() == Order.DMY, isGerman ? '.' : '/');
            out.append(' ');
            DateTimeWriter.writeTime(out, time);
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
        DateTimeWriter.writeTime(out, time);
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
