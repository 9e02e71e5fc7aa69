package dev.millrace.sql.bind.subquery;

import dev.millrace.sql.algebra.Rex;
import dev.millrace.sql.bind.relation.RelNodes;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Collectors;
import org.apache.calcite.plan.RelOptUtil;
import org.apache.calcite.rel.RelHomogeneousShuttle;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.core.Correlate;
import org.apache.calcite.rel.logical.LogicalFilter;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexUtil;
import org.apache.calcite.util.ImmutableBitSet;

/**
 * Asks conditions of the outer rows alone before queries are made for these rows:
 *
 * <pre>
 * filter(a.x = 5 and q.m > a.y, correlate(a, q))   becomes   filter(q.m > a.y, correlate(filter(a.x = 5, a), q))
 * </pre>
 */
final class OuterFilters extends RelHomogeneousShuttle {
    private OuterFilters() {}

    static RelNode push(RelNode query) {
        return query.accept(new OuterFilters());
    }

    @Override
    public RelNode visit(LogicalFilter filter) {
        if (!(filter.getInput() instanceof Correlate correlate)) {
            return super.visit(filter);
        }
        ImmutableBitSet outer =
                ImmutableBitSet.range(correlate.getLeft().getRowType().getFieldCount());
        Map<Boolean, List<RexNode>> parts = RelOptUtil.conjunctions(filter.getCondition()).stream()
                .collect(Collectors.partitioningBy(part -> outer.contains(RelOptUtil.InputFinder.bits(part))));
        RelNode left = filtered(correlate.getLeft(), Objects.requireNonNull(parts.get(true)))
                .accept(this);
        RelNode right = correlate.getRight().accept(this);
        return filtered(
                correlate.copy(correlate.getTraitSet(), List.of(left, right)),
                Objects.requireNonNull(parts.get(false)));
    }

    private static RelNode filtered(RelNode input, List<RexNode> conditions) {
        return conditions.isEmpty()
                ? input
                : RelNodes.filter(input, RexUtil.composeConjunction(Rex.builder(), conditions), Optional.empty());
    }
}
