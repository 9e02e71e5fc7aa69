package dev.millrace.engine.join;

import dev.millrace.engine.state.RowCodec;
import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.node.JoinTime;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * What a residual condition, or time, says about ranges: one or two comparisons of a value of the left row with one of the right row.
 * Each row has two words, the same for all rows it meets, and two bounds for the words of the other side's rows, such that
 * the condition can hold only for rows with
 *
 * <pre>
 *   first word &lt;= first bound  and  second word &gt;= second bound
 * </pre>
 *
 * which is how {@link RangeIndex} finds them. Whether it does hold remains to be evaluated.
 */
final class RangeCondition {
    /** {@code left < right}, or {@code left <= right}; or the other way round. */
    private record Comparison(RangeValue left, RangeValue right, boolean leftIsLess, boolean isStrict) {
        RangeValue of(int side) {
            return side == 0 ? left : right;
        }
    }

    private final List<Comparison> comparisons; // one or two
    private final int rightFirst; // the first of the right columns
    private final List<RowCodec> codecs;

    private RangeCondition(List<Comparison> comparisons, int rightFirst, List<RowCodec> codecs) {
        this.comparisons = comparisons;
        this.rightFirst = rightFirst;
        this.codecs = codecs;
    }

    /** The ranges in a condition and between bounds of time, if there are any. */
    static Optional<RangeCondition> of(
            Optional<Expression> residual, Optional<JoinTime.Bounds> time, RowCodec left, RowCodec right) {
        List<Comparison> found = new ArrayList<>();
        time.ifPresent(bounds -> collect(bounds, left.columnCount(), found));
        residual.ifPresent(condition -> collect(condition, left.columnCount(), found));
        if (found.isEmpty()) {
            return Optional.empty();
        }
        return Optional.of(new RangeCondition(best(found), left.columnCount(), List.of(left, right)));
    }

    /**
     * The same condition with its ranges asked first: so a pair that is left out by its ranges is one for which nothing else is
     * asked, and does not fail, whether it is looked at or not.
     */
    static Expression first(Expression residual, int leftColumns) {
        List<Expression> conjuncts = new ArrayList<>();
        collectConjuncts(residual, conjuncts);
        conjuncts.sort(Comparator.comparing(conjunct -> !isIn(conjunct, leftColumns))); // keeps the order otherwise
        return conjuncts.size() == 1
                ? residual
                : new Expression.Call("and", conjuncts, residual.type(), residual.nullable());
    }

    private static void collectConjuncts(Expression condition, List<Expression> into) {
        if (condition instanceof Expression.Call call && call.function().equals("and")) {
            call.arguments().forEach(argument -> collectConjuncts(argument, into));
        } else {
            into.add(condition);
        }
    }

    /** Whether a condition has ranges. */
    static boolean isIn(Expression residual, int leftColumns) {
        List<Comparison> found = new ArrayList<>();
        collect(residual, leftColumns, found);
        return !found.isEmpty();
    }

    private static void collect(JoinTime.Bounds time, int leftColumns, List<Comparison> into) {
        RangeValue leftUntil = RangeValue.ofTime(time.leftUntil(), time.upperMicros());
        RangeValue rightUntil = RangeValue.ofTime(leftColumns + time.rightUntil(), -time.lowerMicros());
        into.add(new Comparison(leftUntil, RangeValue.ofTime(leftColumns + time.right(), 0), false, false));
        into.add(new Comparison(RangeValue.ofTime(time.left(), 0), rightUntil, true, false));
    }

    private static void collect(Expression condition, int leftColumns, List<Comparison> into) {
        if (!(condition instanceof Expression.Call call)) {
            return;
        }
        switch (call.function()) {
            case "and" -> call.arguments().forEach(argument -> collect(argument, leftColumns, into));
            case "lt", "le", "gt", "ge" -> {
                boolean isLess = call.function().charAt(0) == 'l';
                boolean isStrict = call.function().charAt(1) == 't';
                Pair.of(call.arguments().get(0), call.arguments().get(1)).ifPresent(pair -> {
                    boolean aIsLeft = pair.a.column() < leftColumns;
                    if (aIsLeft != pair.b.column() < leftColumns) {
                        into.add(new Comparison(
                                aIsLeft ? pair.a : pair.b, aIsLeft ? pair.b : pair.a, isLess == aIsLeft, isStrict));
                    }
                });
            }
            default -> {}
        }
    }

