package dev.millrace.expressions.function.time;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.expressions.function.Pattern;
import dev.millrace.expressions.function.Text;
import dev.millrace.memory.Memory;
import dev.millrace.text.CivilDays;
import dev.millrace.text.TextBuffer;
import dev.millrace.text.TimeRange;
import dev.millrace.text.ValueWriter;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** STRFTIME and STRPTIME: times as text by C's codes, as DuckDB knows them ({@code %Y-%m-%d}, {@code %-d}, {@code %g}). */
public final class StrftimePattern {
    private static final String CODES = "aAbBhdmyYGHIpMSfgnzZjUWVuw";
    private static final String UNPADDED = "dmyHIMSj";
    private static final char LITERAL = 0;

    /**
     * @param code a code's letter, or 0 for text
     * @param padded whether a number has its zeros in front
     */
    record Part(char code, boolean padded, String text) {
        boolean isLiteral() {
            return code == LITERAL;
        }
    }

    private final Pattern template = new Pattern();
    private List<Part> parts = List.of();

    public void prepare(long address, int length) {
        if (template.changed(address, length)) {
            template.forget();
            parts = parse(template.text());
            template.remember();
        }
    }

    private static List<Part> parse(String format) {
        String plain = format.replace("%c", "%Y-%m-%d %H:%M:%S")
                .replace("%x", "%Y-%m-%d")
                .replace("%X", "%H:%M:%S")
                .replace("%T", "%H:%M:%S");
        List<Part> parts = new ArrayList<>();
        for (int i = 0; i < plain.length(); i++) {
            char c = plain.charAt(i);
            char next = i + 1 < plain.length() ? plain.charAt(i + 1) : ' ';
            if (c != '%') {
                parts.add(new Part(LITERAL, true, String.valueOf(c)));
            } else if (next == '%') {
                parts.add(new Part(LITERAL, true, "%"));
                i++;
            } else if (next == '-' && i + 2 < plain.length() && UNPADDED.indexOf(plain.charAt(i + 2)) >= 0) {
                parts.add(new Part(plain.charAt(i + 2), false, ""));
                i += 2;
            } else if (CODES.indexOf(next) >= 0) {
                parts.add(new Part(next, true, ""));
                i++;
            } else {
                throw MillraceException.user(
                                SqlState.INVALID_PARAMETER_VALUE,
                                "unrecognized code \"%" + next + "\" in the format \"" + format + "\"")
                        .withHint("the codes are those of DuckDB: %Y %m %d %H %M %S %f %p %a %b %j and others");
            }
        }
        return parts;
    }

    // ---- writing ---------------------------------------------------------------------------------------------------

    public void format(long micros, Text out) {
        write(micros, "", out);
    }

    /** The session's zone is UTC. */
    public void formatWithZone(long micros, Text out) {
        write(micros, "UTC", out);
    }

    private void write(long micros, String zone, Text out) {
        TextBuffer buffer = out.begin();
        if (!TimeRange.isFinite(micros)) { // as in DuckDB
            ValueWriter.timestamp(buffer, micros);
            out.written();
            return;
        }
        long day = Math.floorDiv(micros, Intervals.DAY_MICROS);
        long time = micros - day * Intervals.DAY_MICROS;
        for (Part part : parts) {
            if (part.isLiteral()) {
                buffer.append(part.text().getBytes(StandardCharsets.UTF_8));
            } else if (part.code() == 'Z') {
                buffer.appendAscii(zone);
            } else {
                write(part, day, time, buffer);
            }
        }
        out.written();
    }

    private static void write(Part part, long day, long time, TextBuffer out) {
        long date = CivilDays.packed(day);
        long hour = time / Intervals.HOUR_MICROS;
        int weekday = CivilFields.dayOfWeek(day);
        int dayOfYear = CivilFields.dayOfYear(day);
        switch (part.code()) {
            case 'a' -> out.appendAscii(DateFormatter.DAYS.get(weekday).substring(0, 3));
            case 'A' -> out.appendAscii(DateFormatter.DAYS.get(weekday));
            case 'b', 'h' ->
                out.appendAscii(
                        DateFormatter.MONTHS.get(Timestamps.month(date) - 1).substring(0, 3));
            case 'B' -> out.appendAscii(DateFormatter.MONTHS.get(Timestamps.month(date) - 1));
            case 'd' -> number(part, Timestamps.day(date), 2, out);
            case 'm' -> number(part, Timestamps.month(date), 2, out);
            case 'y' -> number(part, Math.floorMod(Timestamps.year(date), 100), 2, out);
            case 'Y' -> number(part, Timestamps.year(date), 4, out);
            case 'G' -> number(part, CivilFields.isoYear(day), 4, out);
            case 'H' -> number(part, hour, 2, out);
            case 'I' -> number(part, hour % 12 == 0 ? 12 : hour % 12, 2, out);
            case 'p' -> out.appendAscii(hour < 12 ? "AM" : "PM");
            case 'M' -> number(part, time / 60_000_000 % 60, 2, out);
            case 'S' -> number(part, time / 1_000_000 % 60, 2, out);
            case 'f' -> number(part, time % 1_000_000, 6, out);
            case 'g' -> number(part, time % 1_000_000 / 1000, 3, out);
            case 'n' -> number(part, time % 1_000_000 * 1000, 9, out);
            case 'z' -> out.appendAscii("+00");
            case 'j' -> number(part, dayOfYear, 3, out);
            case 'U' -> number(part, (dayOfYear + 6 - (weekday + 1) % 7) / 7, 2, out);
            case 'W' -> number(part, (dayOfYear + 6 - weekday) / 7, 2, out);
            case 'V' -> number(part, CivilFields.isoWeek(day), 2, out);
            case 'u' -> number(part, weekday + 1, 1, out);
            case 'w' -> number(part, (weekday + 1) % 7, 1, out);
            default -> throw new IllegalStateException("no code: " + part);
        }
    }

    private static void number(Part part, long value, int digits, TextBuffer out) {
        String text = Long.toString(Math.abs(value));
        if (value < 0) {
            out.append('-');
        }
        for (int i = text.length(); part.padded() && i < digits; i++) {
            out.append('0');
        }
        out.appendAscii(text);
    }

    // ---- reading ---------------------------------------------------------------------------------------------------

    /** Microseconds of the time that a text in this form says, in UTC if it has a zone. */
    public long parse(long address, int length) {
        StrptimeReader reader = read(address, length);
        if (!reader.failure().isEmpty()) {
            throw MillraceException.user(
                    SqlState.INVALID_DATETIME_FORMAT,
                    "\"" + reader.text() + "\" does not follow the format \"" + template.text() + "\": "
                            + reader.failure());
        }
        return reader.micros();
    }

    /** Whether a text is in this form. */
    public boolean fits(long address, int length) {
        return read(address, length).failure().isEmpty();
    }

    private StrptimeReader read(long address, int length) {
        byte[] bytes = new byte[length];
        Memory.copyOut(address, bytes, 0, length);
        StrptimeReader reader = new StrptimeReader(new String(bytes, StandardCharsets.UTF_8));
        reader.read(parts);
        return reader;
    }
}
