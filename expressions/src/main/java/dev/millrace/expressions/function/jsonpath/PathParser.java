package dev.millrace.expressions.function.jsonpath;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.expressions.function.jsonpath.JsonPath.Expression;
import dev.millrace.expressions.function.jsonpath.JsonPath.Node;
import dev.millrace.expressions.function.jsonpath.JsonPath.Nothing;
import dev.millrace.expressions.function.jsonpath.JsonPath.Predicate;
import dev.millrace.expressions.function.regex.Regex;
import dev.millrace.expressions.function.regex.RegexFlags;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Parses a path by recursive descent, with the precedence of PostgreSQL's grammar. */
final class PathParser {
    private static final Set<String> METHODS = Set.of(
            "type", "size", "double", "ceiling", "floor", "abs", "number", "string", "integer", "bigint", "boolean");

    private final String text;
    private int at;
    private int filters; // how deep: @ means something within one only
    private int subscripts; // how deep: last means something within one only

    private PathParser(String text) {
        this.text = text;
    }

    /** @throws MillraceException 42601 for what is no path, 0A000 for what is not available */
    static JsonPath parse(String text) {
        try {
            return new PathParser(text).path();
        } catch (StackOverflowError e) {
            throw tooDeep();
        }
    }

    static MillraceException tooDeep() {
        return MillraceException.resources(SqlState.STATEMENT_TOO_COMPLEX, "the JSON path is nested too deeply");
    }

    private JsonPath path() {
        boolean strict = word("strict");
        if (!strict) {
            word("lax");
        }
        Node root = or();
        space();
        if (at < text.length()) {
            throw unexpected();
        }
        return new JsonPath(strict, root);
    }

    // ---- predicates ------------------------------------------------------------------------------------------------

    private Node or() {
        Node left = and();
        while (symbol("||")) {
            left = new JsonPath.Or(predicate(left), predicate(and()));
        }
        return left;
    }

    private Node and() {
        Node left = not();
        while (symbol("&&")) {
            left = new JsonPath.And(predicate(left), predicate(not()));
        }
        return left;
    }

    private Node not() {
        space();
        if (text.startsWith("!", at) && !text.startsWith("!=", at)) {
            at++;
            space();
            boolean delimited = text.startsWith("(", at) || text.startsWith("exists", at);
            if (!delimited) {
                throw unexpected();
            }
            return new JsonPath.Not(predicate(not()));
        }
        return comparison();
    }

    private Node comparison() {
        Node left = additive();
        space();
        for (String operator : List.of("==", "!=", "<>", "<=", ">=", "<", ">")) {
            if (text.startsWith(operator, at)) {
                at += operator.length();
                return new JsonPath.Comparison(
                        operator.equals("<>") ? "!=" : operator, expression(left), expression(additive()));
            }
        }
        if (word("starts")) {
            if (!word("with")) {
                throw unexpected();
            }
            space();
            Expression start = text.startsWith("$", at) ? variable() : new JsonPath.Constant(string());
            return new JsonPath.StartsWith(expression(left), start);
        }
        if (word("like_regex")) {
            String pattern = string();
            String flags = word("flag") ? string() : "";
            return new JsonPath.Matches(expression(left), regex(pattern, flags));
        }
        return left;
    }

    private Regex regex(String pattern, String flags) {
        boolean[] given = new boolean["isxmq".length()];
        for (char flag : flags.toCharArray()) {
            int known = "isxmq".indexOf(flag);
            if (known < 0) {
                throw error("unrecognized flag character \"" + flag + "\" in LIKE_REGEX predicate");
            }
            given[known] = true;
        }
        if (given[2]) {
            throw MillraceException.notAvailableYet("the flag \"x\" of like_regex");
        }
        String lines = given[1] ? (given[3] ? "w" : "") : (given[3] ? "n" : "p"); // what newlines mean to . and ^
        boolean quoted = given[4];
        RegexFlags options = RegexFlags.NONE.with((given[0] ? "i" : "") + (quoted ? "" : lines));
        return Regex.compile(quoted ? "***=" + pattern : pattern, options);
    }

    private Predicate predicate(Node node) {
        if (node instanceof Predicate predicate) {
            return predicate;
        }
        throw unexpected();
    }

    private Expression expression(Node node) {
        if (node instanceof Expression expression) {
            return expression;
        }
        throw unexpected();
    }

    // ---- expressions -----------------------------------------------------------------------------------------------

