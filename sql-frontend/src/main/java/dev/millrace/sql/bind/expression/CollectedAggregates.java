package dev.millrace.sql.bind.expression;

import dev.millrace.error.SqlState;
import dev.millrace.plan.expression.AggregateCall.Function;
import dev.millrace.plan.expression.Expression.Literal;
import dev.millrace.sql.algebra.Rex;
import dev.millrace.sql.algebra.TypeMapper;
import dev.millrace.sql.bind.function.FunctionResolver;
import dev.millrace.sql.bind.scope.AggregateCalls;
import dev.millrace.sql.bind.scope.AggregateCalls.Call;
import dev.millrace.sql.bind.scope.AggregateCalls.SortKey;
import dev.millrace.sql.bind.scope.QueryContext;
import dev.millrace.sql.bind.type.Coercions;
import dev.millrace.sql.bind.type.Errors;
import dev.millrace.type.DataType;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexUtil;
import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.fun.SqlStdOperatorTable;

/**
 * Aggregates that are functions of an array of their rows' values, or of several counts.
 *
 * <pre>
 * bit_and(a)                                         array_bit_and(array_agg(a))
 * mode() WITHIN GROUP (ORDER BY a)                   (array_mode(array_agg(a ORDER BY a)))[1]
 * percentile_cont(ARRAY[f, g]) WITHIN GROUP (..)     ARRAY[percentile_cont(f) .., percentile_cont(g) ..]
 * rank(v) WITHIN GROUP (ORDER BY a)                  count(*) FILTER (WHERE a &lt; v) + 1
 * </pre>
 */
final class CollectedAggregates {
    private static final String MODE = "mode";
    private static final Map<String, String> BITS =
            Map.of("bit_and", "array_bit_and", "bit_or", "array_bit_or", "bit_xor", "array_bit_xor");

    private final QueryContext context;
    private final ExpressionBinder inner;
    private final AggregateCalls calls;
    private final AggregateSyntax syntax;
    private final SqlCall where;
    private final Optional<RexNode> filter;

    /** @param inner binds over the rows that are aggregated */
    CollectedAggregates(
            QueryContext context, ExpressionBinder inner, AggregateCalls calls, AggregateSyntax syntax, SqlCall where) {
        this.context = context;
        this.inner = inner;
        this.calls = calls;
        this.syntax = syntax;
        this.where = where;
        this.filter = syntax.filter()
                .map(condition -> context.coercions().condition(inner.bind(condition), "FILTER", condition));
    }

    static boolean contains(String name) {
        return BITS.containsKey(name) || name.equals(MODE);
    }

    static Set<String> names() {
        Set<String> names = new HashSet<>(BITS.keySet());
        names.add(MODE);
        return names;
    }

    /** Whether a window function, with WITHIN GROUP, is the place that a value would have among the rows. */
    static boolean isPlace(AggregateSyntax syntax) {
        return !syntax.ordering().isEmpty()
                && switch (syntax.name()) {
                    case "rank", "dense_rank", "percent_rank", "cume_dist" -> true;
                    default -> false;
                };
    }

    /** The fractions of a percentile that is asked for several at once. */
    static Optional<List<SqlNode>> fractions(AggregateSyntax syntax) {
        return syntax.name().startsWith("percentile_")
                        && syntax.arguments().size() == 1
                        && syntax.arguments().get(0).getKind() == SqlKind.ARRAY_VALUE_CONSTRUCTOR
                ? Optional.of(((SqlCall) syntax.arguments().get(0)).getOperandList())
                : Optional.empty();
    }

    /** Percentiles at several fractions as an array; of nothing there is none at all. */
    static RexNode ofFractions(
            List<SqlNode> fractions,
            AggregateSyntax syntax,
            java.util.function.Function<AggregateSyntax, RexNode> aggregate,
            QueryContext context,
            SqlCall where) {
        List<RexNode> values = new ArrayList<>();
        for (SqlNode fraction : fractions) {
            values.add(aggregate.apply(new AggregateSyntax(
                    syntax.name(), List.of(fraction), syntax.distinct(), syntax.filter(), syntax.ordering(), false)));
        }
        RexNode array = context.functions().operator("make_array", values, where);
        RexNode none = Rex.call("is_null", List.of(values.get(0)), DataType.BOOLEAN, false);
        DataType type = Coercions.type(array);
        return Rex.builder()
                .makeCall(
                        TypeMapper.relType(type, true),
                        SqlStdOperatorTable.CASE,
                        List.of(none, Rex.nullOf(type), array));
    }

    RexNode bind() {
        return syntax.name().equals("mode") ? mode() : bits();
    }

    private RexNode bits() {
        RexNode argument =
                syntax.arguments().size() == 1 ? inner.bind(syntax.arguments().get(0)) : Rex.text("");
        DataType type = Coercions.type(argument);
        if (!type.isInteger()) {
            throw FunctionResolver.doesNotExist(syntax.name(), inner.bindAll(syntax.arguments()), where)
                    .withHint("it takes integers");
        }
        RexNode wide = context.coercions().convert(argument, DataType.BIGINT);
        RexNode bits = context.functions()
                .operator(Objects.requireNonNull(BITS.get(syntax.name())), List.of(array(wide, List.of())), where);
        return context.coercions().convert(bits, type, Coercions.Strength.EXPLICIT, where);
    }

