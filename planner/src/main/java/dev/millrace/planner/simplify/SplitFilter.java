package dev.millrace.planner.simplify;

import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.node.PlanNode.Calc;
import dev.millrace.planner.tree.Expressions;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.IntPredicate;
import java.util.function.Predicate;

/** A Calc's condition in two: what reads only some columns and may move below, and the rest. */
record SplitFilter(Optional<Expression> moving, Optional<Expression> staying) {

    static SplitFilter of(Calc calc, IntPredicate movable) {
        return of(calc, movable, conjunct -> true);
    }

    /** @param may whether a part of the condition may move, if its columns let it */
    static SplitFilter of(Calc calc, IntPredicate movable, Predicate<Expression> may) {
        List<Expression> moving = new ArrayList<>();
        List<Expression> staying = new ArrayList<>();
        for (Expression conjunct : Expressions.conjuncts(calc.condition())) {
            boolean moves = Expressions.readsOnly(conjunct, movable::test)
                    && !Expressions.readsProctime(conjunct)
                    && !Expressions.draws(conjunct)
                    && may.test(conjunct);
            (moves ? moving : staying).add(conjunct);
        }
        return new SplitFilter(Expressions.and(moving), Expressions.and(staying));
    }
}
