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
                .nearest(kind, Expressions.conjuncts(residual), match, join.once() && !finite);
    }

    private PlanNode nearest(JoinKind kind, List<Expression> equalities, Call match, boolean settled) {
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
                settled);
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
