package dev.millrace.sql.bind.expression;

import dev.millrace.error.SqlState;
import dev.millrace.plan.expression.AggregateCall.Function;
import dev.millrace.plan.expression.Expression.Literal;
import dev.millrace.sql.algebra.Aggregates;
import dev.millrace.sql.algebra.Rex;
import dev.millrace.sql.bind.function.FunctionResolver;
import dev.millrace.sql.bind.scope.AggregateCalls.Call;
import dev.millrace.sql.bind.scope.AggregateCalls.SortKey;
import dev.millrace.sql.bind.scope.QueryContext;
import dev.millrace.sql.bind.type.Coercions;
import dev.millrace.sql.bind.type.Coercions.Strength;
import dev.millrace.sql.bind.type.Errors;
import dev.millrace.type.DataType;
import dev.millrace.type.DataType.Kind;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.calcite.rex.RexCall;
import org.apache.calcite.rex.RexLiteral;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexUtil;
import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.SqlNode;

/**
 * Binds the arguments of an aggregate and gives it its types. Percentiles have their value, which SQL writes as an
 * ordering, as first argument and the fraction as second.
 */
public final class AggregateBinder {
    private final QueryContext context;
    private final ExpressionBinder expressions;

    /** @param expressions binds over the rows that are aggregated */
    public AggregateBinder(QueryContext context, ExpressionBinder expressions) {
        this.context = context;
        this.expressions = expressions;
    }

    public Call bind(Function function, AggregateSyntax syntax, SqlCall where) {
        List<SortKey> ordering = sortKeys(expressions, syntax.ordering());
        List<RexNode> arguments = isStar(syntax.arguments()) ? List.of() : expressions.bindAll(syntax.arguments());
        if (isStar(syntax.arguments()) && function != Function.COUNT) {
            throw Errors.error(SqlState.UNDEFINED_FUNCTION, "function " + syntax.name() + "() does not exist", where);
        }
        Optional<RexNode> filter = syntax.filter()
                .map(condition -> context.coercions().condition(expressions.bind(condition), "FILTER", condition));
        boolean percentile = function == Function.PERCENTILE_CONT || function == Function.PERCENTILE_DISC;
        List<RexNode> typed = percentile
                ? percentile(function, syntax, arguments, ordering, where)
                : arguments(function, syntax, arguments, where);
        if (percentile) {
            SortKey key = ordering.get(0);
            ordering = List.of(new SortKey(typed.get(0), key.descending(), key.nullsFirst()));
        }
        if (function == Function.MIN || function == Function.MAX) {
            Optional<Call> ordered = extreme(function == Function.MIN, typed.get(0), filter);
            if (ordered.isPresent()) {
                return ordered.get();
            }
        }
        DataType type = Aggregates.resultType(function, type(typed));
        if (syntax.distinct() && function == Function.COUNT && type(typed).kind() == Kind.INTERVAL) {
            RexNode value = typed.get(0); // 1 day is 24:00:00
            typed = List.of(Rex.call(
                    "justify_interval",
                    List.of(value),
                    DataType.INTERVAL,
                    value.getType().isNullable()));
        }
        boolean nullable = function != Function.COUNT && function != Function.APPROX_COUNT_DISTINCT;
        boolean orderMatters = percentile
                || function == Function.STRING_AGG
                || function == Function.ARRAY_AGG
                || function == Function.FIRST_VALUE
                || function == Function.LAST_VALUE;
        boolean distinctMatters = function != Function.MIN
                && function != Function.MAX
                && function != Function.BOOL_AND
                && function != Function.BOOL_OR
                && function != Function.APPROX_COUNT_DISTINCT;
        return new Call(
                function,
                typed,
                syntax.distinct() && distinctMatters,
                filter,
                orderMatters ? ordering : List.of(),
                type,
                nullable,
                Optional.empty());
    }

