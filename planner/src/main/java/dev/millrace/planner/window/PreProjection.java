package dev.millrace.planner.window;

import dev.millrace.plan.expression.AggregateCall;
import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.OrderKey;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.planner.tree.Nodes;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.IntUnaryOperator;

/** Collects what an operator needs of its input as columns of one Calc, each once, in order of first use. */
final class PreProjection {
    private final List<Expression> columns = new ArrayList<>();

    /** The column that will hold {@code expression}. */
    int place(Expression expression) {
        int known = columns.indexOf(expression);
        if (known >= 0) {
            return known;
        }
        columns.add(expression);
        return columns.size() - 1;
    }

    /** The input's rows that pass, with the columns placed. */
    PlanNode over(PlanNode input, Optional<Expression> condition) {
        return condition.isEmpty() && columns.equals(Nodes.columns(input))
                ? input
                : Nodes.calc(input, condition, columns);
    }

    /** A call with its columns renumbered. */
    static AggregateCall renumber(AggregateCall call, IntUnaryOperator column) {
        return new AggregateCall(
                call.function(),
                call.arguments().stream().map(column::applyAsInt).toList(),
                call.distinct(),
                call.filter().isPresent()
                        ? OptionalInt.of(column.applyAsInt(call.filter().getAsInt()))
                        : OptionalInt.empty(),
                call.ordering().stream()
                        .map(key -> new OrderKey(column.applyAsInt(key.column()), key.descending(), key.nullsFirst()))
                        .toList(),
                call.parameters(),
                call.type());
    }
}
