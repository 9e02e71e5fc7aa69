package dev.millrace.expressions.function.regex;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Reads PostgreSQL's advanced regular expressions (its manual, section 9.7.3). Long because it is one grammar. */
final class Parser {
    private static final int MOST_REPEATS = 255;
    private static final int MOST_NESTED = 500; // parentheses; all that walks over the result calls itself

    private final String text;
    private final boolean ignoreCase;
    private final boolean expanded;
    private final boolean dotAll;
    private final boolean lineAnchors;
    private int at;
    private int groups;
    private int nested;
    private int looking; // how many lookarounds are around
    private final Set<Integer> open = new HashSet<>(); // groups that are not closed yet

    private Parser(String text, int start, RegexFlags flags) {
        this.text = text;
        this.at = start;
        this.ignoreCase = flags.ignoreCase();
        this.expanded = flags.expanded();
        this.dotAll = !flags.newlineStopsAny();
        this.lineAnchors = flags.lineAnchors();
    }

    /** A parsed expression and how many groups it has. */
    record Parsed(RegexSyntax syntax, int groups, boolean ignoreCase) {}

    static Parsed parse(String pattern, RegexFlags given) {
        RegexFlags flags = given;
        if (flags.literal() || pattern.startsWith("***=")) {
            Parser parser = new Parser(flags.literal() ? pattern : pattern.substring(4), 0, flags);
            return new Parsed(parser.literalText(), 0, flags.ignoreCase());
        }
        int start = pattern.startsWith("***:") ? 4 : 0;
        if (pattern.startsWith("(?", start)) {
            int close = pattern.indexOf(')', start);
            String options = close < 0 ? "" : pattern.substring(start + 2, close);
            if (!options.isEmpty() && options.chars().allMatch(Character::isLetter)) {
                flags = flags.with(options);
                start = close + 1;
            }
        }
        Parser parser = new Parser(pattern, start, flags);
        RegexSyntax syntax = parser.alternatives();
        if (parser.at < pattern.length()) {
            throw invalid("parentheses () not balanced");
        }
        return new Parsed(syntax, parser.groups, flags.ignoreCase());
    }

    static MillraceException invalid(String reason) {
        return MillraceException.user(SqlState.INVALID_REGULAR_EXPRESSION, "invalid regular expression: " + reason);
    }

    private RegexSyntax literalText() {
        List<RegexSyntax> parts = new ArrayList<>();
        text.codePoints().forEach(c -> parts.add(literal(c)));
        return new RegexSyntax.Sequence(parts);
    }

    private RegexSyntax literal(int codePoint) {
        boolean cased = ignoreCase
                && (Character.toLowerCase(codePoint) != codePoint || Character.toUpperCase(codePoint) != codePoint);
        return cased
                ? new RegexSyntax.OneOf(
                        CharSet.builder().add(codePoint, codePoint).build(true, false))
                : new RegexSyntax.Literal(codePoint);
    }

    private boolean more() {
        return at < text.length();
    }

    private char peek() {
        return text.charAt(at);
    }

    private boolean take(String word) {
        if (text.startsWith(word, at)) {
            at += word.length();
            return true;
        }
        return false;
    }

    private int nextCodePoint() {
        int codePoint = text.codePointAt(at);
        at += Character.charCount(codePoint);
        return codePoint;
    }

    private RegexSyntax alternatives() {
        List<RegexSyntax> branches = new ArrayList<>();
        do {
            branches.add(sequence());
        } while (take("|"));
        return branches.size() == 1 ? branches.get(0) : new RegexSyntax.Alternatives(branches);
    }

    private RegexSyntax sequence() {
        List<RegexSyntax> parts = new ArrayList<>();
        skip();
        while (more() && peek() != '|' && peek() != ')') {
            boolean isGroup = peek() == '('
                    && !text.startsWith("(?=", at)
                    && !text.startsWith("(?!", at)
                    && !text.startsWith("(?<", at);
            RegexSyntax atom = atom();
            skip();
            parts.add(repeated(atom, isGroup));
            skip();
        }
        return parts.size() == 1 ? parts.get(0) : new RegexSyntax.Sequence(parts);
    }

    /** Goes behind comments, and blanks where they do not count. */
    private void skip() {
        boolean moved = true;
        while (moved) {
            moved = expanded && skipBlanks();
            if (take("(?#")) {
                int close = text.indexOf(')', at);
                at = close < 0 ? text.length() : close + 1;
                moved = true;
            }
        }
    }

