package dev.millrace.planner.algebra;

import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.Expression.Call;
import dev.millrace.plan.expression.Expression.Column;
import dev.millrace.plan.node.JoinTime;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.plan.node.PlanNode.JoinKind;
import dev.millrace.planner.tree.Expressions;
import dev.millrace.planner.tree.Nodes;
import dev.millrace.sql.algebra.ExpressionTranslator;
import dev.millrace.sql.algebra.TimedJoin;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.IntStream;

/**
 * ASOF and FOR SYSTEM_TIME AS OF. Keys and times that are computed become columns of the inputs:
 *
 * <pre>
 * asof(a.k = lower(b.k), a.ts >= b.ts)    becomes    Calc(all but $key)
 *                                                      Join(k = $key, nearest b.ts <= a.ts)
 *                                                        A
 *                                                        Calc(b.., lower(b.k) as $key)
 * </pre>
 *
 * In a pull query all rows there are when a left row comes are simply all rows.
 */
final class TimedJoinTranslation {
    private final PlanNode left;
    private final PlanNode right;
    private final int width;
    private final List<Expression> leftColumns;
    private final List<Expression> rightColumns;

    private TimedJoinTranslation(PlanNode left, PlanNode right) {
        this.left = left;
        this.right = right;
        this.width = left.schema().size();
        this.leftColumns = new ArrayList<>(Nodes.columns(left));
        this.rightColumns = new ArrayList<>(Nodes.columns(right));
    }

    static PlanNode translate(TimedJoin join, PlanNode left, PlanNode right, boolean finite) {
        JoinKind kind = join.isLeft() ? JoinKind.LEFT : JoinKind.INNER;
        Expression condition = ExpressionTranslator.translate(join.condition());
        Optional<Expression> residual =
                Expressions.isLiteral(condition, true) ? Optional.empty() : Optional.of(condition);
        if (join.match().isEmpty()) {
            return Nodes.join(
                    left,
                    right,
                    kind,
                    List.of(),
                    List.of(),
                    residual,
                    finite ? Optional.empty() : Optional.of(new JoinTime.Current()));
        }
        Call match = (Call) ExpressionTranslator.translate(join.match().get());
        return new TimedJoinTranslation(left, right)
                .nearest(kind, Expressions.conjuncts(residual), match, join.once() && !finite, OptionalInt.empty());
    }

    /**
     * A join with versions of a table's rows, found by their key. Other conditions are asked of the version found:
     *
     * <pre>
     * asof(a.k = t.k AND t.v > a.v, version)    becomes    Calc(a.., CASE WHEN t.v > a.v THEN t.. END)    if LEFT, else
     *                                                        Join(a.k = t.k, version)                    Calc(t.v > a.v)
     * </pre>
     *
     * @param right versions, or in a pull query the current rows
     * @param rightWidth how many of its columns are the table's
     */
    static PlanNode versions(
            TimedJoin join, PlanNode left, PlanNode right, int rightWidth, List<Integer> key, boolean finite) {
        JoinKind kind = join.isLeft() ? JoinKind.LEFT : JoinKind.INNER;
        TimedJoinTranslation translation = new TimedJoinTranslation(left, right);
        List<Expression> equalities = new ArrayList<>();
        List<Expression> others =
                new ArrayList<>(Expressions.conjuncts(ExpressionTranslator.translate(join.condition())));
        for (int column : key) {
            Expression equality = others.stream()
                    .filter(conjunct -> translation.isOfKey(conjunct, column))
                    .findFirst()
                    .orElseThrow();
            equalities.add(equality);
            others.remove(equality);
        }
        Call match = (Call) ExpressionTranslator.translate(join.match().orElseThrow());
        PlanNode all = translation.nearest(
                kind, equalities, match, !finite, finite ? OptionalInt.empty() : OptionalInt.of(rightWidth));
        int width = translation.width;
        PlanNode joined =
                Nodes.select(all, IntStream.range(0, width + rightWidth).boxed().toList());
        Optional<Expression> condition = Expressions.and(others);
        if (condition.isEmpty()) {
            return joined;
        }
        if (kind == JoinKind.INNER) {
            return Nodes.filter(joined, condition.get());
        }
        List<Expression> columns = Nodes.columns(joined);
        return Nodes.project(
                joined,
                IntStream.range(0, columns.size())
                        .mapToObj(i -> i < width ? columns.get(i) : orNull(condition.get(), columns.get(i)))
                        .toList());
    }

    private static Expression orNull(Expression condition, Expression value) {
        return new Expression.Case(
                List.of(new Expression.Case.Branch(condition, value)),
                new Expression.Null(value.type()),
                value.type(),
                true);
    }

    private boolean isOfKey(Expression conjunct, int column) {
        if (!Expressions.isCall(conjunct, "eq")) {
            return false;
        }
        List<Expression> operands = ((Call) conjunct).arguments();
        boolean across = isOfLeft(operands.get(0)) != isOfLeft(operands.get(1));
        return across
                && operands.stream()
                        .map(operand -> operand instanceof Expression.Cast cast ? cast.input() : operand)
                        .anyMatch(operand -> operand instanceof Column from && from.index() == width + column);
    }

    private PlanNode nearest(
            JoinKind kind, List<Expression> equalities, Call match, boolean settled, OptionalInt version) {
        List<Integer> leftKeys = new ArrayList<>();
        List<Integer> rightKeys = new ArrayList<>();
        for (Expression equality : equalities) {
            List<Expression> sides = sides((Call) equality);
            leftKeys.add(place(sides.get(0), leftColumns));
            rightKeys.add(place(sides.get(1), rightColumns));
        }
        List<Expression> times = sides(match);
        boolean leftFirst = isOfLeft(match.arguments().get(0));
        String function = match.function();
        boolean later = leftFirst == function.startsWith("l"); // left <= right
        JoinTime time = new JoinTime.Nearest(
                place(times.get(0), leftColumns),
                place(times.get(1), rightColumns),
                later,
                function.endsWith("e"),
                settled,
                version);
        PlanNode joined = Nodes.join(
                leftColumns.size() == width ? left : Nodes.project(left, leftColumns),
                rightColumns.size() == right.schema().size() ? right : Nodes.project(right, rightColumns),
                kind,
                leftKeys,
                rightKeys,
                Optional.empty(),
                Optional.of(time));
        int moved = leftColumns.size() - width;
        return Nodes.select(
                joined,
                IntStream.range(0, width + right.schema().size())
                        .map(column -> column < width ? column : column + moved)
                        .boxed()
                        .toList());
    }

    private boolean isOfLeft(Expression expression) {
        return Expressions.readsOnly(expression, column -> column < width);
    }

    /** The left operand over the left input, and the right one over the right. */
    private List<Expression> sides(Call comparison) {
        Expression a = comparison.arguments().get(0);
        Expression b = comparison.arguments().get(1);
        Expression ofRight = isOfLeft(a) ? b : a;
        return List.of(isOfLeft(a) ? a : b, Expressions.renumber(ofRight, column -> column - width));
    }

    private static int place(Expression value, List<Expression> columns) {
        if (value instanceof Column column) {
            return column.index();
        }
        columns.add(value);
        return columns.size() - 1;
    }
}
