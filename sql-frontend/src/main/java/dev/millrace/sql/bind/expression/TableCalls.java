package dev.millrace.sql.bind.expression;

import dev.millrace.error.SqlState;
import dev.millrace.plan.expression.Expression.Literal;
import dev.millrace.plan.node.PlanNode.TableCall;
import dev.millrace.sql.algebra.Rex;
import dev.millrace.sql.algebra.TypeMapper;
import dev.millrace.sql.bind.function.BuiltInFunctions;
import dev.millrace.sql.bind.function.FunctionResolver;
import dev.millrace.sql.bind.scope.QueryContext;
import dev.millrace.sql.bind.type.Coercions;
import dev.millrace.sql.bind.type.Coercions.Strength;
import dev.millrace.sql.bind.type.Errors;
import dev.millrace.sql.catalog.UserFunction;
import dev.millrace.type.DataType;
import dev.millrace.type.DataType.Kind;
import dev.millrace.type.Field;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.apache.calcite.rel.type.RelDataType;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlFunctionCategory;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.SqlUnresolvedFunction;
import org.apache.calcite.sql.fun.SqlStdOperatorTable;

/** Calls of functions that give several rows, and their arguments, which become columns behind those of a row. */
public final class TableCalls {
    /** Functions that a query has in FROM only: the windows, and a series of constants. */
    public static final List<String> FROM_ONLY =
            List.of("tumble", "hop", "cumulate", "session", "gap_fill", "generate_series");

    /** What the parser makes of {@code ROWS FROM (f(..), g(..))}: rows of several functions side by side. */
    static final String ROWS_FROM = "rows from";

    /** Functions that are an unnesting of an array, by the function that makes the array. */
    private static final Map<String, String> UNNESTED = Map.ofEntries(
            Map.entry("unnest", ""),
            Map.entry("jsonb_array_elements", "json_elements"),
            Map.entry("json_array_elements", "json_elements"),
            Map.entry("jsonb_array_elements_text", "json_elements_text"),
            Map.entry("json_array_elements_text", "json_elements_text"),
            Map.entry("jsonb_object_keys", "json_keys"),
            Map.entry("json_object_keys", "json_keys"),
            Map.entry("jsonb_each", "json_entries"),
            Map.entry("json_each", "json_entries"),
            Map.entry("jsonb_each_text", "json_entries_text"),
            Map.entry("json_each_text", "json_entries_text"),
            Map.entry("jsonb_path_query", "json_path_query"),
            Map.entry("jsonb_path_query_tz", "json_path_query"),
            Map.entry("string_to_table", "string_to_array"),
            Map.entry("regexp_split_to_table", "regexp_split_to_array"),
            Map.entry("regexp_matches", "regexp_all_matches"),
            Map.entry("generate_subscripts", "array_subscripts"));

    /** Of the SQL standard's schema in PostgreSQL: drivers take the columns of keys apart with it. */
    private static final String NUMBERED = "_pg_expandarray";

    /** PostgreSQL's, by which psql looks for foreign keys of what a table is a part of: as nothing is, it gives none. */
    private static final String PARTITION_ANCESTORS = "pg_partition_ancestors";

    /** Functions whose one column, if it is one, has a name of its own. */
    private static final List<String> UNNAMED_BY_ALIAS = List.of(
            "jsonb_array_elements",
            "jsonb_array_elements_text",
            "json_array_elements",
            "json_array_elements_text",
            "jsonb_populate_record",
            "json_populate_record");

    private final QueryContext context;
    private final ExpressionBinder expressions;
    private final int firstArgument;
    private final List<RexNode> arguments = new ArrayList<>();

    /** @param firstArgument the column that the first argument becomes */
    public TableCalls(QueryContext context, ExpressionBinder expressions, int firstArgument) {
        this.context = context;
        this.expressions = expressions;
        this.firstArgument = firstArgument;
    }

    public static boolean isTableFunction(String name, QueryContext context) {
        return UNNESTED.containsKey(name)
                || name.equals(ROWS_FROM)
                || name.equals("generate_series")
                || name.equals(NUMBERED)
                || name.equals(PARTITION_ANCESTORS)
                || context.catalog()
                        .userFunction(name)
                        .filter(function -> function.kind() == UserFunction.Kind.TABLE)
                        .isPresent();
    }

