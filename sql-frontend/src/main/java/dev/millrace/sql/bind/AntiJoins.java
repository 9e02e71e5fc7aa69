package dev.millrace.sql.bind;

import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import org.apache.calcite.plan.RelOptUtil;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.core.Join;
import org.apache.calcite.rel.core.JoinRelType;
import org.apache.calcite.rex.RexBuilder;
import org.apache.calcite.rex.RexCall;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexUtil;
import org.apache.calcite.sql.fun.SqlStdOperatorTable;

/**
 * Hides what ANTI joins ask from Calcite's decorrelation, which takes it for granted that a column compared in a join is
 * not NULL in the rows that come out of it: in those of an ANTI join it may be.
 *
 * <pre>
 * join(ANTI, a, b, a.x = b.x)   and back   join(ANTI, a, b, CASE WHEN a.x = b.x THEN true ELSE false END)
 * </pre>
 */
final class AntiJoins {
    private AntiJoins() {}

    static RelNode hide(RelNode node) {
        return each(node, condition -> {
            RexBuilder builder = node.getCluster().getRexBuilder();
            return builder.makeCall(
                    SqlStdOperatorTable.CASE, condition, builder.makeLiteral(true), builder.makeLiteral(false));
        });
    }

    static RelNode show(RelNode node) {
        return each(node, AntiJoins::shown);
    }

    private static RexNode shown(RexNode condition) {
        return condition instanceof RexCall call
                        && call.getOperator() == SqlStdOperatorTable.CASE
                        && call.getOperands().size() == 3
                        && call.getOperands().get(1).isAlwaysTrue()
                        && call.getOperands().get(2).isAlwaysFalse()
                ? call.getOperands().get(0)
                : condition;
    }

    private static RelNode each(RelNode node, UnaryOperator<RexNode> change) {
        List<RelNode> inputs = new ArrayList<>();
        node.getInputs().forEach(input -> inputs.add(each(input, change)));
        if (node instanceof Join join && join.getJoinType() == JoinRelType.ANTI) {
            List<RexNode> conditions = RelOptUtil.conjunctions(join.getCondition()).stream()
                    .map(change)
                    .toList();
            RexNode all = RexUtil.composeConjunction(join.getCluster().getRexBuilder(), conditions);
            return join.copy(join.getTraitSet(), all, inputs.get(0), inputs.get(1), JoinRelType.ANTI, false);
        }
        return inputs.equals(node.getInputs()) ? node : node.copy(node.getTraitSet(), inputs);
    }
}
