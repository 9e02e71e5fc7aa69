package dev.millrace.testing.expression;

import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.Expression.Call;
import dev.millrace.plan.expression.Expression.Case;
import dev.millrace.plan.expression.Expression.Cast;
import dev.millrace.plan.expression.Expression.Column;
import dev.millrace.plan.expression.Expression.Literal;
import dev.millrace.plan.expression.Expression.Null;
import dev.millrace.plan.function.FunctionCatalog;
import dev.millrace.plan.function.ResultRule;
import dev.millrace.plan.function.Signature;
import dev.millrace.type.DataType;
import dev.millrace.type.DataType.Kind;
import dev.millrace.type.PlainNumeric;
import dev.millrace.type.Schema;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * Reads expressions from a small language for tests: {@code name(argument, ...)}, {@code case(condition, result, ...,
 * otherwise)}, literals as in SQL ({@code 'text'}, {@code 12}, {@code 1.5}, {@code 1.5e0} is DOUBLE, {@code true},
 * {@code null}), column names, and casts {@code ::type} behind any of these. Overloads are chosen as the front end
 * would, roughly.
 */
public final class ExpressionReader {
    private static final Map<String, DataType> TYPES = Map.ofEntries(
            Map.entry("boolean", DataType.BOOLEAN),
            Map.entry("smallint", DataType.SMALLINT),
            Map.entry("integer", DataType.INTEGER),
            Map.entry("bigint", DataType.BIGINT),
            Map.entry("real", DataType.REAL),
            Map.entry("double", DataType.DOUBLE),
            Map.entry("numeric", DataType.numeric(38, 16)),
            Map.entry("bignum", DataType.BIGNUM),
            Map.entry("text", DataType.TEXT),
            Map.entry("varchar", new DataType(Kind.VARCHAR, 0, 0, List.of())),
            Map.entry("bytea", DataType.BYTEA),
            Map.entry("date", DataType.DATE),
            Map.entry("time", DataType.TIME),
            Map.entry("timestamp", DataType.TIMESTAMP),
            Map.entry("timestamptz", DataType.TIMESTAMPTZ),
            Map.entry("interval", DataType.INTERVAL),
            Map.entry("uuid", DataType.UUID),
            Map.entry("jsonb", DataType.JSONB));

    private final String text;
    private final Schema schema;
    private int at;

    private ExpressionReader(String text, Schema schema) {
        this.text = text;
        this.schema = schema;
    }

    /** An expression over no columns. */
    public static Expression parse(String text) {
        return parse(text, new Schema(List.of()));
    }

    /** An expression over the columns of a schema. */
    public static Expression parse(String text, Schema schema) {
        ExpressionReader parser = new ExpressionReader(text, schema);
        Expression expression = parser.expression();
        if (parser.at < text.length()) {
            throw new IllegalArgumentException("what is " + text.substring(parser.at) + " in " + text);
        }
        return expression;
    }

    private boolean take(String word) {
        skipBlanks();
        if (text.startsWith(word, at)) {
            at += word.length();
            skipBlanks();
            return true;
        }
        return false;
    }

    private void skipBlanks() {
        while (at < text.length() && text.charAt(at) == ' ') {
            at++;
        }
    }

    private void expect(String word) {
        if (!take(word)) {
            throw new IllegalArgumentException(word + " is missing at " + at + " in " + text);
        }
    }

    private Expression expression() {
        skipBlanks();
        Expression expression = primary();
        while (take("::")) {
            DataType type = type();
            expression = expression instanceof Null ? new Null(type) : new Cast(expression, type);
        }
        return expression;
    }

    private DataType type() {
        DataType type = element();
        while (take("[]")) {
            type = DataType.array(type);
        }
        return type;
    }

    private DataType element() {
        String name = word();
        List<Integer> numbers = new ArrayList<>();
        if (take("(")) {
            do {
                numbers.add(Integer.parseInt(word()));
            } while (take(","));
            expect(")");
        }
        if (numbers.isEmpty()) {
            return Optional.ofNullable(TYPES.get(name)).orElseThrow(() -> new IllegalArgumentException(name));
        }
        return switch (name) {
            case "numeric" -> DataType.numeric(numbers.get(0), numbers.get(1));
            case "varchar" -> DataType.varchar(numbers.get(0));
            default -> DataType.character(numbers.get(0));
        };
    }

    private String word() {
        int start = at;
        while (at < text.length() && (Character.isLetterOrDigit(text.charAt(at)) || text.charAt(at) == '_')) {
            at++;
        }
        String word = text.substring(start, at);
        skipBlanks();
        return word;
    }

    private Expression primary() {
        char c = text.charAt(at);
        if (c == '\'') {
            return new Literal(string(), DataType.TEXT);
        }
        if (c == '-' || Character.isDigit(c)) {
            return number();
        }
        String name = word();
        if (take("(")) {
            List<Expression> arguments = new ArrayList<>();
            if (!take(")")) {
                do {
                    arguments.add(expression());
                } while (take(","));
                expect(")");
            }
            return name.equals("case") ? branches(arguments) : call(name, arguments);
        }
        return switch (name) {
            case "null" -> new Null(DataType.TEXT);
            case "true" -> new Literal(true, DataType.BOOLEAN);
            case "false" -> new Literal(false, DataType.BOOLEAN);
            default -> {
                int column = schema.indexOf(name);
                if (column < 0) {
                    throw new IllegalArgumentException("no column " + name + " in " + text);
                }
                yield new Column(
                        column, schema.type(column), schema.field(column).nullable());
            }
        };
    }

