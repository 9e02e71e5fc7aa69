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
import dev.millrace.sql.bind.type.Errors;
import dev.millrace.type.DataType;
import dev.millrace.type.DataType.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlNode;

/**
 * Aggregates that order their rows themselves, with OVER: functions of an array of the frame's values.
 *
 * <pre>
 * percentile_disc(f) WITHIN GROUP (ORDER BY a) OVER w   (array_disc(array_sort(array_agg(a) OVER w), f))[1]
 * percentile_cont(f) WITHIN GROUP (ORDER BY a) OVER w   array_cont(array_sort(array_agg(a) OVER w), f)
 * mode() WITHIN GROUP (ORDER BY a) OVER w               (array_mode(array_sort(array_agg(a) OVER w)))[1]
 * arg_max(a, b) OVER w                                  (array_extreme(array_agg(ROW(b, a)) OVER w, true))[1].a
 * </pre>
 *
 * NULLs are left out of the arrays, and there is none of no rows.
 */
final class OrderedOver {
    /** Makes the array of a value over the window. */
    interface Collector {
        RexNode array(RexNode value, Optional<RexNode> filter);
    }

    private static final Set<String> NAMES =
            Set.of("percentile_cont", "percentile_disc", "mode", "arg_min", "arg_max", "min_by", "max_by");

    private final QueryContext context;
    private final ExpressionBinder inner;
    private final AggregateSyntax syntax;
    private final SqlCall where;
    private final Collector window;

    OrderedOver(QueryContext context, ExpressionBinder inner, AggregateSyntax syntax, SqlCall where, Collector window) {
        this.context = context;
        this.inner = inner;
        this.syntax = syntax;
        this.where = where;
        this.window = window;
    }

    static boolean isOne(AggregateSyntax syntax) {
        return NAMES.contains(syntax.name());
    }

    RexNode bind() {
        return switch (syntax.name()) {
            case "percentile_cont", "percentile_disc" -> percentile();
            case "mode" -> mode();
            default -> byExtreme();
        };
    }

    private RexNode percentile() {
        Optional<List<SqlNode>> fractions = CollectedAggregates.fractions(syntax);
        if (fractions.isPresent()) {
            return CollectedAggregates.ofFractions(
                    fractions.get(),
                    syntax,
                    one -> new OrderedOver(context, inner, one, where, window).percentile(),
                    context,
                    where);
        }
        Function function = Aggregates.byName(syntax.name()).orElseThrow();
        Call call = new AggregateBinder(context, inner).bind(function, syntax, where);
        RexNode value = call.arguments().get(0);
        boolean between = function == Function.PERCENTILE_CONT;
        if (between && Coercions.type(value).kind() != Kind.DOUBLE) {
            throw Errors.notAvailableYet("percentile_cont of intervals with OVER", where)
                    .withHint("of extract(epoch FROM the interval)");
        }
        RexNode array = sorted(value, call.ordering().get(0).descending());
        RexNode fraction = call.arguments().get(1);
        return between ? operator("array_cont", array, fraction) : first(operator("array_disc", array, fraction));
    }

    private RexNode mode() {
        SortKey key = CollectedAggregates.keyOfMode(syntax, inner, where);
        RexNode array = sorted(context.coercions().decided(key.value()), key.descending());
        return first(context.functions().operator("array_mode", List.of(array), where));
    }

    private RexNode byExtreme() {
        if (!syntax.ordering().isEmpty()) {
            throw Errors.error(
                    SqlState.FEATURE_NOT_SUPPORTED,
                    "aggregate ORDER BY is not implemented for window functions",
                    where);
        }
        List<RexNode> arguments = inner.bindAll(syntax.arguments());
        if (arguments.size() != 2) {
            throw FunctionResolver.doesNotExist(syntax.name(), arguments, where);
        }
        RexNode value = context.coercions().decided(arguments.get(0));
        RexNode by = context.coercions().decided(arguments.get(1));
        RexNode rows = window.array(
                context.functions().operator("make_row", List.of(by, value), where), filter(List.of(by, value)));
        boolean greatest = syntax.name().equals("arg_max") || syntax.name().equals("max_by");
        RexNode flag = Rex.literal(new Literal(greatest, DataType.BOOLEAN));
        return NestedBinder.field(first(operator("array_extreme", rows, flag)), 1);
    }

    private RexNode sorted(RexNode value, boolean descending) {
        RexNode array =
                context.functions().operator("array_sort", List.of(window.array(value, filter(List.of(value)))), where);
        return descending ? context.functions().operator("array_reverse", List.of(array), where) : array;
    }

    /** What FILTER says, and that no value is NULL. */
    private Optional<RexNode> filter(List<RexNode> values) {
        List<RexNode> conditions = new ArrayList<>();
        syntax.filter()
                .map(condition -> context.coercions().condition(inner.bind(condition), "FILTER", condition))
                .ifPresent(conditions::add);
        for (RexNode value : values) {
            if (value.getType().isNullable()) {
                conditions.add(Rex.call("is_not_null", List.of(value), DataType.BOOLEAN, false));
            }
        }
        return conditions.isEmpty() ? Optional.empty() : Optional.of(Rex.combine("and", conditions));
    }

    private RexNode operator(String name, RexNode array, RexNode argument) {
        return context.functions().operator(name, List.of(array, argument), where);
    }

    private RexNode first(RexNode array) {
        return operator("subscript", array, Rex.literal(new Literal(1L, DataType.INTEGER)));
    }
}
