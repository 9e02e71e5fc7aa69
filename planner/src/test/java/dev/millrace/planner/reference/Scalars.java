package dev.millrace.planner.reference;

import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.Expression.Call;
import dev.millrace.plan.expression.Expression.Case;
import dev.millrace.plan.expression.Expression.Cast;
import dev.millrace.plan.expression.Expression.Column;
import dev.millrace.plan.expression.Expression.Literal;
import dev.millrace.plan.expression.IntervalValue;
import dev.millrace.type.DataType;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * Values of expressions. Functions that rewrites reason about mean what they mean; of all others it is only known that
 * equal arguments give equal results, so any such function will do.
 */
final class Scalars {
    private Scalars() {}

    static Object value(Expression expression, List<Object> row) {
        if (expression instanceof Column column) {
            return row.get(column.index());
        } else if (expression instanceof Literal literal) {
            return plain(literal.value());
        } else if (expression instanceof Cast cast) {
            return cast(value(cast.input(), row), cast.type());
        } else if (expression instanceof Case choice) {
            for (Case.Branch branch : choice.branches()) {
                if (isTrue(branch.condition(), row)) {
                    return value(branch.result(), row);
                }
            }
            return value(choice.otherwise(), row);
        } else if (expression instanceof Call call) {
            return call(call, row);
        }
        return null;
    }

    static boolean isTrue(Expression condition, List<Object> row) {
        return Boolean.TRUE.equals(value(condition, row));
    }

    /** One form for each number, so that equals compares values. */
    static Object plain(Object value) {
        if (value instanceof Long number) {
            return plain(BigDecimal.valueOf(number));
        } else if (value instanceof Double number) {
            return new BigDecimal(number).stripTrailingZeros();
        }
        return value instanceof BigDecimal number
                ? (number.signum() == 0 ? BigDecimal.ZERO : number.stripTrailingZeros())
                : value;
    }

    private static Object cast(Object value, DataType type) {
        return value == null || !type.isText() ? value : value.toString();
    }

    private static Object call(Call call, List<Object> row) {
        switch (call.function()) {
            case "and", "or" -> {
                return logic(call, row);
            }
            case "coalesce" -> {
                return call.arguments().stream()
                        .map(argument -> value(argument, row))
                        .filter(Objects::nonNull)
                        .findFirst()
                        .orElse(null);
            }
            default -> {}
        }
        List<Object> arguments = new ArrayList<>();
        call.arguments().forEach(argument -> arguments.add(value(argument, row)));
        switch (call.function()) {
            case "is_null" -> {
                return arguments.get(0) == null;
            }
            case "is_not_null" -> {
                return arguments.get(0) != null;
            }
            case "is_true", "is_not_true" -> {
                return Boolean.TRUE.equals(arguments.get(0)) == call.function().equals("is_true");
            }
            case "is_false", "is_not_false" -> {
                return Boolean.FALSE.equals(arguments.get(0)) == call.function().equals("is_false");
            }
            case "is_distinct_from", "is_not_distinct_from" -> {
                return Objects.equals(arguments.get(0), arguments.get(1))
                        == call.function().equals("is_not_distinct_from");
            }
            default -> {
                return arguments.contains(null) ? null : strict(call, arguments);
            }
        }
    }

    private static Object logic(Call call, List<Object> row) {
        boolean absorbing = call.function().equals("or");
        boolean unknown = false;
        for (Expression argument : call.arguments()) {
            Object value = value(argument, row);
            if (value == null) {
                unknown = true;
            } else if (value.equals(absorbing)) {
                return absorbing;
            }
        }
        return unknown ? null : !absorbing;
    }

    private static Object strict(Call call, List<Object> arguments) {
        Object first = arguments.isEmpty() ? null : arguments.get(0);
        Object second = arguments.size() < 2 ? null : arguments.get(1);
        return switch (call.function()) {
            case "eq" -> compare(first, second) == 0;
            case "ne" -> compare(first, second) != 0;
            case "lt" -> compare(first, second) < 0;
            case "le" -> compare(first, second) <= 0;
            case "gt" -> compare(first, second) > 0;
            case "ge" -> compare(first, second) >= 0;
            case "not" -> !(Boolean) first;
            case "add" -> plain(number(first).add(number(second)));
            case "subtract" -> plain(number(first).subtract(number(second)));
            default -> anything(call, arguments);
        };
    }

    private static BigDecimal number(Object value) {
        return value instanceof IntervalValue interval
                ? BigDecimal.valueOf(interval.comparableMicros())
                : (BigDecimal) value;
    }

    private static Object anything(Call call, List<Object> arguments) {
        int hash = (call.function() + arguments).hashCode();
        return switch (call.type().kind()) {
            case BOOLEAN -> (hash & 1) == 0;
            case TEXT, VARCHAR, CHAR, JSONB -> call.function() + Math.floorMod(hash, 3);
            default -> plain((long) Math.floorMod(hash, 5));
        };
    }

    @SuppressWarnings("unchecked")
    static int compare(Object a, Object b) {
        return ((Comparable<Object>) a).compareTo(b);
    }
}
