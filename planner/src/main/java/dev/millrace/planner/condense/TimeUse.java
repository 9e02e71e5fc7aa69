package dev.millrace.planner.condense;

import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.Expression.Call;
import dev.millrace.plan.expression.Expression.Cast;
import dev.millrace.plan.expression.Expression.Column;
import dev.millrace.plan.expression.Expression.Literal;
import dev.millrace.plan.expression.IntervalValue;
import dev.millrace.plan.node.WindowSpec;
import dev.millrace.type.DataType;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Something that is done with a time and comes out the same for all times between which it does not tell apart.
 *
 * @param column whose value the time is
 * @param into what it tells apart
 */
record TimeUse(int column, Consumer<Slices> into) {
    private static final long SECOND = 1_000_000;
    private static final long DAY = 86_400 * SECOND;
    private static final long MONDAY = 4 * DAY; // 1970-01-05
    private static final Map<String, Long> UNITS = Map.of(
            "millisecond", 1_000L,
            "milliseconds", 1_000L,
            "second", SECOND,
            "minute", 60 * SECOND,
            "hour", 3_600 * SECOND,
            "day", DAY,
            "month", DAY,
            "quarter", DAY,
            "year", DAY);
    private static final Set<String> PARTS_OF_DAYS = Set.of("dow", "isodow", "doy", "week", "isoyear");

    /** What a window does. */
    static Optional<TimeUse> of(WindowSpec window, int column) {
        if (window instanceof WindowSpec.Tumble tumble) {
            return every(column, tumble.sizeMicros(), tumble.offsetMicros());
        } else if (window instanceof WindowSpec.Hop hop) {
            return Optional.of(new TimeUse(column, slices -> {
                slices.every(hop.slideMicros(), hop.offsetMicros());
                slices.every(hop.slideMicros(), hop.offsetMicros() + hop.sizeMicros() % hop.slideMicros());
            }));
        } else if (window instanceof WindowSpec.Cumulate cumulate) {
            return every(column, cumulate.stepMicros(), cumulate.offsetMicros());
        }
        return Optional.empty();
    }

    /** What an expression does, if it does something with a time and nothing else. */
    static Optional<TimeUse> of(Expression expression) {
        if (expression instanceof Cast cast) {
            boolean day = cast.type().kind() == DataType.Kind.DATE;
            return day
                    ? time(cast.input(), DataType.Kind.TIMESTAMP).flatMap(at -> every(at, DAY, 0))
                    : Optional.empty();
        }
        if (!(expression instanceof Call call)) {
            return Optional.empty();
        }
        List<Expression> arguments = call.arguments();
        return switch (call.function()) {
            case "eq", "ne", "lt", "le", "gt", "ge" -> compared(call.function(), arguments.get(0), arguments.get(1));
            case "date_trunc" -> truncated(arguments.get(0), arguments.get(1));
            case "date_part", "extract" -> part(arguments.get(0), arguments.get(1));
            case "date_bin" -> binned(arguments);
            default -> Optional.empty();
        };
    }

    private static Optional<TimeUse> compared(String comparison, Expression left, Expression right) {
        boolean straight = left instanceof Column;
        Expression with = straight ? right : left;
        Optional<Integer> column = time(straight ? left : right, with.type().kind());
        if (column.isEmpty() || !(with instanceof Literal literal) || !(literal.value() instanceof Long value)) {
            return Optional.empty();
        }
        boolean before = comparison.equals(straight ? "lt" : "gt") || comparison.equals(straight ? "ge" : "le");
        boolean same = comparison.equals("eq") || comparison.equals("ne");
        return Optional.of(new TimeUse(column.get(), slices -> {
            if (before || same) {
                slices.at(value);
            }
            if (!before || same) {
                slices.behind(value);
            }
        }));
    }

    /** Only of times without a zone: of others, what a day is depends on it. */
    private static Optional<TimeUse> truncated(Expression unit, Expression time) {
        return time(time, DataType.Kind.TIMESTAMP).flatMap(column -> {
            String name = name(unit);
            return name.equals("week")
                    ? every(column, 7 * DAY, MONDAY)
                    : Optional.ofNullable(UNITS.get(name)).flatMap(length -> every(column, length, 0));
        });
    }

    /** An hour of the day, and so on; of parts of a minute fractions are told, too. */
    private static Optional<TimeUse> part(Expression unit, Expression time) {
        return time(time, DataType.Kind.TIMESTAMP).flatMap(column -> {
            String name = name(unit);
            long length = PARTS_OF_DAYS.contains(name) ? DAY : UNITS.getOrDefault(name, 0L);
            return length >= 60 * SECOND ? every(column, length, 0) : Optional.empty();
        });
    }

    private static Optional<TimeUse> binned(List<Expression> arguments) {
        if (arguments.get(0) instanceof Literal stride
                && stride.value() instanceof IntervalValue interval
                && interval.months() == 0
                && interval.comparableMicros() > 0
                && arguments.get(2) instanceof Literal origin
                && origin.value() instanceof Long from) {
            return time(arguments.get(1), origin.type().kind())
                    .flatMap(column -> every(column, interval.comparableMicros(), from));
        }
        return Optional.empty();
    }

    private static Optional<TimeUse> every(int column, long length, long from) {
        return Optional.of(new TimeUse(column, slices -> slices.every(length, from)));
    }

    private static String name(Expression unit) {
        return unit instanceof Literal literal && literal.value() instanceof String text
                ? text.toLowerCase(Locale.ROOT)
                : "";
    }

    /** The column of an expression that is nothing else, and a time of this kind. */
    private static Optional<Integer> time(Expression expression, DataType.Kind kind) {
        boolean isTime = kind == DataType.Kind.TIMESTAMP || kind == DataType.Kind.TIMESTAMPTZ;
        return isTime && expression instanceof Column column && column.type().kind() == kind
                ? Optional.of(column.index())
                : Optional.empty();
    }

    TimeUse of(int other) {
        return new TimeUse(other, into);
    }
}