    /** Whether a call gives one value, which in FROM is a row: {@code FROM string_to_array('a,b', ',') AS parts}. */
    public static boolean isValue(String name, SqlCall call, QueryContext context) {
        if (FROM_ONLY.contains(name)
                || FunctionNames.isAggregate(name, context)
                || call.operandCount() == 0
                        && context.catalog().exactRelation("pg_catalog." + name).isPresent()) {
            return false;
        }
        Optional<UserFunction> user = FunctionNames.find(call, context);
        return user.isPresent()
                ? user.get().kind() == UserFunction.Kind.SQL || user.get().kind() == UserFunction.Kind.SCALAR
                : FunctionResolver.canonical(name).isPresent()
                        || SpecialCalls.NAMES.contains(name)
                        || BuiltInFunctions.find(name, call.operandCount()).isPresent()
                        || context.catalog().sessionFunction(name, List.of()).isPresent();
    }

    /** Whether the one column of a function has a name of its own, whatever the alias of its rows. */
    public static boolean keepsColumnName(String function) {
        return UNNAMED_BY_ALIAS.contains(function);
    }

    public static List<String> names() {
        return new ArrayList<>(UNNESTED.keySet());
    }

    /** The arguments of all calls made. */
    public List<RexNode> arguments() {
        return arguments;
    }

    /**
     * What is called for one function of SQL: one for each array that unnest is given.
     *
     * @param outer whether the results can be NULL because a row without any stays
     */
    public List<TableCall> calls(String name, SqlCall call, boolean outer) {
        if (!isTableFunction(name, context)) {
            return List.of(value(name, call));
        }
        Optional<UserFunction> user = FunctionNames.find(call, context);
        if (user.isPresent()) {
            return List.of(userTable(user.get(), call));
        }
        if (name.equals(ROWS_FROM)) {
            return rowsFrom(call);
        }
        List<RexNode> given = expressions.bindAll(call.getOperandList());
        if (name.equals("generate_series")) {
            return List.of(series(given, call, outer));
        }
        if (name.equals(NUMBERED) && given.size() == 1) {
            TableCall elements = unnest(name, given.get(0), call.operand(0));
            DataType element = elements.outputs().get(0).type();
            List<Field> outputs = List.of(new Field("x", element, true), new Field("n", DataType.INTEGER, true));
            return List.of(new TableCall(NUMBERED, elements.arguments(), outputs));
        }
        if (name.equals(PARTITION_ANCESTORS) && given.size() == 1) {
            List<Integer> empty = List.of(
                    argument(Rex.literal(new Literal(1L, DataType.INTEGER))),
                    argument(Rex.literal(new Literal(0L, DataType.INTEGER))));
            Field of = new Field(PARTITION_ANCESTORS, DataType.INTEGER, outer);
            return List.of(new TableCall("generate_series", empty, List.of(of)));
        }
        if (name.equals("unnest")) {
            List<TableCall> calls = new ArrayList<>();
            for (int i = 0; i < given.size(); i++) {
                calls.add(unnest(name, given.get(i), call.operand(i)));
            }
            return calls;
        }
        if (!UNNESTED.containsKey(name)) {
            throw FunctionResolver.doesNotExist(name, given, call).withHint("it takes one array");
        }
        String array = Objects.requireNonNull(UNNESTED.get(name));
        if (name.equals("regexp_matches") && given.size() > 2) {
            boolean all = Coercions.unknownText(given.get(2))
                    .map(flags -> flags.contains("g"))
                    .orElse(false);
            given = all ? withoutG(given) : given;
            array = all ? array : "regexp_one_match";
        } else if (name.equals("regexp_matches")) {
            array = "regexp_one_match";
        }
        if (array.equals("json_path_query")) {
            given = withDefaults(given, call);
        }
        RexNode made = context.functions().function(array, name, given, call);
        return List.of(unnest(name, made, call));
    }

    /** A path's variables and whether it is silent may be left out. */
    private static List<RexNode> withDefaults(List<RexNode> given, SqlCall call) {
        if (given.size() < 2 || given.size() > 4) {
            throw FunctionResolver.doesNotExist("jsonb_path_query", given, call);
        }
        List<RexNode> all = new ArrayList<>(given);
        if (all.size() < 3) {
            all.add(Rex.cast(Rex.text("{}"), DataType.JSONB));
        }
        if (all.size() < 4) {
            all.add(Rex.literal(new Literal(false, DataType.BOOLEAN)));
        }
        return all;
    }

