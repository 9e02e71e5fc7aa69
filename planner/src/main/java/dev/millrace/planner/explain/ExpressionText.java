package dev.millrace.planner.explain;

import dev.millrace.plan.expression.AggregateCall;
import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.Expression.Call;
import dev.millrace.plan.expression.Expression.Case;
import dev.millrace.plan.expression.Expression.Cast;
import dev.millrace.plan.expression.Expression.Column;
import dev.millrace.plan.expression.Expression.Literal;
import dev.millrace.plan.expression.Frame;
import dev.millrace.plan.expression.IntervalValue;
import dev.millrace.plan.expression.OrderKey;
import dev.millrace.plan.expression.OverCall;
import dev.millrace.text.TimeRange;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.ZoneOffset;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.IntFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Expressions over named columns, nearly as one would write them in SQL. Two columns of one name get their number. */
public final class ExpressionText {
    private static final Map<String, String> INFIX = Map.ofEntries(
            Map.entry("eq", "="),
            Map.entry("ne", "<>"),
            Map.entry("lt", "<"),
            Map.entry("le", "<="),
            Map.entry("gt", ">"),
            Map.entry("ge", ">="),
            Map.entry("and", "AND"),
            Map.entry("or", "OR"),
            Map.entry("add", "+"),
            Map.entry("subtract", "-"),
            Map.entry("multiply", "*"),
            Map.entry("divide", "/"),
            Map.entry("mod", "%"),
            Map.entry("text_concat", "||"),
            Map.entry("is_distinct_from", "IS DISTINCT FROM"),
            Map.entry("is_not_distinct_from", "IS NOT DISTINCT FROM"));
    private static final Map<String, String> POSTFIX = Map.of(
            "is_null", "IS NULL",
            "is_not_null", "IS NOT NULL",
            "is_true", "IS TRUE",
            "is_not_true", "IS NOT TRUE",
            "is_false", "IS FALSE",
            "is_not_false", "IS NOT FALSE");

    private final Schema schema;
    private final Map<String, Integer> uses = new HashMap<>();

    ExpressionText(Schema schema) {
        this.schema = schema;
        schema.names().forEach(name -> uses.merge(name, 1, Integer::sum));
    }

    /** An expression without columns. */
    public static String constant(Expression expression) {
        return new ExpressionText(new Schema(List.of())).text(expression);
    }

    String column(int index) {
        Field field = schema.field(index);
        return Objects.requireNonNull(uses.get(field.name())) > 1 ? field.name() + "$" + index : field.name();
    }

    String columns(List<Integer> columns) {
        return columns.stream().map(this::column).collect(Collectors.joining(", "));
    }

    String text(Expression expression) {
        if (expression instanceof Column column) {
            return column(column.index());
        } else if (expression instanceof Literal literal) {
            return literal(literal);
        } else if (expression instanceof Cast cast) {
            return operand(cast.input()) + "::" + shortName(cast.type());
        } else if (expression instanceof Case choice) {
            return choice.branches().stream()
                            .map(branch -> " WHEN " + text(branch.condition()) + " THEN " + text(branch.result()))
                            .collect(Collectors.joining("", "CASE", ""))
                    + " ELSE " + text(choice.otherwise()) + " END";
        } else if (expression instanceof Call call) {
            return call(call);
        }
        return "NULL";
    }

    private String call(Call call) {
        String infix = INFIX.get(call.function());
        if (infix != null) {
            return call.arguments().stream().map(this::operand).collect(Collectors.joining(" " + infix + " "));
        }
        String postfix = POSTFIX.get(call.function());
        if (postfix != null) {
            return operand(call.arguments().get(0)) + " " + postfix;
        }
        return switch (call.function()) {
            case "not" -> "NOT " + operand(call.arguments().get(0));
            case "negate" -> "-" + operand(call.arguments().get(0));
            default ->
                call.function() + call.arguments().stream().map(this::text).collect(Collectors.joining(", ", "(", ")"));
        };
    }

    private String operand(Expression expression) {
        boolean compound = expression instanceof Case
                || expression instanceof Call call
                        && (INFIX.containsKey(call.function())
                                || POSTFIX.containsKey(call.function())
                                || call.function().equals("not"));
        return compound ? "(" + text(expression) + ")" : text(expression);
    }

    private static String shortName(DataType type) {
        return switch (type.kind()) {
            case TIMESTAMP -> "timestamp";
            case TIMESTAMPTZ -> "timestamptz";
            case TIME -> "time";
            case DOUBLE -> "double";
            case VARCHAR -> type.precision() == 0 ? "varchar" : "varchar(" + type.precision() + ")";
            default -> type.toString();
        };
    }

