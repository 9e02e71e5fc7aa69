package dev.millrace.text;

import dev.millrace.memory.Memory;

/** Writes dates and times in PostgreSQL's ISO style. Stateless; {@link DateTimeText} reads them. */
final class DateTimeWriter {
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
}
