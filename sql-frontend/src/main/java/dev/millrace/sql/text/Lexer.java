package dev.millrace.sql.text;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.sql.text.Lexeme.Kind;
import dev.millrace.text.Utf8Text;
import java.io.ByteArrayOutputStream;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;

/**
 * Cuts SQL text into tokens by PostgreSQL's rules: unquoted names fold to lower case, block comments nest, strings come
 * as {@code '...'}, {@code E'...'}, {@code U&'...'} and {@code $tag$...$tag$} and continue over line ends, an operator
 * ends in + or - only if it holds a character that no standard operator has.
 *
 * <p>A lexer reads one text once, on one thread.
 */
public final class Lexer {
    private static final String OPERATOR_CHARACTERS = "+-*/<>=~!@#%^&|`?";
    private static final String EXTENDED_OPERATOR_CHARACTERS = "~!@#%^&|`?";

    /** What the text ended within. */
    enum Unfinished {
        NOTHING,
        STRING,
        DOLLAR_STRING,
        QUOTED_NAME,
        COMMENT
    }

    /** Where in a {@code PATTERN (...)} of MATCH_RECOGNIZE the text is, whose signs are no SQL. */
    private enum Pattern {
        NONE,
        WORD,
        OPEN
    }

    private final String sql;
    private int at;
    private boolean seenMatchRecognize;
    private Pattern pattern = Pattern.NONE;
    private Unfinished unfinished = Unfinished.NOTHING;

    private Lexer(String sql) {
        this.sql = sql;
    }

    /**
     * All tokens and END; fails with 42601 where a quote or comment does not end or a character has no meaning, and with
     * 22021 for what is no text, which programs and JSON can send.
     */
    public static List<Lexeme> tokens(String sql) {
        Lexer lexer = new Lexer(Utf8Text.checked(sql));
        List<Lexeme> tokens = new ArrayList<>(sql.length() / 4 + 4);
        Lexeme token;
        do {
            Interrupt.checkCurrent();
            token = lexer.next();
            tokens.add(token);
        } while (token.kind() != Kind.END);
        return tokens;
    }

    /** As {@link #tokens}, but the end of the text ends an open quote or comment and {@link #unfinished} tells. */
    static Lexer lenient(String sql) {
        return new Lexer(sql);
    }

    /** The next token, or END where the rest is the inside of something that does not end. */
    Lexeme nextLenient() {
        try {
            return next();
        } catch (MillraceException e) {
            if (unfinished == Unfinished.NOTHING) {
                at++; // a character without meaning, which the parser will report
                return nextLenient();
            }
            at = sql.length();
            return new Lexeme(Kind.END, "", at, at);
        }
    }

    Unfinished unfinished() {
        return unfinished;
    }

    private Lexeme next() {
        skipBlanks();
        int start = at;
        if (at >= sql.length()) {
            return new Lexeme(Kind.END, "", at, at);
        }
        char c = sql.charAt(at);
        if (pattern == Pattern.OPEN) {
            pattern = Pattern.NONE;
            return rowPattern(start);
        }
        boolean afterPattern = pattern == Pattern.WORD;
        pattern = Pattern.NONE;
        if (c == '\'') {
            return string(start, Escapes.NONE);
        }
        if (c == '"') {
            return quotedName(start);
        }
        if (peek(1) == '\'' && (c == 'e' || c == 'E')) {
            at++;
            return string(start, Escapes.BACKSLASH);
        }
        if (peek(1) == '\'' && (c == 'x' || c == 'X')) {
            at++;
            Lexeme digits = string(start, Escapes.NONE);
            return new Lexeme(Kind.BYTES, digits.text(), start, at);
        }
        if ((c == 'u' || c == 'U') && peek(1) == '&' && (peek(2) == '\'' || peek(2) == '"')) {
            at += 2;
            Lexeme raw = peek(0) == '"' ? quotedName(start) : string(start, Escapes.NONE);
            return new Lexeme(raw.kind(), StringText.unicode(raw.text(), start), start, at);
        }
        if (isNameStart(c)) {
            while (at < sql.length() && isNamePart(sql.charAt(at))) {
                at++;
            }
            String word = fold(start, at);
            seenMatchRecognize |= word.equals("match_recognize");
            pattern = seenMatchRecognize && word.equals("pattern") ? Pattern.WORD : Pattern.NONE;
            return new Lexeme(Kind.WORD, word, start, at);
        }
        if (isDigit(c) || c == '.' && isDigit(peek(1))) {
            return number(start);
        }
        if (c == '$') {
            return dollar(start);
        }
        if (c == ':' && peek(1) == ':') {
            at += 2;
            return new Lexeme(Kind.PUNCTUATION, "::", start, at);
        }
        if ("()[]{},;.:".indexOf(c) >= 0) {
            at++;
            pattern = afterPattern && c == '(' ? Pattern.OPEN : Pattern.NONE;
            seenMatchRecognize &= c != ';';
            return new Lexeme(Kind.PUNCTUATION, sql.substring(start, at), start, at);
        }
        if (OPERATOR_CHARACTERS.indexOf(c) >= 0) {
            return operator(start);
        }
        throw error("syntax error at or near \"" + sql.substring(at, sql.offsetByCodePoints(at, 1)) + "\"", at);
    }

