package dev.millrace.sql.bind.query;

import com.google.common.collect.ImmutableList;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.plan.expression.Expression.Literal;
import dev.millrace.plan.expression.IntervalValue;
import dev.millrace.plan.node.WindowSpec;
import dev.millrace.sql.algebra.ExpressionTranslator;
import dev.millrace.sql.algebra.Rex;
import dev.millrace.sql.algebra.TypeMapper;
import dev.millrace.sql.algebra.WindowScan;
import dev.millrace.sql.bind.expression.FunctionNames;
import dev.millrace.sql.bind.expression.TableCalls;
import dev.millrace.sql.bind.function.ForeignFunctions;
import dev.millrace.sql.bind.function.WindowArguments;
import dev.millrace.sql.bind.scope.From;
import dev.millrace.sql.bind.scope.QueryContext;
import dev.millrace.sql.bind.scope.Scope;
import dev.millrace.sql.bind.scope.Scope.Column;
import dev.millrace.sql.bind.type.Coercions;
import dev.millrace.sql.bind.type.Errors;
import dev.millrace.text.TimeZones;
import dev.millrace.type.DataType;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Stream;
import org.apache.calcite.rel.logical.LogicalValues;
import org.apache.calcite.rel.type.RelDataType;
import org.apache.calcite.rex.RexLiteral;
import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.SqlLiteral;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.SqlNodeList;
import org.apache.calcite.sql.SqlNumericLiteral;
import org.apache.calcite.sql.fun.SqlStdOperatorTable;
import org.apache.calcite.sql.type.SqlTypeName;

/** Binds functions in FROM: the windows, generate_series over constants, and {@link GapFill}. */
final class TableFunctionBinder {
    private static final int LONGEST_SERIES = 1_000;

    private final QueryContext context;
    private final FromBinder relations;

    TableFunctionBinder(QueryContext context, FromBinder relations) {
        this.context = context;
        this.relations = relations;
    }

    From bind(SqlNode node) {
        SqlCall call = (SqlCall) node;
        String name = FunctionNames.of(call).orElse(call.getOperator().getName());
        List<SqlNode> arguments = new ArrayList<>();
        for (SqlNode argument : call.getOperandList()) {
            arguments.add(
                    argument.getKind() == SqlKind.ARGUMENT_ASSIGNMENT ? ((SqlCall) argument).operand(0) : argument);
        }
        SqlIdentifier system = new SqlIdentifier(List.of("pg_catalog", name), call.getParserPosition());
        if (arguments.isEmpty()
                && context.catalog().exactRelation("pg_catalog." + name).isPresent()) {
            return relations.relation(system); // a function of PostgreSQL's without arguments is a relation here
        }
        return switch (name) {
            case "tumble", "hop", "cumulate", "session" -> window(name, WindowArguments.inOrder(name, call), call);
            case "generate_series" -> series(arguments, call);
            case "gap_fill" -> gapFill(call.getOperandList(), call);
            default ->
                throw ForeignFunctions.ours(name)
                        .map(unknownFunction(name, call)::withHint)
                        .orElseGet(() -> Errors.suggest(
                                unknownFunction(name, call),
                                name,
                                Stream.concat(TableCalls.FROM_ONLY.stream(), TableCalls.names().stream())
                                        .toList()));
        };
    }

