package dev.millrace.sql.bind;

import dev.millrace.error.SqlState;
import dev.millrace.plan.node.PlanNode.TableCall;
import dev.millrace.sql.algebra.ExpandRel;
import dev.millrace.sql.algebra.Rex;
import dev.millrace.sql.bind.Coercions.Strength;
import dev.millrace.sql.bind.FromBinder.From;
import dev.millrace.sql.bind.Scope.Column;
import dev.millrace.sql.catalog.UserFunction;
import dev.millrace.type.DataType;
import dev.millrace.type.DataType.Kind;
import dev.millrace.type.Field;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.calcite.rel.type.RelDataTypeField;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.SqlUnnestOperator;

/** Binds functions that give several rows: UNNEST and its like, over the rows of what stands before them in FROM. */
final class ExpandBinder {
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
            Map.entry("string_to_table", "string_to_array"),
            Map.entry("regexp_split_to_table", "regexp_split_to_array"),
            Map.entry("regexp_matches", "regexp_all_matches"),
            Map.entry("generate_subscripts", "array_subscripts"));

    /** What the parser puts behind the name of a function WITH ORDINALITY. */
    private static final String ORDINALITY = " with ordinality";

    private final QueryContext context;
    private final From left;
    private final ExpressionBinder expressions;
    private final List<RexNode> arguments = new ArrayList<>();

    /** @param outerScope of the query around; the functions see the columns of {@code left} too */
    ExpandBinder(QueryContext context, From left, Optional<Scope> outerScope) {
        this.context = context;
        this.left = left;
        Scope scope = new Scope(outerScope, left.columns(), left.rel().getRowType(), context);
        this.expressions = new ExpressionBinder(context, scope, Clause.plain("functions in FROM"));
    }

    /** The table function that an item of FROM is, without its alias and LATERAL. */
    static Optional<SqlCall> function(SqlNode item, QueryContext context) {
        SqlNode node = item;
        while (node.getKind() == SqlKind.AS || node.getKind() == SqlKind.LATERAL) {
            node = ((SqlCall) node).operand(0);
        }
        if (node.getKind() == SqlKind.UNNEST) {
            return Optional.of((SqlCall) node);
        }
        if (node.getKind() != SqlKind.COLLECTION_TABLE || !(((SqlCall) node).operand(0) instanceof SqlCall call)) {
            return Optional.empty();
        }
        return FunctionBinder.functionName(call)
                .map(ExpandBinder::withoutOrdinality)
                .filter(name -> isTableFunction(name, context))
                .map(name -> call);
    }

    private static String withoutOrdinality(String name) {
        return name.endsWith(ORDINALITY) ? name.substring(0, name.length() - ORDINALITY.length()) : name;
    }

    static boolean isTableFunction(String name, QueryContext context) {
        return UNNESTED.containsKey(name)
                || name.equals("generate_series")
                || context.catalog()
                        .userFunction(name)
                        .filter(function -> function.kind() == UserFunction.Kind.TABLE)
                        .isPresent();
    }

    static List<String> names() {
        return new ArrayList<>(UNNESTED.keySet());
    }

    /**
     * The rows beside those of the left side.
     *
     * @param item the item of FROM with its alias
     * @param outer whether rows without a partner stay
     */
    From bind(SqlCall function, SqlNode item, boolean outer) {
        String written = FunctionBinder.functionName(function).orElse("unnest");
        boolean ordinality = written.endsWith(ORDINALITY)
                || function.getOperator() instanceof SqlUnnestOperator unnest && unnest.withOrdinality;
        String name = withoutOrdinality(written);
        List<TableCall> calls = calls(name, function, outer);
        From expanded = expand(calls, ordinality, outer);
        return named(expanded, name, item, calls);
    }

    private int width() {
        return left.rel().getRowType().getFieldCount();
    }

    private From expand(List<TableCall> calls, boolean ordinality, boolean outer) {
        List<RexNode> all = new ArrayList<>(Relations.references(left.rel()));
        List<String> names = new ArrayList<>(left.rel().getRowType().getFieldNames());
        for (RexNode argument : arguments) {
            all.add(argument);
            names.add("argument");
        }
        ExpandRel rel = new ExpandRel(Relations.project(left.rel(), all, names), width(), calls, ordinality, outer);
        return new From(rel, left.columns());
    }

    private From named(From expanded, String function, SqlNode item, List<TableCall> calls) {
        Optional<SqlCall> alias = alias(item);
        String qualifier =
                alias.map(as -> ((SqlIdentifier) as.operand(1)).getSimple()).orElse(function);
        List<RelDataTypeField> fields = expanded.rel().getRowType().getFieldList();
        List<Column> columns = new ArrayList<>(expanded.columns());
        List<String> names = new ArrayList<>();
        calls.forEach(call -> call.outputs().forEach(field -> names.add(field.name())));
        boolean single = names.size() == 1 && alias.isPresent() && !UNNAMED_BY_ALIAS.contains(function);
        if (single) {
            names.set(0, qualifier); // unnest(a) AS x gives a column x
        }
        if (fields.size() > width() + names.size()) {
            names.add("ordinality");
        }
        int given = alias.map(as -> as.operandCount() - 2).orElse(0);
        if (given > names.size()) {
            throw Errors.error(
                    SqlState.INVALID_COLUMN_REFERENCE,
                    "table \"" + qualifier + "\" has " + names.size() + " columns available but " + given
                            + " columns specified",
                    item);
        }
        for (int i = 0; i < given; i++) {
            names.set(i, ((SqlIdentifier) alias.get().operand(i + 2)).getSimple());
        }
        for (int i = 0; i < names.size(); i++) {
            int index = width() + i;
            columns.add(
                    new Column(qualifier, names.get(i), index, fields.get(index).getType(), false));
        }
        return new From(expanded.rel(), columns);
    }

    /** Functions whose one column has a name of its own. */
    private static final List<String> UNNAMED_BY_ALIAS = List.of(
            "jsonb_array_elements", "jsonb_array_elements_text", "json_array_elements", "json_array_elements_text");

    private static Optional<SqlCall> alias(SqlNode item) {
        SqlNode node = item;
        while (node.getKind() == SqlKind.LATERAL) {
            node = ((SqlCall) node).operand(0);
        }
        return node.getKind() == SqlKind.AS ? Optional.of((SqlCall) node) : Optional.empty();
    }

    // ---- functions -------------------------------------------------------------------------------------------------

    private List<TableCall> calls(String name, SqlCall call, boolean outer) {
        Optional<UserFunction> user = context.catalog().userFunction(name);
        if (user.isPresent()) {
            return List.of(userTable(user.get(), call));
        }
        List<RexNode> given = expressions.bindAll(call.getOperandList());
        if (name.equals("generate_series")) {
            return List.of(series(given, call, outer));
        }
        if (name.equals("unnest")) {
            List<TableCall> calls = new ArrayList<>();
            for (int i = 0; i < given.size(); i++) {
                calls.add(unnest(name, given.get(i), call.operand(i), outer || given.size() > 1));
            }
            return calls;
        }
        String array = UNNESTED.get(name);
        if (name.equals("regexp_matches") && given.size() > 2) {
            boolean all = Coercions.unknownText(given.get(2))
                    .map(flags -> flags.contains("g"))
                    .orElse(false);
            given = all ? withoutG(given) : given;
            array = all ? array : "regexp_one_match";
        } else if (name.equals("regexp_matches")) {
            array = "regexp_one_match";
        }
        RexNode made = context.functions().function(array, name, given, call);
        return List.of(unnest(name, made, call, outer));
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
        return width() + arguments.size() - 1;
    }

    /** The elements of an array; those of an array of rows become columns. */
    private TableCall unnest(String name, RexNode array, SqlNode where, boolean nullable) {
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
        if (times && given.size() < 3 || !times && !type.isInteger() && type.kind() != Kind.NUMERIC) {
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
