package dev.millrace.plan.node;

import dev.millrace.plan.node.PlanNode.Calc;
import dev.millrace.plan.node.PlanNode.Scan;
import dev.millrace.plan.node.PlanNode.Unary;
import java.util.List;

/**
 * Hashes of nodes that may stand many above each other. They look at a node and a few right below: the hash of all that is
 * below would be computed anew at each level, and below a node that is read twice, twice. Nodes that differ only further
 * down are told apart by equality, at the first difference.
 */
final class PlanHash {
    private static final int LEVELS = 4;

    private PlanHash() {}

    /** @param own parts of the node that tell it from others over the same inputs */
    static int of(PlanNode node, List<?> own) {
        int hash = 31 * kind(node) + own.hashCode();
        for (PlanNode input : node.inputs()) {
            hash = 31 * hash + below(input);
        }
        return hash;
    }

    /** Of a node and, as long as each has one input, some below it. */
    private static int below(PlanNode top) {
        int hash = 0;
        PlanNode node = top;
        for (int level = 0; level < LEVELS; level++) {
            hash = 31 * hash + kind(node);
            if (node instanceof Calc calc) {
                hash = 31 * hash + calc.projections().hashCode();
            } else if (node instanceof Scan scan) {
                hash = 31 * hash + scan.relation().hashCode();
            }
            if (!(node instanceof Unary unary)) {
                break;
            }
            node = unary.input();
        }
        return hash;
    }

    private static int kind(PlanNode node) {
        return 31 * node.getClass().getName().hashCode() + node.schema().size();
    }
}
