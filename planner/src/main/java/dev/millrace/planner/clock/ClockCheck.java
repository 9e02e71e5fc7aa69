package dev.millrace.planner.clock;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.Expression.Case;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.plan.node.Subplans;
import dev.millrace.planner.fact.Inference;
import dev.millrace.planner.tree.Expressions;
import dev.millrace.type.DataType.Kind;

/**
 * Refuses what a standing query would compute by the clock once, and have wrong a moment later: conditions that are no
 * {@link TimeCondition}, and times beside rows that may be taken back, when they would be other ones. Rows that are only
 * added may have the time at which they came.
 */
public final class ClockCheck {
    private final Inference inference;

    public ClockCheck(Inference inference) {
        this.inference = inference;
    }

    /** Fails with 0A000 if the plan of a standing query reads the clock where it must not. */
    public void check(PlanNode plan) {
        Subplans.of(plan).forEach(this::checkNode);
    }

    private void checkNode(PlanNode node) {
        if (node instanceof PlanNode.Calc calc) {
            calc.condition().ifPresent(ClockCheck::checkCondition);
            boolean appendOnly = inference.of(calc.input()).appendOnly();
            calc.projections().forEach(projection -> checkProjection(projection, appendOnly));
        } else if (node instanceof PlanNode.Join join) {
            join.residual().ifPresent(ClockCheck::checkCondition);
        }
    }

    private static void checkCondition(Expression condition) {
        if (Expressions.readsMoment(condition)) {
            throw condition();
        }
    }

    private static void checkProjection(Expression projection, boolean appendOnly) {
        if (!appendOnly
                && Expressions.any(
                        projection, part -> Expressions.isClock(part) || Expressions.isCall(part, "clock_timestamp"))) {
            throw refusal(
                    "the time of the clock beside rows that may change is not available in a standing query: when a row"
                            + " is taken back it would be another",
                    "compare a time of the row with it in WHERE; or read it where rows are only added; or SELECT it");
        }
        boolean decides = Expressions.any(
                projection,
                part -> part.type().kind() == Kind.BOOLEAN && Expressions.readsMoment(part)
                        || part instanceof Case choice
                                && choice.branches().stream()
                                        .anyMatch(branch -> Expressions.readsMoment(branch.condition())));
        if (decides) {
            throw condition();
        }
    }

    private static MillraceException condition() {
        return refusal(
                "this use of the time as it goes on is not available in a standing query: it would be true or false once,"
                        + " and another a moment later",
                "in WHERE or HAVING, compare a time of the row with now() and constants, as in ts > now() - INTERVAL '1"
                        + " hour', one comparison per AND; proctime() is the time when a row was read");
    }

    private static MillraceException refusal(String what, String instead) {
        return MillraceException.user(SqlState.FEATURE_NOT_SUPPORTED, what).withHint(instead);
    }
}