    /** Two values that compare as two expressions do. */
    private record Pair(RangeValue a, RangeValue b) {
        static Optional<Pair> of(Expression x, Expression y) {
            if (x instanceof Expression.Literal) {
                return difference(y, x).map(pair -> new Pair(pair.b, pair.a));
            }
            if (y instanceof Expression.Literal) {
                return difference(x, y);
            }
            return of(x, y, RangeValue.of(x), RangeValue.of(y));
        }

        /** {@code a - b OP constant} is {@code a OP b + constant}. */
        private static Optional<Pair> difference(Expression x, Expression constant) {
            if (!(x instanceof Expression.Call call) || !call.function().equals("subtract")) {
                return Optional.empty();
            }
            Expression a = call.arguments().get(0);
            Expression b = call.arguments().get(1);
            return of(a, b, RangeValue.of(a), RangeValue.of(b).flatMap(value -> value.plus(constant, b.type(), 1)));
        }

        private static Optional<Pair> of(Expression x, Expression y, Optional<RangeValue> a, Optional<RangeValue> b) {
            boolean isOneType = x.type().kind() == y.type().kind()
                    && x.type().scale() == y.type().scale();
            return a.isPresent() && b.isPresent() && a.get().comparesWith(b.get(), isOneType)
                    ? Optional.of(new Pair(a.get(), b.get()))
                    : Optional.empty();
        }
    }

    /** The two that narrow most: that bound a value from both sides, else that go in opposite directions, else the first. */
    private static List<Comparison> best(List<Comparison> found) {
        Comparison first = found.get(0);
        Comparison second = null;
        for (Comparison a : found) {
            for (Comparison b : found) {
                boolean isOpposite = a.leftIsLess && !b.leftIsLess;
                boolean isOfOne = a.left.column() == b.left.column() || a.right.column() == b.right.column();
                if (isOpposite && (second == null || isOfOne)) {
                    first = a;
                    second = b;
                }
            }
        }
        if (second == null && found.size() > 1) {
            second = found.get(1);
        }
        return second == null ? List.of(first) : List.of(first, second);
    }

    private int firstColumn(int side) {
        return side == 0 ? 0 : rightFirst;
    }

    /** Whether a row meets none whatever theirs are: a value is NULL. */
    boolean meetsNone(int side, long row) {
        for (Comparison comparison : comparisons) {
            if (comparison.of(side).isNull(firstColumn(side), row)) {
                return true;
            }
        }
        return false;
    }

    /** The word of a row for the first, 0, or the second, 1, comparison. */
    long word(int side, long row, int which) {
        if (which == comparisons.size()) {
            return 0;
        }
        return word(side, side, row, which);
    }

    /** The bound that a row of a side sets to the other side's words. */
    long bound(int side, long row, int which) {
        if (which == comparisons.size()) {
            return 0;
        }
        long word = word(side, 1 - side, row, which);
        Comparison comparison = comparisons.get(which);
        boolean isOutermost = word == Long.MIN_VALUE || word == Long.MAX_VALUE; // may stand for more than one value
        if (!comparison.isStrict || isOutermost || !comparison.left.isExact() || !comparison.right.isExact()) {
            return word;
        }
        return which == 0 ? word - 1 : word + 1;
    }

    /** The word of a row's value, turned such that words of side {@code indexed} are below or above their bounds. */
    private long word(int side, int indexed, long row, int which) {
        Comparison comparison = comparisons.get(which);
        long word = comparison.of(side).word(codecs.get(side), firstColumn(side), row);
        boolean isBelow = (indexed == 0) == comparison.leftIsLess;
        return isBelow == (which == 0) ? word : ~word;
    }
}
