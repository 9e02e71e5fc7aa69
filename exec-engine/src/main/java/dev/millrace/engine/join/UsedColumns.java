package dev.millrace.engine.join;

import dev.millrace.plan.expression.Expression;
import java.util.ArrayList;
import java.util.List;

/** The columns that an expression reads, and the expression over just those. */
final class UsedColumns {
    private final List<Integer> columns = new ArrayList<>();
    private final Expression over;

    UsedColumns(Expression expression) {
        this.over = renumber(expression);
    }

    /** The columns in the order in which {@link #over} has them. */
    List<Integer> columns() {
        return columns;
    }

    /** The expression, whose column i is {@code columns().get(i)} of the original. */
    Expression over() {
        return over;
    }

    private Expression renumber(Expression expression) {
        if (expression instanceof Expression.Column column) {
            if (!columns.contains(column.index())) {
                columns.add(column.index());
            }
            return new Expression.Column(columns.indexOf(column.index()), column.type(), column.nullable());
        }
        if (expression instanceof Expression.Call call) {
            List<Expression> arguments =
                    call.arguments().stream().map(this::renumber).toList();
            return new Expression.Call(call.function(), arguments, call.type(), call.nullable());
        }
        if (expression instanceof Expression.Case cases) {
            List<Expression.Case.Branch> branches = cases.branches().stream()
                    .map(branch -> new Expression.Case.Branch(renumber(branch.condition()), renumber(branch.result())))
                    .toList();
            return new Expression.Case(branches, renumber(cases.otherwise()), cases.type(), cases.nullable());
        }
        if (expression instanceof Expression.Cast cast) {
            return new Expression.Cast(renumber(cast.input()), cast.type());
        }
        return expression; // literals and NULLs
    }
}
