package dev.millrace.sql.bind.expression;

import dev.millrace.error.SqlState;
import dev.millrace.plan.expression.Expression.Literal;
import dev.millrace.sql.algebra.Rex;
import dev.millrace.sql.bind.function.FunctionResolver;
import dev.millrace.sql.bind.scope.QueryContext;
import dev.millrace.sql.bind.scope.Scope;
import dev.millrace.sql.bind.type.Coercions;
import dev.millrace.sql.bind.type.Coercions.Strength;
import dev.millrace.sql.bind.type.Errors;
import dev.millrace.type.DataType;
import dev.millrace.type.DataType.Kind;
import dev.millrace.type.Field;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.calcite.rex.RexCall;
import org.apache.calcite.rex.RexInputRef;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlLiteral;
import org.apache.calcite.sql.SqlNode;

/** Binds what makes, takes apart or searches arrays, rows and JSONB: subscripts, slices, fields, their operators. */
final class NestedBinder {
    /** Operators over JSONB by the name of their function. */
    private static final Map<String, String> JSON = Map.ofEntries(
            Map.entry("->", "json_get"),
            Map.entry("->>", "json_get_text"),
            Map.entry("#>", "json_at"),
            Map.entry("#>>", "json_at_text"),
            Map.entry("@>", "json_contains"),
            Map.entry("?", "json_has"),
            Map.entry("?|", "json_has_any"),
            Map.entry("?&", "json_has_all"),
            Map.entry("||", "json_concat"),
            Map.entry("-", "json_delete"),
            Map.entry("#-", "json_delete_path"));

    private static final Map<String, String> ARRAYS =
            Map.of("@>", "array_contains", "&&", "array_overlaps", "||", "array_cat");

    private final QueryContext context;
    private final ExpressionBinder expressions;

    NestedBinder(QueryContext context, ExpressionBinder expressions) {
        this.context = context;
        this.expressions = expressions;
    }

    // ---- operators -------------------------------------------------------------------------------------------------

    /** An infix operator if one of its operands is an array or JSONB. */
    Optional<RexNode> operator(String symbol, List<RexNode> operands, SqlNode where) {
        if (operands.size() != 2) {
            return Optional.empty();
        }
        Kind left = Coercions.type(operands.get(0)).kind();
        Kind right = Coercions.type(operands.get(1)).kind();
        if (symbol.equals("@@") || symbol.equals("@?")) {
            return Optional.of(path(symbol.equals("@?") ? "json_path_exists" : "json_path_match", operands, where));
        }
        boolean json = left == Kind.JSONB || right == Kind.JSONB && left == Kind.NULL;
        boolean arrays = left == Kind.ARRAY || right == Kind.ARRAY && !json;
        if (symbol.equals("<@") && (json || right == Kind.JSONB || arrays)) {
            return operator("@>", List.of(operands.get(1), operands.get(0)), where);
        }
        if (json && JSON.containsKey(symbol)) {
            List<RexNode> typed = symbol.equals("||") || symbol.equals("@>") ? bothJson(operands, where) : operands;
            return Optional.of(context.functions().operator(JSON.get(symbol), typed, where));
        }
        if (arrays && symbol.equals("||")) {
            return Optional.of(concatenation(operands, left, right, where));
        }
        if (arrays && ARRAYS.containsKey(symbol)) {
            return Optional.of(context.functions().operator(ARRAYS.get(symbol), operands, where));
        }
        return Optional.empty();
    }

    /** {@code json @? path} and {@code json @@ path}, which fail at nothing. */
    private RexNode path(String function, List<RexNode> operands, SqlNode where) {
        RexNode none = Rex.cast(Rex.text("{}"), DataType.JSONB);
        RexNode silent = Rex.literal(new Literal(true, DataType.BOOLEAN));
        List<RexNode> all = List.of(operands.get(0), operands.get(1), none, silent);
        return Rex.cast(context.functions().operator(function, all, where), DataType.BOOLEAN);
    }

    private List<RexNode> bothJson(List<RexNode> operands, SqlNode where) {
        return operands.stream()
                .map(node -> Coercions.isUnknown(node)
                        ? context.coercions().convert(node, DataType.JSONB, Strength.IMPLICIT, where)
                        : node)
                .toList();
    }

