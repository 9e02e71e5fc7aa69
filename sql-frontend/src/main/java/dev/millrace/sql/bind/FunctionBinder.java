package dev.millrace.sql.bind;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.plan.expression.AggregateCall.Function;
import dev.millrace.plan.expression.Expression.Literal;
import dev.millrace.sql.algebra.Aggregates;
import dev.millrace.sql.algebra.Rex;
import dev.millrace.sql.catalog.UserFunction;
import dev.millrace.sql.syntax.RelationNames;
import dev.millrace.sql.syntax.TypeSpec;
import dev.millrace.type.DataType;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlDynamicParam;
import org.apache.calcite.sql.SqlFunction;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.SqlLiteral;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.SqlSelectKeyword;
import org.apache.calcite.sql.fun.SqlStdOperatorTable;

/**
 * Binds calls of functions by name: scalar ones, aggregates, and calls with OVER. Long because a name means one of them only here,
 * where all are known.
 */
final class FunctionBinder {
    private static final String NUMBERS =
            "SERIAL and IDENTITY columns are numbered, and INSERT .. RETURNING tells the numbers";

    /** Functions that give the time as it goes on. */
    private static final Map<String, DataType> NOW = Map.of(
            "now", DataType.TIMESTAMPTZ,
            "current_timestamp", DataType.TIMESTAMPTZ,
            "transaction_timestamp", DataType.TIMESTAMPTZ,
            "statement_timestamp", DataType.TIMESTAMPTZ,
            "localtimestamp", DataType.TIMESTAMP,
            "current_date", DataType.DATE,
            "current_time", DataType.TIME,
            "localtime", DataType.TIME);

    /** Aggregates of JSON: what is made, of a value or of a key and a value. */
    private static final Map<String, String> JSON_AGGREGATES = Map.of(
            "jsonb_agg", "to_jsonb",
            "json_agg", "to_jsonb",
            "jsonb_object_agg", "json_members",
            "json_object_agg", "json_members");

    /** What the parser feeds operators before their operand as. */
    private static final Map<String, String> PREFIX_OPERATORS =
            Map.of("prefix ~", "bit_not", "prefix @", "abs", "prefix |/", "sqrt", "prefix ||/", "cbrt");

    private final QueryContext context;
    private final ExpressionBinder expressions;
    private final Clause clause;

    FunctionBinder(QueryContext context, ExpressionBinder expressions, Clause clause) {
        this.context = context;
        this.expressions = expressions;
        this.clause = clause;
    }

    /** The name of a called function, without its schema; 3F000 if there is no such schema. */
    static Optional<String> functionName(SqlCall call) {
        if (call.getOperator() instanceof SqlFunction function && function.getSqlIdentifier() != null) {
            RelationNames.requireSchema(function.getSqlIdentifier());
            return Optional.of(function.getSqlIdentifier()
                    .names
                    .get(function.getSqlIdentifier().names.size() - 1));
        }
        return Optional.empty();
    }

    /** A function that the catalog has: those that users made are in the schema public, ours in pg_catalog. */
    private Optional<UserFunction> userFunction(String name, SqlCall call) {
        List<String> names = ((SqlFunction) call.getOperator()).getSqlIdentifier().names;
        Optional<UserFunction> user = context.catalog().userFunction(name);
        if (names.size() == 1) {
            return user;
        }
        boolean isPublic = names.get(0).equals("public");
        Optional<UserFunction> there = user.filter(any -> context.catalog().isMadeByUser(name) == isPublic);
        if (isPublic && there.isEmpty()) {
            throw FunctionResolver.doesNotExist("public." + name, expressions.bindAll(call.getOperandList()), call);
        }
        return there;
    }