    private String string() {
        StringBuilder value = new StringBuilder();
        for (at++; text.charAt(at) != '\'' || text.startsWith("''", at); at++) {
            value.append(text.charAt(at));
            at += text.charAt(at) == '\'' ? 1 : 0;
        }
        at++;
        skipBlanks();
        return value.toString();
    }

    private Expression number() {
        int start = at;
        at++;
        while (at < text.length()
                && (Character.isLetterOrDigit(text.charAt(at)) || ".+-".indexOf(text.charAt(at)) >= 0)) {
            at++;
        }
        String number = text.substring(start, at);
        skipBlanks();
        if (number.contains("e")) {
            return new Literal(Double.valueOf(number), DataType.DOUBLE);
        }
        if (number.contains(".") || number.length() > 19) {
            BigDecimal value = new BigDecimal(number);
            int precision = Math.max(value.precision(), value.scale());
            return new Literal(value, DataType.numeric(Math.max(1, precision), value.scale()));
        }
        long value = Long.parseLong(number);
        return new Literal(value, value == (int) value ? DataType.INTEGER : DataType.BIGINT);
    }

    private static Expression branches(List<Expression> arguments) {
        List<Case.Branch> branches = new ArrayList<>();
        for (int i = 0; i + 1 < arguments.size(); i += 2) {
            branches.add(new Case.Branch(arguments.get(i), arguments.get(i + 1)));
        }
        Expression otherwise = arguments.get(arguments.size() - 1);
        return new Case(branches, otherwise, branches.get(0).result().type(), true);
    }

    /** A call of the first overload that takes the arguments as they are, else of the first that takes them converted. */
    public static Expression call(String name, List<Expression> arguments) {
        for (boolean exact : List.of(true, false)) {
            for (Signature signature : FunctionCatalog.overloads(name)) {
                Optional<List<Expression>> converted = convert(signature, arguments, exact);
                if (converted.isPresent()) {
                    List<Expression> casts = converted.get();
                    DataType type = resultType(signature, casts);
                    if (name.equals("extract")) {
                        type = ResultRule.extract((String) ((Literal) arguments.get(0)).value());
                    }
                    return new Call(name, casts, type, true);
                }
            }
        }
        throw new IllegalArgumentException(
                "no " + name + arguments.stream().map(Expression::type).toList());
    }

    /** A function of NUMERIC gives NUMERIC: the front end calls that of BIGNUM where the result is to be of any size. */
    public static DataType resultType(Signature signature, List<Expression> arguments) {
        try (PlainNumeric.Binding limited = PlainNumeric.LIMITED.bind()) {
            return signature.resultType(arguments.stream().map(Expression::type).toList());
        }
    }

    private static Optional<List<Expression>> convert(Signature signature, List<Expression> arguments, boolean exact) {
        if (!signature.takes(arguments.size())) {
            return Optional.empty();
        }
        DataType common = DataType.NULL;
        for (int i = 0; i < arguments.size(); i++) {
            DataType type = arguments.get(i).type();
            boolean none = common.equals(DataType.NULL);
            boolean counts =
                    signature.parameter(i).same() && !signature.parameter(i).isArray();
            if (counts && (none || rank(type.kind()) > rank(common.kind()))) {
                common = type;
            }
        }
        List<Expression> converted = new ArrayList<>();
        for (int i = 0; i < arguments.size(); i++) {
            Expression argument = arguments.get(i);
            Signature.Parameter parameter = signature.parameter(i);
            Kind from = argument.type().kind();
            if (parameter.isArray()) {
                if (from != Kind.ARRAY) {
                    return Optional.empty();
                }
                converted.add(argument);
                continue;
            }
            Kind to = parameter.same() ? common.kind() : parameter.kind().orElse(from);
            if (from == to || to == Kind.TEXT && argument.type().isText()) {
                converted.add(argument);
            } else if (!exact
                    && (parameter.same()
                            || rank(from) > 0 && rank(from) < rank(to) && rank(to) < 20
                            || from == Kind.DATE && to == Kind.TIMESTAMP)) {
                DataType target = parameter.same()
                        ? common
                        : Objects.requireNonNull(TYPES.get(to.name().toLowerCase(Locale.ROOT)));
                if (to == Kind.NUMERIC && argument.type().isInteger()) {
                    target = DataType.numeric(from == Kind.BIGINT ? 19 : 10, 0);
                }
                converted.add(argument instanceof Null ? new Null(target) : new Cast(argument, target));
            } else {
                return Optional.empty();
            }
        }
        return Optional.of(converted);
    }

    private static int rank(Kind kind) {
        return switch (kind) {
            case SMALLINT -> 1;
            case INTEGER -> 2;
            case BIGINT -> 3;
            case NUMERIC -> 4;
            case REAL -> 5;
            case DOUBLE -> 6;
            case DATE -> 20;
            case TIMESTAMP -> 21;
            case TIMESTAMPTZ -> 22;
            default -> 0;
        };
    }
}
