package dev.millrace.planner.reference;

import dev.millrace.plan.expression.AggregateCall;
import java.math.BigDecimal;
import java.math.MathContext;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;

/** Values of aggregate calls over the rows of a group. */
final class Groups {
    private Groups() {}

    static Object value(AggregateCall call, List<List<Object>> rows) {
        List<List<Object>> counted = rows.stream()
                .filter(row -> call.filter().isEmpty()
                        || Boolean.TRUE.equals(row.get(call.filter().getAsInt())))
                .toList();
        if (call.arguments().isEmpty()) {
            return Scalars.plain((long) counted.size());
        }
        List<Object> values = new ArrayList<>(counted.stream()
                .map(row -> row.get(call.arguments().get(0)))
                .filter(Objects::nonNull)
                .toList());
        if (call.distinct()) {
            values = new ArrayList<>(new LinkedHashSet<>(values));
        }
        if (call.function() == AggregateCall.Function.COUNT) {
            return Scalars.plain((long) values.size());
        }
        if (values.isEmpty()) {
            return null;
        }
        Comparator<Object> order = Scalars::compare;
        values.sort(order);
        return switch (call.function()) {
            case MIN -> values.get(0);
            case MAX -> values.get(values.size() - 1);
            case SUM -> Scalars.plain(sum(values));
            case AVG -> Scalars.plain(sum(values).divide(BigDecimal.valueOf(values.size()), MathContext.DECIMAL64));
            case BOOL_AND -> !values.contains(false);
            case BOOL_OR -> values.contains(true);
            // of the others it is only known that they depend on the values
            default -> values.toString();
        };
    }

    private static BigDecimal sum(List<Object> values) {
        return values.stream().map(value -> (BigDecimal) value).reduce(BigDecimal.ZERO, BigDecimal::add);
    }
}
