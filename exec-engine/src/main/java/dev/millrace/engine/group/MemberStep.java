package dev.millrace.engine.group;

import dev.millrace.engine.operators.PassingFailures;
import dev.millrace.operator.Operator;
import dev.millrace.plan.node.GroupPlan;
import dev.millrace.plan.node.PlanNode;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * One operator above the filter of a group's members, of which each member has its own.
 *
 * @param make a new one, not yet open
 * @param notesFailures whether it can do without a row that fails
 * @param takesFailuresBack whether such a row may be taken back: as {@link PassingFailures} has it of a query by itself
 */
record MemberStep(Supplier<Operator> make, boolean notesFailures, boolean takesFailuresBack) {
    /** Those of a plan, the lowest first; exchanges are none, as a member is in one task. */
    static List<MemberStep> of(GroupPlan plan, Function<PlanNode, Operator> operators) {
        List<MemberStep> steps = new ArrayList<>();
        boolean isTakenBack = false; // rows, by what is below
        for (PlanNode node : plan.above()) {
            boolean groups = node instanceof PlanNode.Aggregate;
            if (!(node instanceof PlanNode.Exchange)) {
                boolean notes = PassingFailures.canBeNoted(node);
                boolean takesBack = groups || notes && isTakenBack;
                steps.add(new MemberStep(() -> operators.apply(node), notes, takesBack));
            }
            isTakenBack |= groups;
        }
        return List.copyOf(steps);
    }
}
