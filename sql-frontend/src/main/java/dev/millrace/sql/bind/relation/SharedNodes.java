package dev.millrace.sql.bind.relation;

import dev.millrace.interrupt.Interrupt;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.apache.calcite.plan.RelOptUtil;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.core.CorrelationId;
import org.apache.calcite.rex.RexCorrelVariable;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexShuttle;
import org.apache.calcite.rex.RexSubQuery;

/**
 * Walks over queries by their nodes as objects: one that several others read is visited once, and what becomes of it is read by
 * them all. Queries that read the one before twice have as many paths as two to the power of their number.
 */
public final class SharedNodes {
    private final Map<RelNode, Set<CorrelationId>> used = new IdentityHashMap<>();

    /** The query with each node changed, over inputs that are. */
    public static RelNode rewrite(RelNode query, UnaryOperator<RelNode> change) {
        return rewrite(query, change, new IdentityHashMap<>());
    }

    private static RelNode rewrite(RelNode node, UnaryOperator<RelNode> change, Map<RelNode, RelNode> done) {
        RelNode known = done.get(node);
        if (known != null) {
            return known;
        }
        Interrupt.checkCurrent();
        List<RelNode> inputs = new ArrayList<>(node.getInputs().size());
        for (RelNode input : node.getInputs()) {
            inputs.add(rewrite(input, change, done));
        }
        RelNode copy = inputs.equals(node.getInputs()) ? node : node.copy(node.getTraitSet(), inputs);
        RelNode changed = change.apply(copy);
        done.put(node, changed);
        return changed;
    }

    /** The variables of rows around a query that it reads: as Calcite's, but for its walk over all paths. */
    public Set<CorrelationId> variablesUsed(RelNode node) {
        Set<CorrelationId> known = used.get(node);
        if (known != null) {
            return known;
        }
        Interrupt.checkCurrent();
        Set<CorrelationId> found = new HashSet<>();
        node.accept(new RexShuttle() {
            @Override
            public RexNode visitCorrelVariable(RexCorrelVariable variable) {
                found.add(variable.id);
                return variable;
            }

            @Override
            public RexNode visitSubQuery(RexSubQuery query) {
                found.addAll(RelOptUtil.getVariablesUsed(query.rel));
                return super.visitSubQuery(query);
            }
        });
        for (RelNode input : node.getInputs()) {
            found.addAll(variablesUsed(input));
        }
        found.removeAll(node.getVariablesSet());
        used.put(node, found);
        return found;
    }
}