    /** Extremes of types that the engine has no least and greatest of, as other aggregates. */
    private static Optional<Call> extreme(boolean least, RexNode value, Optional<RexNode> filter) {
        DataType type = Coercions.type(value);
        Function function = switch (type.kind()) {
            case BOOLEAN -> least ? Function.BOOL_AND : Function.BOOL_OR;
            case ARRAY, ROW -> Function.FIRST_VALUE;
            default -> Function.COUNT;
        };
        if (function == Function.COUNT) {
            return Optional.empty();
        }
        boolean ordered = function == Function.FIRST_VALUE;
        List<RexNode> conditions = new ArrayList<>(filter.stream().toList());
        if (ordered && value.getType().isNullable()) {
            conditions.add(Rex.call("is_not_null", List.of(value), DataType.BOOLEAN, false));
        }
        return Optional.of(new Call(
                function,
                List.of(value),
                false,
                conditions.isEmpty() ? Optional.empty() : Optional.of(Rex.combine("and", conditions)),
                ordered ? List.of(new SortKey(value, !least, false)) : List.of(),
                type,
                true,
                Optional.empty()));
    }

    private static DataType type(List<RexNode> arguments) {
        return arguments.isEmpty() ? DataType.NULL : Coercions.type(arguments.get(0));
    }

    private static boolean isStar(List<SqlNode> arguments) {
        return arguments.size() == 1
                && arguments.get(0) instanceof SqlIdentifier star
                && star.isStar()
                && star.names.size() == 1;
    }

    /** Keys of ORDER BY with PostgreSQL's places for NULL. */
    static List<SortKey> sortKeys(ExpressionBinder expressions, List<SqlNode> nodes) {
        List<SortKey> keys = new ArrayList<>(nodes.size());
        for (SqlNode node : nodes) {
            SortSyntax syntax = SortSyntax.of(node);
            RexNode value = expressions.bind(syntax.value());
            keys.add(new SortKey(value, syntax.descending(), syntax.nullsFirst()));
        }
        return keys;
    }

    /** An item of ORDER BY taken apart. */
    public record SortSyntax(SqlNode value, boolean descending, boolean nullsFirst) {
        public static SortSyntax of(SqlNode item) {
            SqlNode value = item;
            boolean descending = false;
            Optional<Boolean> nullsFirst = Optional.empty();
            while (value.getKind() == SqlKind.NULLS_FIRST
                    || value.getKind() == SqlKind.NULLS_LAST
                    || value.getKind() == SqlKind.DESCENDING) {
                if (value.getKind() == SqlKind.DESCENDING) {
                    descending = true;
                } else {
                    nullsFirst = Optional.of(value.getKind() == SqlKind.NULLS_FIRST);
                }
                value = ((SqlCall) value).operand(0);
            }
            return new SortSyntax(value, descending, nullsFirst.orElse(descending));
        }
    }

    private List<RexNode> arguments(Function function, AggregateSyntax syntax, List<RexNode> arguments, SqlCall where) {
        int expected = function == Function.STRING_AGG ? 2 : 1;
        boolean star = function == Function.COUNT && isStar(syntax.arguments());
        if (!star && arguments.size() != expected) {
            throw FunctionResolver.doesNotExist(syntax.name(), arguments, where);
        }
        if (star) {
            return List.of();
        }
        RexNode argument = arguments.get(0);
        DataType type = Coercions.type(argument);
        if (function == Function.SUM && type.kind() == Kind.BOOLEAN) {
            return List.of(Rex.cast(argument, DataType.INTEGER)); // as DuckDB: how many are true
        }
        Optional<DataType> wanted = switch (function) {
            case SUM, AVG -> type.isNumber() || type.kind() == Kind.INTERVAL ? Optional.of(type) : Optional.empty();
            case STDDEV_POP, STDDEV_SAMP, VAR_POP, VAR_SAMP -> type.isNumber() ? Optional.of(type) : Optional.empty();
            case MIN, MAX -> isOrdered(type) ? Optional.of(decided(type)) : Optional.empty();
            case BOOL_AND, BOOL_OR ->
                type.kind() == Kind.BOOLEAN || type.kind() == Kind.NULL
                        ? Optional.of(DataType.BOOLEAN)
                        : Optional.empty();
            case STRING_AGG ->
                Coercions.isCharacter(type) || type.kind() == Kind.NULL ? Optional.of(DataType.TEXT) : Optional.empty();
            default -> Optional.of(decided(type));
        };
        if (wanted.isEmpty()) {
            throw FunctionResolver.doesNotExist(syntax.name(), arguments, where)
                    .withHint("no aggregate " + syntax.name() + " takes " + Coercions.name(type)
                            + "; an explicit cast may help");
        }
        RexNode converted = context.coercions().convert(argument, wanted.get(), Strength.IMPLICIT, where);
        return function == Function.STRING_AGG
                ? List.of(
                        converted,
                        context.coercions().convert(arguments.get(1), DataType.TEXT, Strength.IMPLICIT, where))
                : List.of(converted);
    }

