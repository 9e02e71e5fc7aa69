package dev.millrace.plan.expression;

import dev.millrace.plan.expression.Expression.Call;
import dev.millrace.plan.expression.Expression.Literal;
import dev.millrace.type.DataType;
import java.util.List;
import java.util.Optional;
import java.util.function.IntFunction;

/** The place of a parameter in a plan that is kept for other values: a call that nothing computes, until they are put in. */
public final class ParameterPlace {
    private static final String FUNCTION = "$parameter";

    private ParameterPlace() {}

    /** @param number from 0 */
    public static Expression of(int number, DataType type) {
        return new Call(FUNCTION, List.of(new Literal((long) number, DataType.BIGINT)), type, true);
    }

    /** The number of the parameter whose place this is. */
    public static Optional<Integer> number(Expression expression) {
        return expression instanceof Call call && call.function().equals(FUNCTION)
                ? Optional.of(((Long) ((Literal) call.arguments().get(0)).value()).intValue())
                : Optional.empty();
    }

    /** An expression with a value in each place of a parameter; parts without any stay the objects that they are. */
    public static Expression filled(Expression expression, IntFunction<Expression> values) {
        Optional<Integer> number = number(expression);
        if (number.isPresent()) {
            return values.apply(number.get());
        } else if (expression instanceof Call call) {
            List<Expression> arguments = filled(call.arguments(), values);
            return arguments.equals(call.arguments())
                    ? call
                    : new Call(call.function(), arguments, call.type(), call.nullable());
        } else if (expression instanceof Expression.Cast cast) {
            return new Expression.Cast(filled(cast.input(), values), cast.type());
        } else if (expression instanceof Expression.Case choice) {
            List<Expression.Case.Branch> branches = choice.branches().stream()
                    .map(branch -> new Expression.Case.Branch(
                            filled(branch.condition(), values), filled(branch.result(), values)))
                    .toList();
            return new Expression.Case(branches, filled(choice.otherwise(), values), choice.type(), choice.nullable());
        }
        return expression;
    }

    /** The same of several. */
    public static List<Expression> filled(List<Expression> expressions, IntFunction<Expression> values) {
        return expressions.stream().map(each -> filled(each, values)).toList();
    }
}
