package dev.millrace.planner.window;

import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.plan.node.PlanNode.Aggregate;
import dev.millrace.plan.node.PlanNode.Phase;
import dev.millrace.plan.node.WindowSpec;
import dev.millrace.planner.condense.CondenseScans;
import dev.millrace.planner.fact.Facts;
import dev.millrace.planner.fact.Inference;
import dev.millrace.planner.fact.WindowColumns;
import dev.millrace.planner.tree.Nodes;
import dev.millrace.planner.tree.Rewrite;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Grouping rows that carry a window by that window closes with it.
 *
 * <pre>
 * Aggregate(keys window_end; max(n))    becomes    Calc(window_end, max)
 *   X (n, window_start, window_end)                  WindowAggregate(Attached(window_start, window_end); max(n))
 *                                                      X
 * </pre>
 *
 * Where the start alone is grouped by it must identify the window; see {@link CarriedEnd} for its end.
 */
final class RecognizeAttachedAggregate implements Rewrite {
    private final Inference inference;

    RecognizeAttachedAggregate(Inference inference) {
        this.inference = inference;
    }

    @Override
    public Optional<PlanNode> apply(PlanNode node) {
        return node instanceof Aggregate aggregate
                ? recognized(aggregate)
                        .or(() -> CarriedEnd.restored(aggregate.input(), aggregate.keys(), inference)
                                .flatMap(rows -> recognized((Aggregate) Nodes.withInputs(aggregate, List.of(rows)))))
                : Optional.empty();
    }

    private Optional<PlanNode> recognized(Aggregate aggregate) {
        Facts facts = inference.of(aggregate.input());
        return facts.appendOnly() && !CondenseScans.isCondensed(aggregate.input())
                ? facts.windows().stream()
                        .filter(window -> fires(window, aggregate.keys()))
                        .findFirst()
                        .map(window -> rewritten(aggregate, window))
                : Optional.empty();
    }

    private static boolean fires(WindowColumns window, List<Integer> keys) {
        if (window.end().isEmpty()) {
            return false;
        }
        boolean byStart =
                window.start().isPresent() && keys.contains(window.start().getAsInt());
        return keys.contains(window.end().getAsInt())
                || byStart
                        && !(window.window() instanceof WindowSpec.Session)
                        && window.identifiedBy(window.start().getAsInt());
    }

    private static PlanNode rewritten(Aggregate aggregate, WindowColumns window) {
        int end = window.end().getAsInt();
        // sessions of one end may have several starts: then grouping by the end alone must not tell them apart
        boolean oneStart = !(window.window() instanceof WindowSpec.Session)
                || aggregate.keys().contains(window.start().orElse(end));
        int start = oneStart ? window.start().orElse(end) : end;
        List<Integer> keys = aggregate.keys().stream()
                .filter(key -> key != start && key != end)
                .toList();
        PlanNode windows = Nodes.windowAggregate(
                aggregate.input(), end, new WindowSpec.Attached(start, end), keys, aggregate.calls(), Phase.SINGLE);
        int width = windows.schema().size();
        List<Expression> columns = new ArrayList<>();
        for (int key : aggregate.keys()) {
            int position = keys.indexOf(key);
            columns.add(Nodes.column(windows, position >= 0 ? position : key == end ? width - 1 : width - 2));
        }
        for (int call = 0; call < aggregate.calls().size(); call++) {
            columns.add(Nodes.column(windows, keys.size() + call));
        }
        return Nodes.project(windows, columns);
    }
}