    private TableCall value(String name, SqlCall call) {
        SqlIdentifier function = new SqlIdentifier(name, call.getParserPosition());
        RexNode value = expressions.bind(
                new SqlUnresolvedFunction(function, null, null, null, null, SqlFunctionCategory.USER_DEFINED_FUNCTION)
                        .createCall(call.getParserPosition(), call.getOperandList()));
        RelDataType array = TypeMapper.relType(DataType.array(Coercions.type(value)), false);
        RexNode one = Rex.builder().makeCall(array, SqlStdOperatorTable.ARRAY_VALUE_CONSTRUCTOR, List.of(value));
        return unnest(name, one, call);
    }

    private List<TableCall> rowsFrom(SqlCall call) {
        List<TableCall> calls = new ArrayList<>();
        for (SqlNode operand : call.getOperandList()) {
            String function =
                    operand instanceof SqlCall inner ? FunctionNames.of(inner).orElse("") : "";
            if (!(operand instanceof SqlCall inner)
                    || !isTableFunction(function, context) && !isValue(function, inner, context)) {
                throw Errors.error(SqlState.SYNTAX_ERROR, "ROWS FROM takes functions", operand);
            }
            calls.addAll(calls(function, (SqlCall) operand, true));
        }
        return calls;
    }

    private TableCall userTable(UserFunction function, SqlCall call) {
        if (call.operandCount() != function.parameters().size()) {
            throw FunctionResolver.doesNotExist(function.name(), expressions.bindAll(call.getOperandList()), call);
        }
        List<Integer> places = new ArrayList<>();
        FunctionBinder.userArguments(function, expressions, call).forEach(node -> places.add(argument(node)));
        return new TableCall(function.code(), places, function.returns().fields());
    }

    private static List<RexNode> withoutG(List<RexNode> given) {
        String flags = Coercions.unknownText(given.get(2)).orElse("").replace("g", "");
        return List.of(given.get(0), given.get(1), Rex.text(flags));
    }

    private int argument(RexNode argument) {
        arguments.add(argument);
        return firstArgument + arguments.size() - 1;
    }

    /** The elements of an array; those of an array of rows become columns. */
    private TableCall unnest(String name, RexNode array, SqlNode where) {
        DataType type = Coercions.type(array);
        if (type.kind() != Kind.ARRAY) {
            throw Errors.error(
                    SqlState.UNDEFINED_FUNCTION,
                    "function " + name + "(" + Coercions.name(type) + ") does not exist",
                    where);
        }
        DataType element = type.element();
        List<Field> outputs = element.kind() == Kind.ROW
                ? element.fields().stream()
                        .map(field -> new Field(field.name(), field.type(), true))
                        .toList()
                : List.of(new Field(UNNAMED_BY_ALIAS.contains(name) ? "value" : name, element, true));
        return new TableCall("unnest", List.of(argument(array)), outputs);
    }

    private TableCall series(List<RexNode> given, SqlCall call, boolean outer) {
        if (given.size() < 2 || given.size() > 3) {
            throw FunctionResolver.doesNotExist("generate_series", given, call)
                    .withHint("it takes a start, an end, and perhaps a step");
        }
        DataType type = Coercions.common(given.subList(0, 2)).orElse(DataType.TEXT);
        if (given.size() == 3
                && Coercions.type(given.get(2)).kind() == Kind.INTERVAL
                && given.subList(0, 2).stream().allMatch(Coercions::isUnknown)) {
            type = DataType.TIMESTAMPTZ; // which PostgreSQL prefers
        }
        boolean times = type.isTimestamp() || type.kind() == Kind.DATE;
        if (type.kind() == Kind.DATE) {
            type = DataType.TIMESTAMPTZ;
        }
        if (!times && given.size() > 2) {
            type = Coercions.common(given).orElse(type);
        }
        if (type.kind() == Kind.SMALLINT) {
            type = DataType.INTEGER;
        }
        if (times && given.size() < 3 || !times && !type.isInteger() && !type.isExact()) {
            throw FunctionResolver.doesNotExist("generate_series", given, call)
                    .withHint("between timestamps it takes a step, such as INTERVAL '1 hour'");
        }
        List<Integer> places = new ArrayList<>();
        for (int i = 0; i < given.size(); i++) {
            DataType wanted = times && i == 2 ? DataType.INTERVAL : type;
            RexNode converted = context.coercions().convert(given.get(i), wanted, Strength.ASSIGNMENT, call.operand(i));
            places.add(argument(converted));
        }
        return new TableCall("generate_series", places, List.of(new Field("generate_series", type, outer)));
    }
}
