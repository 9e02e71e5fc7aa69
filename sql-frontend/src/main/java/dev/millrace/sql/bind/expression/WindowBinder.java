package dev.millrace.sql.bind.expression;

import com.google.common.collect.ImmutableList;
import dev.millrace.error.SqlState;
import dev.millrace.plan.expression.AggregateCall;
import dev.millrace.plan.expression.Frame;
import dev.millrace.plan.expression.OverCall.Function;
import dev.millrace.sql.algebra.Aggregates;
import dev.millrace.sql.algebra.OverFunction;
import dev.millrace.sql.algebra.Rex;
import dev.millrace.sql.algebra.TypeMapper;
import dev.millrace.sql.bind.function.FunctionResolver;
import dev.millrace.sql.bind.scope.AggregateCalls;
import dev.millrace.sql.bind.scope.AggregateCalls.Call;
import dev.millrace.sql.bind.scope.AggregateCalls.SortKey;
import dev.millrace.sql.bind.scope.Clause;
import dev.millrace.sql.bind.scope.QueryContext;
import dev.millrace.sql.bind.type.Coercions;
import dev.millrace.sql.bind.type.Coercions.Strength;
import dev.millrace.sql.bind.type.Errors;
import dev.millrace.sql.syntax.FromClauses;
import dev.millrace.type.DataType;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.calcite.rex.RexFieldCollation;
import org.apache.calcite.rex.RexInputRef;
import org.apache.calcite.rex.RexLiteral;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexShuttle;
import org.apache.calcite.rex.RexWindowBounds;
import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.SqlWindow;

/** Binds {@code f(...) OVER (...)} to a {@code RexOver} of an {@link OverFunction}. */
final class WindowBinder {
    private static final Map<String, Function> FUNCTIONS = Map.ofEntries(
            Map.entry("row_number", Function.ROW_NUMBER),
            Map.entry("rank", Function.RANK),
            Map.entry("dense_rank", Function.DENSE_RANK),
            Map.entry("percent_rank", Function.PERCENT_RANK),
            Map.entry("cume_dist", Function.CUME_DIST),
            Map.entry("ntile", Function.NTILE),
            Map.entry("lag", Function.LAG),
            Map.entry("lead", Function.LEAD),
            Map.entry("first_value", Function.FIRST_VALUE),
            Map.entry("last_value", Function.LAST_VALUE),
            Map.entry("nth_value", Function.NTH_VALUE),
            Map.entry("ema", Function.EMA));

    private final QueryContext context;
    private final ExpressionBinder expressions;
    private final Clause clause;

    WindowBinder(QueryContext context, ExpressionBinder expressions, Clause clause) {
        this.context = context;
        this.expressions = expressions;
        this.clause = clause;
    }

    /** Whether a function exists with OVER only. */
    static Set<String> names() {
        return FUNCTIONS.keySet();
    }

    static boolean isRanking(String name) {
        return FUNCTIONS.containsKey(name) && Aggregates.byName(name).isEmpty();
    }

    RexNode over(SqlCall call) {
        if (!clause.windows()) {
            throw Errors.error(SqlState.WINDOWING_ERROR, "window functions are not allowed in " + clause.name(), call);
        }
        // Inside, aggregates of a grouped query are allowed, further window functions are not.
        ExpressionBinder inner =
                expressions.within(new Clause("a window function", clause.aggregates(), false, clause.columns()));
        AggregateSyntax syntax = AggregateSyntax.of(call.operand(0));
        WindowSyntax window = WindowSyntax.of(call.operand(1), clause.namedWindows());
        List<RexNode> partition = new ArrayList<>();
        for (SqlNode key : window.partition()) {
            partition.add(context.coercions().decided(inner.bind(key)));
        }
        List<SortKey> ordering = new ArrayList<>();
        for (SortKey key : AggregateBinder.sortKeys(inner, window.order())) {
            ordering.add(new SortKey(context.coercions().decided(key.value()), key.descending(), key.nullsFirst()));
        }
        List<RexNode> bounds = new ArrayList<>();
        Frame frame = new FrameBinder(context, inner).bind(window, ordering, bounds);
        Window bound = new Window(frame, partition, ordering, bounds);
        if (OrderedOver.isOne(syntax)) {
            return new OrderedOver(
                            context,
                            inner,
                            syntax,
                            call,
                            (value, filter) -> over(collecting(value, filter, syntax.distinct()), false, bound))
                    .bind();
        }
        if (!FUNCTIONS.containsKey(syntax.name())
                && Aggregates.byName(syntax.name()).isEmpty()) {
            return composed(syntax, bound, call);
        }
        return over(called(syntax, inner, call), syntax.ignoreNulls(), bound);
    }

    private record Window(Frame frame, List<RexNode> partition, List<SortKey> ordering, List<RexNode> bounds) {}

