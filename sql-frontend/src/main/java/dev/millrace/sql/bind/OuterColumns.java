package dev.millrace.sql.bind;

import dev.millrace.sql.algebra.Rex;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.calcite.rel.RelHomogeneousShuttle;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.core.CorrelationId;
import org.apache.calcite.rel.core.JoinRelType;
import org.apache.calcite.rel.logical.LogicalCorrelate;
import org.apache.calcite.rex.RexCorrelVariable;
import org.apache.calcite.rex.RexFieldAccess;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexShuttle;
import org.apache.calcite.util.ImmutableBitSet;

/**
 * What the right side of a LEFT correlation reads of rows further out, handed to it by its left side:
 *
 * <pre>
 * correlate(LEFT, a, f(b, a.x, outer.y))   becomes   project(correlate(LEFT, project(a, outer.y), f(b, a.x, a.y)))
 * </pre>
 *
 * Calcite's decorrelation finds out from the right side alone which outer rows there are: a left row without a partner
 * there would belong to none of them.
 */
final class OuterColumns extends RelHomogeneousShuttle {
    private OuterColumns() {}

    static RelNode hand(RelNode query) {
        return query.accept(new OuterColumns());
    }

    @Override
    public RelNode visit(LogicalCorrelate correlate) {
        Map<String, RexFieldAccess> outer = correlate.getJoinType() == JoinRelType.LEFT
                ? outerReads(correlate.getRight(), correlate.getCorrelationId())
                : Map.of();
        if (outer.isEmpty()) {
            return super.visit(correlate);
        }
        int width = correlate.getLeft().getRowType().getFieldCount();
        List<RexNode> columns = Relations.references(correlate.getLeft());
        List<String> names = new ArrayList<>(correlate.getLeft().getRowType().getFieldNames());
        for (RexFieldAccess access : outer.values()) {
            columns.add(access);
            names.add(access.getField().getName());
        }
        RelNode left = Relations.project(correlate.getLeft(), columns, names);
        RexNode row = Rex.builder().makeCorrel(left.getRowType(), correlate.getCorrelationId());
        RelNode right = Correlations.replace(
                correlate.getRight(),
                correlate.getCorrelationId(),
                column -> Rex.builder().makeFieldAccess(row, column));
        int next = width;
        for (RexFieldAccess access : outer.values()) {
            int at = next++;
            int field = access.getField().getIndex();
            CorrelationId id = ((RexCorrelVariable) access.getReferenceExpr()).id;
            right = Correlations.replace(
                    right,
                    id,
                    column -> column == field
                            ? Rex.builder().makeFieldAccess(row, at)
                            : Rex.builder().makeFieldAccess(access.getReferenceExpr(), column));
        }
        LogicalCorrelate handed = LogicalCorrelate.create(
                left,
                right,
                correlate.getHints(),
                correlate.getCorrelationId(),
                correlate.getRequiredColumns().union(ImmutableBitSet.range(width, next)),
                correlate.getJoinType());
        List<RexNode> all = Relations.references(handed);
        all.subList(width, next).clear();
        return Relations.project(
                super.visit(handed), all, correlate.getRowType().getFieldNames());
    }

    /** The columns that a query reads of rows outside it, by variable and column, but of one variable. */
    private static Map<String, RexFieldAccess> outerReads(RelNode query, CorrelationId own) {
        Set<CorrelationId> free = Correlations.free(query);
        Map<String, RexFieldAccess> reads = new LinkedHashMap<>();
        RexShuttle collector = new RexShuttle() {
            @Override
            public RexNode visitFieldAccess(RexFieldAccess access) {
                if (access.getReferenceExpr() instanceof RexCorrelVariable variable
                        && !variable.id.equals(own)
                        && free.contains(variable.id)) {
                    reads.putIfAbsent(variable.id + "." + access.getField().getIndex(), access);
                }
                return super.visitFieldAccess(access);
            }
        };
        collect(query, collector);
        return reads;
    }

    private static void collect(RelNode node, RexShuttle collector) {
        node.accept(collector);
        node.getInputs().forEach(input -> collect(input, collector));
    }
}
