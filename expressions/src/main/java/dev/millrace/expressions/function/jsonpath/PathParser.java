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
import java.util.Locale;
import java.util.Optional;
import java.util.Set;

/** Parses a path by recursive descent, with the precedence of PostgreSQL's grammar. */
final class PathParser {
    private static final Set<String> METHODS = Set.of(
            "type", "size", "double", "ceiling", "floor", "abs", "number", "string", "integer", "bigint", "boolean");

    /** What can be written in a path, but not evaluated. */
    private static final Set<String> WRITTEN = Set.of("keyvalue", "datetime");

    private static final String REGEX_FLAGS = "ismxq"; // in the order in which they are written

    private final PathScanner in;
    private int filters; // how deep: @ means something within one only
    private int subscripts; // how deep: last means something within one only

    private PathParser(String text) {
        in = new PathScanner(text);
    }

    /** @throws MillraceException 42601 or 22P02 for what is no path, 0A000 for what is not available */
    static JsonPath parse(String text) {
        if (text.isEmpty()) {
            throw invalid("invalid input syntax for type jsonpath: \"\"");
        }
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
        boolean strict = in.word("strict");
        if (!strict) {
            in.word("lax");
        }
        Node root = or();
        if (!in.atEnd()) {
            throw in.unexpected();
        }
        return new JsonPath(strict, root);
    }

    // ---- predicates ------------------------------------------------------------------------------------------------

    private Node or() {
        Node left = and();
        while (in.symbol("||")) {
            left = new JsonPath.Or(predicate(left), predicate(and()));
        }
        return left;
    }

    private Node and() {
        Node left = not();
        while (in.symbol("&&")) {
            left = new JsonPath.And(predicate(left), predicate(not()));
        }
        return left;
    }

    private Node not() {
        if (!in.sees("!=") && in.symbol("!")) {
            if (in.next() != '(' && Character.toLowerCase(in.next()) != 'e') { // of exists
                throw in.unexpected();
            }
            return new JsonPath.Not(predicate(not()));
        }
        return comparison();
    }

    private Node comparison() {
        Node left = additive();
        for (String operator : List.of("==", "!=", "<>", "<=", ">=", "<", ">")) {
            if (in.symbol(operator)) {
                return new JsonPath.Comparison(
                        operator.equals("<>") ? "!=" : operator, expression(left), expression(additive()));
            }
        }
        if (in.word("starts")) {
            if (!in.word("with")) {
                throw in.unexpected();
            }
            Expression start = in.next() == '$' ? variable() : new JsonPath.Constant(in.string());
            return new JsonPath.StartsWith(expression(left), start);
        }
        if (in.word("like_regex")) {
            String pattern = in.string();
            String flags = in.word("flag") ? in.string() : "";
            return matches(expression(left), pattern, flags);
        }
        return left;
    }

    private static Predicate matches(Expression operand, String pattern, String flags) {
        StringBuilder given = new StringBuilder(); // each once, in one order
        REGEX_FLAGS.chars().filter(flag -> flags.indexOf(flag) >= 0).forEach(flag -> given.append((char) flag));
        for (char flag : flags.toCharArray()) {
            if (REGEX_FLAGS.indexOf(flag) < 0) {
                throw invalid("unrecognized flag character \"" + flag + "\" in LIKE_REGEX predicate");
            }
        }
        return new JsonPath.Matches(operand, pattern, given.toString(), regex(pattern, given.toString()));
    }

    private static Regex regex(String pattern, String flags) {
        String ignoringCase = flags.contains("i") ? "i" : "";
        if (flags.contains("q")) {
            return Regex.compile("***=" + pattern, RegexFlags.NONE.with(ignoringCase));
        }
        if (flags.contains("x")) {
            throw MillraceException.notAvailableYet("the flag \"x\" of like_regex");
        }
        boolean anchors = flags.contains("m");
        String lines =
                flags.contains("s") ? (anchors ? "w" : "") : (anchors ? "n" : "p"); // what newlines mean to . and ^
        return Regex.compile(pattern, RegexFlags.NONE.with(ignoringCase + lines));
    }

    private Predicate predicate(Node node) {
        if (node instanceof Predicate predicate) {
            return predicate;
        }
        throw in.unexpected();
    }

    private Expression expression(Node node) {
        if (node instanceof Expression expression) {
            return expression;
        }
        throw in.unexpected();
    }

    // ---- expressions -----------------------------------------------------------------------------------------------

    private Node additive() {
        Node left = multiplicative();
        while (true) {
            char operator = in.next();
            if (operator == '+' || operator == '-') {
                in.advance();
                left = new JsonPath.Arithmetic(operator, expression(left), expression(multiplicative()));
            } else {
                return left;
            }
        }
    }

    private Node multiplicative() {
        Node left = signed();
        while (true) {
            char operator = in.next();
            if (operator == '*' || operator == '/' || operator == '%') {
                in.advance();
                left = new JsonPath.Arithmetic(operator, expression(left), expression(signed()));
            } else {
                return left;
            }
        }
    }

