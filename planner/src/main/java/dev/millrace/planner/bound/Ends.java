package dev.millrace.planner.bound;

import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.Expression.Call;
import dev.millrace.plan.expression.Expression.Case;
import dev.millrace.plan.expression.Expression.Cast;
import dev.millrace.plan.expression.Expression.Literal;
import dev.millrace.plan.expression.Expression.Null;
import dev.millrace.planner.bound.Known.Interval;
import dev.millrace.planner.tree.Expressions;
import dev.millrace.type.DataType;
import java.math.BigDecimal;
import java.util.List;

/** Makes expressions over the ends of intervals. All are DOUBLE PRECISION, and none fails. */
final class Ends {
    /** More than a double's own rounding, and far less than anything that a sketch is off. */
    static final double ROUNDING = 0x1p-50;

    private Ends() {}

    static boolean isNumber(DataType type) {
        return switch (type.kind()) {
            case SMALLINT, INTEGER, BIGINT, REAL, DOUBLE, NUMERIC, BIGNUM -> true;
            default -> false;
        };
    }

    static Expression literal(double value) {
        return new Literal(value, DataType.DOUBLE);
    }

    /** A call of one of {@code Bounds}' functions, or of another of doubles. */
    static Expression call(String function, Expression... arguments) {
        boolean nullable = false;
        for (Expression argument : arguments) {
            nullable |= argument.nullable();
        }
        return new Call(function, List.of(arguments), DataType.DOUBLE, nullable);
    }

    /** The greatest, or the least, of those that are not NULL. */
    static Expression extreme(boolean greatest, List<Expression> of) {
        return of.size() == 1
                ? of.get(0)
                : new Call(
                        greatest ? "greatest" : "least",
                        of,
                        DataType.DOUBLE,
                        of.stream().allMatch(Expression::nullable));
    }

    static Expression coalesce(Expression first, Expression second) {
        return new Call("coalesce", List.of(first, second), DataType.DOUBLE, first.nullable() && second.nullable());
    }

    static Expression choose(Expression condition, Expression then, Expression otherwise) {
        return new Case(
                List.of(new Case.Branch(condition, then)),
                otherwise,
                then.type(),
                then.nullable() || otherwise.nullable());
    }

    /** The value where the condition holds, else NULL. */
    static Expression where(Expression condition, Expression then) {
        return choose(condition, then, new Null(then.type()));
    }

    static Expression asDouble(Expression number) {
        return number.type().kind() == DataType.Kind.DOUBLE ? number : new Cast(number, DataType.DOUBLE);
    }

    /** The nearest doubles around a number that is shown as it is. */
    static Interval exact(Expression number) {
        if (number instanceof Null) {
            return new Interval(new Null(DataType.DOUBLE), new Null(DataType.DOUBLE), false);
        }
        if (!isNumber(number.type())) {
            return Interval.NOTHING;
        }
        if (number instanceof Literal literal && isDouble(literal)) {
            Expression same = literal(((Number) literal.value()).doubleValue());
            return new Interval(same, same, false);
        }
        Expression nearest = asDouble(number);
        boolean isWhole = number.type().kind() == DataType.Kind.BIGINT
                || number.type().kind() == DataType.Kind.NUMERIC
                        && number.type().scale() == 0;
        if (isWhole) {
            return new Interval(call("bound_whole_low", nearest), call("bound_whole_high", nearest), false);
        }
        return number.type().isExact()
                ? around(nearest, literal(Double.MIN_VALUE), false)
                : new Interval(nearest, nearest, false);
    }

    private static boolean isDouble(Literal literal) {
        if (literal.value() instanceof BigDecimal decimal) {
            double nearest = decimal.doubleValue();
            return Double.isFinite(nearest) && new BigDecimal(nearest).compareTo(decimal) == 0;
        }
        return literal.value() instanceof Double
                || literal.value() instanceof Long whole && Math.abs(whole) < 1L << 53 && Ends.isNumber(literal.type());
    }

    /** What lies within an error of a value. */
    static Interval around(Expression value, Expression error, boolean mayBeNull) {
        return new Interval(call("bound_low", value, error), call("bound_high", value, error), mayBeNull);
    }

    /** A larger interval: by an amount, and by a share of each end. */
    static Interval wider(Interval interval, double share, double amount) {
        return new Interval(
                call("bound_low", interval.low(), scaled(interval.low(), share, amount)),
                call("bound_high", interval.high(), scaled(interval.high(), share, amount)),
                interval.mayBeNull());
    }

    static Expression scaled(Expression value, double share, double amount) {
        return call("bound_scaled", value, literal(share), literal(amount));
    }

    /** What an operation over doubles gives, rounded as its type rounds. */
    static Interval rounded(Interval interval, DataType type) {
        return switch (type.kind()) {
            case REAL ->
                new Interval(
                        call("bound_real", interval.low()), call("bound_real", interval.high()), interval.mayBeNull());
            case BIGINT -> whole(interval);
            case NUMERIC -> type.scale() == 0 ? whole(interval) : wider(interval, ROUNDING, unit(type));
            case BIGNUM -> wider(interval, ROUNDING, unit(type)); // sixteen digits at least
            default -> interval;
        };
    }

    private static Interval whole(Interval interval) {
        return new Interval(
                call("bound_whole_low", interval.low()),
                call("bound_whole_high", interval.high()),
                interval.mayBeNull());
    }

    /** One in the last digit of a NUMERIC that has a last one. */
    static double unit(DataType type) {
        return type.isExact() && type.precision() > 0 ? Math.pow(10, -type.scale()) : 0;
    }

    static Interval negated(Interval of) {
        return new Interval(
                call("bound_negate_low", of.high()), call("bound_negate_high", of.low(), of.high()), of.mayBeNull());
    }

    static Interval sum(Interval a, Interval b) {
        return new Interval(
                call("bound_add_low", a.low(), b.low()),
                call("bound_add_high", a.high(), b.high()),
                a.mayBeNull() || b.mayBeNull());
    }

    /** A product, or a quotient. */
    static Interval product(String operation, Interval a, Interval b) {
        return new Interval(
                call("bound_" + operation + "_low", a.low(), a.high(), b.low(), b.high()),
                call("bound_" + operation + "_high", a.low(), a.high(), b.low(), b.high()),
                a.mayBeNull() || b.mayBeNull());
    }

    static Interval absolute(Interval of) {
        return new Interval(
                call("bound_abs_low", of.low(), of.high()),
                call("bound_abs_high", of.low(), of.high()),
                of.mayBeNull());
    }

    static Expression not(Expression condition) {
        return Expressions.test("not", condition);
    }

    /** All of them; true of none. */
    static Expression and(List<Expression> conditions) {
        List<Expression> needed = conditions.stream()
                .filter(condition -> !Expressions.isLiteral(condition, true))
                .distinct()
                .toList();
        return Expressions.and(needed).orElse(Expressions.literal(true));
    }
}