    RexNode call(SqlCall call) {
        Optional<SqlNode> macro = AggregateMacros.expand(call, context.catalog());
        if (macro.isPresent()) {
            return expressions.bind(macro.get());
        }
        switch (call.getKind()) {
            case OVER -> {
                return new WindowBinder(context, expressions, clause).over(call);
            }
            case FILTER, WITHIN_GROUP, RESPECT_NULLS, IGNORE_NULLS -> {
                AggregateSyntax syntax = AggregateSyntax.of(call);
                return aggregateByName(syntax, call).orElseGet(() -> aggregate(syntax, call));
            }
            default -> {}
        }
        String name = functionName(call)
                .orElseThrow(() -> Errors.notAvailableYet(call.getOperator().getName(), call));
        Optional<UserFunction> user = userFunction(name, call);
        if (isAggregate(name) && user.isEmpty()) {
            return aggregate(AggregateSyntax.of(call), call);
        }
        if (WindowBinder.isRanking(name)) {
            throw Errors.error(SqlState.WINDOWING_ERROR, "window function " + name + " requires an OVER clause", call);
        }
        if (TableCalls.isTableFunction(name, context)) {
            rejectQuantifier(call, name);
            return SetFunctions.call(context, expressions, clause, name, call);
        }
        if (user.isPresent()) {
            boolean constant = call.getOperandList().stream()
                    .allMatch(operand -> operand instanceof SqlLiteral || operand instanceof SqlDynamicParam);
            Optional<RexNode> told =
                    constant ? session(name, expressions.bindAll(call.getOperandList())) : Optional.empty();
            return told.isPresent() ? told.get() : user(user.get(), call);
        }
        rejectQuantifier(call, name);
        return scalar(name, call);
    }

    /** An aggregate, perhaps of a user; empty when the name is that of none. */
    Optional<RexNode> aggregateByName(AggregateSyntax syntax, SqlCall call) {
        Optional<UserFunction> user = context.catalog()
                .userFunction(syntax.name())
                .filter(function -> function.kind() == UserFunction.Kind.AGGREGATE);
        if (user.isPresent()) {
            return Optional.of(userAggregate(user.get(), syntax, call));
        }
        return isAggregate(syntax.name()) || CollectedAggregates.isPlace(syntax)
                ? Optional.of(aggregate(syntax, call))
                : Optional.empty();
    }

    /** Whether a name is that of an aggregate; users' functions hide those of the same name. */
    static boolean isAggregate(String name, QueryContext context) {
        return context.catalog()
                .userFunction(name)
                .map(function -> function.kind() == UserFunction.Kind.AGGREGATE)
                .orElseGet(() -> isAggregate(name));
    }

    /** Whether a name is that of an aggregate, or of one that is made of another. */
    static boolean isAggregate(String name) {
        return isPlainAggregate(name) || AggregateMacros.contains(name);
    }

    static boolean isPlainAggregate(String name) {
        return Aggregates.byName(name).isPresent()
                || JSON_AGGREGATES.containsKey(name)
                || CollectedAggregates.contains(name)
                || DerivedAggregates.contains(name);
    }

    // ---- users' functions ------------------------------------------------------------------------------------------

    private RexNode user(UserFunction function, SqlCall call) {
        List<SqlNode> operands = call.getOperandList();
        if (function.kind() == UserFunction.Kind.SQL) {
            return inlined(function, operands, call);
        }
        if (operands.size() != function.parameters().size()) {
            throw FunctionResolver.doesNotExist(function.name(), expressions.bindAll(operands), call)
                    .withHint("it takes " + function.parameters().size() + " arguments");
        }
        return switch (function.kind()) {
            case SQL -> inlined(function, operands, call);
            case SCALAR -> {
                rejectQuantifier(call, function.name());
                yield Rex.call(
                        Draws.code(context, function, call),
                        userArguments(function, expressions, call),
                        function.returns(),
                        true);
            }
            case AGGREGATE -> userAggregate(function, AggregateSyntax.of(call), call);
            case SQL_TABLE ->
                throw Errors.error(
                                SqlState.FEATURE_NOT_SUPPORTED,
                                "the SQL function " + function.name() + " gives rows: it belongs in FROM",
                                call)
                        .withHint("SELECT .. FROM " + function.name() + "(..)");
            case TABLE -> SetFunctions.call(context, expressions, clause, function.name(), call);
        };
    }

