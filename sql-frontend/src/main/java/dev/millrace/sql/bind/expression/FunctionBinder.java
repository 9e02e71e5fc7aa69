package dev.millrace.sql.bind.expression;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.plan.expression.AggregateCall.Function;
import dev.millrace.sql.algebra.Aggregates;
import dev.millrace.sql.algebra.Rex;
import dev.millrace.sql.bind.function.BuiltInFunctions;
import dev.millrace.sql.bind.function.FunctionResolver;
import dev.millrace.sql.bind.scope.AggregateCalls;
import dev.millrace.sql.bind.scope.Clause;
import dev.millrace.sql.bind.scope.DrawNumbers;
import dev.millrace.sql.bind.scope.InlinedFunction;
import dev.millrace.sql.bind.scope.QueryContext;
import dev.millrace.sql.bind.scope.Scope;
import dev.millrace.sql.bind.type.Coercions;
import dev.millrace.sql.bind.type.Errors;
import dev.millrace.sql.catalog.RelationNames;
import dev.millrace.sql.catalog.UserFunction;
import dev.millrace.type.DataType;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlDynamicParam;
import org.apache.calcite.sql.SqlFunction;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.SqlLiteral;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.SqlSelectKeyword;
import org.apache.calcite.sql.fun.SqlStdOperatorTable;

/** Binds calls of functions by name: users' own, aggregates, and calls with OVER; others are {@link ScalarBinder}'s. */
public final class FunctionBinder {

    private final QueryContext context;
    private final ExpressionBinder expressions;
    private final Clause clause;

    FunctionBinder(QueryContext context, ExpressionBinder expressions, Clause clause) {
        this.context = context;
        this.expressions = expressions;
        this.clause = clause;
    }

    /** A function that the catalog has: those that users made are in their schemas, ours in pg_catalog. */
    private Optional<UserFunction> userFunction(String name, SqlCall call) {
        List<String> names = ((SqlFunction) call.getOperator()).getSqlIdentifier().names;
        Optional<UserFunction> user = FunctionNames.find(call, context);
        if (names.size() == 1) {
            return user;
        }
        boolean isOfUsers = !RelationNames.isOfSystem(names.get(0));
        String known = isOfUsers ? RelationNames.written(names) : name;
        Optional<UserFunction> there = user.filter(any -> context.catalog().isMadeByUser(known) == isOfUsers);
        if (isOfUsers && there.isEmpty()) {
            throw FunctionResolver.doesNotExist(known, expressions.bindAll(call.getOperandList()), call);
        }
        return there;
    }

    /** Calls that are neither of users' functions nor of aggregates. */
    ScalarBinder scalar() {
        return new ScalarBinder(context, expressions, this);
    }

    RexNode call(SqlCall call) {
        Optional<SqlNode> macro = AggregateMacros.expand(call, context.catalog());
        if (macro.isPresent()) {
            return expressions.bind(macro.get());
        }
        switch (call.getKind()) {
            case OVER -> {
                Optional<SqlNode> fill = new WindowFills(context, expressions, clause).expand(call);
                if (fill.isPresent()) {
                    return expressions.bind(fill.get());
                }
                return new WindowBinder(context, expressions, clause).over(call);
            }
            case FILTER, WITHIN_GROUP, RESPECT_NULLS, IGNORE_NULLS -> {
                AggregateSyntax syntax = AggregateSyntax.of(call);
                return aggregateByName(syntax, call).orElseGet(() -> aggregate(syntax, call));
            }
            default -> {}
        }
        String name = FunctionNames.of(call)
                .orElseThrow(() -> Errors.notAvailableYet(call.getOperator().getName(), call));
        Optional<UserFunction> user = userFunction(name, call);
        if (FunctionNames.isAggregate(name) && user.isEmpty()) {
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
                    constant ? scalar().session(name, expressions.bindAll(call.getOperandList())) : Optional.empty();
            return told.isPresent() ? told.get() : user(user.get(), call);
        }
        rejectQuantifier(call, name);
        return scalar().bind(name, call);
    }

    /** An aggregate, perhaps of a user; empty when the name is that of none. */
    Optional<RexNode> aggregateByName(AggregateSyntax syntax, SqlCall call) {
        Optional<UserFunction> user = context.catalog()
                .userFunction(syntax.name())
                .filter(function -> function.kind() == UserFunction.Kind.AGGREGATE);
        if (user.isPresent()) {
            return Optional.of(userAggregate(user.get(), syntax, call));
        }
        return FunctionNames.isAggregate(syntax.name()) || CollectedAggregates.isPlace(syntax)
                ? Optional.of(aggregate(syntax, call))
                : Optional.empty();
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
                        DrawNumbers.code(context, function, call),
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

    RexNode inlined(UserFunction function, List<SqlNode> operands, SqlCall call) {
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
    RexNode grouping(List<RexNode> arguments, SqlCall where) {
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
        String json = FunctionNames.JSON_AGGREGATES.get(syntax.name());
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
