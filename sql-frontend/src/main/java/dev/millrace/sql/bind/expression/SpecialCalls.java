package dev.millrace.sql.bind.expression;

import dev.millrace.sql.algebra.Rex;
import dev.millrace.sql.bind.function.FunctionResolver;
import dev.millrace.sql.bind.scope.QueryContext;
import dev.millrace.sql.bind.type.Coercions;
import dev.millrace.sql.bind.type.Errors;
import dev.millrace.sql.syntax.FromClauses;
import dev.millrace.type.DataType;
import dev.millrace.type.DataType.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlFunctionCategory;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlLiteral;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.SqlUnresolvedFunction;
import org.apache.calcite.sql.parser.SqlParserPos;
import org.apache.calcite.util.NlsString;

/**
 * Calls that are not simply of a function with types: those whose constants say what they do, and those that take any
 * number of arguments.
 *
 * <pre>
 * list_aggregate(l, 'max')        list_max(l)
 * list_value(1, 2)                ARRAY[1, 2]
 * strftime('%Y', t)               strftime(t, '%Y')
 * </pre>
 */
final class SpecialCalls {
    /** Names of functions bound here that are in no other list. */
    static final Set<String> NAMES = Set.of(
            "array_aggr",
            "array_aggregate",
            "array_value",
            "flatten",
            "format",
            "json_populate_record",
            "jsonb_populate_record",
            "list_aggr",
            "list_aggregate",
            "list_pack",
            "list_value");

    private final QueryContext context;
    private final ExpressionBinder expressions;

    SpecialCalls(QueryContext context, ExpressionBinder expressions) {
        this.context = context;
        this.expressions = expressions;
    }

    /** Empty for a call of any other function. */
    Optional<RexNode> bind(String name, SqlCall call) {
        return switch (name) {
            case "format" -> Optional.of(new FormatBinder(context, expressions).bind(call));
            case "json_populate_record", "jsonb_populate_record" ->
                Optional.of(new JsonRecordBinder(context, expressions).populate(name, call));
            case "row" -> Optional.of(new NestedBinder(context, expressions).row(call));
            case FromClauses.ROW_OF -> Optional.of(new RowBinder(context, expressions).named(call));
            case "array_sum" ->
                Optional.of(
                        new NestedBinder(context, expressions).sum(expressions.bindAll(call.getOperandList()), call));
            case "list_value", "list_pack", "array_value" ->
                Optional.of(
                        call.operandCount() == 0
                                ? context.functions().function("make_array", name, List.of(), call)
                                : context.functions()
                                        .operator("make_array", expressions.bindAll(call.getOperandList()), call));
            case "list_aggregate", "list_aggr", "array_aggregate", "array_aggr" -> aggregate(call);
            case "strftime" -> formatFirst(call);
            case "flatten" -> Optional.of(flatten(call));
            default -> Optional.empty();
        };
    }

    private Optional<RexNode> aggregate(SqlCall call) {
        if (call.operandCount() < 2
                || !(call.operand(1) instanceof SqlLiteral literal)
                || !(literal.getValue() instanceof NlsString function)) {
            throw Errors.notAvailableYet("an aggregate of a list whose name is no constant", call)
                    .withHint("list_aggregate(list, 'sum')");
        }
        List<SqlNode> operands = new ArrayList<>(call.getOperandList());
        operands.remove(1);
        SqlParserPos position = call.getParserPosition();
        SqlIdentifier name = new SqlIdentifier("list_" + function.getValue().toLowerCase(Locale.ROOT), position);
        return Optional.of(expressions.bind(
                new SqlUnresolvedFunction(name, null, null, null, null, SqlFunctionCategory.USER_DEFINED_FUNCTION)
                        .createCall(position, operands)));
    }

    private RexNode flatten(SqlCall call) {
        List<RexNode> arguments = expressions.bindAll(call.getOperandList());
        DataType type = arguments.size() == 1 ? Coercions.type(arguments.get(0)) : DataType.NULL;
        if (type.kind() != Kind.ARRAY || type.element().kind() != Kind.ARRAY) {
            throw FunctionResolver.doesNotExist("flatten", arguments, call).withHint("it takes an array of arrays");
        }
        return Rex.call(
                "flatten", arguments, type.element(), arguments.get(0).getType().isNullable());
    }

    /** DuckDB takes the format in either place. */
    private Optional<RexNode> formatFirst(SqlCall call) {
        List<RexNode> arguments = expressions.bindAll(call.getOperandList());
        boolean swapped = arguments.size() == 2
                && (Coercions.isUnknown(arguments.get(0)) || Coercions.isCharacter(Coercions.type(arguments.get(0))))
                && (Coercions.type(arguments.get(1)).isTimestamp()
                        || Coercions.type(arguments.get(1)).kind() == Kind.DATE);
        return swapped
                ? Optional.of(context.functions()
                        .function("strftime", "strftime", List.of(arguments.get(1), arguments.get(0)), call))
                : Optional.empty();
    }
}
