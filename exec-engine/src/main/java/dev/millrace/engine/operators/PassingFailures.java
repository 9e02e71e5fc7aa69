package dev.millrace.engine.operators;

import dev.millrace.engine.relation.RelationRegistry;
import dev.millrace.engine.relation.Scannable;
import dev.millrace.plan.node.JoinTime;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.plan.node.PlanNode.Join;
import java.util.IdentityHashMap;
import java.util.Map;

/** Which operators note failures of rows, so that they do not end the query, and which of those may be taken back later. One thread at a time. */
public final class PassingFailures {
    private final boolean standing;
    private final RelationRegistry relations;
    private final Map<PlanNode, Boolean> known = new IdentityHashMap<>(); // parts of a plan may be in many places

    /** @param standing whether the query goes on; else it is over when its inputs are */
    public PassingFailures(boolean standing, RelationRegistry relations) {
        this.standing = standing;
        this.relations = relations;
    }

    /** Whether what fails in an operator may be taken back later. */
    public boolean failuresOf(PlanNode plan) {
        if (plan instanceof PlanNode.Aggregate && standing
                || plan instanceof PlanNode.Over over && over.closing().isEmpty()) {
            return true; // a sum comes back into range by rows that come, too
        }
        if (plan instanceof Join join
                && join.time().filter(JoinTime.Current.class::isInstance).isPresent()) {
            return mayRetract(join.left()); // a row is joined once, whatever becomes of the other side
        }
        return canBeNoted(plan) && plan.inputs().stream().anyMatch(this::mayRetract);
    }

    /** Whether an operator can do without a row that fails: else its failure ends the query. */
    public static boolean canBeNoted(PlanNode plan) {
        return plan instanceof PlanNode.Calc
                || plan instanceof PlanNode.Expand
                || plan instanceof Join
                || plan instanceof PlanNode.Aggregate
                || plan instanceof PlanNode.Over over && over.closing().isEmpty();
    }

    /** Whether rows may be taken back; else what a row does to the query is for good. */
    private boolean mayRetract(PlanNode plan) {
        if (!standing) {
            return FiniteRun.mayRetract(plan);
        }
        Boolean answer = known.get(plan);
        if (answer == null) {
            answer = isRetracting(plan) || plan.inputs().stream().anyMatch(this::mayRetract);
            known.put(plan, answer);
        }
        return answer;
    }

    private boolean isRetracting(PlanNode plan) {
        return plan instanceof PlanNode.Scan scan
                        && relations.scannable(scan.relation()) instanceof Scannable.Feed feed
                        && feed.view().isPresent()
                || plan instanceof PlanNode.Aggregate
                || plan instanceof PlanNode.TopN top && top.windowEnd().isEmpty()
                || plan instanceof PlanNode.Over
                || plan instanceof PlanNode.TimeFilter
                || plan instanceof Join join && join.kind() != PlanNode.JoinKind.INNER;
    }
}
