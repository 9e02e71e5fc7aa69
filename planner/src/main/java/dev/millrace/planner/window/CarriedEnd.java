package dev.millrace.planner.window;

import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.Expression.Column;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.planner.fact.Inference;
import dev.millrace.planner.fact.WindowColumns;
import dev.millrace.planner.tree.Nodes;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * Brings back the end of a window of which a Calc kept the start only: who asks for the start alone waits for the end all
 * the same.
 *
 * <pre>
 * Calc(window_start, n)                      becomes    Calc(window_start, n, window_end)
 *   X(window_start, window_end, n)                        X
 * </pre>
 */
final class CarriedEnd {
    private CarriedEnd() {}

    /**
     * The rows with the end of the window that {@code column} identifies as their last column; empty where there is no
     * such window, or its end is among the columns already.
     */
    static Optional<PlanNode> restored(PlanNode rows, int column, Inference inference) {
        Optional<WindowColumns> window = inference.of(rows).windowsOf(column);
        if (window.isEmpty()
                || window.get().end().isPresent()
                || !window.get().identifiedBy(column)
                || !(rows instanceof PlanNode.Calc calc)
                || !(calc.projections().get(column) instanceof Column below)) {
            return Optional.empty();
        }
        OptionalInt end = inference.of(calc.input()).windows().stream()
                .filter(candidate -> candidate.start().isPresent()
                        && candidate.start().getAsInt() == below.index()
                        && candidate.end().isPresent())
                .mapToInt(candidate -> candidate.end().getAsInt())
                .findFirst();
        if (end.isEmpty()) {
            return Optional.empty();
        }
        List<Expression> columns = new ArrayList<>(calc.projections());
        columns.add(Nodes.column(calc.input(), end.getAsInt()));
        return Optional.of(Nodes.calc(calc.input(), calc.condition(), columns));
    }

    /** The same for the first of several columns that has it. */
    static Optional<PlanNode> restored(PlanNode rows, List<Integer> columns, Inference inference) {
        return columns.stream()
                .map(column -> restored(rows, column, inference))
                .flatMap(Optional::stream)
                .findFirst();
    }
}
