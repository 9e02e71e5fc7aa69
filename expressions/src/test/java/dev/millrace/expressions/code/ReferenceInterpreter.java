package dev.millrace.expressions.code;

import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.Expression.Call;
import dev.millrace.plan.expression.Expression.Case;
import dev.millrace.plan.expression.Expression.Cast;
import dev.millrace.plan.expression.Expression.Column;
import dev.millrace.plan.expression.Expression.Literal;
import dev.millrace.testing.rows.Row;
import dev.millrace.type.DataType;
import dev.millrace.type.DataType.Kind;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** What expressions mean, written for clarity: one row at a time, boxed values, NULL as null. */
final class ReferenceInterpreter {
    private ReferenceInterpreter() {}

    /** An error in a row, with its SQLSTATE. */
    static final class Failure extends RuntimeException {
        private static final long serialVersionUID = 1L;

        Failure(String sqlState) {
            super(sqlState, null, false, false);
        }
    }

    static Object evaluate(Expression expression, Row row) {
        if (expression instanceof Column column) {
            return row.get(column.index());
        }
        if (expression instanceof Literal literal) {
            return literal.value();
        }
        if (expression instanceof Cast cast) {
            Object value = evaluate(cast.input(), row);
            return value == null ? null : cast(value, cast.type());
        }
        if (expression instanceof Case branches) {
            for (Case.Branch branch : branches.branches()) {
                if (Boolean.TRUE.equals(evaluate(branch.condition(), row))) {
                    return rescaled(evaluate(branch.result(), row), branches.type());
                }
            }
            return rescaled(evaluate(branches.otherwise(), row), branches.type());
        }
        return expression instanceof Call call ? rescaled(call(call, row), call.type()) : null;
    }

    private static Object rescaled(Object value, DataType type) {
        return value instanceof BigDecimal decimal ? decimal.setScale(type.scale(), RoundingMode.HALF_UP) : value;
    }

    private static Object call(Call call, Row row) {
        switch (call.function()) {
            case "and", "or" -> {
                return connect(call, row, call.function().equals("and"));
            }
            case "coalesce" -> {
                for (Expression argument : call.arguments()) {
                    Object value = evaluate(argument, row);
                    if (value != null) {
                        return value;
                    }
                }
                return null;
            }
            default -> {
                List<Object> values = new ArrayList<>();
                call.arguments().forEach(argument -> values.add(evaluate(argument, row)));
                return withNulls(call, values);
            }
        }
    }

    /** AND is decided by false, OR by true. */
    private static Object connect(Call call, Row row, boolean and) {
        Boolean result = and;
        for (Expression argument : call.arguments()) {
            Boolean value = (Boolean) evaluate(argument, row);
            if (value != null && value != and) {
                return !and;
            }
            result = value == null ? null : result;
        }
        return result;
    }

    private static Object withNulls(Call call, List<Object> values) {
        Object first = values.get(0);
        return switch (call.function()) {
            case "is_null" -> first == null;
            case "is_not_null" -> first != null;
            case "is_true" -> Boolean.TRUE.equals(first);
            case "is_not_false" -> !Boolean.FALSE.equals(first);
            case "is_distinct_from" -> distinct(first, values.get(1));
            case "is_not_distinct_from" -> !distinct(first, values.get(1));
            case "nullif" ->
                first != null && values.get(1) != null && compare(first, values.get(1)) == 0 ? null : first;
            case "greatest", "least" -> {
                Object best = null;
                for (Object value : values) {
                    boolean better = value != null
                            && (best == null
                                    || (call.function().equals("greatest")
                                            ? compare(value, best) > 0
                                            : compare(value, best) < 0));
                    best = better ? value : best;
                }
                yield best;
            }
            default -> values.contains(null) ? null : strict(call, values);
        };
    }

    private static boolean distinct(Object a, Object b) {
        return a == null || b == null ? a != b : compare(a, b) != 0;
    }

    private static int compare(Object a, Object b) {
        if (a instanceof Double x) {
            double y = (Double) b;
            return x == y ? 0 : Double.compare(x, y); // NaN last, zeros equal
        }
        if (a instanceof String x) {
            return java.util.Arrays.compareUnsigned(
                    x.getBytes(java.nio.charset.StandardCharsets.UTF_8),
                    ((String) b).getBytes(java.nio.charset.StandardCharsets.UTF_8));
        }
        @SuppressWarnings("unchecked")
        Comparable<Object> x = (Comparable<Object>) a;
        return x.compareTo(b);
    }

