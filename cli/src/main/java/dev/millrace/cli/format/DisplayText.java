package dev.millrace.cli.format;

import org.jline.utils.WCWidth;

/** How text looks in a terminal: its width in cells, and with control characters made visible. */
public final class DisplayText {
    private DisplayText() {}

    /** Cells of a line without control characters; wide characters take two, combining ones none. */
    public static int width(String line) {
        int length = line.length();
        for (int at = 0; at < length; at++) {
            if (line.charAt(at) >= 0x7f) {
                return line.codePoints()
                        .map(codePoint -> Math.max(0, WCWidth.wcwidth(codePoint)))
                        .sum();
            }
        }
        return length;
    }

    /** As much of a line's beginning as fits into so many cells. */
    public static String cut(String line, int cells) {
        if (width(line) <= cells) {
            return line;
        }
        int end = Math.min(cells, line.length());
        while (width(line.substring(0, end)) > cells) {
            end--;
        }
        return line.substring(0, end);
    }

    /** The text with control characters other than newlines as {@code \x1B}, so that data cannot steer the terminal. */
    public static String visible(String text) {
        int at = 0;
        while (at < text.length() && !isControl(text.charAt(at))) {
            at++;
        }
        if (at == text.length()) {
            return text;
        }
        StringBuilder result = new StringBuilder(text.length() + 16).append(text, 0, at);
        for (; at < text.length(); at++) {
            char c = text.charAt(at);
            if (c == '\t') {
                result.append("    ");
            } else if (isControl(c)) {
                result.append(String.format("\\x%02X", (int) c));
            } else {
                result.append(c);
            }
        }
        return result.toString();
    }

    private static boolean isControl(char c) {
        return c < ' ' && c != '\n' || c >= 0x7f && c < 0xa0;
    }
}
