package dev.millrace.sql.bind;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.calcite.plan.RelOptPredicateList;
import org.apache.calcite.rel.RelHomogeneousShuttle;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.core.AggregateCall;
import org.apache.calcite.rel.core.RelFactories;
import org.apache.calcite.rel.logical.LogicalAggregate;
import org.apache.calcite.rel.logical.LogicalProject;
import org.apache.calcite.rex.RexLiteral;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexSimplify;
import org.apache.calcite.rex.RexUtil;
import org.apache.calcite.sql.fun.SqlStdOperatorTable;
import org.apache.calcite.tools.RelBuilder;

/**
 * Grouping by constants alone, said without them:
 *
 * <pre>
 * aggregate(keys = {5}, count(*))   becomes   project(5, n, filter(n > 0, aggregate(keys = {}, count(*) as n)))
 * </pre>
 *
 * Calcite's decorrelation drops constant keys; without any key left an empty input would have one group instead of none.
 */
final class ConstantGroups extends RelHomogeneousShuttle {
    private ConstantGroups() {}

    static RelNode remove(RelNode query) {
        return query.accept(new ConstantGroups());
    }

    @Override
    public RelNode visit(LogicalAggregate aggregate) {
        RelNode visited = super.visit(aggregate);
        return visited instanceof LogicalAggregate same ? withoutKeys(same).orElse(same) : visited;
    }

    private static Optional<RelNode> withoutKeys(LogicalAggregate aggregate) {
        boolean simple = aggregate.getGroupType() == LogicalAggregate.Group.SIMPLE
                && !aggregate.getGroupSet().isEmpty();
        if (!simple || !(aggregate.getInput() instanceof LogicalProject project)) {
            return Optional.empty();
        }
        // decorrelation simplifies before it looks for constants: a column that is never NULL IS NULL, for one
        RexSimplify simplify =
                new RexSimplify(aggregate.getCluster().getRexBuilder(), RelOptPredicateList.EMPTY, RexUtil.EXECUTOR);
        List<RexNode> keys = new ArrayList<>();
        for (int key : aggregate.getGroupSet()) {
            RexNode value = simplify.simplify(project.getProjects().get(key));
            if (!(value instanceof RexLiteral)) {
                return Optional.empty();
            }
            keys.add(value);
        }
        RelBuilder builder = RelFactories.LOGICAL_BUILDER.create(aggregate.getCluster(), null);
        builder.push(project);
        List<RelBuilder.AggCall> calls = new ArrayList<>();
        for (AggregateCall call : aggregate.getAggCallList()) {
            calls.add(builder.aggregateCall(call));
        }
        calls.add(builder.countStar("rows$"));
        builder.aggregate(builder.groupKey(), calls);
        builder.filter(
                builder.call(SqlStdOperatorTable.GREATER_THAN, builder.field(calls.size() - 1), builder.literal(0)));
        List<RexNode> outputs = new ArrayList<>(keys);
        for (int call = 0; call < calls.size() - 1; call++) {
            outputs.add(builder.field(call));
        }
        builder.project(outputs, aggregate.getRowType().getFieldNames(), true);
        return Optional.of(builder.convert(aggregate.getRowType(), false).build());
    }
}
