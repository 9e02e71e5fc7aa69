package dev.millrace.server.lookup;

import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.Expression.Call;
import dev.millrace.plan.expression.Expression.Cast;
import dev.millrace.plan.expression.Expression.Column;
import dev.millrace.planner.tree.Expressions;
import dev.millrace.type.DataType;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * What the conjuncts of a condition say about single columns: that one equals a value, or one of some values. Values are
 * expressions without columns.
 */
final class KeyMatch {
    private static final int MOST_VALUES = 1_000;

    /** Values of which a column has one, and the conjunct that says so. */
    record Equal(List<Expression> values, Expression conjunct) {}

    private final Map<Integer, Equal> equal = new LinkedHashMap<>();

    KeyMatch(List<Expression> conjuncts) {
        conjuncts.forEach(this::add);
    }

    Optional<Equal> equal(int column) {
        return Optional.ofNullable(equal.get(column));
    }

    private void add(Expression conjunct) {
        if (!(conjunct instanceof Call call)) {
            return;
        }
        if (call.function().equals("or")) {
            anyOf(call);
        } else if (call.function().equals("eq")) {
            equal(call.arguments().get(0), call.arguments().get(1), call);
            equal(call.arguments().get(1), call.arguments().get(0), call);
        }
    }

    private void equal(Expression side, Expression value, Expression conjunct) {
        column(side, value).ifPresent(column -> equal.putIfAbsent(column.index(), new Equal(List.of(value), conjunct)));
    }

    /** {@code c = 1 OR c = 2 OR ..}, as IN is written. */
    private void anyOf(Call or) {
        List<Expression> values = new ArrayList<>();
        Optional<Integer> one = Optional.empty();
        List<Expression> left = new ArrayList<>(or.arguments());
        while (!left.isEmpty()) {
            Expression part = left.remove(left.size() - 1);
            if (part instanceof Call call && call.function().equals("or")) {
                left.addAll(call.arguments());
                continue;
            }
            KeyMatch inner = new KeyMatch(List.of(part));
            if (inner.equal.size() != 1) {
                return;
            }
            Map.Entry<Integer, Equal> found = inner.equal.entrySet().iterator().next();
            if (one.isPresent() && !one.get().equals(found.getKey())) {
                return;
            }
            one = Optional.of(found.getKey());
            values.addAll(found.getValue().values());
        }
        if (values.size() <= MOST_VALUES) {
            one.ifPresent(column -> equal.putIfAbsent(column, new Equal(List.copyOf(values), or)));
        }
    }

    /** The column of a side whose values are the same bits as those of the other side, which reads none. */
    private static Optional<Column> column(Expression side, Expression value) {
        Expression inner =
                side instanceof Cast cast && alike(cast.type(), cast.input().type()) ? cast.input() : side;
        boolean constant = Expressions.columns(value).isEmpty() && !Expressions.isVolatile(value);
        return constant && inner instanceof Column column && alike(column.type(), value.type())
                ? Optional.of(column)
                : Optional.empty();
    }

    private static final Set<DataType.Kind> INTEGERS =
            Set.of(DataType.Kind.SMALLINT, DataType.Kind.INTEGER, DataType.Kind.BIGINT);
    private static final Set<DataType.Kind> TEXTS = Set.of(DataType.Kind.TEXT, DataType.Kind.VARCHAR);

    /** Whether values of both types are kept, and compared, as the same bits. */
    static boolean alike(DataType a, DataType b) {
        return a.equals(b)
                || INTEGERS.contains(a.kind()) && INTEGERS.contains(b.kind())
                || TEXTS.contains(a.kind()) && TEXTS.contains(b.kind());
    }
}
