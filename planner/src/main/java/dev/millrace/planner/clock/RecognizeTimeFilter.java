package dev.millrace.planner.clock;

import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.Expression.Column;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.planner.tree.Expressions;
import dev.millrace.planner.tree.Nodes;
import dev.millrace.planner.tree.Rewrite;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A filter of a standing query by the clock, as rows that come and leave with it.
 *
 * <pre>
 *   Calc p where c AND f(a) &gt; now() - x      Calc p
 *     input                             --&gt;     TimeFilter f &gt; now() - x
 *                                               Calc input's columns, f(a) AS f where c
 *                                                 input
 * </pre>
 *
 * Each condition by the clock is one filter; equality is two.
 */
public final class RecognizeTimeFilter implements Rewrite {
    @Override
    public Optional<PlanNode> apply(PlanNode node) {
        if (!(node instanceof PlanNode.Calc calc)) {
            return Optional.empty();
        }
        List<Expression> others = new ArrayList<>();
        List<TimeCondition> conditions = new ArrayList<>();
        for (Expression conjunct : Expressions.conjuncts(calc.condition())) {
            Optional<TimeCondition> condition =
                    Expressions.readsNow(conjunct) ? TimeCondition.of(conjunct) : Optional.empty();
            condition.ifPresentOrElse(conditions::add, () -> others.add(conjunct));
        }
        if (conditions.isEmpty()) {
            return Optional.empty();
        }
        List<Expression> columns = new ArrayList<>(Nodes.columns(calc.input()));
        int[] times = new int[conditions.size()];
        for (int i = 0; i < times.length; i++) {
            times[i] = place(conditions.get(i).value(), columns);
        }
        boolean asIs =
                others.isEmpty() && columns.size() == calc.input().schema().size();
        PlanNode filtered = asIs ? calc.input() : Nodes.calc(calc.input(), Expressions.and(others), columns);
        for (int i = 0; i < times.length; i++) {
            filtered = filter(filtered, times[i], conditions.get(i));
        }
        return Optional.of(Nodes.project(filtered, calc.projections()));
    }

    /** Where the value is among the columns, behind which it is put if it is not there. */
    private static int place(Expression value, List<Expression> columns) {
        if (value instanceof Column column) {
            return column.index();
        }
        int known = columns.indexOf(value);
        if (known >= 0) {
            return known;
        }
        columns.add(value);
        return columns.size() - 1;
    }

    private static PlanNode filter(PlanNode input, int time, TimeCondition condition) {
        Expression bound = condition.bound();
        return switch (condition.comparison()) {
            case "gt" -> new PlanNode.TimeFilter(input, time, bound, true, false);
            case "ge" -> new PlanNode.TimeFilter(input, time, bound, true, true);
            case "lt" -> new PlanNode.TimeFilter(input, time, bound, false, false);
            case "le" -> new PlanNode.TimeFilter(input, time, bound, false, true);
            default ->
                new PlanNode.TimeFilter(
                        new PlanNode.TimeFilter(input, time, bound, false, true), time, bound, true, true);
        };
    }
}
