package dev.millrace.planner.tree;

import dev.millrace.plan.node.PlanNode;
import java.util.List;

/**
 * A node as what makes two the same, where equal inputs are one object: its own parts, and which objects it stands above. What
 * lies below is never looked at, so that a node high up costs no more than one right above a scan.
 */
record NodeKey(PlanNode node) {
    @Override
    public boolean equals(Object object) {
        if (!(object instanceof NodeKey other)) {
            return false;
        }
        if (node == other.node) {
            return true;
        }
        List<PlanNode> inputs = node.inputs();
        List<PlanNode> others = other.node.inputs();
        if (node.getClass() != other.node.getClass() || inputs.size() != others.size()) {
            return false;
        }
        for (int i = 0; i < inputs.size(); i++) {
            if (inputs.get(i) != others.get(i)) {
                return false;
            }
        }
        return node.equals(other.node); // which passes over inputs that are one object
    }

    @Override
    public int hashCode() {
        int hash = node.hashCode();
        for (PlanNode input : node.inputs()) {
            hash = 31 * hash + System.identityHashCode(input);
        }
        return hash;
    }
}