    private From gapFill(List<SqlNode> arguments, SqlCall call) {
        if (arguments.size() < 3) {
            throw Errors.error(
                            SqlState.UNDEFINED_FUNCTION,
                            "gap_fill takes rows, their time and a step, and what becomes of columns",
                            call)
                    .withHint("GAP_FILL(rows, time, INTERVAL '1 minute', LOCF(a), INTERPOLATE(b), PARTITION_BY(c))");
        }
        List<SqlNode> partition = new ArrayList<>();
        From rows = input(arguments.get(0), partition);
        if (!partition.isEmpty()) {
            throw Errors.error(SqlState.SYNTAX_ERROR, "GAP_FILL has PARTITION_BY(columns)", partition.get(0));
        }
        Scope scope = new Scope(Optional.empty(), rows.columns(), rows.rel().getRowType(), context);
        Column time = timeColumn("gap_fill", arguments.get(1), scope);
        SqlNode input = arguments.get(0).getKind() == SqlKind.EXPLICIT_TABLE
                ? ((SqlCall) arguments.get(0)).operand(0)
                : arguments.get(0);
        SqlNode named = input instanceof SqlCall && input.getKind() != SqlKind.AS
                ? SqlStdOperatorTable.AS.createCall(
                        input.getParserPosition(), input, new SqlIdentifier("gap_fill", input.getParserPosition()))
                : input;
        return new GapFill(call, arguments, relations).bind(rows, time, interval(arguments.get(2)), named);
    }

    private static MillraceException unknownFunction(String name, SqlCall call) {
        return Errors.error(SqlState.UNDEFINED_FUNCTION, "function " + name + " in FROM does not exist", call);
    }

    // ---- windows ---------------------------------------------------------------------------------------------------

    private From window(String name, List<SqlNode> given, SqlCall call) {
        int durations = name.equals("tumble") || name.equals("session") ? 1 : 2;
        Optional<String> zone = name.equals("session") ? Optional.empty() : zone(given, 2 + durations);
        List<SqlNode> arguments = zone.isEmpty() ? given : given.subList(0, given.size() - 1);
        boolean keyDescriptor = name.equals("session") && arguments.size() == 4 && isDescriptor(arguments.get(2));
        boolean hasOffset = !name.equals("session") && arguments.size() == 3 + durations;
        if (arguments.size() != 2 + durations + (keyDescriptor || hasOffset ? 1 : 0)) {
            throw Errors.error(
                            SqlState.UNDEFINED_FUNCTION,
                            name + " takes " + (2 + durations)
                                    + (name.equals("session")
                                            ? " arguments, not "
                                            : " arguments, an offset and a time zone, not ")
                                    + given.size(),
                            call)
                    .withHint(WindowArguments.usage(name));
        }
        List<SqlNode> partition = new ArrayList<>();
        From input = input(arguments.get(0), partition);
        Scope scope = new Scope(Optional.empty(), input.columns(), input.rel().getRowType(), context);
        Column time = timeColumn(name, arguments.get(1), scope);
        if (zone.isPresent() && TypeMapper.dataType(time.type()).kind() != DataType.Kind.TIMESTAMPTZ) {
            throw Errors.error(
                            SqlState.DATATYPE_MISMATCH,
                            "windows in a time zone are of a timestamptz, but \"" + time.name()
                                    + "\" is a timestamp, which is what clocks show already",
                            arguments.get(1))
                    .withHint("leave out the zone, or give the instants: (SELECT .., " + time.name() + " AT TIME ZONE '"
                            + zone.get() + "' AS instant FROM ..)");
        }
        if (keyDescriptor) {
            partition.addAll(((SqlCall) arguments.get(2)).getOperandList());
        }
        if (!partition.isEmpty() && !name.equals("session")) {
            throw Errors.error(SqlState.SYNTAX_ERROR, "only SESSION takes PARTITION BY", partition.get(0))
                    .withHint("group by the column instead");
        }
        List<Integer> keys = new ArrayList<>();
        for (SqlNode key : partition) {
            keys.add(column(key, scope).index());
        }
        List<IntervalValue> sizes = new ArrayList<>();
        int firstDuration = 2 + (keyDescriptor ? 1 : 0);
        for (SqlNode duration : arguments.subList(firstDuration, firstDuration + durations)) {
            sizes.add(interval(duration));
        }
        Optional<IntervalValue> offset =
                hasOffset ? Optional.of(interval(arguments.get(firstDuration + durations))) : Optional.empty();
        WindowSpec window;
        try {
            window = new WindowSizes(name, sizes, offset, zone).window();
        } catch (MillraceException e) {
            throw Errors.at(
                    e.hint().isEmpty() ? e.withHint(WindowArguments.usage(name)) : e, arguments.get(firstDuration));
        }
        String qualifier =
                input.columns().isEmpty() ? name : input.columns().get(0).qualifier();
        return withWindow(window, input, time, keys, qualifier);
    }

