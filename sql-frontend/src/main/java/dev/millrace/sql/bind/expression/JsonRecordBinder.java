package dev.millrace.sql.bind.expression;

import dev.millrace.error.SqlState;
import dev.millrace.plan.expression.Expression.Literal;
import dev.millrace.sql.algebra.Rex;
import dev.millrace.sql.algebra.TypeMapper;
import dev.millrace.sql.bind.function.FunctionResolver;
import dev.millrace.sql.bind.scope.QueryContext;
import dev.millrace.sql.bind.type.Coercions;
import dev.millrace.sql.bind.type.Coercions.Strength;
import dev.millrace.sql.bind.type.Errors;
import dev.millrace.type.DataType;
import dev.millrace.type.DataType.Kind;
import dev.millrace.type.Field;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexUtil;
import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.fun.SqlStdOperatorTable;

/**
 * Binds what makes values of SQL's types from JSON.
 *
 * <pre>
 * jsonb_populate_record(r, j)      ROW(CASE WHEN j ? 'a' THEN (j -&gt;&gt; 'a')::int ELSE (r).a END, ..)
 * </pre>
 *
 * Texts become values as casts have them, JSON's null is NULL, arrays and objects become arrays and rows. What has no key in an object
 * keeps the value that it has in {@code r}.
 */
final class JsonRecordBinder {
    /** What the grammar makes of a value that jsonb_to_record casts to the type of a column. */
    static final String VALUE = "json value";

    private final QueryContext context;
    private final ExpressionBinder expressions;

    JsonRecordBinder(QueryContext context, ExpressionBinder expressions) {
        this.context = context;
        this.expressions = expressions;
    }

    /** Of the arguments of jsonb_build_object every other one is a key. */
    static void requireScalarKeys(List<RexNode> arguments, SqlNode where) {
        for (int i = 0; i < arguments.size(); i += 2) {
            Kind kind = Coercions.type(arguments.get(i)).kind();
            if (kind == Kind.ARRAY || kind == Kind.ROW || kind == Kind.JSONB) {
                throw Errors.error(
                        SqlState.INVALID_PARAMETER_VALUE,
                        "key value must be scalar, not array, composite, or json",
                        where);
            }
        }
    }

    /** {@code jsonb_populate_record(row, json)}. */
    RexNode populate(String name, SqlCall call) {
        List<RexNode> given = expressions.bindAll(call.getOperandList());
        if (given.size() != 2) {
            throw FunctionResolver.doesNotExist(name, given, call).withHint("it takes a row and JSON");
        }
        RexNode row = given.get(0);
        DataType type = Coercions.type(row);
        if (Coercions.isUnknown(row)) {
            throw Errors.error(
                            SqlState.FEATURE_NOT_SUPPORTED, "could not determine row type for result of " + name, call)
                    .withHint("NULL::t has the columns of the table t, NULL::ROW(a INT, b TEXT) those that it says");
        } else if (type.kind() != Kind.ROW) {
            throw Errors.error(SqlState.DATATYPE_MISMATCH, "first argument of " + name + " must be a row type", call);
        }
        RexNode json = context.coercions().convert(given.get(1), DataType.JSONB, Strength.IMPLICIT, call.operand(1));
        RexNode object = object(json, name, call);
        Optional<RexNode> base = Optional.of(row).filter(value -> !RexUtil.isNullLiteral(value, true));
        return choice(test("is_null", json), row, record(object, type, base, call));
    }

    /** The JSON of what the grammar made of a value for a column. */
    Optional<RexNode> givenValue(SqlNode node) {
        return node instanceof SqlCall call
                        && FunctionNames.of(call).filter(VALUE::equals).isPresent()
                ? Optional.of(expressions.bind(call.operand(0)))
                : Optional.empty();
    }

    /** Whether values of a type are not made of a text. */
    static boolean isOfParts(DataType type) {
        return type.kind() == Kind.JSONB || type.kind() == Kind.ARRAY || type.kind() == Kind.ROW;
    }

    /** A value of JSON as a value of a type. */
    RexNode value(RexNode json, DataType type, SqlNode where) {
        return switch (type.kind()) {
            case JSONB -> choice(isOfKind(json, "null", where), Rex.nullOf(type), json);
            case ARRAY -> array(json, type, where);
            case ROW -> {
                RexNode object = object(json, "populate_composite", where);
                RexNode made = choice(
                        isOfKind(json, "null", where), Rex.nullOf(type), record(object, type, Optional.empty(), where));
                yield choice(isOfKind(json, "string", where), converted(text(json, where), type, where), made);
            }
            default -> converted(text(json, where), type, where);
        };
    }

    private RexNode array(RexNode json, DataType type, SqlNode where) {
        DataType element = type.element();
        int dimensions = 1;
        for (; element.kind() == Kind.ARRAY; dimensions++) {
            element = element.element();
        }
        if (element.kind() == Kind.ROW) {
            throw Errors.notAvailableYet("an array of rows made of JSON", where)
                    .withHint("jsonb_to_recordset(j) AS r(a INTEGER, b TEXT) has a row for each element");
        }
        RexNode depth = Rex.literal(new Literal((long) dimensions, DataType.INTEGER));
        RexNode ofJson = Rex.literal(new Literal(element.kind() == Kind.JSONB, DataType.BOOLEAN));
        return converted(operator("json_array_text", where, json, depth, ofJson), type, where);
    }

    private RexNode record(RexNode object, DataType type, Optional<RexNode> base, SqlNode where) {
        List<RexNode> values = new ArrayList<>();
        List<Field> fields = type.fields();
        for (int i = 0; i < fields.size(); i++) {
            RexNode key = Rex.text(fields.get(i).name());
            RexNode value = value(
                    operator("json_get", where, object, key), fields.get(i).type(), where);
            values.add(
                    base.isEmpty()
                            ? value
                            : choice(
                                    operator("json_has", where, object, key),
                                    value,
                                    NestedBinder.field(base.get(), i)));
        }
        return Rex.call("make_row", values, type, false);
    }

    private RexNode object(RexNode json, String function, SqlNode where) {
        return operator("json_object_only", where, json, Rex.text(function));
    }

    /** The text of a value, NULL of JSON's null. */
    RexNode text(RexNode json, SqlNode where) {
        RexNode whole = context.coercions().convert(Rex.unknown("{}"), DataType.array(DataType.TEXT));
        return operator("json_at_text", where, json, whole);
    }

    private RexNode converted(RexNode text, DataType type, SqlNode where) {
        return context.coercions().convert(text, type, Strength.EXPLICIT, where);
    }

    private RexNode isOfKind(RexNode json, String kind, SqlNode where) {
        return operator("eq", where, operator("jsonb_typeof", where, json), Rex.text(kind));
    }

    private RexNode operator(String name, SqlNode where, RexNode... operands) {
        return context.functions().operator(name, List.of(operands), where);
    }

    private static RexNode test(String name, RexNode value) {
        return Rex.call(name, List.of(value), DataType.BOOLEAN, false);
    }

    private static RexNode choice(RexNode condition, RexNode then, RexNode otherwise) {
        return Rex.builder()
                .makeCall(
                        TypeMapper.relType(Coercions.type(otherwise), true),
                        SqlStdOperatorTable.CASE,
                        List.of(condition, then, otherwise));
    }
}
