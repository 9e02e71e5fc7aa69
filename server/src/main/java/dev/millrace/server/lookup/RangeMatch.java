package dev.millrace.server.lookup;

import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.Expression.Call;
import dev.millrace.plan.expression.Expression.Cast;
import dev.millrace.plan.expression.Expression.Column;
import dev.millrace.plan.expression.Expression.Literal;
import dev.millrace.planner.tree.Expressions;
import dev.millrace.type.DataType;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What the conjuncts of a condition say about the order of single columns: that one is less or greater than a value, or a text
 * begins with one. Values are expressions without columns. The conjuncts are still to be computed for the rows that are found.
 */
final class RangeMatch {
    /** A value that a column is not beyond. */
    record Bound(Expression value, boolean included) {}

    private final Map<Integer, Bound> low = new HashMap<>();
    private final Map<Integer, Bound> high = new HashMap<>();

    RangeMatch(List<Expression> conjuncts) {
        conjuncts.forEach(this::add);
    }

    Optional<Bound> low(int column) {
        return Optional.ofNullable(low.get(column));
    }

    Optional<Bound> high(int column) {
        return Optional.ofNullable(high.get(column));
    }

    /** Whether an index orders values of a type as the operators of SQL compare them. */
    static boolean suits(DataType type) {
        return switch (type.kind()) {
            case BOOLEAN, SMALLINT, INTEGER, BIGINT, DATE, TIME, TIMESTAMP, TIMESTAMPTZ, INTERVAL -> true;
            case REAL, DOUBLE, NUMERIC, BIGNUM, UUID, TEXT, VARCHAR, BYTEA -> true;
            case CHAR, JSONB, ARRAY, ROW, NULL -> false;
        };
    }

    private void add(Expression conjunct) {
        if (!(conjunct instanceof Call call) || call.arguments().size() < 2) {
            return;
        }
        Expression first = call.arguments().get(0);
        Expression second = call.arguments().get(1);
        switch (call.function()) {
            case "lt", "le" -> {
                boolean included = call.function().equals("le");
                add(high, first, second, included);
                add(low, second, first, included);
            }
            case "gt", "ge" -> {
                boolean included = call.function().equals("ge");
                add(low, first, second, included);
                add(high, second, first, included);
            }
            case "like" -> {
                if (call.arguments().size() == 2 && second instanceof Literal pattern) {
                    addPrefix(first, pattern);
                }
            }
            default -> {}
        }
    }

    private static void add(Map<Integer, Bound> bounds, Expression side, Expression value, boolean included) {
        boolean constant = Expressions.columns(value).isEmpty() && isFixed(value);
        Optional<Column> column = Optional.of(side)
                .map(RangeMatch::uncast)
                .filter(Column.class::isInstance)
                .map(Column.class::cast)
                .filter(found -> constant && alike(found.type(), value.type()) && suits(found.type()));
        column.ifPresent(found -> bounds.putIfAbsent(found.index(), new Bound(value, included)));
    }

    /** Whether a value without columns is one value, which is known before rows are read. */
    static boolean isFixed(Expression value) {
        return !Expressions.isVolatile(value) && !Expressions.readsNow(value) && !Expressions.readsProctime(value);
    }

    private static Expression uncast(Expression side) {
        return side instanceof Cast cast && alike(cast.type(), cast.input().type()) ? cast.input() : side;
    }

    private static boolean alike(DataType a, DataType b) {
        return KeyMatch.alike(a, b)
                || a.kind() == DataType.Kind.NUMERIC && b.kind() == DataType.Kind.NUMERIC && a.scale() == b.scale();
    }

    /** {@code text LIKE 'abc%'}: texts are ordered by their bytes, as UTF-8 orders characters. */
    private void addPrefix(Expression side, Literal pattern) {
        String text = (String) pattern.value();
        int length = 0;
        while (length < text.length() && "%_\\".indexOf(text.charAt(length)) < 0) {
            length++;
        }
        if (length == 0) {
            return;
        }
        String prefix = text.substring(0, length);
        add(low, side, new Literal(prefix, pattern.type()), true);
        char last = prefix.charAt(length - 1);
        if (last < Character.MIN_SURROGATE - 1) {
            String behind = prefix.substring(0, length - 1) + (char) (last + 1);
            add(high, side, new Literal(behind, pattern.type()), false);
        }
    }
}