    private static RexNode over(Called called, boolean ignoreNulls, Window window) {
        List<RexNode> operands = new ArrayList<>();
        called.arguments.forEach(argument -> operands.add(Guarded.by(called.filter, argument)));
        called.filter.ifPresent(operands::add);
        if (called.function.isFramed()) {
            operands.addAll(window.bounds);
        }
        ImmutableList.Builder<RexFieldCollation> collations = ImmutableList.builder();
        window.ordering.forEach(key -> collations.add(collation(key)));
        OverFunction.Spec spec = new OverFunction.Spec(
                called.function,
                called.aggregate,
                called.distinct,
                called.filter.isPresent(),
                ignoreNulls,
                called.parameter,
                called.function.isFramed() ? window.frame : Frame.ALL);
        return Rex.builder()
                .makeOver(
                        TypeMapper.relType(called.type, called.nullable),
                        new OverFunction(spec),
                        operands,
                        window.partition,
                        collations.build(),
                        RexWindowBounds.UNBOUNDED_PRECEDING,
                        RexWindowBounds.CURRENT_ROW,
                        true,
                        true,
                        false,
                        false,
                        false);
    }

    private static Called collecting(RexNode value, Optional<RexNode> filter, boolean distinct) {
        return new Called(
                Function.AGGREGATE,
                Optional.of(AggregateCall.Function.ARRAY_AGG),
                List.of(value),
                filter,
                distinct,
                0,
                DataType.array(Coercions.type(value)),
                true);
    }

    /** A column that no row has: calls that an aggregate is made of are stood in for by such, until they have their window. */
    private static final int NO_COLUMN = 1 << 14;

    /** An aggregate that is an expression over others, each of which gets the window. */
    private RexNode composed(AggregateSyntax syntax, Window window, SqlCall where) {
        FunctionNames.requireSchema(syntax.name(), where, context);
        AggregateCalls parts = new AggregateCalls(NO_COLUMN);
        Clause collecting = new Clause("a window function", Optional.of(parts), false, clause.columns());
        RexNode composed = new FunctionBinder(context, expressions, collecting)
                .aggregateByName(syntax, where)
                .orElseThrow(() -> Errors.error(
                        SqlState.WRONG_OBJECT_TYPE,
                        "OVER specified, but " + syntax.name() + " is not a window function nor an aggregate function",
                        where));
        List<RexNode> values = new ArrayList<>();
        for (Call part : parts.calls()) {
            if (!part.ordering().isEmpty() || part.function() == AggregateCall.Function.FIRST_VALUE) {
                throw Errors.error(
                                SqlState.FEATURE_NOT_SUPPORTED,
                                "OVER is not supported for " + syntax.name() + ", which orders its rows itself",
                                where)
                        .withHint("first_value(..) OVER (.. ORDER BY ..), or group by the partition's keys and join");
            }
            Called called = new Called(
                    Function.AGGREGATE,
                    Optional.of(part.function()),
                    part.arguments(),
                    part.filter(),
                    part.distinct(),
                    0,
                    part.type(),
                    part.nullable());
            values.add(over(called, false, window));
        }
        return composed.accept(new RexShuttle() {
            @Override
            public RexNode visitInputRef(RexInputRef reference) {
                return reference.getIndex() < NO_COLUMN ? reference : values.get(reference.getIndex() - NO_COLUMN);
            }
        });
    }

    private record Called(
            Function function,
            Optional<AggregateCall.Function> aggregate,
            List<RexNode> arguments,
            Optional<RexNode> filter,
            boolean distinct,
            long parameter,
            DataType type,
            boolean nullable) {
        static Called of(Function function, List<RexNode> arguments, long parameter, DataType type, boolean nullable) {
            return new Called(
                    function, Optional.empty(), arguments, Optional.empty(), false, parameter, type, nullable);
        }
    }

