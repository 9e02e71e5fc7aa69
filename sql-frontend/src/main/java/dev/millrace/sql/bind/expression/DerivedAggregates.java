package dev.millrace.sql.bind.expression;

import dev.millrace.plan.expression.AggregateCall.Function;
import dev.millrace.sql.algebra.Rex;
import dev.millrace.sql.bind.function.FunctionResolver;
import dev.millrace.sql.bind.scope.AggregateCalls;
import dev.millrace.sql.bind.scope.AggregateCalls.Call;
import dev.millrace.sql.bind.scope.AggregateCalls.SortKey;
import dev.millrace.sql.bind.scope.QueryContext;
import dev.millrace.sql.bind.type.Coercions;
import dev.millrace.sql.bind.type.Coercions.Strength;
import dev.millrace.type.DataType;
import dev.millrace.type.DataType.Kind;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.sql.SqlCall;

/**
 * Aggregates that are expressions over others.
 *
 * <pre>
 * covar_pop(y, x)   (var_pop(x + y) - var_pop(x - y)) / 4     over rows where neither is NULL
 * corr(y, x)        covar_pop / sqrt(var_pop(x) * var_pop(y))
 * regr_slope(y, x)  covar_pop / var_pop(x)
 * arg_min(a, v)     first_value(a ORDER BY v, a)              over rows where neither is NULL
 * any_value(a)      min(a)
 * </pre>
 *
 * Variances are exact to 106 bits, so that covariances do not suffer from values far from zero, and retractions leave
 * nothing behind.
 */
final class DerivedAggregates {
    private static final Set<String> OF_TWO_NUMBERS = Set.of(
            "covar_pop",
            "covar_samp",
            "corr",
            "regr_count",
            "regr_avgx",
            "regr_avgy",
            "regr_sxx",
            "regr_syy",
            "regr_sxy",
            "regr_slope",
            "regr_intercept",
            "regr_r2");
    private static final String ANY_VALUE = "any_value";
    private static final Set<String> BY_EXTREME = Set.of("arg_min", "arg_max", "min_by", "max_by");

    private final QueryContext context;
    private final AggregateCalls calls;
    private final AggregateSyntax syntax;
    private final SqlCall where;
    private final List<RexNode> arguments;
    private final List<SortKey> ordering; // as written in the call
    private final Optional<RexNode> filter;

    /** @param inner binds over the rows that are aggregated */
    DerivedAggregates(
            QueryContext context, ExpressionBinder inner, AggregateCalls calls, AggregateSyntax syntax, SqlCall where) {
        this.context = context;
        this.calls = calls;
        this.syntax = syntax;
        this.where = where;
        this.ordering = AggregateBinder.sortKeys(inner, syntax.ordering());
        this.arguments = inner.bindAll(syntax.arguments());
        this.filter = syntax.filter()
                .map(condition -> context.coercions().condition(inner.bind(condition), "FILTER", condition));
    }

    static boolean contains(String name) {
        return OF_TWO_NUMBERS.contains(name) || BY_EXTREME.contains(name) || name.equals(ANY_VALUE);
    }

    static Set<String> names() {
        Set<String> names = new HashSet<>(OF_TWO_NUMBERS);
        names.addAll(BY_EXTREME);
        names.add(ANY_VALUE);
        return names;
    }

    RexNode bind() {
        int expected = syntax.name().equals("any_value") ? 1 : 2;
        if (arguments.size() != expected || syntax.distinct()) {
            throw FunctionResolver.doesNotExist(syntax.name(), arguments, where);
        }
        if (expected == 1) {
            return anyValue(context.coercions().decided(arguments.get(0)));
        }
        return BY_EXTREME.contains(syntax.name()) ? byExtreme() : ofTwoNumbers();
    }

    private RexNode anyValue(RexNode value) {
        DataType type = Coercions.type(value);
        if (!ordering.isEmpty()) {
            return call(Function.FIRST_VALUE, value, type, ordering);
        }
        return switch (type.kind()) {
            case BOOLEAN -> call(Function.BOOL_OR, value, type, List.of());
            case JSONB, ARRAY, ROW -> call(Function.FIRST_VALUE, value, type, List.of());
            default -> call(Function.MIN, value, type, List.of());
        };
    }

    private RexNode byExtreme() {
        RexNode value = context.coercions().decided(arguments.get(0));
        RexNode by = context.coercions().decided(arguments.get(1));
        boolean least = syntax.name().equals("arg_min") || syntax.name().equals("min_by");
        List<SortKey> order = new ArrayList<>();
        order.add(new SortKey(by, !least, false));
        order.addAll(ordering);
        order.add(new SortKey(value, false, false));
        return call(Function.FIRST_VALUE, value, Coercions.type(value), order);
    }

