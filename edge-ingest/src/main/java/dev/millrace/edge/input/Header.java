package dev.millrace.edge.input;

import java.util.Arrays;

/** The first line of a file, where it names columns. */
final class Header {
    private Header() {}

    /** Lines without the first. */
    static byte[] without(byte[] lines) {
        for (int i = 0; i < lines.length; i++) {
            if (lines[i] == '\n') {
                return Arrays.copyOfRange(lines, i + 1, lines.length);
            }
        }
        return new byte[0];
    }
}