    private Node additive() {
        Node left = multiplicative();
        while (true) {
            space();
            if (at < text.length() && (text.charAt(at) == '+' || text.charAt(at) == '-')) {
                char operator = text.charAt(at++);
                left = new JsonPath.Arithmetic(operator, expression(left), expression(multiplicative()));
            } else {
                return left;
            }
        }
    }

    private Node multiplicative() {
        Node left = signed();
        while (true) {
            space();
            if (at < text.length() && "*/%".indexOf(text.charAt(at)) >= 0) {
                char operator = text.charAt(at++);
                left = new JsonPath.Arithmetic(operator, expression(left), expression(signed()));
            } else {
                return left;
            }
        }
    }

    private Node signed() {
        space();
        if (at < text.length() && (text.charAt(at) == '+' || text.charAt(at) == '-')) {
            boolean negative = text.charAt(at++) == '-';
            return new JsonPath.Sign(negative, expression(signed()));
        }
        return accessors(primary());
    }

    private Node primary() {
        space();
        if (at >= text.length()) {
            throw unexpected();
        }
        char first = text.charAt(at);
        if (first == '$') {
            return at + 1 < text.length() && (isKey(text.charAt(at + 1)) || text.charAt(at + 1) == '"')
                    ? variable()
                    : advanced(new JsonPath.Root());
        }
        if (first == '@') {
            if (filters == 0) {
                throw error("@ is not allowed in root expressions");
            }
            return advanced(new JsonPath.Current());
        }
        if (first == '"') {
            return new JsonPath.Constant(string());
        }
        if (Character.isDigit(first)
                || first == '.' && at + 1 < text.length() && Character.isDigit(text.charAt(at + 1))) {
            return new JsonPath.Constant(number());
        }
        if (symbol("(")) {
            Node inner = or();
            require(")");
            if (inner instanceof Predicate predicate && word("is")) {
                if (!word("unknown")) {
                    throw unexpected();
                }
                return new JsonPath.IsUnknown(predicate);
            }
            return inner;
        }
        return named();
    }

    private Node named() {
        if (word("true")) {
            return new JsonPath.Constant(true);
        } else if (word("false")) {
            return new JsonPath.Constant(false);
        } else if (word("null")) {
            return new JsonPath.Constant(Nothing.NULL);
        } else if (word("last")) {
            if (subscripts == 0) {
                throw error("LAST is allowed only in array subscripts");
            }
            return new JsonPath.Last();
        } else if (word("exists")) {
            require("(");
            Expression operand = expression(additive());
            require(")");
            return new JsonPath.Exists(operand);
        }
        throw unexpected();
    }

    private Node advanced(Node node) {
        at++;
        return node;
    }

    private Expression variable() {
        at++;
        return new JsonPath.Variable(text.startsWith("\"", at) ? string() : key());
    }

    private Node accessors(Node start) {
        Node node = start;
        while (true) {
            space();
            if (text.startsWith("[", at)) {
                node = subscript(operand(node));
            } else if (text.startsWith("?", at)) {
                at++;
                require("(");
                filters++;
                Predicate condition = predicate(or());
                filters--;
                require(")");
                node = new JsonPath.Filter(operand(node), condition);
            } else if (text.startsWith(".", at)) {
                at++;
                node = dotted(operand(node));
            } else {
                return node;
            }
        }
    }

    private static Expression operand(Node node) {
        return node instanceof Predicate predicate ? new JsonPath.Test(predicate) : (Expression) node;
    }

    private Expression dotted(Expression base) {
        space();
        if (symbol("**")) {
            return descendants(base);
        }
        if (symbol("*")) {
            return new JsonPath.AllMembers(base);
        }
        if (text.startsWith("\"", at)) {
            return new JsonPath.Member(base, string());
        }
        String key = key();
        int behind = at;
        if (!symbol("(")) {
            at = behind;
            return new JsonPath.Member(base, key);
        }
        if (!METHODS.contains(key)) {
            throw MillraceException.notAvailableYet("the jsonpath method ." + key + "()")
                    .withHint("there are "
                            + String.join(", ", METHODS.stream().sorted().toList()));
        }
        require(")");
        return new JsonPath.Method(base, key);
    }

    private Expression descendants(Expression base) {
        if (!symbol("{")) {
            return new JsonPath.Descendants(base, 0, Integer.MAX_VALUE);
        }
        int least = level();
        int most = word("to") ? level() : least;
        require("}");
        return new JsonPath.Descendants(base, least, most);
    }