    static String literal(Literal literal) {
        Object value = literal.value();
        return switch (literal.type().kind()) {
            case TEXT, VARCHAR, CHAR, JSONB -> "'" + value.toString().replace("'", "''") + "'";
            case UUID -> "'" + value + "'";
            case DATE -> "'" + date((Long) value) + "'";
            case TIME ->
                (Long) value == 86_400_000_000L ? "'24:00'" : "'" + LocalTime.ofNanoOfDay((Long) value * 1000) + "'";
            case TIMESTAMP -> "'" + dateTime((Long) value) + "'";
            case TIMESTAMPTZ -> "'" + dateTime((Long) value) + (TimeRange.isFinite((Long) value) ? "Z'" : "'");
            case INTERVAL -> interval((IntervalValue) value);
            case ARRAY ->
                nested((List<?>) value, "{", "}", index -> literal.type().element());
            case ROW ->
                nested(
                        (List<?>) value,
                        "(",
                        ")",
                        index -> literal.type().fields().get(index).type());
            default -> value.toString();
        };
    }

    private static String nested(List<?> values, String open, String close, IntFunction<DataType> types) {
        return IntStream.range(0, values.size())
                .mapToObj(i -> values.get(i) instanceof Optional
                        ? "NULL"
                        : literal(new Literal(values.get(i), types.apply(i))))
                .collect(Collectors.joining(", ", open, close));
    }

    private static String date(long day) {
        return TimeRange.isDay(day) ? LocalDate.ofEpochDay(day).toString() : infinity(day > 0);
    }

    private static String infinity(boolean isGreatest) {
        return isGreatest ? "infinity" : "-infinity";
    }

    private static String dateTime(long micros) {
        if (!TimeRange.isFinite(micros)) {
            return infinity(micros > 0);
        }
        Instant instant =
                Instant.ofEpochSecond(Math.floorDiv(micros, 1_000_000L), Math.floorMod(micros, 1_000_000L) * 1000);
        return LocalDateTime.ofInstant(instant, ZoneOffset.UTC).toString();
    }

    private static String interval(IntervalValue value) {
        StringBuilder text = new StringBuilder();
        if (value.months() != 0) {
            text.append(value.months()).append(" mon ");
        }
        if (value.days() != 0) {
            text.append(value.days()).append(" d ");
        }
        if (value.micros() != 0 || text.isEmpty()) {
            text.append(Durations.text(value.micros()));
        }
        return "'" + text.toString().trim() + "'";
    }

    String call(AggregateCall call) {
        String arguments = call.arguments().isEmpty() && call.function() == AggregateCall.Function.COUNT
                ? "*"
                : columns(call.arguments());
        String parameters =
                call.parameters().stream().map(value -> ", " + literal(value)).collect(Collectors.joining());
        String order = call.ordering().isEmpty() ? "" : " ORDER BY " + order(call.ordering());
        String filter =
                call.filter().isPresent() ? " FILTER " + column(call.filter().getAsInt()) : "";
        return call.name() + "(" + (call.distinct() ? "DISTINCT " : "") + arguments + parameters + order + ")" + filter;
    }

    String call(OverCall call) {
        String text = call.aggregate()
                .map(this::call)
                .orElseGet(() -> call.function().name().toLowerCase(Locale.ROOT) + "(" + columns(call.arguments())
                        + (!call.function().hasParameter()
                                ? ""
                                : (call.arguments().isEmpty() ? "" : ", ") + call.parameter())
                        + ")");
        Frame frame = call.frame();
        boolean usual = frame.equals(Frame.ALL)
                || frame.equals(Frame.TO_CURRENT)
                || !call.function().isFramed();
        return text + (call.ignoreNulls() ? " ignore nulls" : "") + (usual ? "" : " over " + frame(frame));
    }

    private String frame(Frame frame) {
        String exclusion = frame.exclusion() == Frame.Exclusion.NO_OTHERS
                ? ""
                : " exclude " + frame.exclusion().name().replace('_', ' ').toLowerCase(Locale.ROOT);
        return frame.unit().name().toLowerCase(Locale.ROOT) + " " + bound(frame, frame.start()) + " to "
                + bound(frame, frame.end()) + exclusion;
    }

    private String bound(Frame frame, Frame.Bound bound) {
        return frame.isColumn(bound) ? column((int) bound.offset()) : bound.toString();
    }

    String order(List<OrderKey> order) {
        return order.stream()
                .map(key -> column(key.column())
                        + (key.descending() ? " DESC" : "")
                        + (key.nullsFirst() == key.descending()
                                ? ""
                                : key.nullsFirst() ? " NULLS FIRST" : " NULLS LAST"))
                .collect(Collectors.joining(", "));
    }

    /** All columns as they are computed: {@code name} or {@code expression}. */
    String projections(List<Expression> projections, Schema names) {
        return IntStream.range(0, projections.size())
                .mapToObj(i -> {
                    String text = text(projections.get(i));
                    String name = names.field(i).name();
                    boolean told = projections.get(i) instanceof Column column
                            ? schema.field(column.index()).name().equals(name)
                            : text.equals(name) || isDerived(name, projections.get(i));
                    return told ? text : text + " AS " + name;
                })
                .collect(Collectors.joining(", "));
    }

    /** Whether a name is only what the planner calls such an expression. */
    private static boolean isDerived(String name, Expression expression) {
        return name.equals("?column?")
                || name.equals("case")
                || expression instanceof Call call && call.function().equals(name);
    }
}
