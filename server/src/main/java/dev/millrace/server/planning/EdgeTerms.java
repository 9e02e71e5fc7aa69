package dev.millrace.server.planning;

import dev.millrace.edge.program.Term;
import dev.millrace.edge.program.Term.Operator;
import dev.millrace.plan.expression.Expression;
import dev.millrace.type.DataType;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.IntFunction;
import java.util.stream.Collectors;

/** Expressions of plans as conditions for devices, and these as texts for people. Stateless. */
final class EdgeTerms {
    private static final Map<String, Operator> OPERATORS = Map.ofEntries(
            Map.entry("and", Operator.AND),
            Map.entry("or", Operator.OR),
            Map.entry("not", Operator.NOT),
            Map.entry("eq", Operator.EQ),
            Map.entry("ne", Operator.NE),
            Map.entry("lt", Operator.LT),
            Map.entry("le", Operator.LE),
            Map.entry("gt", Operator.GT),
            Map.entry("ge", Operator.GE),
            Map.entry("is_null", Operator.IS_NULL),
            Map.entry("is_not_null", Operator.IS_NOT_NULL),
            Map.entry("add", Operator.ADD),
            Map.entry("subtract", Operator.SUBTRACT),
            Map.entry("multiply", Operator.MULTIPLY));

    private EdgeTerms() {}

    /**
     * The same for a device, if that can compute it.
     *
     * @param columns names of columns that devices have, by their places; empty for others
     */
    static Optional<Term> of(Expression expression, IntFunction<Optional<String>> columns) {
        if (expression instanceof Expression.Column column) {
            return columns.apply(column.index())
                    .flatMap(name -> kind(column.type()).map(kind -> new Term.Column(kind, name)));
        } else if (expression instanceof Expression.Literal literal) {
            return constant(literal);
        } else if (expression instanceof Expression.Cast cast) {
            return of(cast.input(), columns)
                    .flatMap(term -> converted(term, cast.input().type(), cast.type()));
        } else if (expression instanceof Expression.Call call) {
            return call(call, columns);
        }
        return Optional.empty();
    }

    private static Optional<Term> call(Expression.Call call, IntFunction<Optional<String>> columns) {
        Operator operator = OPERATORS.get(call.function());
        if (operator == null) {
            return Optional.empty();
        }
        List<Term> arguments = new ArrayList<>();
        for (Expression argument : call.arguments()) {
            Optional<Term> term = of(argument, columns);
            if (term.isEmpty()) {
                return Optional.empty();
            }
            arguments.add(term.get());
        }
        return isFor(operator, call) ? Optional.of(new Term.Call(operator, arguments)) : Optional.empty();
    }

    /** Whether it means the same there: of REAL each step would be rounded, and texts have an order of their own. */
    private static boolean isFor(Operator operator, Expression.Call call) {
        DataType.Kind first = call.arguments().get(0).type().kind();
        return switch (operator) {
            case AND, OR, NOT, IS_NULL, IS_NOT_NULL -> true;
            case EQ, NE -> isAlike(call);
            case LT, LE, GT, GE -> isAlike(call) && first != DataType.Kind.TEXT;
            case ADD, SUBTRACT, MULTIPLY ->
                call.arguments().size() == 2
                        && isAlike(call)
                        && call.type().kind() == first
                        && (first == DataType.Kind.DOUBLE || isInteger(first));
            case TO_NUMBER -> false;
        };
    }

    private static boolean isAlike(Expression.Call call) {
        return call.arguments().stream()
                        .map(argument -> argument.type().kind())
                        .distinct()
                        .count()
                == 1;
    }

    private static boolean isInteger(DataType.Kind kind) {
        return kind == DataType.Kind.SMALLINT || kind == DataType.Kind.INTEGER || kind == DataType.Kind.BIGINT;
    }

    /** Those that lose nothing, and integers as doubles. */
    private static Optional<Term> converted(Term term, DataType from, DataType to) {
        boolean same = from.kind() == to.kind()
                || from.kind() == DataType.Kind.REAL && to.kind() == DataType.Kind.DOUBLE
                || from.kind() == DataType.Kind.SMALLINT && isInteger(to.kind())
                || from.kind() == DataType.Kind.INTEGER && to.kind() == DataType.Kind.BIGINT;
        if (same && kind(to).isPresent()) {
            return Optional.of(term);
        }
        return isInteger(from.kind()) && to.kind() == DataType.Kind.DOUBLE
                ? Optional.of(new Term.Call(Operator.TO_NUMBER, List.of(term)))
                : Optional.empty();
    }

    private static Optional<Term.Kind> kind(DataType type) {
        return switch (type.kind()) {
            case BOOLEAN -> Optional.of(Term.Kind.TRUTH);
            case SMALLINT, INTEGER, BIGINT, DATE, TIMESTAMP, TIMESTAMPTZ -> Optional.of(Term.Kind.WHOLE);
            case REAL, DOUBLE -> Optional.of(Term.Kind.NUMBER);
            case TEXT -> Optional.of(Term.Kind.TEXT);
            default -> Optional.empty();
        };
    }

    private static Optional<Term> constant(Expression.Literal literal) {
        return kind(literal.type()).map(kind -> switch (kind) {
            case TRUTH -> new Term.Truth((Boolean) literal.value());
            case WHOLE -> new Term.Whole((Long) literal.value());
            case NUMBER -> new Term.Number((Double) literal.value());
            case TEXT -> new Term.Text((String) literal.value());
        });
    }

    /** As in SQL, about. */
    static String text(Term term) {
        if (term instanceof Term.Column column) {
            return column.name();
        } else if (term instanceof Term.Truth truth) {
            return String.valueOf(truth.value());
        } else if (term instanceof Term.Whole whole) {
            return String.valueOf(whole.value());
        } else if (term instanceof Term.Number number) {
            return String.valueOf(number.value());
        } else if (term instanceof Term.Text text) {
            return "'" + text.value().replace("'", "''") + "'";
        }
        Term.Call call = (Term.Call) term;
        String first = text(call.arguments().get(0));
        return switch (call.operator()) {
            case NOT -> "NOT " + first;
            case IS_NULL -> first + " IS NULL";
            case IS_NOT_NULL -> first + " IS NOT NULL";
            case TO_NUMBER -> first;
            default ->
                call.arguments().stream()
                        .map(EdgeTerms::text)
                        .collect(Collectors.joining(" " + symbol(call.operator()) + " ", "(", ")"));
        };
    }

    private static String symbol(Operator operator) {
        return switch (operator) {
            case EQ -> "=";
            case NE -> "<>";
            case LT -> "<";
            case LE -> "<=";
            case GT -> ">";
            case GE -> ">=";
            case ADD -> "+";
            case SUBTRACT -> "-";
            case MULTIPLY -> "*";
            default -> operator.name().toUpperCase(Locale.ROOT);
        };
    }
}
