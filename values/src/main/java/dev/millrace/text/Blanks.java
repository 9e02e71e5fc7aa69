package dev.millrace.text;

import dev.millrace.memory.Memory;

/** Blanks around values: what C's isspace accepts. */
public final class Blanks {
    private Blanks() {}

    public static boolean isBlank(byte c) {
        return c == ' ' || (c >= '\t' && c <= '\r');
    }

    static long skip(long at, long end) {
        while (at < end && isBlank(Memory.getByte(at))) {
            at++;
        }
        return at;
    }

    /** The end without blanks before it. */
    static long trimEnd(long at, long end) {
        while (end > at && isBlank(Memory.getByte(end - 1))) {
            end--;
        }
        return end;
    }
}
