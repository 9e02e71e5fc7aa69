package dev.millrace.engine.match;

import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.Expression.Call;
import dev.millrace.plan.expression.Expression.Case;
import dev.millrace.plan.expression.Expression.Cast;
import dev.millrace.plan.expression.Expression.Column;
import java.util.List;

/** Moves an expression to other columns. */
final class Renumbering {
    private Renumbering() {}

    /** @param places the new column of each old one */
    static Expression of(Expression expression, int[] places) {
        if (expression instanceof Column column) {
            return new Column(places[column.index()], column.type(), column.nullable());
        } else if (expression instanceof Call call) {
            List<Expression> arguments = call.arguments().stream()
                    .map(argument -> of(argument, places))
                    .toList();
            return new Call(call.function(), arguments, call.type(), call.nullable());
        } else if (expression instanceof Cast cast) {
            return new Cast(of(cast.input(), places), cast.type());
        } else if (expression instanceof Case choice) {
            List<Case.Branch> branches = choice.branches().stream()
                    .map(branch -> new Case.Branch(of(branch.condition(), places), of(branch.result(), places)))
                    .toList();
            return new Case(branches, of(choice.otherwise(), places), choice.type(), choice.nullable());
        }
        return expression;
    }
}