    private static DataType decided(DataType type) {
        return type.kind() == Kind.NULL ? DataType.TEXT : type;
    }

    private static boolean isOrdered(DataType type) {
        return switch (type.kind()) {
            case JSONB -> false;
            default -> true;
        };
    }

    /** Whether a constant is NULL, or computed with it. */
    private static boolean isNull(RexNode constant) {
        return constant instanceof RexLiteral literal && literal.isNull()
                || constant instanceof RexCall call
                        && (call.isA(SqlKind.CAST) || call.isA(SqlKind.BINARY_ARITHMETIC))
                        && call.getOperands().stream().anyMatch(AggregateBinder::isNull);
    }

    private List<RexNode> percentile(
            Function function, AggregateSyntax syntax, List<RexNode> arguments, List<SortKey> ordering, SqlCall where) {
        if (ordering.isEmpty()) {
            throw Errors.error(
                    SqlState.WRONG_OBJECT_TYPE,
                    "WITHIN GROUP is required for ordered-set aggregate " + syntax.name(),
                    where);
        }
        if (arguments.size() != 1 || ordering.size() != 1) {
            throw FunctionResolver.doesNotExist(syntax.name(), arguments, where);
        }
        RexNode fraction = context.coercions()
                .convert(
                        arguments.get(0),
                        DataType.DOUBLE,
                        Strength.IMPLICIT,
                        syntax.arguments().get(0));
        if (!RexUtil.isConstant(fraction)) {
            throw Errors.notAvailableYet(
                    "a percentile's fraction that is not a constant",
                    syntax.arguments().get(0));
        }
        boolean isNull = isNull(fraction);
        double value = fraction instanceof RexLiteral literal && !isNull
                ? literal.getValueAs(BigDecimal.class).doubleValue()
                : 0; // which is known when it is computed
        if (!(value >= 0 && value <= 1)) {
            throw Errors.error(
                    SqlState.NUMERIC_VALUE_OUT_OF_RANGE,
                    "percentile value " + value + " is not between 0 and 1",
                    syntax.arguments().get(0));
        }
        RexNode input = ordering.get(0).value();
        DataType type = Coercions.type(input);
        if (function == Function.PERCENTILE_CONT && type.kind() != Kind.INTERVAL) {
            if (!type.isNumber()) {
                throw Errors.error(
                                SqlState.UNDEFINED_FUNCTION,
                                "function percentile_cont(double precision, " + Coercions.name(type)
                                        + ") does not exist",
                                where)
                        .withHint(
                                "it lies between two values, of numbers and intervals; percentile_disc(0.5) takes any");
            }
            input = context.coercions().convert(input, DataType.DOUBLE);
        }
        if (isNull) { // the answer is NULL, as that of no values is
            DataType decided = Coercions.type(context.coercions().decided(input));
            return List.of(Rex.nullOf(decided), Rex.literal(new Literal(0.0, DataType.DOUBLE)));
        }
        return List.of(context.coercions().decided(input), fraction);
    }
}