    /** Of two arrays, or of an array and an element; a quoted constant next to an array is an array. */
    private RexNode concatenation(List<RexNode> operands, Kind left, Kind right, SqlNode where) {
        DataType array = Coercions.type(operands.get(left == Kind.ARRAY ? 0 : 1));
        RexNode other = operands.get(left == Kind.ARRAY ? 1 : 0);
        boolean both = left == Kind.ARRAY && right == Kind.ARRAY || Coercions.isUnknown(other);
        boolean nests = both
                && array.element().kind() == Kind.ARRAY
                && !Coercions.isUnknown(other)
                && !Coercions.type(other).element().equals(array.element())
                && Coercions.type(other).equals(array.element());
        boolean isElement = left == Kind.ARRAY
                && right == Kind.ARRAY
                && Coercions.type(operands.get(1)).element().equals(array);
        boolean appends = left == Kind.ARRAY && !isElement;
        String function = both && !nests && !isElement ? "array_cat" : appends ? "array_append" : "array_prepend";
        return context.functions().operator(function, operands, where);
    }

    // ---- parts -----------------------------------------------------------------------------------------------------

    /** {@code a[i]}, {@code a[i:j]} or {@code json['key']}. */
    RexNode item(SqlCall call) {
        RexNode value = expressions.bind(call.operand(0));
        SqlNode index = call.operand(1);
        DataType type = Coercions.type(value);
        if (type.kind() == Kind.JSONB) {
            RexNode key = context.coercions().convert(expressions.bind(index), DataType.TEXT, Strength.EXPLICIT, index);
            RexNode path = context.functions().operator("make_array", List.of(key), call);
            return context.functions().operator("json_at", List.of(value, path), call); // an element by its number, too
        }
        if (type.kind() == Kind.ROW && index instanceof SqlLiteral name) {
            return field(value, name.getValueAs(String.class), call);
        }
        if (Coercions.isCharacter(type) || Coercions.unknownText(value).isPresent()) {
            return character(value, index, call);
        }
        if (type.kind() != Kind.ARRAY) {
            throw Errors.error(
                    SqlState.DATATYPE_MISMATCH,
                    "cannot subscript type " + Coercions.name(type) + " because it does not support subscripting",
                    call);
        }
        if (index instanceof SqlCall bounds && FunctionNames.of(bounds).equals(Optional.of("slice bounds"))) {
            List<RexNode> operands = new ArrayList<>(List.of(
                    value, bound(bounds.operand(0), Integer.MIN_VALUE), bound(bounds.operand(1), Integer.MAX_VALUE)));
            if (bounds.operandCount() > 2) {
                operands.add(bound(bounds.operand(2), 1));
            }
            return context.functions().operator("array_slice", operands, call);
        }
        RexNode number =
                context.coercions().convert(expressions.bind(index), DataType.INTEGER, Strength.ASSIGNMENT, index);
        return context.functions().operator("subscript", List.of(value, number), call);
    }

    /** DuckDB's {@code text[2]} and {@code text[2:-1]}. */
    private RexNode character(RexNode value, SqlNode index, SqlCall where) {
        boolean slice =
                index instanceof SqlCall bounds && FunctionNames.of(bounds).equals(Optional.of("slice bounds"));
        if (slice && ((SqlCall) index).operandCount() > 2) {
            throw Errors.notAvailableYet("a slice of a text with a step", where)
                    .withHint("string_to_array(text, NULL)[1:6:2] is the characters as an array");
        }
        RexNode from = slice ? bound(((SqlCall) index).operand(0), Integer.MIN_VALUE) : bound(index, 0);
        RexNode to = slice ? bound(((SqlCall) index).operand(1), Integer.MAX_VALUE) : from;
        return context.functions().operator("text_slice", List.of(value, from, to), where);
    }

    /** A bound that was left out is as far as can be. */
    private RexNode bound(SqlNode node, long ifMissing) {
        RexNode bound = expressions.bind(node);
        return Coercions.isUnknown(bound) && Coercions.unknownText(bound).isEmpty()
                ? Rex.literal(new Literal(ifMissing, DataType.INTEGER))
                : context.coercions().convert(bound, DataType.INTEGER, Strength.ASSIGNMENT, node);
    }

