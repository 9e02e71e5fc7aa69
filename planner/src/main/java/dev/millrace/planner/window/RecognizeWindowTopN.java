package dev.millrace.planner.window;

import dev.millrace.plan.node.PlanNode;
import dev.millrace.plan.node.PlanNode.TopN;
import dev.millrace.planner.fact.Facts;
import dev.millrace.planner.fact.Inference;
import dev.millrace.planner.fact.WindowColumns;
import dev.millrace.planner.tree.Nodes;
import dev.millrace.planner.tree.Rewrite;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * The best rows of each window are known when it closes.
 *
 * <pre>
 * TopN(partition window_end, limit 3)    becomes    TopN(partition window_end, limit 3, windowEnd window_end)
 * </pre>
 */
final class RecognizeWindowTopN implements Rewrite {
    private final Inference inference;

    RecognizeWindowTopN(Inference inference) {
        this.inference = inference;
    }

    @Override
    public Optional<PlanNode> apply(PlanNode node) {
        if (!(node instanceof TopN topN) || topN.windowEnd().isPresent()) {
            return Optional.empty();
        }
        Facts facts = inference.of(topN.input());
        if (!facts.appendOnly()) {
            return Optional.empty();
        }
        return facts.windows().stream()
                .filter(window -> window.end().isPresent()
                        && topN.partition().stream().anyMatch(column -> closesWith(window, column)))
                .findFirst()
                .map(window -> Nodes.topN(
                        topN.input(),
                        topN.partition(),
                        topN.order(),
                        topN.rank(),
                        topN.limit(),
                        topN.offset(),
                        topN.emitRank(),
                        OptionalInt.of(window.end().getAsInt())));
    }

    private static boolean closesWith(WindowColumns window, int column) {
        return column == window.end().getAsInt()
                || window.identifiedBy(column)
                        && !(window.window() instanceof dev.millrace.plan.node.WindowSpec.Session);
    }
}
