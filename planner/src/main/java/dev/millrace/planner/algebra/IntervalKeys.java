package dev.millrace.planner.algebra;

import dev.millrace.plan.expression.AggregateCall;
import dev.millrace.plan.expression.AggregateCall.Function;
import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.plan.node.PlanNode.Phase;
import dev.millrace.planner.tree.Nodes;
import dev.millrace.type.DataType.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;

/**
 * Groups by intervals, of which several forms are equal: 1 day and 24:00:00. They are grouped by one form of all, and shown
 * as one of those that are there.
 *
 * <pre>
 * Aggregate($0; count)    becomes    Calc($2, $1)
 *   X                                  Aggregate($1; count, min($0))
 *                                        Calc($0, justify_interval($0))
 *                                          X
 * </pre>
 */
final class IntervalKeys {
    private IntervalKeys() {}

    /** The one form of an interval among those that are equal to it; any other value as it is. */
    static Expression canonical(Expression value) {
        return value.type().kind() == Kind.INTERVAL
                ? new Expression.Call("justify_interval", List.of(value), value.type(), value.nullable())
                : value;
    }

    /** The keys, then the calls. */
    static PlanNode aggregate(PlanNode input, List<Integer> keys, List<AggregateCall> calls) {
        List<Expression> columns = new ArrayList<>(Nodes.columns(input));
        List<Integer> canonical = new ArrayList<>();
        List<AggregateCall> all = new ArrayList<>(calls);
        List<Integer> shown = new ArrayList<>(); // columns of the aggregate
        for (int key : keys) {
            if (input.schema().type(key).kind() != Kind.INTERVAL) {
                shown.add(canonical.size());
                canonical.add(key);
                continue;
            }
            canonical.add(columns.size());
            columns.add(canonical(columns.get(key)));
            shown.add(keys.size() + all.size());
            all.add(new AggregateCall(
                    Function.MIN,
                    List.of(key),
                    false,
                    OptionalInt.empty(),
                    List.of(),
                    List.of(),
                    input.schema().type(key)));
        }
        if (all.size() == calls.size()) {
            return Nodes.aggregate(input, keys, calls, Phase.SINGLE, false);
        }
        PlanNode grouped = Nodes.aggregate(Nodes.project(input, columns), canonical, all, Phase.SINGLE, false);
        for (int call = 0; call < calls.size(); call++) {
            shown.add(keys.size() + call);
        }
        return Nodes.select(grouped, shown);
    }
}