    /** {@code (row).field}. */
    RexNode dot(SqlCall call) {
        RexNode row = expressions.bind(call.operand(0));
        SqlNode name = call.operand(1);
        if (!(name instanceof SqlIdentifier field) || !field.isSimple()) {
            throw Errors.error(SqlState.SYNTAX_ERROR, "syntax error: only the name of a field follows (...).", name);
        }
        return field(row, field.getSimple(), name);
    }

    RexNode field(RexNode row, String name, SqlNode where) {
        DataType type = Coercions.type(row);
        if (type.kind() != Kind.ROW) {
            throw Errors.error(
                    SqlState.WRONG_OBJECT_TYPE,
                    "column notation ." + name + " applied to type " + Coercions.name(type)
                            + ", which is not a composite type",
                    where);
        }
        List<Field> fields = type.fields();
        for (int i = 0; i < fields.size(); i++) {
            if (fields.get(i).name().equals(name)) {
                return field(row, i);
            }
        }
        throw Errors.suggest(
                Errors.error(SqlState.UNDEFINED_COLUMN, "field \"" + name + "\" not found in " + type, where),
                name,
                fields.stream().map(Field::name).toList());
    }

    /** A field by its number from 0. */
    static RexNode field(RexNode row, int index) {
        DataType type = Coercions.type(row).fields().get(index).type();
        return Rex.call(
                "row_field", List.of(row, Rex.literal(new Literal((long) index, DataType.INTEGER))), type, true);
    }

    /** The values of {@code ROW(a, t.*)}. */
    List<RexNode> fields(SqlCall row) {
        List<RexNode> fields = new ArrayList<>();
        for (SqlNode operand : row.getOperandList()) {
            if (operand instanceof SqlIdentifier star && star.isStar()) {
                expressions.scope().star(star).forEach(column -> fields.add(column(column)));
            } else {
                fields.add(expressions.bind(operand));
            }
        }
        return fields;
    }

    /** {@code ROW(a, b)} or {@code (a, b)}. */
    RexNode row(SqlCall call) {
        List<RexNode> fields =
                fields(call).stream().map(context.coercions()::decided).toList();
        return context.functions().operator("make_row", fields, call);
    }

    private static RexNode column(Scope.Column column) {
        return new RexInputRef(column.index(), column.type());
    }

    /** Whether a row is NULL, which it is if all its fields are, or not, which it is not if none is: both may be false. */
    RexNode nullTest(String name, RexNode row) {
        List<Field> fields = Coercions.type(row).fields();
        List<RexNode> tests = new ArrayList<>();
        for (int i = 0; i < fields.size(); i++) {
            RexNode field =
                    row instanceof RexCall call && call.getOperator().getName().equals("make_row")
                            ? call.getOperands().get(i)
                            : field(row, i);
            tests.add(Rex.call(name, List.of(field), DataType.BOOLEAN, false));
        }
        return Rex.combine("and", tests);
    }

    /** The sum of an array's elements, of the type that the aggregate gives. */
    RexNode sum(List<RexNode> arguments, SqlCall where) {
        DataType type = arguments.size() == 1 ? Coercions.type(arguments.get(0)) : DataType.NULL;
        if (type.kind() != Kind.ARRAY) {
            throw FunctionResolver.doesNotExist("array_sum", arguments, where).withHint("it takes an array of numbers");
        }
        DataType element = type.element();
        if (element.isExact()) {
            DataType sum = element.kind() == Kind.BIGNUM
                    ? element
                    : DataType.numeric(DataType.MAX_NUMERIC_PRECISION, element.scale());
            return Rex.call(
                    "array_sum_numeric",
                    arguments,
                    sum,
                    arguments.get(0).getType().isNullable());
        }
        return context.functions()
                .operator(element.isInteger() ? "array_sum_whole" : "array_sum_double", arguments, where);
    }

    // ---- quantifiers -----------------------------------------------------------------------------------------------

    /** {@code value op ANY (array)} of an array that is computed. */
    RexNode quantified(String comparison, boolean some, RexNode value, RexNode array, SqlNode where) {
        if (Coercions.type(array).kind() != Kind.ARRAY) {
            throw Errors.error(SqlState.WRONG_OBJECT_TYPE, "op ANY/ALL (array) requires array on right side", where);
        }
        RexNode name = Rex.text(comparison);
        return context.functions().operator(some ? "array_any" : "array_all", List.of(name, value, array), where);
    }
}