    private RexNode inlined(UserFunction function, List<SqlNode> operands, SqlCall call) {
        try {
            List<SqlNode> arguments = function.code().startsWith("(")
                    ? InlinedFunction.qualified(operands, expressions.scope())
                    : operands;
            RexNode bound = expressions.bind(InlinedFunction.body(function, arguments, call));
            return function.returns().kind() == DataType.Kind.NULL
                    ? bound
                    : context.coercions().convert(bound, function.returns(), Coercions.Strength.ASSIGNMENT, call);
        } catch (MillraceException e) {
            throw Errors.at(e, call);
        }
    }

    /** {@code (start, end) OVERLAPS (start, end)}, in which an end may be a duration. */
    RexNode overlaps(SqlCall call) {
        List<SqlNode> ends = new ArrayList<>();
        for (SqlNode side : call.getOperandList()) {
            if (side.getKind() != SqlKind.ROW || ((SqlCall) side).operandCount() != 2) {
                throw Errors.error(SqlState.SYNTAX_ERROR, "wrong number of parameters on a side of OVERLAPS", side);
            }
            SqlNode start = ((SqlCall) side).operand(0);
            SqlNode end = ((SqlCall) side).operand(1);
            boolean duration = Coercions.type(expressions.bind(end)).kind() == DataType.Kind.INTERVAL;
            ends.add(start);
            ends.add(duration ? SqlStdOperatorTable.PLUS.createCall(side.getParserPosition(), start, end) : end);
        }
        return inlined(BuiltInFunctions.find("overlaps", 4).orElseThrow(), ends, call);
    }

    static List<RexNode> userArguments(UserFunction function, ExpressionBinder binder, SqlCall call) {
        List<RexNode> arguments = new ArrayList<>();
        for (int i = 0; i < call.operandCount(); i++) {
            arguments.add(
                    binder.bindAs(call.operand(i), function.parameters().get(i).type()));
        }
        return arguments;
    }

    /** Its group is kept as an array of rows, which the function is called over. */
    private RexNode userAggregate(UserFunction function, AggregateSyntax syntax, SqlCall where) {
        List<SqlNode> typed = new ArrayList<>();
        for (int i = 0; i < syntax.arguments().size(); i++) {
            typed.add(InlinedFunction.cast(
                    syntax.arguments().get(i), function.parameters().get(i).type()));
        }
        SqlNode row = SqlStdOperatorTable.ROW.createCall(where.getParserPosition(), typed);
        AggregateSyntax array = new AggregateSyntax(
                "array_agg", List.of(row), syntax.distinct(), syntax.filter(), syntax.ordering(), false);
        return Rex.call(function.code(), List.of(aggregate(array, where)), function.returns(), true);
    }

    private static void rejectQuantifier(SqlCall call, String name) {
        SqlLiteral quantifier = call.getFunctionQuantifier();
        if (quantifier != null && quantifier.getValue() == SqlSelectKeyword.DISTINCT) {
            throw Errors.error(
                    SqlState.WRONG_OBJECT_TYPE,
                    "DISTINCT specified, but " + name + " is not an aggregate function",
                    call);
        }
    }

    // ---- scalar functions ------------------------------------------------------------------------------------------

