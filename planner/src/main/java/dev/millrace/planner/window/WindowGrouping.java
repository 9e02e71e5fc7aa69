package dev.millrace.planner.window;

import dev.millrace.plan.expression.AggregateCall;
import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.Expression.Column;
import dev.millrace.plan.node.PlanNode.Aggregate;
import dev.millrace.plan.node.PlanNode.WindowAssign;
import dev.millrace.planner.tree.Expressions;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * An aggregation right above a window function, looked at from the rows below it: {@code start} and {@code end} are the
 * window's columns, all lesser ones the rows'.
 *
 * @param keys what is grouped by
 * @param conditions of a filter between the two
 */
record WindowGrouping(
        Aggregate aggregate, WindowAssign assign, CalcView view, List<Expression> keys, int start, int end) {

    static Optional<WindowGrouping> of(Aggregate aggregate) {
        CalcView view = CalcView.of(aggregate.input());
        if (!(view.base() instanceof WindowAssign assign)) {
            return Optional.empty();
        }
        List<Expression> keys =
                aggregate.keys().stream().map(view.columns()::get).toList();
        int width = assign.input().schema().size();
        return Optional.of(new WindowGrouping(aggregate, assign, view, keys, width, width + 1));
    }

    boolean groupsBy(int windowColumn) {
        return keys.stream().anyMatch(key -> key instanceof Column column && column.index() == windowColumn);
    }

    boolean ofWindow(Expression expression) {
        return Expressions.readsOnly(expression, column -> column >= start);
    }

    boolean ofRows(Expression expression) {
        return Expressions.readsOnly(expression, column -> column < start);
    }

    /** Keys that rows have before they have windows, each once. */
    List<Expression> rowKeys() {
        return keys.stream().filter(key -> !ofWindow(key)).distinct().toList();
    }

    /** Whether every argument, filter and ordering of the calls is a value of the rows. */
    boolean callsReadRowsOnly() {
        BitSet read = new BitSet();
        for (AggregateCall call : aggregate.calls()) {
            call.arguments().forEach(read::set);
            call.filter().ifPresent(read::set);
            call.ordering().forEach(key -> read.set(key.column()));
        }
        return read.stream().allMatch(column -> ofRows(view.columns().get(column)));
    }

    List<Expression> conditions(Predicate<Expression> test) {
        List<Expression> chosen = new ArrayList<>(view.conditions());
        chosen.removeIf(test.negate());
        return chosen;
    }
}
