package dev.millrace.planner.simplify;

import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.planner.tree.Rewrite;
import dev.millrace.planner.tree.Rewriter;
import java.util.List;
import java.util.function.UnaryOperator;

/** The rewrites of this package together. */
public final class Simplification {
    private final List<Rewrite> rewrites;

    /**
     * @param folder gives a call's or cast's value when all its operands are constants; what it cannot evaluate it
     *     gives back
     */
    public Simplification(UnaryOperator<Expression> folder) {
        FoldConstants constants = new FoldConstants(folder);
        this.rewrites = List.of(
                constants,
                new DrawBelow(),
                new RemoveIdentityCalc(),
                new MergeCalcs(),
                new ComputeValues(constants),
                new MergeValues(),
                new PushCalcBelowUnion(),
                new LimitTopNByRank(),
                new PushFilterBelowTopN(),
                new PushFilterBelowAggregate(),
                new PushFilterBelowWindowAssign(),
                new PushFilterBelowExpand(),
                new RemoveOuterJoin(),
                new UseAntiJoin(),
                new FactorDisjunction(),
                new DivideAboveOneRow(),
                new DivideAboveJoin(),
                new PushFilterIntoJoin(),
                new SplitJoinCondition());
    }

    /** Those that only merge neighbouring Calcs: other rewrites want to see through one Calc at most. */
    public static List<Rewrite> merging() {
        return List.of(new RemoveIdentityCalc(), new MergeCalcs());
    }

    /** What computes constants, and nothing else. */
    public static Rewrite constants(UnaryOperator<Expression> folder) {
        return new FoldConstants(folder);
    }

    public PlanNode apply(PlanNode plan) {
        return Rewriter.rewrite(plan, rewrites);
    }
}