    private RexNode scalar(String name, SqlCall call) {
        for (SqlNode operand : call.getOperandList()) {
            if (operand instanceof SqlIdentifier star && star.isStar() && star.names.size() == 1) {
                throw Errors.error(
                        SqlState.WRONG_OBJECT_TYPE,
                        name + "(*) specified, but " + name + " is not an aggregate function",
                        call);
            }
        }
        Optional<UserFunction> builtIn = BuiltInFunctions.findOfArray(name, call.operandCount())
                .filter(ofArray -> isArray(call.operand(0)))
                .or(() -> BuiltInFunctions.find(name, call.operandCount()));
        if (builtIn.isPresent()) {
            return inlined(builtIn.get(), call.getOperandList(), call);
        }
        Optional<RexNode> special = new SpecialCalls(context, expressions).bind(name, call);
        if (special.isPresent()) {
            return special.get();
        }
        String prefix = PREFIX_OPERATORS.get(name);
        if (prefix != null) {
            if (call.operandCount() != 1) {
                throw Errors.error(SqlState.SYNTAX_ERROR, "syntax error: operator without an operand", call);
            }
            return context.functions().operator(prefix, expressions.bindAll(call.getOperandList()), call);
        }
        List<RexNode> arguments = expressions.bindAll(call.getOperandList());
        DataType now = NOW.get(name);
        if (now != null && arguments.size() <= 1) {
            RexNode clock = context.functions().function("now", name, List.of(), call);
            RexNode time = now.equals(DataType.TIMESTAMPTZ) ? clock : Rex.cast(clock, now);
            return arguments.isEmpty()
                    ? time
                    : context.functions().operator("round_time", List.of(time, arguments.get(0)), call);
        }
        switch (name) {
            case "position" -> {
                return context.functions().function("strpos", name, reversed(arguments), call);
            }
            case "btrim from", "ltrim from", "rtrim from" -> {
                String function = name.substring(0, 5);
                return context.functions().function(function, function, reversed(arguments), call);
            }
            case "substring" -> {
                boolean similar = arguments.size() == 3
                        && (Coercions.unknownText(arguments.get(1)).isPresent()
                                || Coercions.isCharacter(Coercions.type(arguments.get(1))));
                if (similar) {
                    return context.functions().operator("substring_similar", arguments, call);
                }
                boolean pattern = arguments.size() == 2
                        && (Coercions.unknownText(arguments.get(1)).isPresent()
                                || Coercions.isCharacter(Coercions.type(arguments.get(1))));
                if (pattern) {
                    return context.functions().function("substring_regex", name, arguments, call);
                }
            }
            case "distinct on" ->
                throw Errors.error(SqlState.SYNTAX_ERROR, "DISTINCT ON is allowed right after SELECT only", call);
            case "pg_typeof" -> {
                if (arguments.size() == 1) {
                    return Rex.text(Coercions.name(Coercions.type(arguments.get(0))));
                }
            }
            case "num_nulls", "num_nonnulls" -> {
                return count(name.equals("num_nulls") ? "is_null" : "is_not_null", arguments, call);
            }
            case "random", "gen_random_uuid", "uuid_generate_v4", "clock_timestamp" -> {
                if (arguments.isEmpty()) {
                    return Draws.of(context, name, call);
                }
            }
            case "sleep_seconds" -> { // two that are written alike are two
                if (arguments.size() == 1) {
                    RexNode number = Rex.bigint(context.numberOf(call));
                    return context.functions().function(name, name, List.of(arguments.get(0), number), call);
                }
            }
            case "setseed" -> throw Errors.notAvailableYet(name + "()", call);
            case "nextval", "currval", "lastval", "setval" ->
                throw Errors.notAvailableYet(name + "()", call).withHint(NUMBERS);
            case "grouping" -> {
                Optional<Scope> owner = OuterAggregates.owner(call.getOperandList().stream(), expressions.scope());
                return owner.isPresent()
                        ? OuterAggregates.bind(context, owner.get(), outer -> outer.scalar(name, call))
                        : grouping(arguments, call);
            }
            default -> {}
        }
        Optional<String> canonical = FunctionResolver.canonical(name);
        if (canonical.isPresent()) {
            RexNode result = context.functions().function(canonical.get(), name, arguments, call);
            return GivenPlaces.of(canonical.get(), result, arguments);
        }
        Optional<RexNode> session = session(name, arguments);
        if (session.isPresent()) {
            return session.get();
        }
        return castByTypeName(name, arguments, call).orElseThrow(() -> unknownFunction(name, arguments, call));
    }