    /** The text of a row pattern as one name, up to the parenthesis that ends it. */
    private Lexeme rowPattern(int start) {
        int depth = 0;
        while (at < sql.length()) {
            char c = sql.charAt(at);
            if (c == '"') {
                quotedName(at);
                continue;
            }
            if (c == ')' && depth-- == 0) {
                break;
            }
            depth += c == '(' ? 1 : 0;
            at++;
        }
        return new Lexeme(Kind.QUOTED_NAME, sql.substring(start, at), start, at);
    }

    /** Folds ASCII letters by themselves: other letters keep their case, as PostgreSQL does with UTF-8. */
    private String fold(int from, int to) {
        for (int i = from; i < to; i++) {
            char c = sql.charAt(i);
            if (c >= 'A' && c <= 'Z') {
                return asciiLower(sql.substring(from, to));
            }
        }
        return sql.substring(from, to);
    }

    private static String asciiLower(String text) {
        StringBuilder folded = new StringBuilder(text.length());
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            folded.append(c >= 'A' && c <= 'Z' ? (char) (c + 32) : c);
        }
        return folded.toString();
    }

    private void skipBlanks() {
        while (at < sql.length()) {
            char c = sql.charAt(at);
            if (Character.isWhitespace(c) || c == '\uFEFF') {
                at++;
            } else if (c == '-' && peek(1) == '-') {
                int end = sql.indexOf('\n', at);
                at = end < 0 ? sql.length() : end + 1;
            } else if (c == '/' && peek(1) == '*') {
                skipBlockComment();
            } else {
                return;
            }
        }
    }

    private void skipBlockComment() {
        int start = at;
        int depth = 0;
        do {
            if (at + 1 >= sql.length()) {
                throw unfinished(Unfinished.COMMENT, "unterminated /* comment", start);
            }
            if (sql.charAt(at) == '/' && peek(1) == '*') {
                depth++;
                at += 2;
            } else if (sql.charAt(at) == '*' && peek(1) == '/') {
                depth--;
                at += 2;
            } else {
                at++;
            }
        } while (depth > 0);
    }

    private enum Escapes {
        NONE,
        BACKSLASH
    }

    /** A string from its first quote at {@code at}; goes on after blanks with a line end, as the standard says. */
    private Lexeme string(int start, Escapes escapes) {
        StringBuilder text = new StringBuilder();
        while (true) {
            at++;
            stringPart(start, escapes, text);
            int end = at;
            boolean newLine = false;
            while (at < sql.length() && Character.isWhitespace(sql.charAt(at))) {
                newLine |= sql.charAt(at) == '\n';
                at++;
            }
            if (!newLine || peek(0) != '\'') {
                at = end;
                return new Lexeme(Kind.STRING, text.toString(), start, end);
            }
        }
    }

    private void stringPart(int start, Escapes escapes, StringBuilder text) {
        while (true) {
            if (at >= sql.length()) {
                throw unfinished(
                        Unfinished.STRING, "unterminated quoted string at or near \"" + rest(start) + "\"", start);
            }
            char c = sql.charAt(at++);
            if (c == '\'') {
                if (peek(0) != '\'') {
                    return;
                }
                at++;
                text.append('\'');
            } else if (c == '\\' && escapes == Escapes.BACKSLASH) {
                escape(start, text);
            } else {
                text.append(c);
            }
        }
    }

    /** One escape, or all numbers of bytes that follow each other: these together are a text in UTF-8. */
    private void escape(int start, StringBuilder text) {
        if (at >= sql.length()) {
            throw unfinished(Unfinished.STRING, "unterminated quoted string at or near \"" + rest(start) + "\"", start);
        }
        char c = sql.charAt(at++);
        switch (c) {
            case 'b' -> text.append('\b');
            case 'f' -> text.append('\f');
            case 'n' -> text.append('\n');
            case 'r' -> text.append('\r');
            case 't' -> text.append('\t');
            case 'u' -> utf16(digits(16, 4, 4, start), start, text);
            case 'U' -> utf16(digits(16, 8, 8, start), start, text);
            case 'x', '0', '1', '2', '3', '4', '5', '6', '7' -> {
                at--;
                text.append(bytes(start));
            }
            default -> text.append(c);
        }
    }

    /** {@code x41} or {@code 101} and the escapes like it behind. */
    private String bytes(int start) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        do {
            if (peek(0) == 'x') {
                at++;
                bytes.write(digits(16, 1, 2, start));
            } else {
                bytes.write(digits(8, 1, 3, start));
            }
        } while (peek(0) == '\\' && (peek(1) == 'x' || peek(1) >= '0' && peek(1) <= '7') && at++ >= 0);
        return StringText.ofBytes(bytes.toByteArray(), start);
    }

    /** A code point, or half of one of which the other half has to be an escape as well. */
    private void utf16(int value, int start, StringBuilder text) {
        if (Character.isBmpCodePoint(value) && Character.isHighSurrogate((char) value)) {
            boolean paired = peek(0) == '\\' && (peek(1) == 'u' || peek(1) == 'U');
            int digits = peek(1) == 'u' ? 4 : 8;
            at += paired ? 2 : 0;
            int low = paired ? digits(16, digits, digits, start) : 0;
            text.appendCodePoint(StringText.pair(value, low, start));
        } else {
            text.appendCodePoint(StringText.codePoint(value, start));
        }
    }

    private int digits(int radix, int atLeast, int atMost, int start) {
        int value = 0;
        int count = 0;
        while (count < atMost && at < sql.length() && Character.digit(sql.charAt(at), radix) >= 0) {
            value = value * radix + Character.digit(sql.charAt(at++), radix);
            count++;
        }
        if (count < atLeast) {
            throw MillraceException.user(SqlState.INVALID_ESCAPE_SEQUENCE, "invalid escape sequence in a string")
                    .at(start + 1);
        }
        return value;
    }

    private Lexeme quotedName(int start) {
        StringBuilder name = new StringBuilder();
        at++;
        while (true) {
            int end = sql.indexOf('"', at);
            if (end < 0) {
                throw unfinished(
                        Unfinished.QUOTED_NAME,
                        "unterminated quoted identifier at or near \"" + rest(start) + "\"",
                        start);
            }
            name.append(sql, at, end);
            at = end + 1;
            if (peek(0) != '"') {
                break;
            }
            name.append('"');
            at++;
        }
        if (name.isEmpty()) {
            throw error("zero-length delimited identifier at or near \"\"\"\"", start);
        }
        return new Lexeme(Kind.QUOTED_NAME, name.toString(), start, at);
    }

    private Lexeme number(int start) {
        if (peek(0) == '0' && "xXoObB".indexOf(peek(1)) >= 0 && Character.digit(peek(2), 16) >= 0) {
            int radix = switch (Character.toLowerCase(peek(1))) {
                case 'x' -> 16;
                case 'o' -> 8;
                default -> 2;
            };
            at += 2;
            int digits = at;
            while (Character.digit(peek(0), radix) >= 0 || peek(0) == '_') {
                at++;
            }
            rejectTrailingName(start);
            String value = sql.substring(digits, at).replace("_", "");
            return new Lexeme(Kind.INTEGER, new BigInteger(value, radix).toString(), start, at);
        }
        Kind kind = Kind.INTEGER;
        skipDigits();
        if (peek(0) == '.' && peek(1) != '.') {
            kind = Kind.DECIMAL;
            at++;
            skipDigits();
        }
        if (peek(0) == 'e' || peek(0) == 'E') {
            int sign = peek(1) == '+' || peek(1) == '-' ? 1 : 0;
            if (isDigit(peek(1 + sign))) {
                kind = Kind.APPROXIMATE;
                at += 1 + sign;
                skipDigits();
            }
        }
        rejectTrailingName(start);
        return new Lexeme(kind, sql.substring(start, at).replace("_", ""), start, at);
    }

    private void skipDigits() {
        while (isDigit(peek(0)) || peek(0) == '_' && isDigit(peek(1))) {
            at++;
        }
    }

    private void rejectTrailingName(int start) {
        if (isNameStart(peek(0))) {
            int end = at;
            while (end < sql.length() && isNamePart(sql.charAt(end))) {
                end++;
            }
            throw error("trailing junk after numeric literal at or near \"" + sql.substring(start, end) + "\"", start);
        }
    }

    private Lexeme dollar(int start) {
        if (isDigit(peek(1))) {
            at++;
            while (isDigit(peek(0))) {
                at++;
            }
            return new Lexeme(Kind.PARAMETER, sql.substring(start + 1, at), start, at);
        }
        int tagEnd = at + 1;
        while (tagEnd < sql.length() && sql.charAt(tagEnd) != '$' && isNamePart(sql.charAt(tagEnd))) {
            tagEnd++;
        }
        if (tagEnd >= sql.length() || sql.charAt(tagEnd) != '$') {
            throw error("syntax error at or near \"$\"", start);
        }
        String tag = sql.substring(start, tagEnd + 1);
        int end = sql.indexOf(tag, tagEnd + 1);
        if (end < 0) {
            throw unfinished(
                    Unfinished.DOLLAR_STRING,
                    "unterminated dollar-quoted string at or near \"" + rest(start) + "\"",
                    start);
        }
        at = end + tag.length();
        return new Lexeme(Kind.STRING, sql.substring(tagEnd + 1, end), start, at);
    }

    private Lexeme operator(int start) {
        int end = at;
        boolean extended = false;
        while (end < sql.length() && OPERATOR_CHARACTERS.indexOf(sql.charAt(end)) >= 0) {
            if (end > at && (sql.startsWith("--", end) || sql.startsWith("/*", end))) {
                break;
            }
            extended |= EXTENDED_OPERATOR_CHARACTERS.indexOf(sql.charAt(end)) >= 0;
            end++;
        }
        while (!extended && end > at + 1 && (sql.charAt(end - 1) == '+' || sql.charAt(end - 1) == '-')) {
            end--;
        }
        at = end;
        String text = sql.substring(start, end);
        return new Lexeme(Kind.OPERATOR, text.equals("!=") ? "<>" : text, start, end);
    }

    private char peek(int offset) {
        return at + offset < sql.length() ? sql.charAt(at + offset) : '\0';
    }

    private String rest(int start) {
        String rest = sql.substring(start).strip();
        int line = rest.indexOf('\n');
        return line < 0 ? rest : rest.substring(0, line);
    }

    private MillraceException unfinished(Unfinished what, String message, int start) {
        unfinished = what;
        return error(message, start);
    }

    private static MillraceException error(String message, int start) {
        return MillraceException.user(SqlState.SYNTAX_ERROR, message).at(start + 1);
    }

    private static boolean isDigit(char c) {
        return c >= '0' && c <= '9';
    }

    static boolean isNameStart(char c) {
        return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c >= 0x80 && c != '\uFEFF';
    }

    static boolean isNamePart(char c) {
        return isNameStart(c) || isDigit(c) || c == '$';
    }
}
