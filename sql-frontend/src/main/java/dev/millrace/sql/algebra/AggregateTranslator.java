package dev.millrace.sql.algebra;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.plan.expression.AggregateCall;
import dev.millrace.plan.expression.AggregateCall.Function;
import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.Expression.Literal;
import dev.millrace.plan.expression.OrderKey;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.UnaryOperator;
import org.apache.calcite.rel.RelCollation;
import org.apache.calcite.rel.RelFieldCollation;
import org.apache.calcite.rel.RelFieldCollation.NullDirection;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.core.Project;
import org.apache.calcite.rex.RexUtil;
import org.apache.calcite.sql.SqlAggFunction;

/** Aggregate calls and orderings of the algebra as those of a plan. Stateless. */
public final class AggregateTranslator {
    private AggregateTranslator() {}

    /**
     * @param input the aggregate's input: constant arguments (a percentile's fraction, a delimiter) are read from the
     *     project that computes them and become parameters; columns keep their index
     * @param folder the value of an expression over constants; what it cannot evaluate it gives back
     */
    public static AggregateCall translate(
            org.apache.calcite.rel.core.AggregateCall call, RelNode input, UnaryOperator<Expression> folder) {
        Function function = function(call.getAggregation())
                .orElseThrow(() -> MillraceException.notAvailableYet(
                        call.getAggregation().getName().equals("SINGLE_VALUE")
                                ? "a scalar sub-query that may give several rows"
                                : "the aggregate " + call.getAggregation().getName()));
        List<Integer> arguments = new ArrayList<>(call.getArgList());
        List<Literal> parameters = new ArrayList<>();
        if (function == Function.STRING_AGG
                || function == Function.PERCENTILE_CONT
                || function == Function.PERCENTILE_DISC) {
            int column = arguments.remove(arguments.size() - 1);
            parameters.add(constant(input, column, function, folder));
        }
        return new AggregateCall(
                function,
                arguments,
                call.isDistinct(),
                call.hasFilter() ? OptionalInt.of(call.filterArg) : OptionalInt.empty(),
                orderKeys(call.getCollation()),
                parameters,
                TypeMapper.dataType(call.getType()));
    }

    private static Literal constant(RelNode input, int column, Function function, UnaryOperator<Expression> folder) {
        if (input instanceof Project project
                && RexUtil.isConstant(project.getProjects().get(column))
                && folder.apply(ExpressionTranslator.translate(
                                project.getProjects().get(column)))
                        instanceof Literal literal) {
            if (function != Function.STRING_AGG) {
                requireFraction(literal);
            }
            return literal;
        }
        throw MillraceException.notAvailableYet("the second argument of "
                        + function.name().toLowerCase(Locale.ROOT) + " as anything but a constant,")
                .withHint("array_to_string(array_agg(..), delimiter) takes any");
    }

    /** @throws MillraceException 22003 for what is no fraction, which a constant may be that had to be computed */
    private static void requireFraction(Literal literal) {
        if (literal.value() instanceof Double fraction && !(fraction >= 0 && fraction <= 1)) {
            throw MillraceException.user(
                    SqlState.NUMERIC_VALUE_OUT_OF_RANGE, "percentile value " + fraction + " is not between 0 and 1");
        }
    }

    /** The keys of an ordering. */
    public static List<OrderKey> orderKeys(RelCollation collation) {
        List<OrderKey> keys = new ArrayList<>();
        for (RelFieldCollation field : collation.getFieldCollations()) {
            boolean descending = field.getDirection().isDescending();
            boolean nullsFirst = field.nullDirection == NullDirection.UNSPECIFIED
                    ? descending
                    : field.nullDirection == NullDirection.FIRST;
            keys.add(new OrderKey(field.getFieldIndex(), descending, nullsFirst));
        }
        return keys;
    }

    /** The plan's function of this Calcite aggregate, if it is one. */
    public static Optional<Function> function(SqlAggFunction function) {
        return Aggregates.function(function);
    }
}