    private boolean skipBlanks() {
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

    private RegexSyntax repeated(RegexSyntax given, boolean isGroup) {
        // A back reference repeats itself; one in parentheses is something that is repeated.
        RegexSyntax body = isGroup && given instanceof RegexSyntax.BackReference
                ? new RegexSyntax.Sequence(List.of(given))
                : given;
        int least;
        int most;
        boolean isRange = false;
        if (take("*")) {
            least = 0;
            most = RegexSyntax.Repeat.UNLIMITED;
        } else if (take("+")) {
            least = 1;
            most = RegexSyntax.Repeat.UNLIMITED;
        } else if (take("?")) {
            least = 0;
            most = 1;
        } else if (isBound()) {
            at++;
            least = count();
            isRange = take(",");
            skipInBound();
            most = isRange ? (more() && peek() != '}' ? count() : RegexSyntax.Repeat.UNLIMITED) : least;
            if (!take("}")) {
                throw invalid(more() ? "invalid repetition count(s)" : "braces {} not balanced");
            }
            if (most < least) {
                throw invalid("invalid repetition count(s)");
            }
        } else {
            return body;
        }
        if (!isGroup && (body instanceof RegexSyntax.At || body instanceof RegexSyntax.Look)) {
            throw invalid("quantifier operand invalid");
        }
        boolean exact = most == least && text.charAt(at - 1) == '}' && !isRange;
        boolean lazy = take("?");
        RegexSyntax.Preference preference = exact
                ? RegexSyntax.Preference.NONE
                : lazy ? RegexSyntax.Preference.SHORTEST : RegexSyntax.Preference.LONGEST;
        if (more() && (peek() == '*' || peek() == '+' || peek() == '?' || isBound())) {
            throw invalid("quantifier operand invalid");
        }
        return new RegexSyntax.Repeat(body, least, most, preference);
    }

    /** An opening brace is only special before a digit. */
    private boolean isBound() {
        if (!more() || peek() != '{') {
            return false;
        }
        int digit = at + 1;
        while (expanded && digit < text.length() && CharSet.isSpace(text.charAt(digit))) {
            digit++;
        }
        return digit < text.length() && isDigit(text.charAt(digit));
    }

    private static boolean isDigit(char c) {
        return c >= '0' && c <= '9';
    }

    private void skipInBound() {
        if (expanded) {
            skipBlanks();
        }
    }

    private int count() {
        int value = 0;
        skipInBound();
        if (!more() || !isDigit(peek())) {
            throw invalid(more() ? "invalid repetition count(s)" : "braces {} not balanced");
        }
        while (more() && isDigit(peek())) {
            value = value * 10 + peek() - '0';
            at++;
            if (value > MOST_REPEATS) {
                throw invalid("invalid repetition count(s)");
            }
            skipInBound();
        }
        return value;
    }

    private RegexSyntax atom() {
        switch (peek()) {
            case '(' -> {
                return group();
            }
            case '[' -> {
                return bracket();
            }
            case '*', '+', '?' -> throw invalid("quantifier operand invalid");
            case '.' -> {
                at++;
                CharSet set =
                        dotAll ? CharSet.ANY : CharSet.builder().add('\n', '\n').build(false, true);
                return new RegexSyntax.OneOf(set);
            }
            case '^' -> {
                at++;
                return new RegexSyntax.At(lineAnchors ? RegexSyntax.Place.LINE_START : RegexSyntax.Place.TEXT_START);
            }
            case '$' -> {
                at++;
                return new RegexSyntax.At(lineAnchors ? RegexSyntax.Place.LINE_END : RegexSyntax.Place.TEXT_END);
            }
            case '\\' -> {
                at++;
                return escape();
            }
            default -> {
                if (isBound()) {
                    throw invalid("quantifier operand invalid");
                }
                return literal(nextCodePoint());
            }
        }
    }

    private RegexSyntax group() {
        at++;
        if (++nested > MOST_NESTED) {
            throw invalid("regular expression is too complex");
        }
        RegexSyntax result;
        if (take("?:")) {
            result = alternatives();
        } else if (take("?=")) {
            result = look(false, false);
        } else if (take("?!")) {
            result = look(false, true);
        } else if (take("?<=")) {
            result = look(true, false);
        } else if (take("?<!")) {
            result = look(true, true);
        } else if (take("?")) {
            throw invalid("quantifier operand invalid");
        } else if (looking > 0) {
            result = alternatives(); // groups are not captured in there
        } else {
            int number = ++groups;
            open.add(number);
            result = new RegexSyntax.Group(number, alternatives());
            open.remove(number);
        }
        if (!take(")")) {
            throw invalid("parentheses () not balanced");
        }
        nested--;
        return result;
    }

    private RegexSyntax look(boolean behind, boolean negated) {
        looking++;
        RegexSyntax body = alternatives();
        looking--;
        return new RegexSyntax.Look(body, behind, negated);
    }

    private RegexSyntax escape() {
        if (!more()) {
            throw invalid("invalid escape \\ sequence");
        }
        char c = peek();
        if (c >= '1' && c <= '9') {
            int group = referredGroup();
            if (group < 0) {
                return literal(octal());
            }
            if (group > groups || open.contains(group) || looking > 0) {
                throw invalid("invalid backreference number");
            }
            return new RegexSyntax.BackReference(group);
        }
        RegexSyntax.Place place = switch (c) {
            case 'A' -> RegexSyntax.Place.TEXT_START;
            case 'Z' -> RegexSyntax.Place.TEXT_END;
            case 'm' -> RegexSyntax.Place.WORD_START;
            case 'M' -> RegexSyntax.Place.WORD_END;
            case 'y' -> RegexSyntax.Place.WORD_BOUNDARY;
            case 'Y' -> RegexSyntax.Place.NO_WORD_BOUNDARY;
            default -> null;
        };
        if (place != null) {
            at++;
            return new RegexSyntax.At(place);
        }
        Optional<CharSet> set = CharacterClasses.ofEscape(c);
        if (set.isPresent()) {
            at++;
            return new RegexSyntax.OneOf(set.get());
        }
        return literal(characterEscape());
    }

    /** The group of a number behind a backslash; -1 when it is an octal character: of digits, and no group yet. */
    private int referredGroup() {
        int end = at;
        int number = 0;
        while (end < text.length() && isDigit(text.charAt(end))) {
            number = Math.min(number * 10 + text.charAt(end++) - '0', 100_000);
        }
        if (end > at + 1 && number > groups) {
            return -1;
        }
        at = end;
        return number;
    }

    private int octal() {
        int value = 0;
        int start = at;
        while (more() && at - start < 3 && peek() >= '0' && peek() <= '7' && value * 8 + peek() - '0' <= 0xff) {
            value = value * 8 + text.charAt(at++) - '0';
        }
        if (at == start) {
            throw invalid("invalid escape \\ sequence");
        }
        return value;
    }

    private int characterEscape() {
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
                    throw invalid("invalid escape \\ sequence");
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
                    throw invalid("invalid escape \\ sequence");
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
            throw invalid("invalid escape \\ sequence");
        }
        int value = 0;
        for (int i = start; i < at; i++) {
            value = value * 16 + Character.digit(text.charAt(i), 16);
            if (value > Character.MAX_CODE_POINT) {
                throw invalid("invalid escape \\ sequence");
            }
        }
        return value;
    }

