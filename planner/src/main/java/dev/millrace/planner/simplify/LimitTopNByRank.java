package dev.millrace.planner.simplify;

import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.Expression.Call;
import dev.millrace.plan.expression.Expression.Column;
import dev.millrace.plan.expression.Expression.Literal;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.plan.node.PlanNode.Calc;
import dev.millrace.plan.node.PlanNode.TopN;
import dev.millrace.planner.tree.Expressions;
import dev.millrace.planner.tree.Nodes;
import dev.millrace.planner.tree.Rewrite;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A condition on the rank becomes the limit.
 *
 * <pre>
 * Calc(where rank > 2 and rank <= 5 and $0 > 7)    becomes    Calc(where $0 > 7)
 *   TopN(no limit)                                              TopN(limit 3, offset 2)
 *     X                                                           X
 * </pre>
 */
final class LimitTopNByRank implements Rewrite {
    @Override
    public Optional<PlanNode> apply(PlanNode node) {
        if (!(node instanceof Calc calc)
                || !(calc.input() instanceof TopN topN)
                || !topN.emitRank()
                || calc.condition().isEmpty()) {
            return Optional.empty();
        }
        int rank = topN.schema().size() - 1;
        long first = topN.offset() + 1;
        long last = Nodes.isUnlimited(topN) ? Long.MAX_VALUE : topN.offset() + topN.limit();
        List<Expression> rest = new ArrayList<>();
        for (Expression conjunct : Expressions.conjuncts(calc.condition())) {
            Optional<Bounds> bounds = bounds(conjunct, rank);
            if (bounds.isPresent()) {
                first = Math.max(first, bounds.get().first());
                last = Math.min(last, bounds.get().last());
            } else {
                rest.add(conjunct);
            }
        }
        if (rest.size() == Expressions.conjuncts(calc.condition()).size()) {
            return Optional.empty();
        }
        if (last < first) {
            return Optional.of(new PlanNode.Values(List.of(), calc.schema()));
        }
        long limit = last - first + 1;
        PlanNode limited = Nodes.topN(
                topN.input(), topN.partition(), topN.order(), topN.rank(), limit, first - 1, true, topN.windowEnd());
        return Optional.of(Nodes.calc(limited, Expressions.and(rest), calc.projections()));
    }

    /** Ranks from first to last, both included. */
    private record Bounds(long first, long last) {}

    /** What {@code rank op number} or {@code number op rank} says of the rank. */
    private static Optional<Bounds> bounds(Expression conjunct, int rank) {
        if (!(conjunct instanceof Call call) || call.arguments().size() != 2) {
            return Optional.empty();
        }
        Expression left = call.arguments().get(0);
        Expression right = call.arguments().get(1);
        if (isRank(left, rank) && right instanceof Literal literal && literal.value() instanceof Long number) {
            return bounds(call.function(), number);
        }
        if (isRank(right, rank) && left instanceof Literal literal && literal.value() instanceof Long number) {
            return bounds(mirrored(call.function()), number);
        }
        return Optional.empty();
    }

    private static boolean isRank(Expression expression, int rank) {
        return expression instanceof Column column && column.index() == rank;
    }

    private static String mirrored(String comparison) {
        return switch (comparison) {
            case "lt" -> "gt";
            case "le" -> "ge";
            case "gt" -> "lt";
            case "ge" -> "le";
            default -> comparison;
        };
    }

    private static Optional<Bounds> bounds(String comparison, long number) {
        return switch (comparison) {
            case "eq" -> Optional.of(new Bounds(number, number));
            case "le" -> Optional.of(new Bounds(1, number));
            case "lt" -> Optional.of(new Bounds(1, number - 1));
            case "ge" -> Optional.of(new Bounds(number, Long.MAX_VALUE));
            case "gt" -> Optional.of(new Bounds(number + 1, Long.MAX_VALUE));
            default -> Optional.empty();
        };
    }
}
