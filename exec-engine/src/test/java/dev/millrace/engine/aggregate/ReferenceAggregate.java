package dev.millrace.engine.aggregate;

import dev.millrace.plan.expression.AggregateCall;
import dev.millrace.plan.expression.AggregateCall.Function;
import dev.millrace.plan.expression.OrderKey;
import dev.millrace.testing.rows.Row;
import dev.millrace.type.DataType;
import dev.millrace.type.Schema;
import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** Aggregate functions over lists of boxed rows, written to be obviously right. */
public final class ReferenceAggregate {
    private static final MathContext DIGITS = new MathContext(80);

    private ReferenceAggregate() {}

    /** The groups of rows by the values of key columns, in order of first appearance. */
    public static Map<List<Object>, List<Row>> groups(List<Row> rows, List<Integer> keys) {
        Map<List<Object>, List<Row>> groups = new LinkedHashMap<>();
        for (Row row : rows) {
            List<Object> key = new ArrayList<>();
            keys.forEach(column -> key.add(row.get(column)));
            groups.computeIfAbsent(key, absent -> new ArrayList<>()).add(row);
        }
        return groups;
    }

    /** The result of a call over the rows of a group. */
    public static Object result(AggregateCall call, List<Row> group, Schema schema) {
        List<Row> rows = new ArrayList<>(group);
        call.filter().ifPresent(column -> rows.removeIf(row -> !Boolean.TRUE.equals(row.get(column))));
        int argument = call.arguments().isEmpty() ? -1 : call.arguments().get(0);
        for (int i = call.ordering().size() - 1; i >= 0; i--) {
            rows.sort(order(call.ordering().get(i)));
        }
        if (call.function() == Function.COUNT && argument < 0) {
            return (long) rows.size();
        }
        List<Object> values = new ArrayList<>();
        rows.forEach(row -> values.add(row.get(argument)));
        boolean keepsNulls = switch (call.function()) {
            case ARRAY_AGG, FIRST_VALUE, LAST_VALUE -> true;
            default -> false;
        };
        if (!keepsNulls) {
            values.removeIf(Objects::isNull);
        }
        List<Object> used = call.distinct() ? new ArrayList<>(new LinkedHashSet<>(values)) : values;
        if (call.distinct() && call.ordering().isEmpty()) {
            used.sort((a, b) -> compare(a, b));
        }
        if (call.function() == Function.COUNT) {
            return (long) used.size();
        }
        if (call.function() == Function.APPROX_COUNT_DISTINCT) {
            return (long) new LinkedHashSet<>(used).size();
        }
        return used.isEmpty() ? null : value(call, used, schema.type(argument));
    }

    private static Object value(AggregateCall call, List<Object> values, DataType type) {
        int scale = call.type().scale();
        boolean inexact = type.kind() == DataType.Kind.DOUBLE || type.kind() == DataType.Kind.REAL;
        BigDecimal count = BigDecimal.valueOf(values.size());
        return switch (call.function()) {
            case USER -> throw new IllegalArgumentException("whoever tests it knows what it does");
            case SUM -> {
                if (inexact && !finite(values)) {
                    yield values.stream().mapToDouble(value -> (Double) value).sum();
                }
                BigDecimal sum = sum(values);
                yield inexact
                        ? (Object) sum.doubleValue()
                        : call.type().isInteger() ? (Object) sum.longValueExact() : sum;
            }
            case AVG ->
                inexact
                        ? (Object) sum(values).divide(count, DIGITS).doubleValue()
                        : sum(values).divide(count, scale, RoundingMode.HALF_UP);
            case VAR_POP, VAR_SAMP, STDDEV_POP, STDDEV_SAMP -> {
                boolean sample = call.function() == Function.VAR_SAMP || call.function() == Function.STDDEV_SAMP;
                if (sample && values.size() == 1) {
                    yield null;
                }
                BigDecimal mean = sum(values).divide(count, DIGITS);
                BigDecimal squares = BigDecimal.ZERO;
                for (Object value : values) {
                    BigDecimal difference = decimal(value).subtract(mean);
                    squares = squares.add(difference.multiply(difference));
                }
                BigDecimal variance = squares.divide(sample ? count.subtract(BigDecimal.ONE) : count, DIGITS);
                boolean root = call.function() == Function.STDDEV_POP || call.function() == Function.STDDEV_SAMP;
                BigDecimal result = root ? variance.sqrt(DIGITS) : variance;
                yield inexact ? (Object) result.doubleValue() : result.setScale(scale, RoundingMode.HALF_UP);
            }
            case MIN -> values.stream().min(ReferenceAggregate::compare).orElseThrow();
            case MAX -> values.stream().max(ReferenceAggregate::compare).orElseThrow();
            case BOOL_AND -> !values.contains(false);
            case BOOL_OR -> values.contains(true);
            case FIRST_VALUE -> values.get(0);
            case LAST_VALUE -> values.get(values.size() - 1);
            case STRING_AGG ->
                String.join(
                        (String) call.parameters().get(0).value(),
                        values.stream().map(String.class::cast).toList());
            case ARRAY_AGG -> values;
            case PERCENTILE_CONT -> {
                double position = fraction(call) * (values.size() - 1);
                double low = decimal(values.get((int) Math.floor(position))).doubleValue();
                double high = decimal(values.get((int) Math.ceil(position))).doubleValue();
                yield low + (position - Math.floor(position)) * (high - low);
            }
            case PERCENTILE_DISC -> values.get((int) Math.max(0, Math.ceil(fraction(call) * values.size()) - 1));
            case COUNT, APPROX_COUNT_DISTINCT -> throw new AssertionError(call);
        };
    }

    private static boolean finite(List<Object> values) {
        return values.stream().allMatch(value -> Double.isFinite((Double) value));
    }

    private static double fraction(AggregateCall call) {
        return ((Number) call.parameters().get(0).value()).doubleValue();
    }

    private static BigDecimal sum(List<Object> values) {
        return values.stream().map(ReferenceAggregate::decimal).reduce(BigDecimal.ZERO, BigDecimal::add);
    }

    private static BigDecimal decimal(Object value) {
        return value instanceof BigDecimal decimal
                ? decimal
                : value instanceof Double number ? new BigDecimal(number) : BigDecimal.valueOf((Long) value);
    }

    private static Comparator<Row> order(OrderKey key) {
        return (a, b) -> {
            Object x = a.get(key.column());
            Object y = b.get(key.column());
            if (x == null || y == null) {
                return x == y ? 0 : (x == null) == key.nullsFirst() ? -1 : 1;
            }
            return key.descending() ? compare(y, x) : compare(x, y);
        };
    }

    /** Orders values of one type: text by its UTF-8 bytes, which is by code points. */
    @SuppressWarnings("unchecked")
    public static int compare(Object a, Object b) {
        if (a == null || b == null) {
            return a == b ? 0 : a == null ? 1 : -1;
        }
        if (a instanceof String x) {
            return java.util.Arrays.compareUnsigned(
                    x.getBytes(java.nio.charset.StandardCharsets.UTF_8),
                    ((String) b).getBytes(java.nio.charset.StandardCharsets.UTF_8));
        }
        if (a instanceof java.util.UUID x) {
            java.util.UUID y = (java.util.UUID) b;
            int order = Long.compareUnsigned(x.getMostSignificantBits(), y.getMostSignificantBits());
            return order != 0 ? order : Long.compareUnsigned(x.getLeastSignificantBits(), y.getLeastSignificantBits());
        }
        return ((Comparable<Object>) a).compareTo(b);
    }
}
