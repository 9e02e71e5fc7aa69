package dev.millrace.planner.forget;

import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.planner.fact.Inference;
import dev.millrace.planner.tree.Nodes;
import dev.millrace.type.DataType;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;

/** Finds the times of a node's rows, by which they are forgotten. */
final class RowTimes {
    /** A node whose first columns are those asked for, and the column with the time of its rows. */
    record Timed(PlanNode node, int column) {}

    private RowTimes() {}

    /** The event time of the rows, carried up from where it was dropped; if the rows have one. */
    static Optional<Timed> ofEvents(PlanNode node, Inference inference) {
        Set<Integer> times = inference.of(node).eventTimes();
        if (!times.isEmpty()) {
            return Optional.of(
                    new Timed(node, times.stream().min(Integer::compare).orElseThrow()));
        }
        if (node instanceof PlanNode.Calc calc) {
            return ofEvents(calc.input(), inference).map(input -> {
                List<Expression> projections = new ArrayList<>(calc.projections());
                projections.add(Nodes.column(input.node(), input.column()));
                return new Timed(Nodes.calc(input.node(), calc.condition(), projections), projections.size() - 1);
            });
        }
        return node instanceof PlanNode.Union union ? ofUnion(union, inference) : Optional.empty();
    }

    private static Optional<Timed> ofUnion(PlanNode.Union union, Inference inference) {
        int width = union.schema().size();
        List<PlanNode> inputs = new ArrayList<>();
        for (PlanNode input : union.inputs()) {
            Optional<Timed> timed = ofEvents(input, inference);
            if (timed.isEmpty()
                    || !inputs.isEmpty()
                            && !type(timed.get()).equals(inputs.get(0).schema().type(width))) {
                return Optional.empty();
            }
            inputs.add(Nodes.select(
                    timed.get().node(),
                    IntStream.concat(
                                    IntStream.range(0, width),
                                    IntStream.of(timed.get().column()))
                            .boxed()
                            .toList()));
        }
        return Optional.of(new Timed(Nodes.union(inputs), width));
    }

    private static DataType type(Timed timed) {
        return timed.node().schema().type(timed.column());
    }

    /** When the rows came, by the machine's clock. */
    static Timed ofArrival(PlanNode node) {
        int width = node.schema().size();
        List<Expression> projections = new ArrayList<>(Nodes.columns(node));
        projections.add(new Expression.Call("proctime", List.of(), DataType.TIMESTAMPTZ, false));
        PlanNode stamped = Nodes.project(node, projections);
        return new Timed(
                new PlanNode.Watermark(stamped, width, 0, PlanNode.Watermark.FOLLOWS_CLOCK, Optional.empty()), width);
    }
}