    private Node signed() {
        char sign = in.next();
        if (sign == '+' || sign == '-') {
            in.advance();
            Expression operand = expression(signed());
            return operand instanceof JsonPath.Constant constant && constant.item() instanceof BigDecimal number
                    ? new JsonPath.Constant(sign == '-' ? number.negate() : number)
                    : new JsonPath.Sign(sign == '-', operand);
        }
        return accessors(primary());
    }

    private Node primary() {
        char first = in.next();
        if (first == '$') {
            return PathScanner.isKey(in.letter(1)) || in.letter(1) == '"' || in.letter(1) == '\\'
                    ? variable()
                    : advanced(new JsonPath.Root());
        }
        if (first == '@') {
            if (filters == 0) {
                throw PathScanner.error("@ is not allowed in root expressions");
            }
            return advanced(new JsonPath.Current());
        }
        if (first == '"') {
            return new JsonPath.Constant(in.string());
        }
        if (PathScanner.isDigit(first) || first == '.' && PathScanner.isDigit(in.letter(1))) {
            return new JsonPath.Constant(in.number());
        }
        if (in.symbol("(")) {
            Node inner = or();
            in.require(")");
            if (inner instanceof Predicate predicate && in.word("is")) {
                if (!in.word("unknown")) {
                    throw in.unexpected();
                }
                return new JsonPath.IsUnknown(predicate);
            }
            return inner;
        }
        return named();
    }

    private Node named() {
        if (in.smallWord("true")) {
            return new JsonPath.Constant(true);
        } else if (in.smallWord("false")) {
            return new JsonPath.Constant(false);
        } else if (in.smallWord("null")) {
            return new JsonPath.Constant(Nothing.NULL);
        } else if (in.word("last")) {
            if (subscripts == 0) {
                throw PathScanner.error("LAST is allowed only in array subscripts");
            }
            return new JsonPath.Last();
        } else if (in.word("exists")) {
            in.require("(");
            Expression operand = expression(additive());
            in.require(")");
            return new JsonPath.Exists(operand);
        }
        throw in.unexpected();
    }

    private Node advanced(Node node) {
        in.advance();
        return node;
    }

    private Expression variable() {
        in.advance();
        return new JsonPath.Variable(in.letter(0) == '"' ? in.string() : in.key());
    }

    private Node accessors(Node start) {
        Node node = start;
        while (true) {
            if (in.next() == '[') {
                node = subscript(operand(node));
            } else if (in.symbol("?")) {
                in.require("(");
                filters++;
                Predicate condition = predicate(or());
                filters--;
                in.require(")");
                node = new JsonPath.Filter(operand(node), condition);
            } else if (in.symbol(".")) {
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
        if (in.symbol("**")) {
            return descendants(base);
        }
        if (in.symbol("*")) {
            return new JsonPath.AllMembers(base);
        }
        if (in.next() == '"') {
            return new JsonPath.Member(base, in.string());
        }
        String key = in.key();
        if (!in.symbol("(")) {
            return new JsonPath.Member(base, key);
        }
        String method = key.toLowerCase(Locale.ROOT);
        if (!METHODS.contains(method) && !WRITTEN.contains(method)) {
            throw notAvailable(method);
        }
        Optional<String> argument =
                method.equals("datetime") && in.next() == '"' ? Optional.of(in.string()) : Optional.empty();
        in.require(")");
        return new JsonPath.Method(base, method, argument);
    }

    static MillraceException notAvailable(String method) {
        return MillraceException.notAvailableYet("the jsonpath method ." + method + "()")
                .withHint("there are "
                        + String.join(", ", METHODS.stream().sorted().toList()));
    }

    private Expression descendants(Expression base) {
        if (!in.symbol("{")) {
            return new JsonPath.Descendants(base, 0, Integer.MAX_VALUE);
        }
        int least = level();
        int most = in.word("to") ? level() : least;
        in.require("}");
        return new JsonPath.Descendants(base, least, most);
    }

    private int level() {
        return in.word("last") ? Integer.MAX_VALUE : in.whole();
    }

    private Expression subscript(Expression base) {
        in.require("[");
        if (in.symbol("*")) {
            in.require("]");
            return new JsonPath.AllElements(base);
        }
        List<JsonPath.Range> ranges = new ArrayList<>();
        subscripts++;
        do {
            Expression from = expression(additive());
            ranges.add(
                    new JsonPath.Range(from, in.word("to") ? Optional.of(expression(additive())) : Optional.empty()));
        } while (in.symbol(","));
        subscripts--;
        in.require("]");
        return new JsonPath.Elements(base, ranges);
    }

    private static MillraceException invalid(String message) {
        return MillraceException.user(SqlState.INVALID_TEXT_REPRESENTATION, message);
    }
}