    private RegexSyntax bracket() {
        at++;
        if (take("[:<:]]")) {
            return new RegexSyntax.At(RegexSyntax.Place.WORD_START);
        }
        if (take("[:>:]]")) {
            return new RegexSyntax.At(RegexSyntax.Place.WORD_END);
        }
        boolean negated = take("^");
        CharSet.Builder set = CharSet.builder();
        boolean first = true;
        while (first || !take("]")) {
            if (!more()) {
                throw invalid("brackets [] not balanced");
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
                throw invalid("invalid character range");
            }
            int from = bracketCharacter();
            int to = from;
            if (at + 1 < text.length() && peek() == '-' && text.charAt(at + 1) != ']') {
                at++;
                to = bracketCharacter();
            }
            if (to < from) {
                throw invalid("invalid character range");
            }
            set.add(from, to);
        }
        if (negated && !dotAll) {
            set.add('\n', '\n');
        }
        return new RegexSyntax.OneOf(set.build(ignoreCase, negated));
    }

    private int bracketCharacter() {
        if (!more()) {
            throw invalid("brackets [] not balanced");
        }
        if (take("\\")) {
            if (!more()) {
                throw invalid("invalid escape \\ sequence");
            }
            return characterEscape();
        }
        if (take("[.") || take("[=")) {
            String end = text.charAt(at - 1) + "]";
            int close = text.indexOf(end, at);
            if (close < 0) {
                throw invalid("brackets [] not balanced");
            }
            if (close == at || text.codePointCount(at, close) > 1) {
                throw invalid("invalid collating element");
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
            throw invalid("brackets [] not balanced");
        }
        String name = text.substring(at, close);
        at = close + 2;
        return CharacterClasses.named(name, ignoreCase).orElseThrow(() -> invalid("invalid character class"));
    }
}
