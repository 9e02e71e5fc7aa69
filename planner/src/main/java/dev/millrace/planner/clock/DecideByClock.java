package dev.millrace.planner.clock;

import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.Expression.Call;
import dev.millrace.plan.expression.Expression.Literal;
import dev.millrace.plan.expression.Expression.Null;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.plan.node.PlanNode.Calc;
import dev.millrace.plan.node.PlanNode.Join;
import dev.millrace.planner.tree.Expressions;
import dev.millrace.planner.tree.Nodes;
import dev.millrace.planner.tree.Rewrite;
import dev.millrace.type.DataType;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;

/**
 * Says what comparisons of the clock with constants will be for ever, where that is decided when a standing query is planned: the
 * clock only rises.
 *
 * <pre>
 *   now() &gt; TIMESTAMPTZ '2020-01-01'     becomes    true
 *   now() &lt;= TIMESTAMPTZ '2020-01-01'    becomes    false
 * </pre>
 *
 * A constant that is still to come remains for a time filter. What passes through one comes behind the watermark of its rows, so
 * that windows above it stay open: those above a condition that has been decided need not.
 */
public final class DecideByClock implements Rewrite {
    private final long nowMicros;
    private final UnaryOperator<Expression> folder;

    /**
     * @param nowMicros since 1970
     * @param folder gives back what it cannot evaluate
     */
    public DecideByClock(long nowMicros, UnaryOperator<Expression> folder) {
        this.nowMicros = nowMicros;
        this.folder = folder;
    }

    @Override
    public Optional<PlanNode> apply(PlanNode node) {
        if (node instanceof Join join) {
            Optional<Expression> residual = join.residual().map(this::decided);
            return residual.equals(join.residual())
                    ? Optional.empty()
                    : Optional.of(Nodes.join(
                            join.left(),
                            join.right(),
                            join.kind(),
                            join.leftKeys(),
                            join.rightKeys(),
                            residual,
                            join.time()));
        }
        if (!(node instanceof Calc calc)) {
            return Optional.empty();
        }
        Optional<Expression> condition = calc.condition().map(this::decided);
        List<Expression> projections =
                calc.projections().stream().map(this::decided).toList();
        return condition.equals(calc.condition()) && projections.equals(calc.projections())
                ? Optional.empty()
                : Optional.of(Nodes.calc(calc.input(), condition, projections));
    }

    private Expression decided(Expression expression) {
        return Expressions.readsNow(expression) ? Expressions.transform(expression, this::decideOne) : expression;
    }

    private Expression decideOne(Expression expression) {
        Optional<TimeCondition> found = TimeCondition.of(expression)
                .filter(condition -> Expressions.columns(condition.value()).isEmpty());
        if (found.isEmpty()) {
            return expression;
        }
        TimeCondition condition = found.get();
        Expression value = folded(condition.value());
        if (value instanceof Null) {
            return new Null(DataType.BOOLEAN);
        }
        boolean isPassed = isTrue("lt", value, condition.bound());
        return switch (condition.comparison()) {
            case "lt" -> isPassed ? Expressions.literal(true) : expression;
            case "le" -> isTrue("le", value, condition.bound()) ? Expressions.literal(true) : expression;
            case "gt" -> isTrue("le", value, condition.bound()) ? Expressions.literal(false) : expression;
            default -> isPassed ? Expressions.literal(false) : expression; // ge, eq
        };
    }

    /** Whether a constant compares so with the bound as it is now. */
    private boolean isTrue(String comparison, Expression constant, Expression bound) {
        Expression now = Expressions.transform(
                bound, part -> Expressions.isCall(part, "now") ? new Literal(nowMicros, part.type()) : part);
        Expression compared = folded(new Call(comparison, List.of(constant, folded(now)), DataType.BOOLEAN, true));
        return Expressions.isLiteral(compared, true);
    }

    private Expression folded(Expression expression) {
        return expression instanceof Literal || expression instanceof Null ? expression : folder.apply(expression);
    }
}
