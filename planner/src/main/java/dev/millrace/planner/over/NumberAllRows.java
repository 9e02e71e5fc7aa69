package dev.millrace.planner.over;

import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.Frame;
import dev.millrace.plan.expression.OverCall;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.plan.node.PlanNode.TopN;
import dev.millrace.planner.tree.Expressions;
import dev.millrace.planner.tree.Nodes;
import dev.millrace.planner.tree.Rewrite;
import dev.millrace.type.DataType;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * A rank that nothing limits numbers all rows.
 *
 * <pre>
 * TopN(no limit, offset 2)    becomes    Calc(where row_number > 2)
 *   X                                      Over(row_number)
 *                                            X
 * </pre>
 */
final class NumberAllRows implements Rewrite {
    @Override
    public Optional<PlanNode> apply(PlanNode node) {
        if (!(node instanceof TopN topN)
                || !Nodes.isUnlimited(topN)
                || topN.windowEnd().isPresent()) {
            return Optional.empty();
        }
        OverCall.Function function = switch (topN.rank()) {
            case ROW_NUMBER -> OverCall.Function.ROW_NUMBER;
            case RANK -> OverCall.Function.RANK;
            case DENSE_RANK -> OverCall.Function.DENSE_RANK;
        };
        OverCall call =
                new OverCall(function, Optional.empty(), List.of(), 0, false, Frame.ALL, DataType.BIGINT, false);
        PlanNode numbered =
                Nodes.over(topN.input(), topN.partition(), topN.order(), List.of(call), OptionalInt.empty());
        int width = topN.input().schema().size();
        List<Expression> columns = Nodes.columns(numbered);
        if (topN.offset() == 0 && topN.emitRank()) {
            return Optional.of(numbered);
        }
        Optional<Expression> condition = topN.offset() == 0
                ? Optional.empty()
                : Optional.of(Expressions.test("gt", columns.get(width), Expressions.literal(topN.offset())));
        return Optional.of(Nodes.calc(numbered, condition, topN.emitRank() ? columns : columns.subList(0, width)));
    }
}
