package dev.millrace.planner.window;

import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.Expression.Call;
import dev.millrace.plan.node.JoinTime;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.plan.node.PlanNode.Join;
import dev.millrace.plan.node.PlanNode.JoinKind;
import dev.millrace.planner.fact.Inference;
import dev.millrace.planner.tree.Expressions;
import dev.millrace.planner.tree.Nodes;
import dev.millrace.planner.tree.Rewrite;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * A join of streams whose condition bounds the difference of their times keeps rows only as long as they can match.
 *
 * <pre>
 * Join(on k = k and b.ts >= a.ts - 5 s and b.ts <= a.ts + 10 s)    becomes    Join(on k = k, b.ts - a.ts in -5 s .. 10 s)
 * </pre>
 *
 * Both bounds are needed, in any form: BETWEEN, differences of times, times that are equal but for an interval. Outer rows
 * wait until they can have no partner any more, which EMIT CHANGES does not want; nor does it want late rows dropped, unless
 * {@code late = 'drop'} says so.
 *
 * <p>Only who speaks of an interval, or asks for EMIT ON WINDOW CLOSE, has rows behind the watermark left out. Equal times
 * alone are a key like any other: all rows count, however late.
 */
public final class RecognizeIntervalJoin implements Rewrite {
    private static final Set<JoinKind> NEVER_WAIT = Set.of(JoinKind.INNER, JoinKind.SEMI);

    private final Inference inference;
    private final boolean mayWait;
    private final boolean onClose;

    /**
     * @param mayWait whether rows without a partner may wait until none can come
     * @param onClose whether the user asks for rows that nothing can change any more
     */
    public RecognizeIntervalJoin(Inference inference, boolean mayWait, boolean onClose) {
        this.inference = inference;
        this.mayWait = mayWait;
        this.onClose = onClose;
    }

    @Override
    public Optional<PlanNode> apply(PlanNode node) {
        if (!(node instanceof Join join)
                || join.time().isPresent()
                || !mayWait && !NEVER_WAIT.contains(join.kind())
                || !inference.of(join.left()).appendOnly()
                || !inference.of(join.right()).appendOnly()) {
            return Optional.empty();
        }
        for (int left : inference.of(join.left()).eventTimes()) {
            for (int right : inference.of(join.right()).eventTimes()) {
                Found found = new Found(left, right + join.left().schema().size());
                found.addKeys(join, left, right);
                Expressions.conjuncts(join.residual()).forEach(found::add);
                if (found.isBounded() && (onClose || !found.isEquality())) {
                    return Optional.of(Nodes.join(
                            join.left(),
                            join.right(),
                            join.kind(),
                            join.leftKeys(),
                            join.rightKeys(),
                            Expressions.and(found.rest),
                            Optional.of(new JoinTime.Bounds(left, right, found.lower, found.upper))));
                }
            }
        }
        return Optional.empty();
    }

    /** The bounds of right minus left so far. */
    private static final class Found {
        private final int left;
        private final int right;
        private long lower = Long.MIN_VALUE;
        private long upper = Long.MAX_VALUE;
        private final List<Expression> rest = new ArrayList<>();

        Found(int left, int right) {
            this.left = left;
            this.right = right;
        }

        boolean isBounded() {
            return lower != Long.MIN_VALUE && upper != Long.MAX_VALUE && lower <= upper;
        }

        boolean isEquality() {
            return lower == 0 && upper == 0;
        }

        void addKeys(Join join, int leftTime, int rightTime) {
            for (int key = 0; key < join.leftKeys().size(); key++) {
                if (join.leftKeys().get(key) == leftTime && join.rightKeys().get(key) == rightTime) {
                    lower = Math.max(lower, 0);
                    upper = Math.min(upper, 0);
                }
            }
        }

        void add(Expression conjunct) {
            if (!(conjunct instanceof Call call && call.arguments().size() == 2 && compare(call))) {
                rest.add(conjunct);
            }
        }

        private boolean compare(Call call) {
            Optional<TimeDifference> sides =
                    TimeDifference.of(call.arguments().get(0), call.arguments().get(1));
            if (sides.isEmpty()) {
                return false;
            }
            // a - b OP micros, where a and b are the two times
            TimeDifference difference = sides.get();
            boolean rightFirst = difference.a() == right && difference.b() == left;
            if (!rightFirst && !(difference.a() == left && difference.b() == right)) {
                return false;
            }
            long micros = rightFirst ? difference.micros() : -difference.micros();
            switch (call.function()) {
                case "eq" -> {
                    atLeast(micros);
                    atMost(micros);
                }
                case "ge" -> bound(rightFirst, micros);
                case "gt" -> bound(rightFirst, rightFirst ? micros + 1 : micros - 1);
                case "le" -> bound(!rightFirst, micros);
                case "lt" -> bound(!rightFirst, rightFirst ? micros - 1 : micros + 1);
                default -> {
                    return false;
                }
            }
            return true;
        }

        private void bound(boolean below, long micros) {
            if (below) {
                atLeast(micros);
            } else {
                atMost(micros);
            }
        }

        private void atLeast(long micros) {
            lower = Math.max(lower, micros);
        }

        private void atMost(long micros) {
            upper = Math.min(upper, micros);
        }
    }
}
