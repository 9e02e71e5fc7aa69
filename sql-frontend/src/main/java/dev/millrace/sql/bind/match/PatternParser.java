package dev.millrace.sql.bind.match;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.plan.match.RowPattern;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.OptionalInt;

/**
 * Reads the text between the parentheses of PATTERN. Its signs are no SQL tokens ({@code {-}, {@code +?}, {@code $}),
 * so that it is read here and not by the grammar.
 *
 * <pre>
 *   pattern     sequence ( '|' sequence )*
 *   sequence    factor*
 *   factor      primary ( ( '*' | '+' | '?' | '{' n? ( ',' m? )? '}' ) '?'? )?
 *   primary     name | '(' pattern ')' | '{-' pattern '-}' | '^' | '$' | PERMUTE '(' pattern ( ',' pattern )* ')'
 * </pre>
 */
final class PatternParser {
    /** What the text says, and the variables in order of their first mention. */
    record Parsed(RowPattern pattern, List<String> variables, boolean excludes) {}

    private final String source;
    private int at;
    private final List<String> variables = new ArrayList<>();
    private boolean excludes;
    private boolean excluding;

    private PatternParser(String source, int at) {
        this.source = source;
        this.at = at;
    }

    /**
     * Reads a pattern up to the parenthesis that ends it.
     *
     * @param start where in the source it begins
     * @throws MillraceException (42601) with the place in the source
     */
    static Parsed parse(String source, int start) {
        PatternParser parser = new PatternParser(source, start);
        RowPattern pattern = parser.alternation();
        if (parser.peek() != ')') {
            throw parser.unexpected();
        }
        if (parser.variables.isEmpty()) {
            throw parser.error("a row pattern needs a variable");
        }
        return new Parsed(pattern, List.copyOf(parser.variables), parser.excludes);
    }

    private RowPattern alternation() {
        List<RowPattern> choices = new ArrayList<>();
        choices.add(sequence());
        while (accept("|")) {
            choices.add(sequence());
        }
        return choices.size() == 1 ? choices.get(0) : new RowPattern.Alternation(choices);
    }

    private RowPattern sequence() {
        List<RowPattern> parts = new ArrayList<>();
        while (startsPrimary()) {
            parts.add(factor());
        }
        return parts.size() == 1 ? parts.get(0) : new RowPattern.Concatenation(parts);
    }

    private boolean startsPrimary() {
        char c = peek();
        return c == '(' || c == '^' || c == '$' || c == '"' || isNamePart(c) || source.startsWith("{-", at);
    }

    private RowPattern factor() {
        RowPattern primary = primary();
        int least = 0;
        OptionalInt most = OptionalInt.empty();
        if (accept("*")) {
            least = 0;
        } else if (accept("+")) {
            least = 1;
        } else if (accept("?")) {
            most = OptionalInt.of(1);
        } else if (peek() == '{' && !source.startsWith("{-", at)) {
            int place = at;
            accept("{");
            OptionalInt first = number();
            if (accept(",")) {
                most = number();
                if (first.isEmpty() && most.isEmpty()) {
                    throw error("a number is expected in the braces");
                }
            } else {
                most = first;
            }
            least = first.orElse(0);
            if (!accept("}") || first.isEmpty() && most.isEmpty()) {
                throw unexpected();
            }
            if (most.isPresent() && (most.getAsInt() < least || most.getAsInt() == 0)) {
                at = place;
                throw error("the most times of a repetition must not be less than the least, nor zero");
            }
        } else {
            return primary;
        }
        boolean reluctant = accept("?");
        return new RowPattern.Repetition(primary, least, most, !reluctant);
    }

    private RowPattern primary() {
        if (accept("(")) {
            RowPattern inner = alternation();
            expect(")");
            return inner;
        }
        if (accept("{-")) {
            if (excluding) {
                throw error("an exclusion within an exclusion");
            }
            excludes = true;
            excluding = true;
            RowPattern inner = alternation();
            excluding = false;
            expect("-}");
            return new RowPattern.Exclusion(inner);
        }
        if (accept("^")) {
            return new RowPattern.PartitionStart();
        }
        if (accept("$")) {
            return new RowPattern.PartitionEnd();
        }
        boolean quoted = peek() == '"';
        String name = quoted ? quotedName() : name();
        if (!quoted && name.equals("permute") && accept("(")) {
            List<RowPattern> parts = new ArrayList<>();
            do {
                parts.add(alternation());
            } while (accept(","));
            expect(")");
            return new RowPattern.Permutation(parts);
        }
        if (!variables.contains(name)) {
            variables.add(name);
        }
        return new RowPattern.Variable(variables.indexOf(name));
    }

    private String name() {
        peek();
        int start = at;
        while (at < source.length() && isNamePart(source.charAt(at))) {
            at++;
        }
        if (Character.isDigit(source.charAt(start))) {
            at = start;
            throw unexpected();
        }
        return source.substring(start, at).toLowerCase(Locale.ROOT);
    }

    private String quotedName() {
        StringBuilder name = new StringBuilder();
        at++;
        while (at < source.length()) {
            char c = source.charAt(at++);
            if (c != '"') {
                name.append(c);
            } else if (at < source.length() && source.charAt(at) == '"') {
                name.append(source.charAt(at++));
            } else {
                return name.toString();
            }
        }
        throw error("unterminated quoted identifier");
    }

    private OptionalInt number() {
        peek();
        int start = at;
        while (at < source.length() && Character.isDigit(source.charAt(at))) {
            at++;
        }
        if (start == at) {
            return OptionalInt.empty();
        }
        if (at - start > 9) {
            at = start;
            throw error("the number is too large");
        }
        return OptionalInt.of(Integer.parseInt(source.substring(start, at)));
    }

    private static boolean isNamePart(char c) {
        return Character.isLetterOrDigit(c) || c == '_';
    }

    /** The next character behind blanks and comments; NUL at the end. */
    private char peek() {
        while (at < source.length()) {
            if (Character.isWhitespace(source.charAt(at))) {
                at++;
            } else if (source.startsWith("--", at)) {
                int end = source.indexOf('\n', at);
                at = end < 0 ? source.length() : end;
            } else if (source.startsWith("/*", at)) {
                int end = source.indexOf("*/", at);
                at = end < 0 ? source.length() : end + 2;
            } else {
                return source.charAt(at);
            }
        }
        return '\0';
    }

    private boolean accept(String sign) {
        peek();
        if (!source.startsWith(sign, at)) {
            return false;
        }
        at += sign.length();
        return true;
    }

    private void expect(String sign) {
        if (!accept(sign)) {
            throw unexpected();
        }
    }

    private MillraceException unexpected() {
        char c = peek();
        return error(c == '\0' ? "the row pattern does not end" : "syntax error in the row pattern at \"" + c + "\"");
    }

    private MillraceException error(String message) {
        return MillraceException.user(SqlState.SYNTAX_ERROR, message).at(Math.min(at, source.length() - 1) + 1);
    }
}
