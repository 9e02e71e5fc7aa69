package dev.millrace.sql.text;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.text.Utf8Text;

/** What the escapes of a string stand for; no text has the character 0, half a character, or bytes that are no UTF-8. */
final class StringText {
    private static final int UNICODE_DIGITS = 4;
    private static final int LONG_UNICODE_DIGITS = 6;

    private StringText() {}

    /** Bytes as a text; 22021 for those that are none. */
    static String ofBytes(byte[] bytes, int start) {
        try {
            return Utf8Text.decode(bytes);
        } catch (MillraceException notUtf8) {
            throw notUtf8.at(start + 1);
        }
    }

    /** A code point that a text may have; 42601 for others. */
    static int codePoint(int value, int start) {
        if (value == 0 || !Character.isValidCodePoint(value)) {
            throw syntax("invalid Unicode escape value", start);
        }
        if (Character.isBmpCodePoint(value) && Character.isSurrogate((char) value)) {
            throw syntax("invalid Unicode surrogate pair", start);
        }
        return value;
    }

    /** The code point of two halves; 42601 if they are none. */
    static int pair(int high, int low, int start) {
        if (!Character.isBmpCodePoint(low) || !Character.isLowSurrogate((char) low)) {
            throw syntax("invalid Unicode surrogate pair", start);
        }
        return Character.toCodePoint((char) high, (char) low);
    }

    /** The text of U&'...': {@code \\XXXX}, {@code \\+XXXXXX} and {@code \\\\}. */
    static String unicode(String raw, int start) {
        StringBuilder text = new StringBuilder();
        int high = 0;
        for (int i = 0; i < raw.length(); ) {
            int from = i + (raw.startsWith("\\+", i) ? 2 : 1);
            boolean plain = raw.charAt(i) != '\\' || raw.startsWith("\\\\", i);
            if (plain) {
                codePoint(high == 0 ? 1 : high, start); // which nothing followed
                text.append(raw.charAt(i));
                i += raw.charAt(i) == '\\' ? 2 : 1;
                continue;
            }
            i = from + (from == i + 2 ? LONG_UNICODE_DIGITS : UNICODE_DIGITS);
            int value = digits(raw, from, i, start);
            if (high != 0) {
                text.appendCodePoint(pair(high, value, start));
                high = 0;
            } else if (Character.isBmpCodePoint(value) && Character.isHighSurrogate((char) value)) {
                high = value;
            } else {
                text.appendCodePoint(codePoint(value, start));
            }
        }
        codePoint(high == 0 ? 1 : high, start);
        return text.toString();
    }

    private static int digits(String raw, int from, int to, int start) {
        int value = 0;
        for (int i = from; i < to; i++) {
            int digit = i < raw.length() ? Character.digit(raw.charAt(i), 16) : -1;
            if (digit < 0) {
                throw syntax("invalid Unicode escape", start);
            }
            value = value * 16 + digit;
        }
        return value;
    }

    private static MillraceException syntax(String message, int start) {
        return MillraceException.user(SqlState.SYNTAX_ERROR, message).at(start + 1);
    }
}
