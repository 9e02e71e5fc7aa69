package dev.millrace.planner.window;

import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.Expression.Call;
import dev.millrace.plan.expression.Expression.Column;
import dev.millrace.plan.expression.Expression.Literal;
import dev.millrace.plan.expression.IntervalValue;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * A comparison of two expressions over times as one of {@code a - b} with {@code micros}, in whatever form it is written.
 *
 * @param a a column
 * @param b a column
 */
record TimeDifference(int a, int b, long micros) {
    private static final long DAY_MICROS = 86_400_000_000L;

    static Optional<TimeDifference> of(Expression x, Expression y) {
        Optional<Moved> left = Moved.of(x);
        Optional<Moved> right = Moved.of(y);
        if (left.isPresent() && right.isPresent()) {
            return Optional.of(
                    new TimeDifference(left.get().column, right.get().column, right.get().micros - left.get().micros));
        }
        Optional<TimeDifference> subtraction = subtraction(x, y);
        return subtraction.isPresent() ? subtraction : subtraction(y, x).map(TimeDifference::negated);
    }

    private static Optional<TimeDifference> subtraction(Expression x, Expression constant) {
        if (!(x instanceof Call call) || !call.function().equals("subtract")) {
            return Optional.empty();
        }
        Optional<Moved> a = Moved.of(call.arguments().get(0));
        Optional<Moved> b = Moved.of(call.arguments().get(1));
        OptionalLong micros = TimeDifference.micros(constant);
        return a.isPresent() && b.isPresent() && micros.isPresent()
                ? Optional.of(new TimeDifference(
                        a.get().column, b.get().column, micros.getAsLong() + b.get().micros - a.get().micros))
                : Optional.empty();
    }

    /** {@code constant OP a - b} is {@code b - a OP -constant}. */
    private TimeDifference negated() {
        return new TimeDifference(b, a, -micros);
    }

    /** A time column, some microseconds on. */
    private record Moved(int column, long micros) {
        static Optional<Moved> of(Expression expression) {
            if (expression instanceof Column column) {
                return Optional.of(new Moved(column.index(), 0));
            }
            if (!(expression instanceof Call call)
                    || !call.function().equals("add") && !call.function().equals("subtract")) {
                return Optional.empty();
            }
            Optional<Moved> base = of(call.arguments().get(0));
            OptionalLong by = TimeDifference.micros(call.arguments().get(1));
            if (base.isEmpty() || by.isEmpty()) {
                return Optional.empty();
            }
            long sign = call.function().equals("add") ? 1 : -1;
            return Optional.of(new Moved(base.get().column, base.get().micros + sign * by.getAsLong()));
        }
    }

    /** The length of a constant interval without months, which have none. */
    private static OptionalLong micros(Expression expression) {
        return expression instanceof Literal literal
                        && literal.value() instanceof IntervalValue interval
                        && interval.months() == 0
                ? OptionalLong.of(interval.days() * DAY_MICROS + interval.micros())
                : OptionalLong.empty();
    }
}
