package dev.millrace.planner.tree;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.plan.node.PlanNode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Applies rewrites from the leaves up until none fires anywhere, and makes equal subplans one object. Use once, on one
 * thread.
 */
public final class Rewriter {
    /** Far more than fire on a plan of human size; WITH queries that each read the one before twice get there. */
    private static final int MOST_STEPS = 100_000;

    private final List<Rewrite> rewrites;
    private final Map<PlanNode, PlanNode> done = new IdentityHashMap<>();
    private final Map<NodeKey, PlanNode> results = new HashMap<>(); // of nodes over rewritten inputs
    private final Interrupt interrupt = Interrupt.current();
    private int steps;

    private Rewriter(List<Rewrite> rewrites) {
        this.rewrites = rewrites;
    }

    /** {@code plan} after all that {@code rewrites} can do, tried in order at each node. */
    public static PlanNode rewrite(PlanNode plan, List<Rewrite> rewrites) {
        return new Rewriter(rewrites).rewrite(plan);
    }

    /** {@code plan} as it is, but for equal subplans, which become one object. */
    public static PlanNode shared(PlanNode plan) {
        return rewrite(plan, List.of());
    }

    public static PlanNode rewrite(PlanNode plan, Rewrite... rewrites) {
        return rewrite(plan, List.of(rewrites));
    }

    private PlanNode rewrite(PlanNode node) {
        Interrupt.checkCurrent();
        PlanNode known = done.get(node);
        if (known != null) {
            return known;
        }
        PlanNode current = overRewrittenInputs(node);
        NodeKey key = new NodeKey(current);
        PlanNode result = results.get(key);
        if (result == null) {
            Optional<PlanNode> next = firstChange(current);
            result = next.isPresent() ? rewrite(next.get()) : current;
            results.put(key, result);
            if (result != current) {
                results.putIfAbsent(new NodeKey(result), result);
            }
        }
        done.put(node, result);
        done.put(result, result);
        return result;
    }

    private PlanNode overRewrittenInputs(PlanNode node) {
        List<PlanNode> inputs = new ArrayList<>(node.inputs().size());
        for (PlanNode input : node.inputs()) {
            inputs.add(rewrite(input));
        }
        return Nodes.withInputs(node, inputs);
    }

    private Optional<PlanNode> firstChange(PlanNode node) {
        interrupt.check();
        if (++steps > MOST_STEPS) {
            throw MillraceException.user(SqlState.STATEMENT_TOO_COMPLEX, "the query is too large to be planned")
                    .withHint("CREATE MATERIALIZED VIEW of a part that is read in several places");
        }
        for (Rewrite rewrite : rewrites) {
            Interrupt.checkCurrent();
            Optional<PlanNode> next = rewrite.apply(node);
            if (next.isPresent()) {
                return next;
            }
        }
        return Optional.empty();
    }
}
