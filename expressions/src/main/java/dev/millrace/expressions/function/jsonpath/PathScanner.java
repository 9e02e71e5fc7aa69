package dev.millrace.expressions.function.jsonpath;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import java.math.BigDecimal;

/**
 * The words of a path: symbols, keywords, keys, numbers and quoted strings, from one place on, with PostgreSQL's lexical rules. What is no
 * path is 42601.
 */
final class PathScanner {
    private static final String BLANKS = " \t\n\r\f";
    private static final String ENDS_KEYS = "?%$.[]{}()|&!=<>@#,*:-+/\\\"" + BLANKS; // what no key goes on with

    private final String text;
    private int at;

    PathScanner(String text) {
        this.text = text;
    }

    /** The next letter that is no blank and in no comment, 0 at the end. */
    char next() {
        space();
        return letter(0);
    }

    /** The letter so many places on, 0 behind the end. */
    char letter(int ahead) {
        return at + ahead < text.length() ? text.charAt(at + ahead) : 0;
    }

    boolean atEnd() {
        space();
        return at >= text.length();
    }

    void advance() {
        at++;
    }

    private void space() {
        while (at < text.length()) {
            if (BLANKS.indexOf(text.charAt(at)) >= 0) {
                at++;
            } else if (text.startsWith("/*", at)) {
                int end = text.indexOf("*/", at + 2);
                if (end < 0) {
                    throw error("unexpected end of comment at end of jsonpath input");
                }
                at = end + 2;
            } else {
                return;
            }
        }
    }

    boolean sees(String symbol) {
        space();
        return text.startsWith(symbol, at);
    }

    boolean symbol(String symbol) {
        boolean found = sees(symbol);
        at += found ? symbol.length() : 0;
        return found;
    }

    void require(String symbol) {
        if (!symbol(symbol)) {
            throw unexpected();
        }
    }

    /** A keyword, in small letters or not. */
    boolean word(String word) {
        return word(word, true);
    }

    /** A keyword that is written in small letters only: true, false, null. */
    boolean smallWord(String word) {
        return word(word, false);
    }

    private boolean word(String word, boolean anyCase) {
        space();
        boolean found = text.regionMatches(anyCase, at, word, 0, word.length()) && !isKey(letter(word.length()));
        at += found ? word.length() : 0;
        return found;
    }

    static boolean isKey(char letter) {
        return letter != 0 && ENDS_KEYS.indexOf(letter) < 0;
    }

    /** Letters of a name, escaped ones among them. */
    String key() {
        StringBuilder key = new StringBuilder();
        while (isKey(letter(0)) || letter(0) == '\\') {
            unescaped(key);
        }
        if (key.isEmpty()) {
            throw unexpected();
        }
        return key.toString();
    }

    /** Digits with a point or an exponent, perhaps, which no letter may follow. */
    BigDecimal number() {
        space();
        int start = at;
        if (letter(0) == '0') {
            at++;
        } else {
            digits();
        }
        if (letter(0) == '.') {
            at++;
            digits();
        }
        boolean signed = letter(1) == '+' || letter(1) == '-';
        if ((letter(0) == 'e' || letter(0) == 'E') && isDigit(letter(signed ? 2 : 1))) {
            at += signed ? 2 : 1;
            digits();
        }
        if (isKey(letter(0))) {
            throw error("trailing junk after numeric literal at or near \"" + text.substring(start, at + 1)
                    + "\" of jsonpath input");
        }
        try {
            return PathEvaluation.number(text.substring(start, at));
        } catch (NumberFormatException e) {
            throw unexpected();
        }
    }

    /** A number of levels. */
    int whole() {
        space();
        int start = at;
        digits();
        try {
            return Integer.parseInt(text.substring(start, at));
        } catch (NumberFormatException e) {
            throw unexpected();
        }
    }

    private void digits() {
        while (isDigit(letter(0))) {
            at++;
        }
    }

    static boolean isDigit(char letter) {
        return letter >= '0' && letter <= '9';
    }

    /** A quoted string, without its quotes. */
    String string() {
        require("\"");
        StringBuilder string = new StringBuilder();
        while (at < text.length() && letter(0) != '"') {
            unescaped(string);
        }
        if (at >= text.length()) {
            throw error("unterminated quoted string at end of jsonpath input");
        }
        at++;
        return string.toString();
    }

    /** Takes one letter, or what a backslash and the letters behind it mean. */
    private void unescaped(StringBuilder to) {
        char letter = text.charAt(at++);
        if (letter != '\\') {
            to.append(letter);
            return;
        }
        if (at == text.length()) {
            throw error("unexpected end after backslash at end of jsonpath input");
        }
        char escaped = text.charAt(at++);
        switch (escaped) {
            case 'b' -> to.append('\b');
            case 'f' -> to.append('\f');
            case 'n' -> to.append('\n');
            case 'r' -> to.append('\r');
            case 't' -> to.append('\t');
            case 'v' -> to.append('\u000b');
            case 'x' -> unicode(hexadecimal(2), to);
            case 'u' -> unicode(letter(0) == '{' ? braced() : hexadecimal(4), to);
            default -> to.append(escaped);
        }
    }

    private int braced() {
        int end = text.indexOf('}', at);
        int digits = end - at - 1;
        if (digits < 1 || digits > 6) {
            throw escape();
        }
        at++;
        int code = hexadecimal(digits);
        at++;
        return code;
    }

    private int hexadecimal(int digits) {
        int code = 0;
        for (int i = 0; i < digits; i++) {
            int digit = letter(0) < 128 ? Character.digit(letter(0), 16) : -1;
            if (digit < 0) {
                throw escape();
            }
            code = code * 16 + digit;
            at++;
        }
        return code;
    }

    private void unicode(int code, StringBuilder to) {
        if (code == 0) {
            throw MillraceException.user(
                    SqlState.UNTRANSLATABLE_CHARACTER,
                    "unsupported Unicode escape sequence: \\u0000 cannot be converted to text");
        }
        int whole = code;
        if (code >= Character.MIN_HIGH_SURROGATE && code <= Character.MAX_HIGH_SURROGATE) {
            if (letter(0) != '\\' || letter(1) != 'u') {
                throw escape();
            }
            at += 2;
            int low = letter(0) == '{' ? braced() : hexadecimal(4);
            if (low < Character.MIN_LOW_SURROGATE || low > Character.MAX_LOW_SURROGATE) {
                throw escape();
            }
            whole = Character.toCodePoint((char) code, (char) low);
        } else if (code >= Character.MIN_LOW_SURROGATE && code <= Character.MAX_LOW_SURROGATE
                || !Character.isValidCodePoint(code)) {
            throw escape();
        }
        to.appendCodePoint(whole);
    }

    private static MillraceException escape() {
        return error("invalid Unicode escape sequence in jsonpath input");
    }

    /** The error that the next word is. */
    MillraceException unexpected() {
        if (atEnd()) {
            return error("syntax error at end of jsonpath input");
        }
        int end = at + 1;
        while (isKey(text.charAt(at)) && end < text.length() && isKey(text.charAt(end))) {
            end++;
        }
        return error("syntax error at or near \"" + text.substring(at, end) + "\" of jsonpath input");
    }

    static MillraceException error(String message) {
        return MillraceException.user(SqlState.SYNTAX_ERROR, message);
    }
}
