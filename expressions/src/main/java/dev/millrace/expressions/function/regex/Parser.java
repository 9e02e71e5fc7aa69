package dev.millrace.expressions.function.regex;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Reads PostgreSQL's advanced regular expressions (its manual, section 9.7.3). */
final class Parser {
    private static final int MOST_REPEATS = 255;
    private static final int MOST_NESTED = 500; // parentheses; all that walks over the result calls itself

    private final CharacterReader text;
    private final boolean ignoreCase;
    private final boolean expanded;
    private final boolean dotAll;
    private final boolean lineAnchors;
    private int nested;
    private int looking; // how many lookarounds are around
    private final Set<Integer> open = new HashSet<>(); // groups that are not closed yet

    private Parser(String pattern, int start, RegexFlags flags) {
        this.text = new CharacterReader(pattern, start, flags);
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
        if (parser.text.more()) {
            throw invalid("parentheses () not balanced");
        }
        return new Parsed(syntax, parser.text.groups(), flags.ignoreCase());
    }

    static MillraceException invalid(String reason) {
        return MillraceException.user(SqlState.INVALID_REGULAR_EXPRESSION, "invalid regular expression: " + reason);
    }

    private RegexSyntax literalText() {
        List<RegexSyntax> parts = new ArrayList<>();
        while (text.more()) {
            parts.add(literal(text.nextCodePoint()));
        }
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

    private RegexSyntax alternatives() {
        List<RegexSyntax> branches = new ArrayList<>();
        do {
            branches.add(sequence());
        } while (text.take("|"));
        return branches.size() == 1 ? branches.get(0) : new RegexSyntax.Alternatives(branches);
    }

    private RegexSyntax sequence() {
        List<RegexSyntax> parts = new ArrayList<>();
        skip();
        while (text.more() && text.peek() != '|' && text.peek() != ')') {
            boolean isGroup = text.peek() == '(' && !text.isAt("(?=") && !text.isAt("(?!") && !text.isAt("(?<");
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
            moved = expanded && text.skipBlanks();
            if (text.take("(?#")) {
                text.skipComment();
                moved = true;
            }
        }
    }

    private RegexSyntax repeated(RegexSyntax given, boolean isGroup) {
        // A back reference repeats itself; one in parentheses is something that is repeated.
        RegexSyntax body = isGroup && given instanceof RegexSyntax.BackReference
                ? new RegexSyntax.Sequence(List.of(given))
                : given;
        int least;
        int most;
        boolean isBound = isBound();
        boolean isRange = false;
        if (text.take("*")) {
            least = 0;
            most = RegexSyntax.Repeat.UNLIMITED;
        } else if (text.take("+")) {
            least = 1;
            most = RegexSyntax.Repeat.UNLIMITED;
        } else if (text.take("?")) {
            least = 0;
            most = 1;
        } else if (isBound) {
            text.skip();
            least = count();
            isRange = text.take(",");
            skipInBound();
            most = isRange ? (text.more() && text.peek() != '}' ? count() : RegexSyntax.Repeat.UNLIMITED) : least;
            if (!text.take("}")) {
                throw invalid(text.more() ? "invalid repetition count(s)" : "braces {} not balanced");
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
        boolean exact = most == least && isBound && !isRange;
        boolean lazy = text.take("?");
        RegexSyntax.Preference preference = exact
                ? RegexSyntax.Preference.NONE
                : lazy ? RegexSyntax.Preference.SHORTEST : RegexSyntax.Preference.LONGEST;
        if (text.more() && (text.peek() == '*' || text.peek() == '+' || text.peek() == '?' || isBound())) {
            throw invalid("quantifier operand invalid");
        }
        return new RegexSyntax.Repeat(body, least, most, preference);
    }

    /** An opening brace is only special before a digit. */
    private boolean isBound() {
        if (!text.more() || text.peek() != '{') {
            return false;
        }
        return text.isDigitBehind(1, expanded);
    }

    private void skipInBound() {
        if (expanded) {
            text.skipBlanks();
        }
    }

    private int count() {
        int value = 0;
        skipInBound();
        if (!text.more() || !CharacterReader.isDigit(text.peek())) {
            throw invalid(text.more() ? "invalid repetition count(s)" : "braces {} not balanced");
        }
        while (text.more() && CharacterReader.isDigit(text.peek())) {
            value = value * 10 + text.peek() - '0';
            text.skip();
            if (value > MOST_REPEATS) {
                throw invalid("invalid repetition count(s)");
            }
            skipInBound();
        }
        return value;
    }

    private RegexSyntax atom() {
        switch (text.peek()) {
            case '(' -> {
                return group();
            }
            case '[' -> {
                return bracket();
            }
            case '*', '+', '?' -> throw invalid("quantifier operand invalid");
            case '.' -> {
                text.skip();
                CharSet set =
                        dotAll ? CharSet.ANY : CharSet.builder().add('\n', '\n').build(false, true);
                return new RegexSyntax.OneOf(set);
            }
            case '^' -> {
                text.skip();
                return new RegexSyntax.At(lineAnchors ? RegexSyntax.Place.LINE_START : RegexSyntax.Place.TEXT_START);
            }
            case '$' -> {
                text.skip();
                return new RegexSyntax.At(lineAnchors ? RegexSyntax.Place.LINE_END : RegexSyntax.Place.TEXT_END);
            }
            case '\\' -> {
                text.skip();
                return escape();
            }
            default -> {
                if (isBound()) {
                    throw invalid("quantifier operand invalid");
                }
                return literal(text.nextCodePoint());
            }
        }
    }

    private RegexSyntax group() {
        text.skip();
        if (++nested > MOST_NESTED) {
            throw invalid("regular expression is too complex");
        }
        RegexSyntax result;
        if (text.take("?:")) {
            result = alternatives();
        } else if (text.take("?=")) {
            result = look(false, false);
        } else if (text.take("?!")) {
            result = look(false, true);
        } else if (text.take("?<=")) {
            result = look(true, false);
        } else if (text.take("?<!")) {
            result = look(true, true);
        } else if (text.take("?")) {
            throw invalid("quantifier operand invalid");
        } else if (looking > 0) {
            result = alternatives(); // groups are not captured in there
        } else {
            int number = text.beginGroup();
            open.add(number);
            result = new RegexSyntax.Group(number, alternatives());
            open.remove(number);
        }
        if (!text.take(")")) {
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
        if (!text.more()) {
            throw invalid("invalid escape \\ sequence");
        }
        char c = text.peek();
        if (c >= '1' && c <= '9') {
            int group = text.referredGroup();
            if (group < 0) {
                return literal(text.octal());
            }
            if (group > text.groups() || open.contains(group) || looking > 0) {
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
            text.skip();
            return new RegexSyntax.At(place);
        }
        Optional<CharSet> set = CharacterClasses.ofEscape(c);
        if (set.isPresent()) {
            text.skip();
            return new RegexSyntax.OneOf(set.get());
        }
        return literal(text.characterEscape());
    }

    private RegexSyntax bracket() {
        text.skip();
        if (text.take("[:<:]]")) {
            return new RegexSyntax.At(RegexSyntax.Place.WORD_START);
        }
        if (text.take("[:>:]]")) {
            return new RegexSyntax.At(RegexSyntax.Place.WORD_END);
        }
        return new RegexSyntax.OneOf(text.bracket());
    }
}
