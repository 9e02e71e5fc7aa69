package dev.millrace.expressions.function.regex;

import java.util.Optional;

/** Reads the characters of a regular expression: as they are, by their escapes, and sets of them in brackets. */
final class CharacterReader {
    private static final int MOST_GROUPS = 100_000; // a greater number of a group is as wrong as this one

    private final String text;
    private final boolean ignoreCase;
    private final boolean dotAll;
    private int at;
    private int groups;

    CharacterReader(String text, int start, RegexFlags flags) {
        this.text = text;
        this.at = start;
        this.ignoreCase = flags.ignoreCase();
        this.dotAll = !flags.newlineStopsAny();
    }

    // ---- one by one ------------------------------------------------------------------------------------------------

    boolean more() {
        return at < text.length();
    }

    char peek() {
        return text.charAt(at);
    }

    boolean take(String word) {
        if (isAt(word)) {
            at += word.length();
            return true;
        }
        return false;
    }

    int nextCodePoint() {
        int codePoint = text.codePointAt(at);
        at += Character.charCount(codePoint);
        return codePoint;
    }

    boolean isAt(String word) {
        return text.startsWith(word, at);
    }

    /** Goes behind one character. */
    void skip() {
        at++;
    }

    /** Goes behind the comment that follows. */
    void skipComment() {
        int close = text.indexOf(')', at);
        at = close < 0 ? text.length() : close + 1;
    }

    /** Whether a digit follows behind so many characters, and behind blanks where they do not count. */
    boolean isDigitBehind(int characters, boolean expanded) {
        int digit = at + characters;
        while (expanded && digit < text.length() && CharSet.isSpace(text.charAt(digit))) {
            digit++;
        }
        return digit < text.length() && isDigit(text.charAt(digit));
    }

    /** Goes behind blanks, and behind what # makes a comment up to the end of its line; whether there were any. */
    boolean skipBlanks() {
        int start = at;
        while (more() && (CharSet.isSpace(peek()) || peek() == '#')) {
            if (peek() == '#') {
                int line = text.indexOf('\n', at);
                at = line < 0 ? text.length() : line;
            } else {
                at++;
            }
        }
        return at > start;
    }

    static boolean isDigit(char c) {
        return c >= '0' && c <= '9';
    }

    // ---- escapes ---------------------------------------------------------------------------------------------------

    /** A group begins that has the next number, which is returned. */
    int beginGroup() {
        return ++groups;
    }

    /** How many groups have begun. */
    int groups() {
        return groups;
    }

    /** The group of a number behind a backslash; -1 when it is an octal character: of digits, and no group yet. */
    int referredGroup() {
        int end = at;
        int number = 0;
        while (end < text.length() && isDigit(text.charAt(end))) {
            number = Math.min(number * 10 + text.charAt(end++) - '0', MOST_GROUPS);
        }
        if (end > at + 1 && number > groups) {
            return -1;
        }
        at = end;
        return number;
    }

    /** The character of some octal digits. */
    int octal() {
        int value = 0;
        int start = at;
        while (more() && at - start < 3 && peek() >= '0' && peek() <= '7' && value * 8 + peek() - '0' <= 0xff) {
            value = value * 8 + text.charAt(at++) - '0';
        }
        if (at == start) {
            throw Parser.invalid("invalid escape \\ sequence");
        }
        return value;
    }

    /** The character that an escape stands for, behind its backslash. */
    int characterEscape() {
        int c = nextCodePoint();
        return switch (c) {
            case 'a' -> 7;
            case 'b' -> '\b';
            case 'B' -> '\\';
            case 'e' -> 27;
            case 'f' -> '\f';
            case 'n' -> '\n';
            case 'r' -> '\r';
            case 't' -> '\t';
            case 'v' -> 11;
            case '0' -> {
                at--;
                yield octal();
            }
            case 'c' -> {
                if (!more()) {
                    throw Parser.invalid("invalid escape \\ sequence");
                }
                yield nextCodePoint() & 31;
            }
            case 'x' -> hexadecimal(1, 255);
            case 'u' -> hexadecimal(4, 4);
            case 'U' -> hexadecimal(8, 8);
            default -> {
                at -= Character.charCount(c);
                if (isDigit((char) c) && c < 128 && referredGroup() < 0) { // in brackets, where no group is referred to
                    yield octal();
                }
                at = text.offsetByCodePoints(at, c < 128 && isDigit((char) c) ? 0 : 1);
                if (Character.isLetterOrDigit(c) && c < 128) {
                    throw Parser.invalid("invalid escape \\ sequence");
                }
                yield c;
            }
        };
    }

    private int hexadecimal(int least, int most) {
        int start = at;
        while (more() && at - start < most && Character.digit(peek(), 16) >= 0) {
            at++;
        }
        if (at - start < least) {
            throw Parser.invalid("invalid escape \\ sequence");
        }
        int value = 0;
        for (int i = start; i < at; i++) {
            value = value * 16 + Character.digit(text.charAt(i), 16);
            if (value > Character.MAX_CODE_POINT) {
                throw Parser.invalid("invalid escape \\ sequence");
            }
        }
        return value;
    }

    // ---- brackets --------------------------------------------------------------------------------------------------

    /** The set of characters in brackets, of which the first was read. */
    CharSet bracket() {
        boolean negated = take("^");
        CharSet.Builder set = CharSet.builder();
        boolean first = true;
        while (first || !take("]")) {
            if (!more()) {
                throw Parser.invalid("brackets [] not balanced");
            }
            boolean begins = first;
            first = false;
            if (take("[:")) {
                set.add(named());
                continue;
            }
            if (peek() == '\\' && at + 1 < text.length()) {
                Optional<CharSet> escaped = CharacterClasses.ofEscape(text.charAt(at + 1));
                if (escaped.isPresent()) {
                    at += 2;
                    set.add(escaped.get());
                    continue;
                }
            }
            if (peek() == '-' && !begins && text.charAt(Math.min(at + 1, text.length() - 1)) != ']') {
                throw Parser.invalid("invalid character range");
            }
            int from = bracketCharacter();
            int to = from;
            if (at + 1 < text.length() && peek() == '-' && text.charAt(at + 1) != ']') {
                at++;
                to = bracketCharacter();
            }
            if (to < from) {
                throw Parser.invalid("invalid character range");
            }
            set.add(from, to);
        }
        if (negated && !dotAll) {
            set.add('\n', '\n');
        }
        return set.build(ignoreCase, negated);
    }

    private int bracketCharacter() {
        if (!more()) {
            throw Parser.invalid("brackets [] not balanced");
        }
        if (take("\\")) {
            if (!more()) {
                throw Parser.invalid("invalid escape \\ sequence");
            }
            return characterEscape();
        }
        if (take("[.") || take("[=")) {
            String end = text.charAt(at - 1) + "]";
            int close = text.indexOf(end, at);
            if (close < 0) {
                throw Parser.invalid("brackets [] not balanced");
            }
            if (close == at || text.codePointCount(at, close) > 1) {
                throw Parser.invalid("invalid collating element");
            }
            int codePoint = nextCodePoint();
            at = close + 2;
            return codePoint;
        }
        return nextCodePoint();
    }

    private CharSet named() {
        int close = text.indexOf(":]", at);
        if (close < 0) {
            throw Parser.invalid("brackets [] not balanced");
        }
        String name = text.substring(at, close);
        at = close + 2;
        return CharacterClasses.named(name, ignoreCase).orElseThrow(() -> Parser.invalid("invalid character class"));
    }
}
