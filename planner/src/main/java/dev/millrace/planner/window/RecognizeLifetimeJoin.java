package dev.millrace.planner.window;

import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.Expression.Call;
import dev.millrace.plan.node.JoinTime;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.plan.node.PlanNode.Join;
import dev.millrace.plan.node.PlanNode.JoinKind;
import dev.millrace.planner.fact.Facts;
import dev.millrace.planner.fact.Inference;
import dev.millrace.planner.tree.Expressions;
import dev.millrace.planner.tree.Nodes;
import dev.millrace.planner.tree.Rewrite;
import dev.millrace.type.DataType;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * A join of streams in which each side's rows say until what time of the other side they can match keeps them as long.
 *
 * <pre>
 * Join(on id = auction and b.ts >= a.ts and b.ts <= a.expires)    becomes
 * Join(on id = auction, b.ts <= a.expires, a.ts <= b.ts)          auctions stay until they expire, bids until the watermark
 * </pre>
 *
 * What {@link RecognizeIntervalJoin} does where constants bound both sides; here the bound of one side at least is another
 * column, whatever it holds. Both sides must be bounded, else one would still keep all its rows; late rows are dropped.
 */
public final class RecognizeLifetimeJoin implements Rewrite {
    private static final Set<JoinKind> NEVER_WAIT = Set.of(JoinKind.INNER, JoinKind.SEMI);

    private final Inference inference;
    private final boolean mayWait;

    /** @param mayWait whether rows without a partner may wait until none can come */
    public RecognizeLifetimeJoin(Inference inference, boolean mayWait) {
        this.inference = inference;
        this.mayWait = mayWait;
    }

    @Override
    public Optional<PlanNode> apply(PlanNode node) {
        if (!(node instanceof Join join) || join.time().isPresent() || !mayWait && !NEVER_WAIT.contains(join.kind())) {
            return Optional.empty();
        }
        Facts left = inference.of(join.left());
        Facts right = inference.of(join.right());
        if (!left.appendOnly() || !right.appendOnly()) {
            return Optional.empty();
        }
        for (int leftTime : left.eventTimes()) {
            for (int rightTime : right.eventTimes()) {
                Optional<PlanNode> bounded = bounded(join, leftTime, rightTime);
                if (bounded.isPresent()) {
                    return bounded;
                }
            }
        }
        return Optional.empty();
    }

    private static Optional<PlanNode> bounded(Join join, int left, int right) {
        int width = join.left().schema().size();
        List<Expression> rest = new ArrayList<>(Expressions.conjuncts(join.residual()));
        Optional<Limit> ofLeft = take(join, width + right, 0, width, rest);
        Optional<Limit> ofRight =
                take(join, left, width, width + join.right().schema().size(), rest);
        return ofLeft.isEmpty() || ofRight.isEmpty()
                ? Optional.empty()
                : Optional.of(Nodes.join(
                        join.left(),
                        join.right(),
                        join.kind(),
                        join.leftKeys(),
                        join.rightKeys(),
                        Expressions.and(rest),
                        Optional.of(new JoinTime.Bounds(
                                left,
                                right,
                                ofLeft.get().until(),
                                ofRight.get().until() - width,
                                -ofRight.get().micros(),
                                ofLeft.get().micros()))));
    }

    /** {@code time - until <= micros}, of a time of one side and any column of the other. */
    private record Limit(int until, long micros) {}

    /** Takes the first conjunct away that says when a time has passed what columns from..to ask for. */
    private static Optional<Limit> take(Join join, int time, int from, int to, List<Expression> conjuncts) {
        for (Expression conjunct : conjuncts) {
            Optional<Limit> limit = limit(conjunct, time)
                    .filter(found -> found.until() >= from && found.until() < to)
                    .filter(found -> type(join, found.until()).equals(type(join, time)));
            if (limit.isPresent()) {
                conjuncts.remove(conjunct);
                return limit;
            }
        }
        return Optional.empty();
    }

    private static DataType type(Join join, int column) {
        return join.left().schema().concat(join.right().schema()).type(column);
    }

    private static Optional<Limit> limit(Expression conjunct, int time) {
        if (!(conjunct instanceof Call call) || call.arguments().size() != 2) {
            return Optional.empty();
        }
        Optional<TimeDifference> found =
                TimeDifference.of(call.arguments().get(0), call.arguments().get(1));
        if (found.isEmpty()) {
            return Optional.empty();
        }
        // a - b OP micros
        TimeDifference difference = found.get();
        boolean below = call.function().equals("le") || call.function().equals("lt");
        boolean above = call.function().equals("ge") || call.function().equals("gt");
        long strict = call.function().equals("lt") || call.function().equals("gt") ? 1 : 0;
        if (below && difference.a() == time) {
            return Optional.of(new Limit(difference.b(), difference.micros() - strict));
        } else if (above && difference.b() == time) {
            return Optional.of(new Limit(difference.a(), -difference.micros() - strict));
        }
        return Optional.empty();
    }
}
