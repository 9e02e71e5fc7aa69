package dev.millrace.plan.node;

import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;

/**
 * All nodes of a plan, each object once. What walks over a plan by its nodes' inputs comes twice to a node that two others
 * read, and a thousand times to what is below ten such ones.
 */
public final class Subplans {
    private Subplans() {}

    /** Those of {@code plan}, itself first, a node before its inputs and the first input before the second. */
    public static List<PlanNode> of(PlanNode plan) {
        List<PlanNode> all = new ArrayList<>();
        collect(plan, Collections.newSetFromMap(new IdentityHashMap<>()), all);
        return all;
    }

    private static void collect(PlanNode node, Set<PlanNode> seen, List<PlanNode> into) {
        if (seen.add(node)) {
            into.add(node);
            for (PlanNode input : node.inputs()) {
                collect(input, seen, into);
            }
        }
    }
}
