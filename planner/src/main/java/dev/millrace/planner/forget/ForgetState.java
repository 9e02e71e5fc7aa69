package dev.millrace.planner.forget;

import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.node.Forgetting;
import dev.millrace.plan.node.JoinTime;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.plan.node.PlanNode.JoinKind;
import dev.millrace.planner.fact.Inference;
import dev.millrace.planner.forget.RowTimes.Timed;
import dev.millrace.planner.tree.Expressions;
import dev.millrace.planner.tree.Nodes;
import dev.millrace.planner.tree.Rewrite;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.IntStream;

/**
 * With {@code state_ttl} operators whose state would only ever grow forget what is old: joins rows, aggregations and
 * rankings groups without new rows. Times are event times where the rows have them, else when they came.
 *
 * <pre>
 * Aggregate(by k)       becomes   Aggregate(by k, forgets 1 h after the last row by ts)
 *   Scan(k)                         Scan(k, ts)
 *
 * Join(on k)            becomes   Join(on k, rows for 1 h)
 *   Scan, Scan                      Scan, Scan
 * </pre>
 *
 * What changes goes when it is taken back, so nothing is forgotten of tables, of views, and above operators whose rows
 * change. Nor does a side of a join forget what decides about rows of the other that may be taken back.
 */
public final class ForgetState implements Rewrite {
    private final Inference inference;
    private final long ttlMicros;

    public ForgetState(Inference inference, long ttlMicros) {
        this.inference = inference;
        this.ttlMicros = ttlMicros;
    }

    @Override
    public Optional<PlanNode> apply(PlanNode node) {
        if (node instanceof PlanNode.Aggregate aggregate) {
            return aggregate.keys().isEmpty() || aggregate.forgetting().isPresent() || !grows(aggregate.input())
                    ? Optional.empty()
                    : Optional.of(forgetting(aggregate));
        } else if (node instanceof PlanNode.TopN topN) {
            return topN.partition().isEmpty()
                            || topN.windowEnd().isPresent()
                            || topN.forgetting().isPresent()
                            || !grows(topN.input())
                    ? Optional.empty()
                    : Optional.of(forgetting(topN));
        }
        return node instanceof PlanNode.Join join && join.time().isEmpty() ? forgetting(join) : Optional.empty();
    }

    private boolean grows(PlanNode input) {
        return inference.of(input).appendOnly();
    }

    private Timed timed(PlanNode input) {
        return RowTimes.ofEvents(input, inference).orElseGet(() -> RowTimes.ofArrival(input));
    }

    private PlanNode forgetting(PlanNode.Aggregate aggregate) {
        Timed input = timed(aggregate.input());
        return ((PlanNode.Aggregate) Nodes.withInputs(aggregate, List.of(input.node())))
                .forgetting(Optional.of(new Forgetting(input.column(), ttlMicros)));
    }

    private PlanNode forgetting(PlanNode.TopN topN) {
        Timed input = timed(topN.input());
        PlanNode.TopN over = ((PlanNode.TopN) Nodes.withInputs(topN, List.of(input.node())))
                .forgetting(Optional.of(new Forgetting(input.column(), ttlMicros)));
        int width = topN.input().schema().size();
        List<Integer> columns =
                new ArrayList<>(IntStream.range(0, width).boxed().toList());
        if (topN.emitRank()) {
            columns.add(input.node().schema().size());
        }
        return Nodes.select(over, columns);
    }

    private Optional<PlanNode> forgetting(PlanNode.Join join) {
        boolean leftGrows = grows(join.left());
        boolean rightGrows = grows(join.right());
        boolean leftGoes = leftGrows && (rightGrows || !waitsRight(join.kind()));
        boolean rightGoes = rightGrows && (leftGrows || !waitsLeft(join.kind()));
        if (!leftGoes && !rightGoes) {
            return Optional.empty();
        }
        Optional<Timed> leftEvents = leftGoes ? RowTimes.ofEvents(join.left(), inference) : Optional.empty();
        Optional<Timed> rightEvents = rightGoes ? RowTimes.ofEvents(join.right(), inference) : Optional.empty();
        boolean byEvents = leftEvents.isPresent() == leftGoes && rightEvents.isPresent() == rightGoes;
        Optional<Timed> left = byEvents || !leftGoes ? leftEvents : Optional.of(RowTimes.ofArrival(join.left()));
        Optional<Timed> right = byEvents || !rightGoes ? rightEvents : Optional.of(RowTimes.ofArrival(join.right()));
        return Optional.of(kept(join, left, right));
    }

    /** Whether what is told of left rows depends on there being partners. */
    private static boolean waitsLeft(JoinKind kind) {
        return kind != JoinKind.INNER && kind != JoinKind.RIGHT;
    }

    private static boolean waitsRight(JoinKind kind) {
        return kind == JoinKind.RIGHT || kind == JoinKind.FULL;
    }

    private PlanNode kept(PlanNode.Join join, Optional<Timed> left, Optional<Timed> right) {
        int oldWidth = join.left().schema().size();
        int rightWidth = join.right().schema().size();
        PlanNode newLeft = left.map(Timed::node).orElse(join.left());
        PlanNode newRight = right.map(Timed::node).orElse(join.right());
        int newWidth = newLeft.schema().size();
        Optional<Expression> residual = join.residual()
                .map(condition -> Expressions.renumber(
                        condition, column -> column < oldWidth ? column : column - oldWidth + newWidth));
        JoinTime.Kept time = new JoinTime.Kept(column(left), column(right), ttlMicros);
        PlanNode kept = Nodes.join(
                newLeft, newRight, join.kind(), join.leftKeys(), join.rightKeys(), residual, Optional.of(time));
        boolean leftOnly = join.kind() == JoinKind.SEMI || join.kind() == JoinKind.ANTI;
        IntStream ofRight = leftOnly ? IntStream.empty() : IntStream.range(newWidth, newWidth + rightWidth);
        return Nodes.select(
                kept,
                IntStream.concat(IntStream.range(0, oldWidth), ofRight).boxed().toList());
    }

    private static OptionalInt column(Optional<Timed> timed) {
        return timed.isPresent() ? OptionalInt.of(timed.get().column()) : OptionalInt.empty();
    }
}