    /** A time zone as the last argument: a text that is no interval. */
    private static Optional<String> zone(List<SqlNode> arguments, int required) {
        SqlNode last = arguments.get(arguments.size() - 1);
        if (arguments.size() <= required
                || !(last instanceof SqlLiteral literal)
                || literal.getTypeName() != SqlTypeName.CHAR) {
            return Optional.empty();
        }
        String text = literal.getValueAs(String.class);
        if (text.matches(".*[A-Za-z].*") && TimeZones.find(text).isPresent()) { // a number is an offset's seconds
            return Optional.of(text);
        }
        if (arguments.size() > required + 1 || text.matches("[A-Za-z_]+(/.*)?")) { // behind an offset, or no interval
            throw Errors.error(SqlState.INVALID_PARAMETER_VALUE, "time zone \"" + text + "\" not recognized", last);
        }
        return Optional.empty();
    }

    private From withWindow(WindowSpec window, From input, Column time, List<Integer> keys, String qualifier) {
        var rel = WindowScan.create(input.rel(), window, time.index(), keys);
        int columns = input.rel().getRowType().getFieldCount();
        // of windows of windows, the inner bounds are read before: from here on their names are those of the outer ones
        List<Column> all = new ArrayList<>(input.columns());
        all.removeIf(
                column -> column.name().equals("window_start") || column.name().equals("window_end"));
        RelDataType windowTime = rel.getRowType().getFieldList().get(columns).getType();
        all.add(new Column(qualifier, "window_start", columns, windowTime, false));
        all.add(new Column(qualifier, "window_end", columns + 1, windowTime, false));
        return new From(rel, all);
    }

    /** {@code TABLE t}, {@code t}, {@code (SELECT ...)}, each perhaps with PARTITION BY. */
    private From input(SqlNode node, List<SqlNode> partition) {
        if (node.getKind() == SqlKind.SET_SEMANTICS_TABLE) {
            SqlCall table = (SqlCall) node;
            partition.addAll(((SqlNodeList) table.operand(1)).getList());
            return input(table.operand(0), partition);
        }
        if (node.getKind() == SqlKind.EXPLICIT_TABLE) {
            return relations.bind(((SqlCall) node).operand(0));
        }
        return relations.bind(node);
    }

    private static boolean isDescriptor(SqlNode node) {
        return node instanceof SqlCall call && FunctionNames.of(call).equals(Optional.of("descriptor"));
    }

    private Column timeColumn(String name, SqlNode node, Scope scope) {
        SqlNode named = node;
        if (isDescriptor(node)) {
            SqlCall descriptor = (SqlCall) node;
            if (descriptor.operandCount() != 1) {
                throw Errors.error(SqlState.SYNTAX_ERROR, "the DESCRIPTOR of " + name + " names one time column", node);
            }
            named = descriptor.operand(0);
        }
        Column column = column(named, scope);
        DataType type = TypeMapper.dataType(column.type());
        if (!type.isTimestamp()) {
            throw Errors.error(
                    SqlState.DATATYPE_MISMATCH,
                    "the time column of " + name.toUpperCase(Locale.ROOT)
                            + " must be of type timestamp or timestamptz, but \"" + column.name() + "\" is "
                            + Coercions.name(type),
                    named);
        }
        return column;
    }

    private static Column column(SqlNode node, Scope scope) {
        if (!(node instanceof SqlIdentifier name)) {
            throw Errors.error(SqlState.SYNTAX_ERROR, "a column is expected here", node);
        }
        scope.resolve(name);
        return scope.find(name)
                .orElseThrow(() -> Errors.error(SqlState.SYNTAX_ERROR, "a column of the rows is expected here", name)
                        .withHint("select it in a sub-query: (SELECT .., window_time FROM ..)"));
    }

