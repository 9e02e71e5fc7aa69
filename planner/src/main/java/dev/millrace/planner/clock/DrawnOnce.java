package dev.millrace.planner.clock;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.plan.node.PlanNode.Calc;
import dev.millrace.plan.node.PlanNode.Join;
import dev.millrace.plan.node.Subplans;
import dev.millrace.planner.fact.Inference;
import dev.millrace.planner.tree.Expressions;
import dev.millrace.planner.tree.Nodes;
import dev.millrace.planner.tree.Rewriter;
import java.util.Collections;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Sees to it that a random value is drawn for rows that stay: the retraction of a row would draw another one. A finite query
 * has the rows come to rest first; a standing one draws for rows that are only added, or is refused.
 *
 * <pre>
 * Calc($0, random#1)    becomes    Calc($0, random#1)
 *   Join(LEFT)                       Sort()
 *                                      Join(LEFT)
 * </pre>
 */
public final class DrawnOnce {
    private final Inference inference;

    public DrawnOnce(Inference inference) {
        this.inference = inference;
    }

    /** Fails with 0A000 where a value would be drawn again for what should be one row. */
    public PlanNode apply(PlanNode given) {
        if (Subplans.of(given).stream().noneMatch(DrawnOnce::draws)) {
            return given;
        }
        PlanNode plan = Rewriter.shared(given);
        Map<Expression, Set<PlanNode>> places = new HashMap<>();
        Subplans.of(plan).forEach(node -> collect(node, places));
        if (places.values().stream().anyMatch(nodes -> nodes.size() > 1)) {
            throw refusal(
                    "a random value is read in two parts of the query that cannot share it",
                    "CREATE TABLE t AS SELECT .., random() AS r ..; and read r from it");
        }
        return Rewriter.rewrite(plan, this::overSettled);
    }

    private static boolean draws(PlanNode node) {
        return node instanceof Calc calc
                ? Nodes.draws(calc)
                : node instanceof Join join
                        && join.residual().filter(Expressions::draws).isPresent();
    }

    private static void collect(PlanNode node, Map<Expression, Set<PlanNode>> places) {
        List<Expression> parts = List.of();
        if (node instanceof Calc calc) {
            parts = Nodes.expressions(calc);
        } else if (node instanceof Join join) {
            parts = join.residual().stream().toList();
        }
        for (Expression part : parts) {
            Expressions.any(part, each -> {
                if (Expressions.isDraw(each)) {
                    places.computeIfAbsent(each, any -> Collections.newSetFromMap(new IdentityHashMap<>()))
                            .add(node);
                }
                return false;
            });
        }
    }

    private Optional<PlanNode> overSettled(PlanNode node) {
        if (!draws(node) || node.inputs().stream().allMatch(this::isSettled)) {
            return Optional.empty();
        }
        if (!inference.finite()) {
            throw refusal(
                    "a random value beside rows that may change is not available in a standing query: when a row is taken"
                            + " back it would be another",
                    "draw it where rows are only added, or as DEFAULT random() of a table's column; or SELECT it");
        }
        if (node instanceof Calc calc) {
            return Optional.of(Nodes.calc(settled(calc.input()), calc.condition(), calc.projections()));
        }
        Join join = (Join) node;
        return Optional.of(Nodes.join(
                settled(join.left()),
                settled(join.right()),
                join.kind(),
                join.leftKeys(),
                join.rightKeys(),
                join.residual(),
                join.time()));
    }

    private boolean isSettled(PlanNode node) {
        return node instanceof PlanNode.Sort || inference.of(node).appendOnly();
    }

    private PlanNode settled(PlanNode node) {
        return isSettled(node) ? node : new PlanNode.Sort(node, List.of(), -1, 0);
    }

    private static MillraceException refusal(String what, String instead) {
        return MillraceException.user(SqlState.FEATURE_NOT_SUPPORTED, what).withHint(instead);
    }
}
