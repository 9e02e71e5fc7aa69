package dev.millrace.planner.parallel;

import dev.millrace.plan.node.PartialSchemas;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.plan.node.PlanNode.Phase;
import dev.millrace.planner.fact.Inference;
import dev.millrace.planner.tree.Nodes;
import dev.millrace.type.Schema;
import java.util.List;

/**
 * Does what it can in each task before rows are exchanged.
 *
 * <pre>
 * Aggregate(k; sum(v))       becomes    Aggregate(FINAL, k; sum(v))
 *   X                                     Exchange(Hash(k))
 *                                           Aggregate(PARTIAL, k; sum(v))
 *                                             X
 *
 * TopN(limit 3, offset 2)    becomes    TopN(limit 3, offset 2)
 *   X                                     Exchange(Single)
 *                                           TopN(limit 5)
 *                                             X
 * </pre>
 */
final class TwoPhases {
    /** Keeping more per task than this is no gain any more. */
    private static final int MOST_KEPT = 10_000;

    private TwoPhases() {}

    /** @param by which of the keys, by position, groups are exchanged by */
    static PlanNode of(PlanNode.Aggregate aggregate, List<Integer> by, PlanNode input) {
        PlanNode.Aggregate shape = new PlanNode.Aggregate(
                input,
                aggregate.keys(),
                aggregate.calls(),
                Phase.PARTIAL,
                aggregate.appendOnlyInput(),
                new Schema(List.of()));
        PlanNode partial = new PlanNode.Aggregate(
                input, shape.keys(), shape.calls(), Phase.PARTIAL, shape.appendOnlyInput(), PartialSchemas.of(shape));
        List<Integer> keys = Parallelism.first(aggregate.keys().size());
        return new PlanNode.Aggregate(
                Parallelism.exchange(partial, by),
                keys,
                aggregate.calls(),
                Phase.FINAL,
                aggregate.appendOnlyInput(),
                aggregate.schema());
    }

    /** @param by which of the keys, by position, groups are exchanged by */
    static PlanNode of(PlanNode.WindowAggregate aggregate, List<Integer> by, PlanNode input) {
        PlanNode.WindowAggregate shape = new PlanNode.WindowAggregate(
                input,
                aggregate.timeColumn(),
                aggregate.window(),
                aggregate.keys(),
                aggregate.calls(),
                Phase.PARTIAL,
                new Schema(List.of()));
        PlanNode partial = new PlanNode.WindowAggregate(
                input,
                shape.timeColumn(),
                shape.window(),
                shape.keys(),
                shape.calls(),
                Phase.PARTIAL,
                PartialSchemas.of(shape));
        List<Integer> keys = Parallelism.first(aggregate.keys().size());
        return new PlanNode.WindowAggregate(
                Parallelism.exchange(partial, by),
                keys.size(),
                aggregate.window(),
                keys,
                aggregate.calls(),
                Phase.FINAL,
                aggregate.schema());
    }

    /** Without keys: each task passes on the few rows that may be the best of all. */
    static PlanNode of(PlanNode.WindowExtreme extreme, List<Integer> by, PlanNode input) {
        PlanNode candidates = Nodes.windowExtreme(
                input,
                extreme.timeColumn(),
                extreme.window(),
                extreme.keys(),
                extreme.valueColumn(),
                extreme.maximum(),
                extreme.closedEnd(),
                Phase.PARTIAL);
        return Nodes.withInputs(extreme, List.of(Parallelism.exchange(candidates, by)));
    }

    /** Without partition. A dense rank is not bounded by the rank in one task: rows before it may be in others. */
    static PlanNode of(PlanNode.TopN topN, PlanNode input) {
        if (topN.limit() > MOST_KEPT || topN.offset() > MOST_KEPT || topN.rank() == PlanNode.Rank.DENSE_RANK) {
            return Nodes.withInputs(topN, List.of(Parallelism.exchange(input, List.of())));
        }
        PlanNode.TopN best = Nodes.topN(
                input,
                topN.partition(),
                topN.order(),
                topN.rank(),
                topN.limit() + topN.offset(),
                0,
                false,
                topN.windowEnd());
        PlanNode rows = Nodes.promised(best, topN.appendOnlyInput());
        PlanNode all = Nodes.withInputs(topN, List.of(Parallelism.exchange(rows, List.of())));
        return Nodes.promised((PlanNode.TopN) all, false); // the best of a task change
    }

    /** With a limit; only rows that are never retracted can be cut early. */
    static PlanNode of(PlanNode.Sort sort, PlanNode input, Inference inference) {
        boolean cut = sort.limit() <= MOST_KEPT
                && sort.offset() <= MOST_KEPT
                && inference.of(sort.input()).appendOnly();
        PlanNode rows = cut ? new PlanNode.Sort(input, sort.order(), sort.limit() + sort.offset(), 0) : input;
        return Nodes.withInputs(sort, List.of(Parallelism.exchange(rows, List.of())));
    }
}
