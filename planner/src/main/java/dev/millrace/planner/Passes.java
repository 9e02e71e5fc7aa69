package dev.millrace.planner;

import dev.millrace.plan.node.PlanNode;
import java.util.EnumSet;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;

/**
 * A plan on its way through the {@link Pass}es, which knows what has been done to it: a pass that comes before one it needs is
 * an error of whoever wrote the order, and fails on the first plan. One thread.
 */
final class Passes {
    private final Set<Pass> done = EnumSet.noneOf(Pass.class);
    private PlanNode plan;

    Passes(PlanNode plan) {
        this.plan = plan;
    }

    /** The plan as the passes so far have left it. */
    PlanNode plan() {
        return plan;
    }

    /**
     * Runs a pass.
     *
     * @throws IllegalStateException when a pass that it needs has not run, or what it left has not been simplified
     */
    Passes run(Pass pass, UnaryOperator<PlanNode> rewrite) {
        return runIf(true, pass, rewrite);
    }

    /** Runs a pass, or leaves it out of a query that it has nothing to do with: it counts as done. */
    Passes runIf(boolean concerned, Pass pass, UnaryOperator<PlanNode> rewrite) {
        for (Pass needed : pass.needs()) {
            if (!done.contains(needed)) {
                throw new IllegalStateException(pass + " needs a plan that went through " + needed);
            }
        }
        if (concerned) {
            plan = rewrite.apply(plan);
            if (pass.leavesUntidy()) {
                done.remove(Pass.SIMPLIFY);
            }
        }
        done.add(pass);
        return this;
    }

    /** Runs a pass that only looks, and may refuse. */
    Passes check(boolean concerned, Pass pass, Consumer<PlanNode> check) {
        return runIf(concerned, pass, looked -> {
            check.accept(looked);
            return looked;
        });
    }
}
