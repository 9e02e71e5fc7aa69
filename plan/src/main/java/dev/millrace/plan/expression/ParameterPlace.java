package dev.millrace.plan.expression;

import dev.millrace.plan.expression.Expression.Call;
import dev.millrace.plan.expression.Expression.Literal;
import dev.millrace.type.DataType;
import java.util.List;
import java.util.Optional;

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
}