    private int level() {
        return word("last") ? Integer.MAX_VALUE : number().intValue();
    }

    private Expression subscript(Expression base) {
        require("[");
        if (symbol("*")) {
            require("]");
            return new JsonPath.AllElements(base);
        }
        List<JsonPath.Range> ranges = new ArrayList<>();
        subscripts++;
        do {
            Expression from = expression(additive());
            ranges.add(new JsonPath.Range(from, word("to") ? Optional.of(expression(additive())) : Optional.empty()));
        } while (symbol(","));
        subscripts--;
        require("]");
        return new JsonPath.Elements(base, ranges);
    }

    // ---- tokens ----------------------------------------------------------------------------------------------------

    private void space() {
        while (at < text.length()) {
            if (Character.isWhitespace(text.charAt(at))) {
                at++;
            } else if (text.startsWith("/*", at)) {
                int end = text.indexOf("*/", at + 2);
                at = end < 0 ? text.length() : end + 2;
            } else {
                return;
            }
        }
    }

    private boolean symbol(String symbol) {
        space();
        if (text.startsWith(symbol, at)) {
            at += symbol.length();
            return true;
        }
        return false;
    }

    private void require(String symbol) {
        if (!symbol(symbol)) {
            throw unexpected();
        }
    }

    private boolean word(String word) {
        space();
        int end = at + word.length();
        boolean found = text.startsWith(word, at) && (end >= text.length() || !isKey(text.charAt(end)));
        at = found ? end : at;
        return found;
    }

    private static boolean isKey(char letter) {
        return Character.isLetterOrDigit(letter) || letter == '_' || letter > 127;
    }

    private String key() {
        int start = at;
        while (at < text.length() && isKey(text.charAt(at))) {
            at++;
        }
        if (at == start) {
            throw unexpected();
        }
        return text.substring(start, at);
    }

    private BigDecimal number() {
        space();
        int start = at;
        digits();
        if (at < text.length()
                && text.charAt(at) == '.'
                && at + 1 < text.length()
                && Character.isDigit(text.charAt(at + 1))) {
            at++;
            digits();
        }
        if (at < text.length() && (text.charAt(at) == 'e' || text.charAt(at) == 'E')) {
            at++;
            if (at < text.length() && (text.charAt(at) == '+' || text.charAt(at) == '-')) {
                at++;
            }
            digits();
        }
        try {
            return PathEvaluation.number(text.substring(start, at));
        } catch (NumberFormatException e) {
            throw unexpected();
        }
    }

    private void digits() {
        while (at < text.length() && Character.isDigit(text.charAt(at))) {
            at++;
        }
    }

    private String string() {
        space();
        if (!text.startsWith("\"", at)) {
            throw unexpected();
        }
        StringBuilder string = new StringBuilder();
        for (at++; at < text.length() && text.charAt(at) != '"'; at++) {
            char letter = text.charAt(at);
            if (letter != '\\' || at + 1 == text.length()) {
                string.append(letter);
                continue;
            }
            char escaped = text.charAt(++at);
            switch (escaped) {
                case 'b' -> string.append('\b');
                case 'f' -> string.append('\f');
                case 'n' -> string.append('\n');
                case 'r' -> string.append('\r');
                case 't' -> string.append('\t');
                case 'v' -> string.append('\u000b');
                case 'u' -> string.append(unicode());
                default -> string.append(escaped);
            }
        }
        if (at >= text.length()) {
            throw error("unterminated quoted string at end of jsonpath input");
        }
        at++;
        return string.toString();
    }

    private char unicode() {
        try {
            char letter = (char) Integer.parseInt(text.substring(at + 1, at + 5), 16);
            at += 4;
            return letter;
        } catch (IndexOutOfBoundsException | NumberFormatException e) {
            throw error("invalid Unicode escape sequence in jsonpath input");
        }
    }

    private MillraceException unexpected() {
        space();
        if (at >= text.length()) {
            return error("syntax error at end of jsonpath input");
        }
        int end = at + 1;
        while (isKey(text.charAt(at)) && end < text.length() && isKey(text.charAt(end))) {
            end++;
        }
        return error("syntax error at or near \"" + text.substring(at, end) + "\" of jsonpath input");
    }

    private static MillraceException error(String message) {
        return MillraceException.user(SqlState.SYNTAX_ERROR, message);
    }
}