    /** What {@code mode() WITHIN GROUP (ORDER BY value)} orders by. */
    static SortKey keyOfMode(AggregateSyntax syntax, ExpressionBinder inner, SqlNode where) {
        if (syntax.ordering().size() != 1 || !syntax.arguments().isEmpty()) {
            throw Errors.error(
                            SqlState.WRONG_OBJECT_TYPE,
                            "WITHIN GROUP is required for ordered-set aggregate mode",
                            where)
                    .withHint("mode() WITHIN GROUP (ORDER BY value)");
        }
        return AggregateBinder.sortKeys(inner, syntax.ordering()).get(0);
    }

    private RexNode mode() {
        SortKey key = keyOfMode(syntax, inner, where);
        RexNode value = context.coercions().decided(key.value());
        RexNode array = array(value, List.of(new SortKey(value, key.descending(), key.nullsFirst())));
        RexNode mode = context.functions().operator("array_mode", List.of(array), where);
        return context.functions()
                .operator("subscript", List.of(mode, Rex.literal(new Literal(1L, DataType.INTEGER))), where);
    }

    /** The values of the rows that count, those that are not NULL. */
    private RexNode array(RexNode value, List<SortKey> order) {
        List<RexNode> conditions = new ArrayList<>(filter.stream().toList());
        if (value.getType().isNullable()) {
            conditions.add(Rex.call("is_not_null", List.of(value), DataType.BOOLEAN, false));
        }
        Optional<RexNode> condition =
                conditions.isEmpty() ? Optional.empty() : Optional.of(Rex.combine("and", conditions));
        return calls.add(new Call(
                Function.ARRAY_AGG,
                List.of(value),
                syntax.distinct(),
                condition,
                order,
                DataType.array(Coercions.type(value)),
                true,
                Optional.empty()));
    }

    /** The place that a row would have: {@code rank(v) WITHIN GROUP (ORDER BY a)}. */
    RexNode place() {
        List<SortKey> keys = AggregateBinder.sortKeys(inner, syntax.ordering());
        if (keys.size() != 1 || syntax.arguments().size() != 1) {
            throw Errors.notAvailableYet(syntax.name() + " WITHIN GROUP of several columns", where)
                    .withHint("order by ROW(..) of them, or count the rows that come before");
        }
        SortKey key = keys.get(0);
        RexNode wanted = inner.bind(syntax.arguments().get(0));
        if (!RexUtil.isConstant(wanted)) {
            calls.readsGroup(where);
        }
        List<RexNode> before = new ArrayList<>();
        before.add(context.functions().operator(key.descending() ? "gt" : "lt", List.of(key.value(), wanted), where));
        if (key.nullsFirst() && key.value().getType().isNullable()) {
            before.add(Rex.call("is_null", List.of(key.value()), DataType.BOOLEAN, false));
        }
        RexNode comesBefore = Rex.combine("or", before);
        RexNode one = Rex.literal(new Literal(1L, DataType.BIGINT));
        return switch (syntax.name()) {
            case "rank" -> plus(count(Optional.of(comesBefore), List.of()), one);
            case "dense_rank" -> {
                RexNode values = count(Optional.of(comesBefore), List.of(key.value()));
                // NULLs before all others are one more value, which count(DISTINCT ..) leaves out
                yield plus(plus(values, anyNulls(key, before)), one);
            }
            case "percent_rank" -> {
                RexNode all = real(count(Optional.empty(), List.of()));
                RexNode zero = Rex.cast(Rex.literal(new Literal(0.0, DataType.DOUBLE)), DataType.DOUBLE);
                RexNode share = context.functions()
                        .operator(
                                "divide",
                                List.of(
                                        real(count(Optional.of(comesBefore), List.of())),
                                        context.functions().function("nullif", "nullif", List.of(all, zero), where)),
                                where);
                yield context.functions().function("coalesce", "coalesce", List.of(share, zero), where);
            }
            default -> {
                RexNode same = context.functions().operator("eq", List.of(key.value(), wanted), where);
                RexNode upTo = Rex.combine("or", List.of(comesBefore, same));
                yield context.functions()
                        .operator(
                                "divide",
                                List.of(
                                        real(plus(count(Optional.of(upTo), List.of()), one)),
                                        real(plus(count(Optional.empty(), List.of()), one))),
                                where);
            }
        };
    }

    /** 1 if there are NULLs that come first, else 0. */
    private RexNode anyNulls(SortKey key, List<RexNode> before) {
        RexNode none = Rex.literal(new Literal(0L, DataType.BIGINT));
        if (before.size() < 2) {
            return none;
        }
        RexNode isNull = before.get(1);
        RexNode one = Rex.literal(new Literal(1L, DataType.BIGINT));
        RexNode nulls = count(Optional.of(isNull), List.of());
        return context.functions().function("least", "least", List.of(nulls, one), where);
    }

    private RexNode count(Optional<RexNode> condition, List<RexNode> distinct) {
        List<RexNode> conditions = new ArrayList<>(filter.stream().toList());
        condition.ifPresent(conditions::add);
        return calls.add(new Call(
                Function.COUNT,
                distinct,
                !distinct.isEmpty(),
                conditions.isEmpty() ? Optional.empty() : Optional.of(Rex.combine("and", conditions)),
                List.of(),
                DataType.BIGINT,
                false,
                Optional.empty()));
    }

    private RexNode plus(RexNode left, RexNode right) {
        return context.functions().operator("add", List.of(left, right), where);
    }

    private RexNode real(RexNode number) {
        return context.coercions().convert(number, DataType.DOUBLE);
    }
}
