package dev.millrace.planner.algebra;

import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.Expression.Column;
import dev.millrace.plan.expression.OrderKey;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.plan.node.PlanNode.Rank;
import dev.millrace.planner.tree.Nodes;
import dev.millrace.sql.algebra.ExpressionTranslator;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import org.apache.calcite.rel.RelFieldCollation;
import org.apache.calcite.rex.RexFieldCollation;
import org.apache.calcite.rex.RexInputRef;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexOver;
import org.apache.calcite.rex.RexShuttle;
import org.apache.calcite.rex.RexWindow;

/**
 * ROW_NUMBER, RANK and DENSE_RANK OVER: each numbers the rows in a node of its own, to be limited by the filter above.
 *
 * <pre>
 * Project(a, ROW_NUMBER() OVER (PARTITION BY b ORDER BY c DESC))
 *   X
 * becomes
 * Calc(a, rank)
 *   TopN(partition b, order c DESC, no limit, rank emitted)
 *     X
 * </pre>
 */
final class RankTranslation {
    /** Of a TopN that keeps all. */
    static final long NO_LIMIT = Long.MAX_VALUE;

    private final Map<RexOver, Integer> ranks = new LinkedHashMap<>();
    private PlanNode node;

    private RankTranslation(PlanNode input) {
        this.node = input;
    }

    static PlanNode translate(PlanNode input, List<RexNode> projections) {
        RankTranslation ranks = new RankTranslation(input);
        List<RexNode> withoutOver = projections.stream()
                .map(projection -> projection.accept(ranks.new Numbering()))
                .toList();
        return Nodes.project(
                ranks.node,
                withoutOver.stream().map(ExpressionTranslator::translate).toList());
    }

    /** Puts a reference to the rank's column in the place of each OVER. */
    private final class Numbering extends RexShuttle {
        @Override
        public RexNode visitOver(RexOver over) {
            Integer column = ranks.get(over);
            if (column == null) {
                column = number(over);
                ranks.put(over, column);
            }
            return new RexInputRef(column, over.getType());
        }
    }

    private int number(RexOver over) {
        Rank rank = switch (over.getAggOperator().getKind()) {
            case ROW_NUMBER -> Rank.ROW_NUMBER;
            case RANK -> Rank.RANK;
            case DENSE_RANK -> Rank.DENSE_RANK;
            default ->
                throw Refusal.of(
                        over.getAggOperator().getName().toLowerCase(java.util.Locale.ROOT)
                                + "() OVER is not available yet",
                        "ROW_NUMBER, RANK and DENSE_RANK are; a sum per group is GROUP BY, joined with the rows");
        };
        RexWindow window = over.getWindow();
        List<Integer> partition =
                window.partitionKeys.stream().map(this::columnOf).toList();
        List<OrderKey> order = window.orderKeys.stream().map(this::orderKey).toList();
        node = Nodes.topN(node, partition, order, rank, NO_LIMIT, 0, true, OptionalInt.empty());
        return node.schema().size() - 1;
    }

    private OrderKey orderKey(RexFieldCollation key) {
        boolean descending = key.getDirection() == RelFieldCollation.Direction.DESCENDING;
        boolean nullsFirst = switch (key.getNullDirection()) {
            case FIRST -> true;
            case LAST -> false;
            case UNSPECIFIED -> descending;
        };
        return new OrderKey(columnOf(key.left), descending, nullsFirst);
    }

    /** The column with this value, added behind the others if it is not there. */
    private int columnOf(RexNode value) {
        Expression expression = ExpressionTranslator.translate(value);
        if (expression instanceof Column column) {
            return column.index();
        }
        List<Expression> extended = new ArrayList<>(Nodes.columns(node));
        extended.add(expression);
        node = Nodes.project(node, extended);
        return extended.size() - 1;
    }
}
