package dev.millrace.planner.window;

import dev.millrace.plan.node.PlanNode;
import dev.millrace.plan.node.PlanNode.TopN;
import dev.millrace.plan.node.WindowSpec;
import dev.millrace.planner.fact.Facts;
import dev.millrace.planner.fact.Inference;
import dev.millrace.planner.fact.WindowColumns;
import dev.millrace.planner.tree.Nodes;
import dev.millrace.planner.tree.Rewrite;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.IntStream;

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
        return recognized(topN)
                .or(() -> CarriedEnd.restored(topN.input(), topN.partition(), inference)
                        .flatMap(rows -> recognized((TopN) Nodes.withInputs(topN, List.of(rows))))
                        .map(closing ->
                                withoutEnd(closing, topN.input().schema().size())));
    }

    /** The columns that there were before the end was appended. */
    private static PlanNode withoutEnd(PlanNode closing, int width) {
        return Nodes.select(
                closing,
                IntStream.range(0, closing.schema().size())
                        .filter(column -> column != width)
                        .boxed()
                        .toList());
    }

    private Optional<PlanNode> recognized(TopN topN) {
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
                || window.identifiedBy(column) && !(window.window() instanceof WindowSpec.Session);
    }
}