    private static Object strict(Call call, List<Object> values) {
        Object a = values.get(0);
        Object b = values.size() > 1 ? values.get(1) : null;
        DataType type = call.type();
        return switch (call.function()) {
            case "not" -> !(Boolean) a;
            case "eq" -> compare(a, b) == 0;
            case "ne" -> compare(a, b) != 0;
            case "lt" -> compare(a, b) < 0;
            case "le" -> compare(a, b) <= 0;
            case "gt" -> compare(a, b) > 0;
            case "ge" -> compare(a, b) >= 0;
            case "length" -> (long) ((String) a).codePointCount(0, ((String) a).length());
            case "lower" -> ((String) a).toLowerCase(Locale.ROOT);
            case "text_concat" -> a + (String) b;
            case "substring" -> substring((String) a, (Long) b, (Long) values.get(2));
            case "negate" -> a instanceof Double x ? (Object) (-x) : arithmetic("subtract", zero(a), a, type);
            case "abs" ->
                a instanceof Double x
                        ? (Object) Math.abs(x)
                        : compare(a, zero(a)) < 0 ? arithmetic("subtract", zero(a), a, type) : a;
            default -> arithmetic(call.function(), a, b, type);
        };
    }

    private static Object zero(Object like) {
        return like instanceof Long ? (Object) 0L : BigDecimal.ZERO;
    }

    private static String substring(String text, long from, long count) {
        if (count < 0) {
            throw new Failure("22011");
        }
        int[] characters = text.codePoints().toArray();
        StringBuilder result = new StringBuilder();
        for (long at = Math.max(1, from); at < from + count && at <= characters.length; at++) {
            result.appendCodePoint(characters[(int) at - 1]);
        }
        return result.toString();
    }

    private static Object arithmetic(String function, Object a, Object b, DataType type) {
        if (a instanceof Double x) {
            return doubles(function, x, (Double) b);
        }
        if (a instanceof Long x) {
            return inRange(integers(function, BigInteger.valueOf(x), BigInteger.valueOf((Long) b)), type);
        }
        return digits(decimals(function, (BigDecimal) a, (BigDecimal) b, type), type);
    }

    private static double doubles(String function, double a, double b) {
        if (function.equals("divide") && b == 0 && a == a) {
            throw new Failure("22012");
        }
        double result = switch (function) {
            case "add" -> a + b;
            case "subtract" -> a - b;
            case "multiply" -> a * b;
            default -> a / b;
        };
        boolean product = function.equals("multiply") || function.equals("divide");
        boolean overflow = Double.isInfinite(result) && !Double.isInfinite(a) && !Double.isInfinite(b);
        boolean underflow =
                product && result == 0 && a != 0 && (function.equals("divide") ? !Double.isInfinite(b) : b != 0);
        if (overflow || underflow) {
            throw new Failure("22003");
        }
        return result;
    }

    private static BigInteger integers(String function, BigInteger a, BigInteger b) {
        if ((function.equals("divide") || function.equals("mod")) && b.signum() == 0) {
            throw new Failure("22012");
        }
        return switch (function) {
            case "add" -> a.add(b);
            case "subtract" -> a.subtract(b);
            case "multiply" -> a.multiply(b);
            case "divide" -> a.divide(b);
            default -> a.remainder(b);
        };
    }

    private static long inRange(BigInteger value, DataType type) {
        int bits = type.kind() == Kind.SMALLINT ? 15 : type.kind() == Kind.INTEGER ? 31 : 63;
        if (value.bitLength() > bits) {
            throw new Failure("22003");
        }
        return value.longValue();
    }

    private static BigDecimal decimals(String function, BigDecimal a, BigDecimal b, DataType type) {
        if ((function.equals("divide") || function.equals("mod")) && b.signum() == 0) {
            throw new Failure("22012");
        }
        BigDecimal result = switch (function) {
            case "add" -> a.add(b);
            case "subtract" -> a.subtract(b);
            case "multiply" -> a.multiply(b);
            case "divide" -> a.divide(b, type.scale(), RoundingMode.HALF_UP);
            default -> a.remainder(b);
        };
        return result.setScale(type.scale(), RoundingMode.HALF_UP);
    }

    private static BigDecimal digits(BigDecimal value, DataType type) {
        if (value.unscaledValue().abs().compareTo(BigInteger.TEN.pow(DataType.MAX_NUMERIC_PRECISION)) >= 0) {
            throw new Failure("22003");
        }
        return value;
    }

    private static Object cast(Object value, DataType type) {
        return switch (type.kind()) {
            case SMALLINT, INTEGER, BIGINT -> {
                BigDecimal exact = value instanceof Double x ? integral(x) : new BigDecimal(value.toString());
                yield inRange(exact.setScale(0, RoundingMode.HALF_UP).toBigInteger(), type);
            }
            case DOUBLE -> value instanceof Long x ? (Object) (double) x : ((Number) value).doubleValue();
            case NUMERIC -> {
                BigDecimal exact = new BigDecimal(value.toString()).setScale(type.scale(), RoundingMode.HALF_UP);
                if (exact.signum() != 0 && exact.precision() > type.precision()) {
                    throw new Failure("22003");
                }
                yield exact;
            }
            default -> value instanceof BigDecimal decimal ? decimal.toPlainString() : value.toString();
        };
    }

    /** Rounds a half to even; what is no number is out of range. */
    private static BigDecimal integral(double value) {
        if (Double.isNaN(value) || Double.isInfinite(value)) {
            throw new Failure("22003");
        }
        return new BigDecimal(value).setScale(0, RoundingMode.HALF_EVEN);
    }
}
