package dev.millrace.expressions.code;

import dev.millrace.interrupt.Interrupt;
import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.Expression.Call;
import dev.millrace.plan.expression.Expression.Case;
import dev.millrace.plan.expression.Expression.Cast;
import dev.millrace.plan.expression.Expression.Column;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Walks over expression trees. */
final class ExpressionWalk {
    private ExpressionWalk() {}

    static List<Expression> children(Expression expression) {
        Interrupt.checkCurrent(); // whatever walks over long expressions comes here
        if (expression instanceof Call call) {
            return call.arguments();
        }
        if (expression instanceof Cast cast) {
            return List.of(cast.input());
        }
        if (expression instanceof Case branches) {
            List<Expression> children = new ArrayList<>();
            for (Case.Branch branch : branches.branches()) {
                children.add(branch.condition());
                children.add(branch.result());
            }
            children.add(branches.otherwise());
            return children;
        }
        return List.of();
    }

    /** Adds the columns an expression reads. */
    static void columns(Expression expression, Set<Integer> into) {
        if (expression instanceof Column column) {
            into.add(column.index());
        }
        children(expression).forEach(child -> columns(child, into));
    }

    /** Whether something in it is computed of constants alone, which folding leaves only where computing it fails. */
    static boolean hasConstantCall(Expression expression) {
        Set<Integer> columns = new HashSet<>();
        columns(expression, columns);
        boolean computed = !children(expression).isEmpty();
        return computed && columns.isEmpty() || children(expression).stream().anyMatch(ExpressionWalk::hasConstantCall);
    }

    /** The arguments of nested ANDs, in order. */
    static List<Expression> conjuncts(Expression condition) {
        List<Expression> conjuncts = new ArrayList<>();
        addConjuncts(condition, conjuncts);
        return conjuncts;
    }

    private static void addConjuncts(Expression condition, List<Expression> into) {
        if (condition instanceof Call call && call.function().equals("and")) {
            call.arguments().forEach(argument -> addConjuncts(argument, into));
        } else {
            into.add(condition);
        }
    }

    static int size(Expression expression) {
        return 1 + children(expression).stream().mapToInt(ExpressionWalk::size).sum();
    }
}
