package dev.millrace.sql.bind.expression;

import dev.millrace.error.SqlState;
import dev.millrace.plan.expression.Expression.Literal;
import dev.millrace.sql.algebra.Rex;
import dev.millrace.sql.bind.scope.QueryContext;
import dev.millrace.sql.bind.type.Coercions;
import dev.millrace.sql.bind.type.Errors;
import dev.millrace.sql.syntax.FromClauses;
import dev.millrace.type.DataType;
import dev.millrace.type.DataType.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.calcite.rex.RexCall;
import org.apache.calcite.rex.RexLiteral;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.SqlNode;

/**
 * Calls with VARIADIC: an array in the place of any number of arguments.
 *
 * <pre>
 * concat(VARIADIC a)               array_to_string(a, '')
 * concat_ws(s, VARIADIC a)         array_to_string(a, s)
 * jsonb_build_array(VARIADIC a)    to_jsonb(a)
 * jsonb_build_object(VARIADIC a)   jsonb_object(a)
 * jsonb_extract_path(j, VARIADIC a)    j #> a
 * format(f, VARIADIC ARRAY[a, b])  format(f, a, b)
 * </pre>
 */
final class VariadicCalls {
    private final QueryContext context;
    private final ExpressionBinder expressions;

    VariadicCalls(QueryContext context, ExpressionBinder expressions) {
        this.context = context;
        this.expressions = expressions;
    }

    static boolean isOne(SqlCall call) {
        return call.operandCount() > 0
                && call.operand(call.operandCount() - 1) instanceof SqlCall last
                && FunctionNames.of(last).filter(FromClauses.VARIADIC::equals).isPresent();
    }

    RexNode bind(String name, SqlCall call) {
        int last = call.operandCount() - 1;
        SqlNode written = ((SqlCall) call.operand(last)).operand(0);
        RexNode array = expressions.bind(written);
        DataType type = Coercions.type(array);
        if (type.kind() != Kind.ARRAY) {
            throw Errors.error(SqlState.DATATYPE_MISMATCH, "VARIADIC argument must be an array", written);
        }
        List<RexNode> before = expressions.bindAll(call.getOperandList().subList(0, last));
        if (name.equals("format") && before.size() == 1) {
            Optional<List<RexNode>> elements = elements(array);
            if (elements.isPresent()) {
                List<RexNode> given = new ArrayList<>(before);
                given.addAll(elements.get());
                return new FormatBinder(context, expressions).bind(given, call);
            }
        }
        boolean flat = type.element().kind() != Kind.ARRAY;
        boolean texts = Coercions.isCharacter(type.element());
        if (name.equals("concat") && before.isEmpty() && flat) {
            return function("array_to_string", name, List.of(array, Rex.literal(new Literal("", DataType.TEXT))), call);
        } else if (name.equals("concat_ws") && before.size() == 1 && flat) {
            return function("array_to_string", name, List.of(array, before.get(0)), call);
        } else if (name.matches("jsonb?_build_array") && before.isEmpty() && flat) {
            return function("to_jsonb", name, List.of(array), call);
        } else if (name.matches("jsonb?_build_array") && before.isEmpty()) {
            return function("to_jsonb", name, List.of(flat(array)), call);
        } else if (name.matches("jsonb?_build_object") && before.isEmpty() && texts) {
            return function("jsonb_object", name, List.of(array), call);
        } else if (name.matches("jsonb?_extract_path(_text)?") && before.size() == 1 && texts) {
            String operator = name.endsWith("_text") ? "json_at_text" : "json_at";
            return context.functions().operator(operator, List.of(before.get(0), array), call);
        }
        throw Errors.notAvailableYet("VARIADIC " + type + " in a call of " + name, call)
                .withHint(
                        "concat, concat_ws, jsonb_build_array, jsonb_build_object of texts and jsonb_extract_path take it;"
                                + " others take one argument after the other");
    }

    /** The elements of an array that is written out, or none of NULL; empty for one of which only rows know how many it has. */
    private static Optional<List<RexNode>> elements(RexNode array) {
        if (array instanceof RexLiteral literal && literal.isNull()) {
            return Optional.of(List.of());
        }
        if (array.getKind() == SqlKind.ARRAY_VALUE_CONSTRUCTOR) {
            return Optional.of(((RexCall) array).getOperands());
        }
        if (array.getKind() == SqlKind.CAST) {
            DataType element = Coercions.type(array).element();
            return elements(((RexCall) array).getOperands().get(0))
                    .map(inner ->
                            inner.stream().map(node -> Rex.cast(node, element)).toList());
        }
        return Optional.empty();
    }

    /** The elements of all dimensions in one. */
    private static RexNode flat(RexNode array) {
        RexNode flat = array;
        for (DataType type = Coercions.type(flat); type.element().kind() == Kind.ARRAY; type = type.element()) {
            flat = Rex.call(
                    "flatten", List.of(flat), type.element(), flat.getType().isNullable());
        }
        return flat;
    }

    private RexNode function(String canonical, String shown, List<RexNode> arguments, SqlCall call) {
        return context.functions().function(canonical, shown, arguments, call);
    }
}
