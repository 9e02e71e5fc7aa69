package dev.millrace.planner.simplify;

import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.node.PlanNode.Calc;
import dev.millrace.planner.tree.Expressions;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.IntPredicate;

/** A Calc's condition in two: what reads only some columns and may move below, and the rest. */
record SplitFilter(Optional<Expression> moving, Optional<Expression> staying) {

    static SplitFilter of(Calc calc, IntPredicate movable) {
        List<Expression> moving = new ArrayList<>();
        List<Expression> staying = new ArrayList<>();
        for (Expression conjunct : Expressions.conjuncts(calc.condition())) {
            boolean moves = Expressions.readsOnly(conjunct, movable::test) && !Expressions.readsProctime(conjunct);
            (moves ? moving : staying).add(conjunct);
        }
        return new SplitFilter(Expressions.and(moving), Expressions.and(staying));
    }
}
