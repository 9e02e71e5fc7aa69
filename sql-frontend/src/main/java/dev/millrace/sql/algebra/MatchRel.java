package dev.millrace.sql.algebra;

import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.OrderKey;
import dev.millrace.plan.match.MatchSpec;
import dev.millrace.plan.match.MatchValue;
import java.util.List;
import org.apache.calcite.plan.Convention;
import org.apache.calcite.plan.RelTraitSet;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.RelWriter;
import org.apache.calcite.rel.SingleRel;
import org.apache.calcite.rel.type.RelDataType;

/**
 * MATCH_RECOGNIZE in the algebra. Calcite's own node knows neither all of the standard's options nor which rows a value
 * is taken of; ours carries what the plan needs, see {@link dev.millrace.plan.node.PlanNode.Match}.
 */
public final class MatchRel extends SingleRel {
    private final List<Integer> partition;
    private final List<OrderKey> order;
    private final MatchSpec spec;
    private final List<MatchValue> values;
    private final List<Expression> outputs;

    /** @param rowType a column for each of {@code outputs} */
    public MatchRel(
            RelNode input,
            List<Integer> partition,
            List<OrderKey> order,
            MatchSpec spec,
            List<MatchValue> values,
            List<Expression> outputs,
            RelDataType rowType) {
        super(input.getCluster(), input.getCluster().traitSetOf(Convention.NONE), input);
        this.partition = List.copyOf(partition);
        this.order = List.copyOf(order);
        this.spec = spec;
        this.values = List.copyOf(values);
        this.outputs = List.copyOf(outputs);
        this.rowType = rowType;
    }

    public List<Integer> partition() {
        return partition;
    }

    public List<OrderKey> order() {
        return order;
    }

    public MatchSpec spec() {
        return spec;
    }

    public List<MatchValue> values() {
        return values;
    }

    public List<Expression> outputs() {
        return outputs;
    }

    @Override
    public RelNode copy(RelTraitSet traitSet, List<RelNode> inputs) {
        return new MatchRel(inputs.get(0), partition, order, spec, values, outputs, rowType);
    }

    @Override
    public RelWriter explainTerms(RelWriter writer) {
        return super.explainTerms(writer)
                .item("partition", partition)
                .item("order", order)
                .item("spec", spec)
                .item("values", values)
                .item("outputs", outputs);
    }
}