    private IntervalValue interval(SqlNode node) {
        try {
            var constant =
                    ExpressionTranslator.translate(relations.constant(node, DataType.INTERVAL, "a window's size"));
            if (!(constant instanceof Literal literal)) {
                throw Errors.error(
                        SqlState.INVALID_PARAMETER_VALUE, "a window's size must be a constant interval", node);
            }
            return (IntervalValue) literal.value();
        } catch (MillraceException e) {
            throw Errors.at(e, node);
        }
    }

    /** Whether a series has whole numbers as bounds, and not too many between them to be rows of the plan. */
    static boolean isShortSeries(SqlCall call) {
        List<BigDecimal> numbers = new ArrayList<>();
        for (SqlNode operand : call.getOperandList()) {
            SqlNode node = operand;
            boolean negative = node.getKind() == SqlKind.MINUS_PREFIX;
            if (negative) {
                node = ((SqlCall) node).operand(0);
            }
            if (!(node instanceof SqlNumericLiteral number) || !number.isInteger()) {
                return false;
            }
            BigDecimal value = number.bigDecimalValue();
            numbers.add(negative ? value.negate() : value);
        }
        if (numbers.size() < 2 || numbers.size() > 3) {
            return false;
        }
        BigDecimal step = numbers.size() > 2 ? numbers.get(2) : BigDecimal.ONE;
        BigDecimal distance = numbers.get(1).subtract(numbers.get(0));
        return step.signum() == 0
                || distance.abs().compareTo(step.abs().multiply(BigDecimal.valueOf(LONGEST_SERIES - 1))) < 0;
    }

    // ---- series ----------------------------------------------------------------------------------------------------

    private From series(List<SqlNode> arguments, SqlCall call) {
        if (arguments.size() < 2 || arguments.size() > 3) {
            throw Errors.error(SqlState.UNDEFINED_FUNCTION, "generate_series takes two or three arguments", call);
        }
        List<Long> bounds = new ArrayList<>();
        for (SqlNode argument : arguments) {
            var constant =
                    ExpressionTranslator.translate(relations.constant(argument, DataType.BIGINT, "generate_series"));
            if (!(constant instanceof Literal literal)) {
                throw Errors.notAvailableYet("generate_series over anything but constants", argument);
            }
            bounds.add((Long) literal.value());
        }
        long step = bounds.size() > 2 ? bounds.get(2) : 1;
        if (step == 0) {
            throw Errors.error(SqlState.INVALID_PARAMETER_VALUE, "step size cannot equal zero", call);
        }
        boolean small = bounds.stream().allMatch(bound -> bound == (long) bound.intValue());
        DataType type = small ? DataType.INTEGER : DataType.BIGINT;
        ImmutableList.Builder<ImmutableList<RexLiteral>> rows = ImmutableList.builder();
        long value = bounds.get(0);
        long last = bounds.get(1);
        int count = 0;
        for (boolean more = step > 0 ? value <= last : value >= last; more; ) {
            if (++count > LONGEST_SERIES) {
                throw Errors.notAvailableYet("generate_series of more than " + LONGEST_SERIES + " rows", call);
            }
            rows.add(ImmutableList.of((RexLiteral) Rex.literal(new Literal(value, type))));
            long next = value + step; // past the ends of the type it is on the other side
            more = step > 0 ? next > value && next <= last : next < value && next >= last;
            value = next;
        }
        RelDataType rowType = TypeMapper.factory()
                .createStructType(List.of(TypeMapper.relType(type, false)), List.of("generate_series"));
        return From.of(
                LogicalValues.create(context.cluster(), rowType, rows.build()),
                "generate_series",
                List.of("generate_series"));
    }
}
