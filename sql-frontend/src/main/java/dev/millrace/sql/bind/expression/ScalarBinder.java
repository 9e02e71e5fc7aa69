package dev.millrace.sql.bind.expression;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.plan.expression.Expression.Literal;
import dev.millrace.sql.algebra.Rex;
import dev.millrace.sql.bind.function.BuiltInFunctions;
import dev.millrace.sql.bind.function.FunctionResolver;
import dev.millrace.sql.bind.scope.DrawNumbers;
import dev.millrace.sql.bind.scope.QueryContext;
import dev.millrace.sql.bind.scope.Scope;
import dev.millrace.sql.bind.type.Coercions;
import dev.millrace.sql.bind.type.Errors;
import dev.millrace.sql.bind.type.GivenPlaces;
import dev.millrace.sql.bind.type.TypeNames;
import dev.millrace.sql.catalog.UserFunction;
import dev.millrace.sql.syntax.TypeSpec;
import dev.millrace.type.DataType;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlNode;

/** Binds calls of scalar functions by name, but for users' own. */
final class ScalarBinder {
    private static final String NUMBERS =
            "SERIAL and IDENTITY columns are numbered, and INSERT .. RETURNING tells the numbers";

    /** Functions that give the time as it goes on. */
    static final Map<String, DataType> NOW = Map.of(
            "now", DataType.TIMESTAMPTZ,
            "current_timestamp", DataType.TIMESTAMPTZ,
            "transaction_timestamp", DataType.TIMESTAMPTZ,
            "statement_timestamp", DataType.TIMESTAMPTZ,
            "localtimestamp", DataType.TIMESTAMP,
            "current_date", DataType.DATE,
            "current_time", DataType.TIME,
            "localtime", DataType.TIME);

    private static final String ROOT = "prefix |/";

    /** What the grammar makes of operators before their operand. */
    private static final Map<String, String> PREFIX_OPERATORS =
            Map.of("prefix ~", "bit_not", "prefix @", "abs", ROOT, "sqrt", "prefix ||/", "cbrt");

    private final QueryContext context;
    private final ExpressionBinder expressions;
    private final FunctionBinder functions;

    ScalarBinder(QueryContext context, ExpressionBinder expressions, FunctionBinder functions) {
        this.context = context;
        this.expressions = expressions;
        this.functions = functions;
    }

    /** The operator is of doubles, while there is a function of exact numbers. */
    private List<RexNode> ofDoubles(List<RexNode> operands) {
        return operands.stream()
                .map(node ->
                        Coercions.type(node).isNumber() ? context.coercions().convert(node, DataType.DOUBLE) : node)
                .toList();
    }

    RexNode bind(String name, SqlCall call) {
        for (SqlNode operand : call.getOperandList()) {
            if (operand instanceof SqlIdentifier star && star.isStar() && star.names.size() == 1) {
                throw Errors.error(
                        SqlState.WRONG_OBJECT_TYPE,
                        name + "(*) specified, but " + name + " is not an aggregate function",
                        call);
            }
        }
        if (VariadicCalls.isOne(call)) {
            return new VariadicCalls(context, expressions).bind(name, call);
        }
        Optional<UserFunction> builtIn = BuiltInFunctions.findOfArray(name, call.operandCount())
                .filter(ofArray -> isArray(call.operand(0)))
                .or(() -> BuiltInFunctions.find(name, call.operandCount()));
        if (builtIn.isPresent()) {
            return functions.inlined(builtIn.get(), call.getOperandList(), call);
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
            List<RexNode> operands = expressions.bindAll(call.getOperandList());
            return context.functions().operator(prefix, name.equals(ROOT) ? ofDoubles(operands) : operands, call);
        }
        List<RexNode> arguments = expressions.bindAll(call.getOperandList());
        DataType now = NOW.get(name);
        if (now != null && arguments.size() <= (name.startsWith("current_") || name.startsWith("local") ? 1 : 0)) {
            RexNode clock = context.functions().function("now", name, List.of(), call);
            RexNode time = now.equals(DataType.TIMESTAMPTZ)
                    ? clock
                    : context.coercions().convert(clock, now);
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
                    return DrawNumbers.of(context, name, call);
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
                        ? OuterAggregates.bind(
                                context, owner.get(), outer -> outer.scalar().bind(name, call))
                        : functions.grouping(arguments, call);
            }
            default -> {}
        }
        Optional<String> canonical = FunctionResolver.canonical(name);
        if (canonical.isPresent()) {
            if (canonical.get().equals("jsonb_build_object")) {
                JsonRecordBinder.requireScalarKeys(arguments, call);
            }
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
    Optional<RexNode> session(String name, List<RexNode> arguments) {
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
        TypeSpec spec = new TypeSpec(
                new SqlIdentifier(name, call.getParserPosition()),
                TypeSpec.NONE,
                TypeSpec.NONE,
                0,
                call.getParserPosition());
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

    private static MillraceException unknownFunction(String name, List<RexNode> arguments, SqlCall call) {
        MillraceException error = FunctionResolver.doesNotExist(name, arguments, call);
        if (error.hint().isPresent()) {
            return error;
        }
        Optional<String> forms = BuiltInFunctions.forms(name).or(() -> AggregateMacros.forms(name));
        return forms.isPresent()
                ? error.withHint("it takes " + forms.get())
                : Errors.suggest(error, name, FunctionNames.all());
    }
}
