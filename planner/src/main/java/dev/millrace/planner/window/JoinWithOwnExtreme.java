package dev.millrace.planner.window;

import dev.millrace.plan.node.PlanNode;
import dev.millrace.plan.node.PlanNode.Join;
import dev.millrace.plan.node.PlanNode.JoinKind;
import dev.millrace.planner.fact.Inference;
import dev.millrace.planner.tree.Rewrite;
import java.util.Optional;

/**
 * Rows joined with the maximum (or minimum) of their own window are the rows that are it: no join, and the rows are
 * read once. NEXMark's queries 5 and 7.
 *
 * <pre>
 * Join(window = window, num >= max)              becomes    Calc
 *   S (auction, num, window)                                  WindowExtreme(Attached(window), maximum of num)
 *   WindowAggregate(Attached(window); max(num))                 S
 *     S
 *
 * Join(price = max and ts BETWEEN                becomes    Calc
 *      window_end - INTERVAL '10 s' AND window_end)           WindowExtreme(TUMBLE, maximum of price, closed end)
 *   S (price, ts)                                               S
 *   WindowAggregate(TUMBLE(ts, 10 s); max(price))
 *     S
 * </pre>
 *
 * <p>Why it is the same. Let m be the maximum over the rows of S in window w (and with keys k, if the aggregation has
 * keys). A row r of S in w with r.v >= m, or r.v = m, is one with r.v = m, because m >= r.v; and such a row is what
 * WindowExtreme gives, ties included, NULL excluded on both sides. What this needs, and {@link OwnExtremeMatch} checks:
 *
 * <ul>
 *   <li>Both sides are of the same S: equal nodes, and every filter between S and the aggregation is one of the
 *       filters between S and the join. Further filters of the rows' side hold after it: they choose among the rows
 *       and do not change m.
 *   <li>The join says that the row lies in the window: by equality with the window's bounds where rows carry them, else
 *       by a lower and an upper bound for the time that the window is made of. With {@code ts <= window_end} a row at
 *       the very end is compared with the window before its own too: {@code closedEnd}. That row is not one of those m
 *       was made of and may exceed it, so then only {@code r.v = m} will do.
 *   <li>The join equates each of the aggregation's keys with the row's; as it equates no NULLs, rows with a NULL key
 *       are dropped.
 *   <li>The aggregation's one call is max or min without FILTER.
 * </ul>
 */
final class JoinWithOwnExtreme implements Rewrite {
    private final Inference inference;

    JoinWithOwnExtreme(Inference inference) {
        this.inference = inference;
    }

    @Override
    public Optional<PlanNode> apply(PlanNode node) {
        if (!(node instanceof Join join) || join.kind() != JoinKind.INNER) {
            return Optional.empty();
        }
        return OwnExtremeMatch.match(join, true, inference)
                .or(() -> OwnExtremeMatch.match(join, false, inference))
                .map(OwnExtremeMatch::result);
    }
}
