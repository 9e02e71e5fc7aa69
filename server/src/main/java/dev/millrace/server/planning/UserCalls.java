package dev.millrace.server.planning;

import dev.millrace.expressions.user.UserCode;
import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.Expression.Call;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.plan.node.Subplans;
import dev.millrace.planner.tree.Expressions;
import dev.millrace.planner.tree.Nodes;

/**
 * Finds calls of users' code, which may never come back: workers make them, which can be left behind and replaced, and not the
 * session's own thread, however little there is to compute.
 */
public final class UserCalls {
    private UserCalls() {}

    public static boolean isIn(Expression expression) {
        return Expressions.any(
                expression, part -> part instanceof Call call && call.function().startsWith(UserCode.PREFIX));
    }

    /** Whether one is in what a node computes, or any below it. */
    public static boolean isIn(PlanNode plan) {
        return Subplans.of(plan).stream()
                .anyMatch(node -> node instanceof PlanNode.Calc calc
                        && Nodes.expressions(calc).stream().anyMatch(UserCalls::isIn));
    }
}
