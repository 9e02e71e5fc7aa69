package dev.millrace.sql.bind;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.apache.calcite.plan.RelOptUtil;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.core.Join;
import org.apache.calcite.rel.core.JoinRelType;
import org.apache.calcite.rex.RexBuilder;
import org.apache.calcite.rex.RexCall;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexShuttle;
import org.apache.calcite.rex.RexUtil;
import org.apache.calcite.sql.SqlFunction;
import org.apache.calcite.sql.SqlFunctionCategory;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.type.OperandTypes;
import org.apache.calcite.sql.type.ReturnTypes;

/**
 * Hides what ANTI, LEFT and RIGHT joins ask from Calcite's decorrelation, which takes it for granted that a column compared
 * in a join is not NULL in the rows that come out of it: it may be, in rows that stay without a partner.
 *
 * <pre>
 * join(LEFT, a, b, a.x = b.x)   and back   join(LEFT, a, b, hidden(a.x = b.x))
 * </pre>
 */
final class OuterConditions {
    private static final Set<JoinRelType> KEEPING = EnumSet.of(JoinRelType.ANTI, JoinRelType.LEFT, JoinRelType.RIGHT);
    private static final SqlFunction HIDDEN = new SqlFunction(
            "hidden$",
            SqlKind.OTHER_FUNCTION,
            ReturnTypes.ARG0,
            null,
            OperandTypes.ANY,
            SqlFunctionCategory.USER_DEFINED_FUNCTION);

    private OuterConditions() {}

    static RelNode hide(RelNode node) {
        List<RelNode> inputs = new ArrayList<>();
        node.getInputs().forEach(input -> inputs.add(hide(input)));
        if (node instanceof Join join && KEEPING.contains(join.getJoinType())) {
            RexBuilder builder = join.getCluster().getRexBuilder();
            List<RexNode> hidden = RelOptUtil.conjunctions(join.getCondition()).stream()
                    .map(condition -> builder.makeCall(HIDDEN, condition))
                    .toList();
            RexNode all = RexUtil.composeConjunction(builder, hidden);
            return join.copy(join.getTraitSet(), all, inputs.get(0), inputs.get(1), join.getJoinType(), false);
        }
        return inputs.equals(node.getInputs()) ? node : node.copy(node.getTraitSet(), inputs);
    }

    /** The same query with all that was hidden, wherever a rule may have moved it. */
    static RelNode show(RelNode node) {
        List<RelNode> inputs =
                node.getInputs().stream().map(OuterConditions::show).toList();
        RelNode shown = inputs.equals(node.getInputs()) ? node : node.copy(node.getTraitSet(), inputs);
        return shown.accept(new RexShuttle() {
            @Override
            public RexNode visitCall(RexCall call) {
                return call.getOperator() == HIDDEN ? call.getOperands().get(0).accept(this) : super.visitCall(call);
            }
        });
    }
}
