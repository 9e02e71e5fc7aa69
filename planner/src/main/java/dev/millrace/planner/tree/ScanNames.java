package dev.millrace.planner.tree;

import dev.millrace.plan.node.PlanNode;
import dev.millrace.plan.node.PlanNode.Scan;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;

/**
 * A plan over relations that have other names, and the same in all else: what is one object stays one, and columns keep their names, which
 * a {@link Rewriter} may give them anew. Use once, on one thread.
 */
public final class ScanNames {
    private final Map<String, String> names;
    private final Map<PlanNode, PlanNode> done = new IdentityHashMap<>();

    private ScanNames(Map<String, String> names) {
        this.names = names;
    }

    /** @param names the new ones, by those that the plan has; all at once, so that two may swap theirs */
    public static PlanNode renamed(PlanNode plan, Map<String, String> names) {
        return new ScanNames(names).renamed(plan);
    }

    private PlanNode renamed(PlanNode node) {
        PlanNode known = done.get(node);
        if (known == null) {
            known = node instanceof Scan scan ? named(scan) : overInputs(node);
            done.put(node, known);
        }
        return known;
    }

    private PlanNode named(Scan scan) {
        String name = names.getOrDefault(scan.relation(), scan.relation());
        return name.equals(scan.relation())
                ? scan
                : new Scan(name, scan.columns(), scan.predicates(), scan.condensation(), scan.schema());
    }

    private PlanNode overInputs(PlanNode node) {
        List<PlanNode> inputs = new ArrayList<>(node.inputs().size());
        node.inputs().forEach(input -> inputs.add(renamed(input)));
        return Nodes.named(Nodes.withInputs(node, inputs), node.schema().names());
    }
}
