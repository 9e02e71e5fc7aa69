package dev.millrace.sql.bind.change;

import dev.millrace.error.SqlState;
import dev.millrace.plan.expression.Expression.Literal;
import dev.millrace.sql.algebra.Rex;
import dev.millrace.sql.bind.expression.ExpressionBinder;
import dev.millrace.sql.bind.expression.FunctionNames;
import dev.millrace.sql.bind.scope.QueryContext;
import dev.millrace.sql.bind.type.Coercions;
import dev.millrace.sql.bind.type.Coercions.Strength;
import dev.millrace.sql.bind.type.Errors;
import dev.millrace.type.DataType;
import dev.millrace.type.DataType.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.calcite.rex.RexLiteral;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.SqlNode;

/**
 * Binds {@code SET a[2] = x} and {@code SET a[2:3] = array}: to the array with that part changed, which is made of the one there is. As
 * arrays of several dimensions are arrays of arrays, {@code a[1][2] = x} is {@code a[1] = (a[1] with [2] = x)}. So it is with JSONB,
 * {@code j['key'][0] = x}, where what is missing becomes an object or, by a number, an array.
 */
final class ElementBinder {
    private final QueryContext context;
    private final ExpressionBinder expressions;

    ElementBinder(QueryContext context, ExpressionBinder expressions) {
        this.context = context;
        this.expressions = expressions;
    }

    /**
     * @param whole the column's value
     * @param part the column with its subscripts
     */
    RexNode assign(RexNode whole, SqlNode part, SqlNode value) {
        return assign(whole, part, new Value(expressions.bind(value), value));
    }

    /** @param value was bound already */
    RexNode assign(RexNode whole, SqlNode part, Value value) {
        return assign(whole, subscripts(part), part, value);
    }

    /**
     * What a part is to be.
     *
     * @param where it is written
     */
    record Value(RexNode bound, SqlNode where) {}

    /** The type of a part of a column. */
    static DataType typeOf(DataType whole, SqlNode part) {
        DataType type = whole;
        for (SqlNode subscript : subscripts(part)) {
            type = type.kind() == Kind.ARRAY && !isSlice(subscript) ? type.element() : type;
        }
        return type;
    }

    private static List<SqlNode> subscripts(SqlNode part) {
        List<SqlNode> subscripts = new ArrayList<>();
        SqlNode of = part;
        while (of.getKind() == SqlKind.ITEM) {
            subscripts.add(0, ((SqlCall) of).operand(1));
            of = ((SqlCall) of).operand(0);
        }
        return subscripts;
    }

    private static boolean isSlice(SqlNode subscript) {
        return subscript instanceof SqlCall bounds && FunctionNames.of(bounds).equals(Optional.of("slice bounds"));
    }

    private RexNode assign(RexNode array, List<SqlNode> subscripts, SqlNode part, Value value) {
        DataType type = Coercions.type(array);
        if (type.kind() != Kind.ARRAY && type.kind() != Kind.JSONB) {
            throw Errors.error(
                            SqlState.DATATYPE_MISMATCH,
                            "a part of type " + Coercions.name(type) + " cannot be assigned",
                            part)
                    .withHint("arrays have parts that are assigned, one subscript for each dimension, and JSONB has");
        }
        SqlNode first = subscripts.get(0);
        List<SqlNode> others = subscripts.subList(1, subscripts.size());
        if (isSlice(first)) {
            if (type.kind() == Kind.JSONB) {
                throw Errors.error(SqlState.DATATYPE_MISMATCH, "jsonb subscript does not support slices", part);
            }
            return slice(array, (SqlCall) first, others, part, value);
        }
        if (type.kind() == Kind.JSONB) {
            return member(array, first, others, part, value);
        }
        RexNode index = number(first);
        RexNode element = others.isEmpty()
                ? converted(value, type.element())
                : assign(context.functions().operator("subscript", List.of(array, index), part), others, part, value);
        return context.functions().operator("array_set", List.of(array, index, element), part);
    }

    private RexNode member(RexNode json, SqlNode subscript, List<SqlNode> others, SqlNode part, Value value) {
        RexNode key = context.coercions().decided(expressions.bind(subscript));
        boolean isNumber = Coercions.type(key).isInteger();
        if (!isNumber && !Coercions.isCharacter(Coercions.type(key))) {
            throw Errors.error(
                    SqlState.DATATYPE_MISMATCH,
                    "subscript type " + Coercions.name(Coercions.type(key)) + " is not supported",
                    subscript);
        }
        RexNode text = context.coercions().convert(key, DataType.TEXT, Strength.EXPLICIT, subscript);
        RexNode path = context.functions().operator("make_array", List.of(text), part);
        RexNode there = orElse(json, isNumber ? "[]" : "{}", part);
        RexNode inside = others.isEmpty()
                ? orElse(converted(value, DataType.JSONB), "null", value.where())
                : assign(context.functions().operator("json_at", List.of(there, path), part), others, part, value);
        return context.functions().operator("json_assign", List.of(there, path, inside), part);
    }

    private RexNode orElse(RexNode json, String otherwise, SqlNode where) {
        RexNode constant = context.coercions().convert(Rex.unknown(otherwise), DataType.JSONB);
        return context.functions().function("coalesce", "coalesce", List.of(json, constant), where);
    }

    private RexNode slice(RexNode array, SqlCall bounds, List<SqlNode> others, SqlNode part, Value value) {
        if (!others.isEmpty() || bounds.operandCount() > 2) {
            throw Errors.notAvailableYet("assigning to a slice of several dimensions, or with a step", part)
                    .withHint("assign its elements, or rows of them: SET a[1] = '{3,4}'");
        }
        DataType type = Coercions.type(array);
        RexNode one = Rex.literal(new Literal(1L, DataType.INTEGER));
        RexNode from = isLeftOut(bounds.operand(0)) ? one : number(bounds.operand(0));
        RexNode to = isLeftOut(bounds.operand(1))
                ? context.functions().operator("array_upper", List.of(array, one), part)
                : number(bounds.operand(1));
        RexNode values = converted(value, type);
        return context.functions().operator("array_set_slice", List.of(array, from, to, values), part);
    }

    private boolean isLeftOut(SqlNode bound) {
        return bound.getKind() == SqlKind.LITERAL
                && Coercions.type(expressions.bind(bound)).kind() == Kind.NULL;
    }

    private RexNode number(SqlNode subscript) {
        RexNode bound = expressions.bind(subscript);
        if (RexLiteral.isNullLiteral(bound)) {
            throw Errors.error(
                    SqlState.NULL_VALUE_NOT_ALLOWED, "array subscript in assignment must not be null", subscript);
        }
        return context.coercions().convert(bound, DataType.INTEGER, Strength.ASSIGNMENT, subscript);
    }

    private RexNode converted(Value value, DataType wanted) {
        RexNode bound = value.bound();
        DataType type = Coercions.type(bound);
        if (!Coercions.isUnknown(bound) && !Coercions.allowed(type, wanted, Strength.ASSIGNMENT)) {
            throw Errors.error(
                    SqlState.DATATYPE_MISMATCH,
                    "subscripted assignment requires type " + Coercions.name(wanted) + " but expression is of type "
                            + Coercions.name(type),
                    value.where());
        }
        return context.coercions().convert(bound, wanted, Strength.ASSIGNMENT, value.where());
    }
}