    private boolean isArray(SqlNode operand) {
        return Coercions.type(expressions.bind(operand)).kind() == DataType.Kind.ARRAY;
    }

    /** How many of the arguments are NULL, or not. */
    private RexNode count(String test, List<RexNode> arguments, SqlCall call) {
        RexNode sum = Rex.literal(new Literal(0L, DataType.INTEGER));
        for (RexNode argument : arguments) {
            RexNode tested = Rex.call(test, List.of(context.coercions().decided(argument)), DataType.BOOLEAN, false);
            sum = context.functions().operator("add", List.of(sum, Rex.cast(tested, DataType.INTEGER)), call);
        }
        return sum;
    }

    private static List<RexNode> reversed(List<RexNode> arguments) {
        return arguments.size() == 2 ? List.of(arguments.get(1), arguments.get(0)) : arguments;
    }

    /** What the server knows: {@code version()}, {@code current_user}. */
    private Optional<RexNode> session(String name, List<RexNode> arguments) {
        List<String> texts = new ArrayList<>();
        for (RexNode argument : arguments) {
            Optional<String> text = Coercions.unknownText(argument);
            if (text.isEmpty()) {
                return Optional.empty();
            }
            texts.add(text.get());
        }
        return context.catalog().sessionFunction(name, texts).map(Rex::text);
    }

    /** {@code float8(x)} is a cast. */
    private Optional<RexNode> castByTypeName(String name, List<RexNode> arguments, SqlCall call) {
        if (arguments.size() != 1) {
            return Optional.empty();
        }
        TypeSpec spec =
                new TypeSpec(new SqlIdentifier(name, call.getParserPosition()), -1, -1, 0, call.getParserPosition());
        try {
            return Optional.of(new CastBinder(context, expressions)
                    .to(
                            arguments.get(0),
                            TypeNames.resolve(spec),
                            TypeNames.isUndeclaredNumeric(spec),
                            call.operand(0)));
        } catch (MillraceException e) {
            if (e.sqlState() == SqlState.UNDEFINED_OBJECT) {
                return Optional.empty();
            }
            throw e;
        }
    }

    /** All functions that a statement can call, but for users' and those over PostgreSQL's catalog. */
    static Set<String> names() {
        Set<String> names = new TreeSet<>(FunctionResolver.names());
        names.addAll(BuiltInFunctions.names());
        names.addAll(NOW.keySet());
        names.addAll(TableCalls.names());
        names.addAll(Aggregates.names());
        names.addAll(DerivedAggregates.names());
        names.addAll(CollectedAggregates.names());
        names.addAll(JSON_AGGREGATES.keySet());
        names.addAll(AggregateMacros.names());
        names.addAll(WindowBinder.names());
        names.addAll(SpecialCalls.NAMES);
        names.addAll(List.of(
                "clock_timestamp", "gen_random_uuid", "generate_series", "grouping", "num_nonnulls", "num_nulls"));
        names.addAll(List.of("pg_typeof", "position", "random", "uuid_generate_v4"));
        return names;
    }

    /** The functions that are called by name, aggregates among them or not. */
    static Set<String> named(boolean aggregates) {
        Set<String> ofGroups = new TreeSet<>(Aggregates.names());
        ofGroups.addAll(DerivedAggregates.names());
        ofGroups.addAll(CollectedAggregates.names());
        ofGroups.addAll(JSON_AGGREGATES.keySet());
        ofGroups.addAll(AggregateMacros.names());
        if (aggregates) {
            return ofGroups;
        }
        Set<String> others = names();
        others.removeAll(ofGroups);
        return others;
    }

    private static MillraceException unknownFunction(String name, List<RexNode> arguments, SqlCall call) {
        MillraceException error = FunctionResolver.doesNotExist(name, arguments, call);
        if (error.hint().isPresent()) {
            return error;
        }
        Optional<String> forms = BuiltInFunctions.forms(name).or(() -> AggregateMacros.forms(name));
        return forms.isPresent() ? error.withHint("it takes " + forms.get()) : Errors.suggest(error, name, names());
    }