    private Called called(AggregateSyntax syntax, ExpressionBinder inner, SqlCall where) {
        Function function = FUNCTIONS.get(syntax.name());
        if (function == null) {
            return aggregate(syntax, inner, where);
        }
        if (syntax.filter().isPresent()) {
            throw Errors.error(
                            SqlState.FEATURE_NOT_SUPPORTED,
                            "FILTER is not implemented for non-aggregate window functions",
                            where)
                    .withHint("use CASE in its argument");
        }
        if (!syntax.ordering().isEmpty()) {
            throw Errors.error(
                            SqlState.FEATURE_NOT_SUPPORTED, "ORDER BY inside a window function is not supported", where)
                    .withHint("OVER (.. ORDER BY ..) orders the rows; of the group as a whole "
                            + "array_agg(.. ORDER BY ..) does");
        }
        if (syntax.distinct()) {
            throw Errors.error(
                            SqlState.FEATURE_NOT_SUPPORTED, "DISTINCT is not implemented for window functions", where)
                    .withHint("aggregates take DISTINCT; for the others SELECT DISTINCT in a sub-query first");
        }
        List<RexNode> arguments = inner.bindAll(syntax.arguments());
        int most = switch (function) {
            case ROW_NUMBER, RANK, DENSE_RANK, PERCENT_RANK, CUME_DIST -> 0;
            case NTILE, FIRST_VALUE, LAST_VALUE -> 1;
            case NTH_VALUE -> 2;
            case LAG, LEAD, EMA -> 3;
            case AGGREGATE -> throw new IllegalStateException("no name");
        };
        int least = function == Function.EMA ? 2 : function == Function.LAG || function == Function.LEAD ? 1 : most;
        if (arguments.size() < least || arguments.size() > most) {
            throw FunctionResolver.doesNotExist(syntax.name(), arguments, where);
        }
        boolean valued = function.isFramed() || function == Function.LAG || function == Function.LEAD;
        if (syntax.ignoreNulls() && !valued) {
            throw Errors.error(
                    SqlState.FEATURE_NOT_SUPPORTED,
                    "function " + syntax.name() + " does not accept IGNORE NULLS",
                    where);
        }
        return switch (function) {
            case ROW_NUMBER, RANK, DENSE_RANK -> Called.of(function, List.of(), 0, DataType.BIGINT, false);
            case PERCENT_RANK, CUME_DIST -> Called.of(function, List.of(), 0, DataType.DOUBLE, false);
            case NTILE ->
                Called.of(
                        function,
                        List.of(),
                        positive(
                                arguments.get(0),
                                "argument of ntile",
                                syntax.arguments().get(0)),
                        DataType.INTEGER,
                        false);
            case NTH_VALUE -> {
                long nth = positive(
                        arguments.get(1),
                        "argument of nth_value",
                        syntax.arguments().get(1));
                RexNode value = context.coercions().decided(arguments.get(0));
                yield Called.of(function, List.of(value), nth, Coercions.type(value), true);
            }
            case EMA -> {
                MovingAverage average = new MovingAverage(context, syntax, arguments);
                yield Called.of(Function.EMA, average.values(), average.parameter(), DataType.DOUBLE, true);
            }
            default -> shifted(function, syntax, arguments);
        };
    }

    /** LAG, LEAD, FIRST_VALUE and LAST_VALUE. */
    private Called shifted(Function function, AggregateSyntax syntax, List<RexNode> arguments) {
        RexNode value = context.coercions().decided(arguments.get(0));
        long offset = arguments.size() < 2
                ? function.hasParameter() ? 1 : 0
                : constant(
                        arguments.get(1),
                        "offset of " + syntax.name(),
                        syntax.arguments().get(1));
        if (arguments.size() < 3) {
            return Called.of(function, List.of(value), offset, Coercions.type(value), true);
        }
        DataType type = Coercions.common(List.of(arguments.get(0), arguments.get(2)))
                .orElseThrow(() -> Errors.error(
                        SqlState.DATATYPE_MISMATCH,
                        syntax.name() + " types " + Coercions.name(Coercions.type(arguments.get(0))) + " and "
                                + Coercions.name(Coercions.type(arguments.get(2))) + " cannot be matched",
                        syntax.arguments().get(2)));
        List<RexNode> converted = new ArrayList<>();
        converted.add(context.coercions()
                .convert(
                        arguments.get(0),
                        type,
                        Strength.IMPLICIT,
                        syntax.arguments().get(0)));
        converted.add(context.coercions()
                .convert(
                        arguments.get(2),
                        type,
                        Strength.IMPLICIT,
                        syntax.arguments().get(2)));
        return Called.of(function, converted, offset, type, true);
    }

    private long positive(RexNode node, String what, SqlNode where) {
        long value = constant(node, what, where);
        if (value <= 0) {
            throw Errors.error(
                    what.endsWith("ntile")
                            ? SqlState.INVALID_ARGUMENT_FOR_NTILE
                            : SqlState.INVALID_ARGUMENT_FOR_NTH_VALUE,
                    what + " must be greater than zero",
                    where);
        }
        return value;
    }

    private long constant(RexNode node, String what, SqlNode where) {
        RexNode value = context.coercions().convert(node, DataType.BIGINT, Strength.IMPLICIT, where);
        Optional<BigDecimal> number = Constants.number(value);
        if (number.isEmpty()) {
            throw Errors.error(SqlState.FEATURE_NOT_SUPPORTED, "the " + what + " must be a constant", where)
                    .withHint("write it as a number");
        }
        return number.get().longValueExact();
    }

