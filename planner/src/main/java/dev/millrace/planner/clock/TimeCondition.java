package dev.millrace.planner.clock;

import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.Expression.Call;
import dev.millrace.plan.expression.Expression.Cast;
import dev.millrace.plan.expression.Expression.Literal;
import dev.millrace.plan.expression.IntervalValue;
import dev.millrace.planner.tree.Expressions;
import dev.millrace.type.DataType;
import dev.millrace.type.DataType.Kind;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

/**
 * A condition that compares a time of a row with one that rises with the clock.
 *
 * @param value the row's time: TIMESTAMP, TIMESTAMPTZ or BIGINT
 * @param bound of the same type; reads the clock and no column, and never falls
 * @param comparison of the value with the bound: lt, le, gt, ge or eq
 */
record TimeCondition(Expression value, Expression bound, String comparison) {
    private static final Map<String, String> MIRRORED =
            Map.of("lt", "gt", "le", "ge", "gt", "lt", "ge", "le", "eq", "eq");

    /** What never falls as its last argument rises, the others being constants. */
    private static final Set<String> RISING_WITH_LAST = Set.of("date_trunc");

    /** The condition as one on a time; empty if it is none. */
    static Optional<TimeCondition> of(Expression condition) {
        if (!(condition instanceof Call call)
                || !MIRRORED.containsKey(call.function())
                || call.arguments().size() != 2) {
            return Optional.empty();
        }
        Expression left = call.arguments().get(0);
        Expression right = call.arguments().get(1);
        String comparison = call.function();
        return of(left, right, comparison)
                .or(() -> of(right, left, Objects.requireNonNull(MIRRORED.get(comparison))))
                .or(() -> ofAge(left, right, comparison))
                .or(() -> ofAge(right, left, Objects.requireNonNull(MIRRORED.get(comparison))));
    }

    private static Optional<TimeCondition> of(Expression value, Expression bound, String comparison) {
        if (Expressions.isVolatile(value) || !rises(bound)) {
            return Optional.empty();
        }
        if (value.type().kind() == Kind.DATE) { // midnights are in the order of their days
            return Optional.of(new TimeCondition(
                    new Cast(value, DataType.TIMESTAMP), new Cast(bound, DataType.TIMESTAMP), comparison));
        }
        boolean comparable = value.type().equals(bound.type()) && value.type().isTimestamp();
        return comparable ? Optional.of(new TimeCondition(value, bound, comparison)) : Optional.empty();
    }

    /** {@code now() - time < INTERVAL '1 hour'} as {@code time + INTERVAL '1 hour' > now()}. */
    private static Optional<TimeCondition> ofAge(Expression age, Expression most, String comparison) {
        if (!(age instanceof Call call)
                || !call.function().equals("subtract")
                || !(most instanceof Literal literal)
                || !(literal.value() instanceof IntervalValue interval)) {
            return Optional.empty();
        }
        Expression bound = call.arguments().get(0);
        Expression time = call.arguments().get(1);
        if (!time.type().isTimestamp() || interval.months() != 0) {
            return Optional.empty();
        }
        Literal micros = new Literal(new IntervalValue(0, 0, interval.comparableMicros()), DataType.INTERVAL);
        Expression value = new Call("add", List.of(time, micros), time.type(), time.nullable());
        return of(value, bound, Objects.requireNonNull(MIRRORED.get(comparison)));
    }

    /** Whether an expression of the clock alone never falls as time goes on; the session's zone is UTC. */
    private static boolean rises(Expression expression) {
        if (Expressions.isCall(expression, "now")) {
            return true;
        }
        if (expression instanceof Cast cast) {
            Kind kind = cast.type().kind();
            return (cast.type().isTimestamp() || kind == Kind.DATE) && rises(cast.input());
        }
        if (!(expression instanceof Call call)) {
            return false;
        }
        List<Expression> arguments = call.arguments();
        if (RISING_WITH_LAST.contains(call.function())) {
            Expression last = arguments.get(arguments.size() - 1);
            return rises(last)
                    && arguments.subList(0, arguments.size() - 1).stream().allMatch(Literal.class::isInstance);
        }
        boolean moved = call.function().equals("add") || call.function().equals("subtract");
        boolean isTime = call.type().isTimestamp() || call.type().kind() == Kind.DATE;
        return moved && isTime && rises(arguments.get(0)) && arguments.get(1) instanceof Literal;
    }
}