    // ---- aggregates ------------------------------------------------------------------------------------------------

    private AggregateCalls calls(SqlCall where) {
        return clause.aggregates()
                .orElseThrow(() -> Errors.error(
                        SqlState.GROUPING_ERROR,
                        clause.name().equals("an aggregate")
                                ? "aggregate function calls cannot be nested"
                                : "aggregate functions are not allowed in " + clause.name(),
                        where));
    }

    /** GROUPING(a, b): a bit per argument, set in rows of grouping sets without it. */
    private RexNode grouping(List<RexNode> arguments, SqlCall where) {
        if (arguments.isEmpty() || arguments.size() > 31) {
            throw Errors.error(
                    SqlState.SYNTAX_ERROR, "GROUPING takes 1 to 31 arguments, not " + arguments.size(), where);
        }
        return calls(where).addGrouping(arguments, where);
    }

    private RexNode aggregate(AggregateSyntax syntax, SqlCall where) {
        Optional<Scope> owner = OuterAggregates.owner(syntax.parts(), expressions.scope());
        if (owner.isPresent()) {
            return OuterAggregates.bind(context, owner.get(), outer -> outer.aggregate(syntax, where));
        }
        String json = JSON_AGGREGATES.get(syntax.name());
        if (json != null) {
            return ofJson(json, syntax, where);
        }
        Optional<List<SqlNode>> fractions = CollectedAggregates.fractions(syntax);
        if (fractions.isPresent()) {
            return CollectedAggregates.ofFractions(
                    fractions.get(), syntax, one -> aggregate(one, where), context, where);
        }
        if (CollectedAggregates.contains(syntax.name()) || CollectedAggregates.isPlace(syntax)) {
            ExpressionBinder inner = expressions.within(Clause.plain("an aggregate"));
            CollectedAggregates collected = new CollectedAggregates(context, inner, calls(where), syntax, where);
            return CollectedAggregates.isPlace(syntax) ? collected.place() : collected.bind();
        }
        if (DerivedAggregates.contains(syntax.name())) {
            ExpressionBinder inner = expressions.within(Clause.plain("an aggregate"));
            return new DerivedAggregates(context, inner, calls(where), syntax, where).bind();
        }
        Function function = Aggregates.byName(syntax.name())
                .orElseThrow(() -> Errors.error(
                        SqlState.WRONG_OBJECT_TYPE,
                        "FILTER or an order specified, but " + syntax.name() + " is not an aggregate function",
                        where));
        if (syntax.ignoreNulls()) {
            throw Errors.error(SqlState.FEATURE_NOT_SUPPORTED, "aggregate functions do not accept IGNORE NULLS", where)
                    .withHint("add FILTER (WHERE .. IS NOT NULL)");
        }
        AggregateCalls calls = calls(where);
        ExpressionBinder inner = expressions.within(Clause.plain("an aggregate"));
        return calls.add(new AggregateBinder(context, inner).bind(function, syntax, where));
    }

    /** {@code jsonb_agg(x)} is {@code to_jsonb(array_agg(x))}; an object is made of an array of its members. */
    private RexNode ofJson(String function, AggregateSyntax syntax, SqlCall where) {
        List<SqlNode> arguments = syntax.arguments();
        if (function.equals("json_members")) {
            if (arguments.size() != 2) {
                throw Errors.error(SqlState.UNDEFINED_FUNCTION, syntax.name() + " takes a key and a value", where);
            }
            arguments = List.of(SqlStdOperatorTable.ROW.createCall(where.getParserPosition(), arguments));
        }
        AggregateSyntax array = new AggregateSyntax(
                "array_agg", arguments, syntax.distinct(), syntax.filter(), syntax.ordering(), false);
        return context.functions().operator(function, List.of(aggregate(array, where)), where);
    }
}
