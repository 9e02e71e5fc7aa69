package dev.millrace.planner.condense;

import dev.millrace.plan.expression.AggregateCall;
import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.Expression.Column;
import dev.millrace.plan.expression.OrderKey;
import dev.millrace.plan.node.PlanNode.Aggregate;
import dev.millrace.plan.node.PlanNode.Calc;
import dev.millrace.plan.node.PlanNode.Join;
import dev.millrace.plan.node.PlanNode.WindowAssign;
import dev.millrace.planner.tree.Expressions;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Optional;

/**
 * What is wanted of a node's columns: their values, or only what some uses of a time tell apart.
 *
 * @param values columns whose values are wanted
 * @param timeUses of columns; those of a column whose values are wanted, too, say nothing more
 */
record Wanted(BitSet values, List<TimeUse> timeUses) {
    /** What an aggregation wants of its input. */
    static Wanted by(Aggregate aggregate) {
        BitSet values = new BitSet();
        aggregate.keys().forEach(values::set);
        for (AggregateCall call : aggregate.calls()) {
            call.arguments().forEach(values::set);
            call.filter().ifPresent(values::set);
            call.ordering().stream().map(OrderKey::column).forEach(values::set);
        }
        return new Wanted(values, List.of());
    }

    /** What a Calc then wants of its input; empty if it must see each row. */
    Optional<Wanted> below(Calc calc) {
        Wanted below = new Wanted(new BitSet(), new ArrayList<>());
        List<Expression> read = new ArrayList<>();
        calc.condition().ifPresent(read::add);
        for (int column = values.nextSetBit(0); column >= 0; column = values.nextSetBit(column + 1)) {
            read.add(calc.projections().get(column));
        }
        for (TimeUse use : timeUses) {
            Expression projection = calc.projections().get(use.column());
            if (projection instanceof Column column) {
                below.timeUses.add(use.of(column.index()));
            } else {
                read.add(projection);
            }
        }
        if (read.stream().anyMatch(Expressions::isVolatile)) {
            return Optional.empty();
        }
        read.forEach(below::read);
        return Optional.of(below);
    }

    private void read(Expression expression) {
        Optional<TimeUse> use = TimeUse.of(expression);
        if (use.isPresent()) {
            timeUses.add(use.get());
        } else if (expression instanceof Column column) {
            values.set(column.index());
        } else {
            Expressions.operands(expression).forEach(this::read);
        }
    }

    /** What windows then want of their input; empty for those whose bounds depend on the rows. */
    Optional<Wanted> below(WindowAssign assign) {
        return TimeUse.of(assign.window(), assign.timeColumn()).map(use -> {
            List<TimeUse> uses = new ArrayList<>(timeUses);
            uses.add(use);
            int width = assign.input().schema().size();
            // The bounds of a window are the same for all times that lie in it.
            uses.removeIf(other -> other.column() >= width);
            return new Wanted(values.get(0, width), uses);
        });
    }

    /** What an inner join then wants of its left input. */
    Wanted left(Join join) {
        return side(join, 0, join.left().schema().size(), join.leftKeys());
    }

    Wanted right(Join join) {
        return side(
                join,
                join.left().schema().size(),
                join.left().schema().size() + join.right().schema().size(),
                join.rightKeys());
    }

    private Wanted side(Join join, int from, int to, List<Integer> keys) {
        Wanted all = new Wanted((BitSet) values.clone(), new ArrayList<>(timeUses));
        join.residual().ifPresent(all::read);
        BitSet side = all.values.get(from, to);
        keys.forEach(side::set);
        List<TimeUse> uses = new ArrayList<>();
        for (TimeUse use : all.timeUses) {
            if (use.column() >= from && use.column() < to) {
                uses.add(use.of(use.column() - from));
            }
        }
        return new Wanted(side, uses);
    }

    /** Whether anything is wanted of a column. */
    boolean touches(int column) {
        return values.get(column) || timeUses.stream().anyMatch(use -> use.column() == column);
    }

    List<TimeUse> uses(int column) {
        return timeUses.stream().filter(use -> use.column() == column).toList();
    }
}