    private Called aggregate(AggregateSyntax syntax, ExpressionBinder inner, SqlCall where) {
        Optional<AggregateCall.Function> function = Aggregates.byName(syntax.name());
        if (function.isEmpty()) {
            FunctionNames.requireSchema(syntax.name(), where, context);
            throw Errors.error(
                    SqlState.WRONG_OBJECT_TYPE,
                    "OVER specified, but " + syntax.name() + " is not a window function nor an aggregate function",
                    where);
        }
        Call call = new AggregateBinder(context, inner).bind(function.get(), syntax, where);
        if (!syntax.ordering().isEmpty()) {
            throw Errors.error(
                            SqlState.FEATURE_NOT_SUPPORTED,
                            "aggregate ORDER BY is not implemented for window functions",
                            where)
                    .withHint("the window's own ORDER BY orders the rows");
        }
        if (!call.ordering().isEmpty() && call.function() == AggregateCall.Function.FIRST_VALUE) {
            throw Errors.notAvailableYet(syntax.name() + " of arrays and rows with OVER", where)
                    .withHint("first_value(..) OVER (.. ORDER BY ..)");
        }
        return new Called(
                Function.AGGREGATE,
                Optional.of(call.function()),
                call.arguments(),
                call.filter(),
                call.distinct(),
                0,
                call.type(),
                call.nullable());
    }

    private static RexFieldCollation collation(SortKey key) {
        Set<SqlKind> directions = EnumSet.noneOf(SqlKind.class);
        if (key.descending()) {
            directions.add(SqlKind.DESCENDING);
        }
        directions.add(key.nullsFirst() ? SqlKind.NULLS_FIRST : SqlKind.NULLS_LAST);
        return new RexFieldCollation(key.value(), directions);
    }

    /** A window with what its name refers to. */
    record WindowSyntax(SqlNode where, List<SqlNode> partition, List<SqlNode> order, boolean groups, SqlWindow frame) {
        static WindowSyntax of(SqlNode node, List<SqlWindow> named) {
            SqlWindow window = node instanceof SqlIdentifier name ? clauseWindow(name, named) : (SqlWindow) node;
            List<SqlNode> partition = new ArrayList<>(window.getPartitionList().getList());
            List<SqlNode> order = new ArrayList<>(window.getOrderList().getList());
            boolean groups =
                    partition.removeIf(WindowSyntax::isGroupsMark) | order.removeIf(WindowSyntax::isGroupsMark);
            if (window.getRefName() == null) {
                return new WindowSyntax(node, partition, order, groups, window);
            }
            WindowSyntax base = of(clauseWindow(window.getRefName(), named), named);
            String name = window.getRefName().getSimple();
            if (!partition.isEmpty()) {
                throw Errors.error(
                        SqlState.WINDOWING_ERROR,
                        "cannot override PARTITION BY clause of window \"" + name + "\"",
                        window);
            }
            if (!order.isEmpty() && !base.order.isEmpty()) {
                throw Errors.error(
                        SqlState.WINDOWING_ERROR, "cannot override ORDER BY clause of window \"" + name + "\"", window);
            }
            if (base.frame.getLowerBound() != null) {
                throw Errors.error(
                        SqlState.WINDOWING_ERROR,
                        "cannot copy window \"" + name + "\" because it has a frame clause",
                        window);
            }
            return new WindowSyntax(node, base.partition, order.isEmpty() ? base.order : order, groups, window);
        }

        private static boolean isGroupsMark(SqlNode key) {
            return key instanceof SqlIdentifier name && name.names.equals(List.of(FromClauses.GROUPS_FRAME));
        }

        private static SqlWindow clauseWindow(SqlIdentifier name, List<SqlWindow> named) {
            return named.stream()
                    .filter(window -> window.getDeclName().getSimple().equals(name.getSimple()))
                    .findFirst()
                    .orElseThrow(() -> Errors.error(
                            SqlState.UNDEFINED_OBJECT, "window \"" + name.getSimple() + "\" does not exist", name));
        }
    }

    /** Numbers among bound expressions. */
    static final class Constants {
        private Constants() {}

        /** The number that a node is, also below casts and a sign. */
        static Optional<BigDecimal> number(RexNode node) {
            if (node instanceof RexLiteral literal) {
                return literal.isNull() || !Coercions.type(node).isNumber()
                        ? Optional.empty()
                        : Optional.ofNullable(literal.getValueAs(BigDecimal.class));
            }
            if (node instanceof org.apache.calcite.rex.RexCall call
                    && call.getOperands().size() == 1) {
                Optional<BigDecimal> operand = number(call.getOperands().get(0));
                return switch (call.getKind()) {
                    case MINUS_PREFIX -> operand.map(BigDecimal::negate);
                    case CAST -> operand;
                    default -> Optional.empty();
                };
            }
            return Optional.empty();
        }
    }
}