    private RexNode ofTwoNumbers() {
        RexNode y = number(arguments.get(0));
        RexNode x = number(arguments.get(1));
        return switch (syntax.name()) {
            case "regr_count" -> count();
            case "regr_avgx" -> aggregate(Function.AVG, x);
            case "regr_avgy" -> aggregate(Function.AVG, y);
            case "regr_sxx" -> times(aggregate(Function.VAR_POP, x), real(count()));
            case "regr_syy" -> times(aggregate(Function.VAR_POP, y), real(count()));
            case "regr_sxy" -> times(covariance(x, y), real(count()));
            case "covar_pop" -> covariance(x, y);
            case "covar_samp" -> over(times(covariance(x, y), real(count())), minus(real(count()), constant(1)));
            case "regr_slope" -> slope(x, y);
            case "regr_intercept" -> minus(aggregate(Function.AVG, y), times(slope(x, y), aggregate(Function.AVG, x)));
            case "regr_r2" -> determination(x, y);
            default ->
                over(covariance(x, y), root(times(aggregate(Function.VAR_POP, x), aggregate(Function.VAR_POP, y))));
        };
    }

    private RexNode slope(RexNode x, RexNode y) {
        return over(covariance(x, y), aggregate(Function.VAR_POP, x));
    }

    /** NULL where all x are one value, else 1 where all y are, else the square of the correlation. */
    private RexNode determination(RexNode x, RexNode y) {
        RexNode covariance = covariance(x, y);
        RexNode ofX = aggregate(Function.VAR_POP, x);
        RexNode ofY = aggregate(Function.VAR_POP, y);
        RexNode square = over(times(covariance, covariance), times(ofX, ofY));
        RexNode zero = constant(0);
        return Rex.builder()
                .makeCall(
                        square.getType(),
                        org.apache.calcite.sql.fun.SqlStdOperatorTable.CASE,
                        List.of(
                                operator("eq", ofX, zero),
                                Rex.nullOf(DataType.DOUBLE),
                                operator("eq", ofY, zero),
                                constant(1),
                                square));
    }

    private RexNode covariance(RexNode x, RexNode y) {
        RexNode both = aggregate(Function.VAR_POP, operator("add", x, y));
        RexNode difference = aggregate(Function.VAR_POP, minus(x, y));
        return operator("divide", minus(both, difference), constant(4));
    }

    private RexNode count() {
        return calls.add(new Call(
                Function.COUNT, List.of(), false, condition(), List.of(), DataType.BIGINT, false, Optional.empty()));
    }

    private RexNode aggregate(Function function, RexNode argument) {
        return call(function, argument, DataType.DOUBLE, List.of());
    }

    private RexNode call(Function function, RexNode argument, DataType type, List<SortKey> order) {
        return calls.add(
                new Call(function, List.of(argument), false, condition(), order, type, true, Optional.empty()));
    }

    /** No argument is NULL, and what FILTER says. */
    private Optional<RexNode> condition() {
        List<RexNode> conditions = new ArrayList<>(filter.stream().toList());
        for (RexNode argument : arguments) {
            if (argument.getType().isNullable()) {
                conditions.add(Rex.call("is_not_null", List.of(argument), DataType.BOOLEAN, false));
            }
        }
        return conditions.isEmpty() ? Optional.empty() : Optional.of(Rex.combine("and", conditions));
    }

    private RexNode number(RexNode argument) {
        DataType type = Coercions.type(argument);
        if (!type.isNumber() && type.kind() != Kind.NULL && !Coercions.isUnknown(argument)) {
            throw FunctionResolver.doesNotExist(syntax.name(), arguments, where);
        }
        return context.coercions().convert(argument, DataType.DOUBLE, Strength.IMPLICIT, where);
    }

    private RexNode real(RexNode number) {
        return context.coercions().convert(number, DataType.DOUBLE);
    }

    private static RexNode constant(long value) {
        return Rex.cast(
                Rex.literal(new dev.millrace.plan.expression.Expression.Literal((double) value, DataType.DOUBLE)),
                DataType.DOUBLE);
    }

    private RexNode operator(String name, RexNode left, RexNode right) {
        return context.functions().operator(name, List.of(left, right), where);
    }

    private RexNode minus(RexNode left, RexNode right) {
        return operator("subtract", left, right);
    }

    private RexNode times(RexNode left, RexNode right) {
        return operator("multiply", left, right);
    }

    private RexNode root(RexNode square) {
        return context.functions().function("sqrt", "sqrt", List.of(square), where);
    }

    /** A quotient, NULL where the divisor is 0. */
    private RexNode over(RexNode left, RexNode right) {
        return operator(
                "divide", left, context.functions().function("nullif", "nullif", List.of(right, constant(0)), where));
    }
}
