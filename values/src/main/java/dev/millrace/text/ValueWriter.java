package dev.millrace.text;

import dev.millrace.memory.Memory;
import dev.millrace.text.TimeStyle.IntervalStyle;
import dev.millrace.text.TimeStyle.Outputs;
import java.util.Optional;

/** Appends values to a buffer in the text form of PostgreSQL's output functions. Stateless; allocates nothing per value. */
public final class ValueWriter {
    private ValueWriter() {}

    /** PostgreSQL's one-letter form. */
    public static void bool(TextBuffer out, boolean value) {
        out.append(value ? 't' : 'f');
    }

    /** Any integer type. */
    public static void integer(TextBuffer out, long value) {
        Digits.writeLong(out, value);
    }

    /** The shortest digits that read back as the same number, unless the buffer's style rounds. */
    public static void real(TextBuffer out, float value) {
        real(out, value, out.style().outputs());
    }

    /** In another style than the buffer's. */
    public static void real(TextBuffer out, float value, Outputs style) {
        if (style.rounds()) {
            ShortestDecimal.writeRounded(out, value, style.realDigits());
        } else {
            ShortestDecimal.write(out, value);
        }
    }

    /** The shortest digits that read back as the same number, unless the buffer's style rounds. */
    public static void float8(TextBuffer out, double value) {
        float8(out, value, out.style().outputs());
    }

    /** In another style than the buffer's. */
    public static void float8(TextBuffer out, double value, Outputs style) {
        if (style.rounds()) {
            ShortestDecimal.writeRounded(out, value, style.doubleDigits());
        } else {
            ShortestDecimal.write(out, value);
        }
    }

    /** A signed 128-bit unscaled value. */
    public static void numeric(TextBuffer out, long high, long low, int scale) {
        NumericText.write(out, high, low, scale);
    }

    /** A number of any size, as {@link dev.millrace.number.BignumBytes}. */
    public static void bignum(TextBuffer out, long address, int length) {
        BignumText.write(out, address, length);
    }

    public static void date(TextBuffer out, long days) {
        date(out, days, out.style().dates());
    }

    /** In another style than the buffer's. */
    public static void date(TextBuffer out, long days, DateStyle style) {
        if (!TimeRange.isDay(days)) {
            infinity(out, days > 0);
        } else if (style.form() == DateStyle.Form.ISO) {
            DateTimeWriter.writeDate(out, days);
        } else {
            DateTimeWriter.writeDate(out, days, style);
        }
    }

    /** Microseconds since midnight. */
    public static void time(TextBuffer out, long micros) {
        DateTimeWriter.writeTime(out, micros);
    }

    public static void timestamp(TextBuffer out, long micros) {
        timestamp(out, micros, out.style().dates());
    }

    /** In another style than the buffer's. */
    public static void timestamp(TextBuffer out, long micros, DateStyle style) {
        if (!TimeRange.isFinite(micros)) {
            infinity(out, micros > 0);
        } else if (style.form() == DateStyle.Form.ISO) {
            DateTimeWriter.writeTimestamp(out, micros);
        } else {
            DateTimeWriter.writeTimestamp(out, micros, style);
        }
    }

    /** As clocks of the time zone of the buffer's style show it, and their distance from UTC or the zone's name: {@code 2020-07-31 14:00:00+02}; where it has none in UTC, with {@code +00}. */
    public static void timestamptz(TextBuffer out, long micros) {
        timestamptz(out, micros, out.clock(), out.style().dates());
    }

    /**
     * In another style than the buffer's.
     *
     * @param clock of the time zone; empty for UTC
     */
    public static void timestamptz(TextBuffer out, long micros, Optional<ZoneClock> clock, DateStyle style) {
        if (!TimeRange.isFinite(micros)) {
            infinity(out, micros > 0);
            return;
        }
        boolean isShown = clock.isPresent() && clock.get().shows(micros); // not at the end of all times
        long offset = isShown ? clock.get().offset(micros) : 0;
        if (style.form() == DateStyle.Form.ISO) {
            DateTimeWriter.writeInstant(out, micros, offset);
        } else {
            Optional<String> name = isShown ? clock.get().abbreviation(micros) : Optional.of("UTC");
            DateTimeWriter.writeInstant(out, micros, offset, name, style);
        }
    }

    private static void infinity(TextBuffer out, boolean isGreatest) {
        out.appendAscii(isGreatest ? "infinity" : "-infinity");
    }

    public static void interval(TextBuffer out, int months, int days, long micros) {
        interval(out, months, days, micros, out.style().intervals());
    }

    /** In another style than the buffer's. */
    public static void interval(TextBuffer out, int months, int days, long micros, IntervalStyle style) {
        StyledIntervals.write(out, months, days, micros, style);
    }

    /** Sixteen bytes at {@code address}. */
    public static void uuid(TextBuffer out, long address) {
        BinaryText.writeUuid(out, address);
    }

    /** {@code \x} and hexadecimal digits, or what the buffer's style says. */
    public static void bytea(TextBuffer out, long address, int length) {
        if (out.style().outputs().escapesBytes()) {
            BinaryText.writeEscapes(out, address, length);
        } else {
            BinaryText.writeBytea(out, address, length);
        }
    }

    /** Puts what was written from {@code start} on in quotes where an array's or row's syntax asks for it. */
    public static void quoteFrom(TextBuffer out, long start, boolean inArray) {
        int length = (int) (out.length() - start);
        long address = out.address() + start;
        int escapes = 0;
        boolean quote = length == 0 || (inArray && isNullWord(address, length));
        for (int i = 0; i < length; i++) {
            byte c = Memory.getByte(address + i);
            escapes += c == '"' || c == '\\' ? 1 : 0;
            quote |= c == '"' || c == '\\' || c == ',' || Blanks.isBlank(c);
            quote |= inArray ? c == '{' || c == '}' : c == '(' || c == ')';
        }
        if (!quote) {
            return;
        }
        out.room(escapes + 2L);
        long from = out.address() + start + length;
        long to = from + escapes + 2;
        out.end(to);
        Memory.putByte(--to, (byte) '"');
        for (int i = 0; i < length; i++) {
            byte c = Memory.getByte(--from);
            Memory.putByte(--to, c);
            if (c == '"' || c == '\\') {
                Memory.putByte(--to, inArray ? (byte) '\\' : c); // a row doubles them
            }
        }
        Memory.putByte(--to, (byte) '"');
    }

    private static boolean isNullWord(long address, int length) {
        return length == 4 && (Memory.getInt(address) | 0x20202020) == 0x6c6c756e; // "null", little endian
    }
}
