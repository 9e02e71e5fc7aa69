package dev.millrace.json;

import dev.millrace.memory.Memory;
import dev.millrace.text.TextBuffer;

/** What was written to a buffer made a string of JSON, in its place. Stateless; allocates nothing. */
public final class JsonStrings {
    private static final String HEX = "0123456789abcdef";

    private JsonStrings() {}

    /** Makes the blank between date and time, in what was written from {@code start} on, a T. */
    public static void isoFrom(TextBuffer out, long start) {
        for (long at = out.address() + start; at < out.address() + out.length(); at++) {
            if (Memory.getByte(at) == ' ') {
                Memory.putByte(at, (byte) 'T');
                return;
            }
        }
    }

    /** Puts what was written from {@code start} on in quotes, with escapes. */
    public static void quoteFrom(TextBuffer out, long start) {
        int length = (int) (out.length() - start);
        int more = 2;
        for (int i = 0; i < length; i++) {
            byte c = Memory.getByte(out.address() + start + i);
            more += escapeBytes(c) - 1;
        }
        out.room(more);
        long from = out.address() + start + length;
        long to = from + more;
        out.end(to);
        Memory.putByte(--to, (byte) '"');
        for (int i = 0; i < length; i++) {
            byte c = Memory.getByte(--from);
            int bytes = escapeBytes(c);
            to -= bytes;
            if (bytes == 1) {
                Memory.putByte(to, c);
            } else {
                Memory.putByte(to, (byte) '\\');
                Memory.putByte(to + 1, escape(c));
                if (bytes == 6) {
                    Memory.putByte(to + 2, (byte) '0');
                    Memory.putByte(to + 3, (byte) '0');
                    Memory.putByte(to + 4, (byte) HEX.charAt(c >> 4));
                    Memory.putByte(to + 5, (byte) HEX.charAt(c & 15));
                }
            }
        }
        Memory.putByte(--to, (byte) '"');
    }

    private static int escapeBytes(byte c) {
        if (c == '"' || c == '\\' || c == '\n' || c == '\r' || c == '\t' || c == '\b' || c == '\f') {
            return 2;
        }
        return c >= 0 && c < ' ' ? 6 : 1;
    }

    private static byte escape(byte c) {
        return switch (c) {
            case '\n' -> 'n';
            case '\b' -> 'b';
            case '\f' -> 'f';
            case '\r' -> 'r';
            case '\t' -> 't';
            case '"', '\\' -> c;
            default -> 'u';
        };
    }
}
