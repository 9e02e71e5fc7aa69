package dev.millrace.sql.bind.expression;

import dev.millrace.error.SqlState;
import dev.millrace.plan.expression.Expression.Literal;
import dev.millrace.sql.algebra.Rex;
import dev.millrace.sql.bind.function.FunctionResolver;
import dev.millrace.sql.bind.scope.QueryContext;
import dev.millrace.sql.bind.type.Coercions;
import dev.millrace.sql.bind.type.Errors;
import dev.millrace.type.DataType;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.sql.SqlCall;

/**
 * {@code format('Hello %s', x)} with a constant format, as the concatenation of its parts: {@code concat('Hello ', x)}.
 * {@code %I} quotes a name, {@code %L} a constant; {@code %2$s} is the second value; {@code %-10s} pads.
 */
final class FormatBinder {
    private static final Pattern PLACE = Pattern.compile("%(?:(\\d+)\\$)?(-)?(\\d+|\\*(?:(\\d+)\\$)?)?(.)?");

    private final QueryContext context;
    private final ExpressionBinder expressions;
    private int next;

    FormatBinder(QueryContext context, ExpressionBinder expressions) {
        this.context = context;
        this.expressions = expressions;
    }

    RexNode bind(SqlCall call) {
        return bind(expressions.bindAll(call.getOperandList()), call);
    }

    /** @param given the format and the values */
    RexNode bind(List<RexNode> given, SqlCall call) {
        if (given.isEmpty()) {
            throw FunctionResolver.doesNotExist("format", given, call);
        }
        String format = Coercions.unknownText(given.get(0))
                .or(() -> dev.millrace.sql.algebra.Literals.textOf(given.get(0)))
                .orElseThrow(() -> Errors.notAvailableYet("format() with a format that is no constant", call)
                        .withHint("|| and concat put texts together"));
        List<RexNode> values = given.subList(1, given.size());
        List<RexNode> parts = new ArrayList<>();
        Matcher places = PLACE.matcher(format);
        int done = 0;
        while (places.find(done)) {
            text(format.substring(done, places.start()), parts);
            done = places.end();
            if ("%".equals(places.group(5))) {
                text("%", parts);
            } else {
                parts.add(value(places, values, call));
            }
        }
        text(format.substring(done), parts);
        return context.functions().function("concat", "format", parts.isEmpty() ? List.of(Rex.text("")) : parts, call);
    }

    private static void text(String text, List<RexNode> parts) {
        if (!text.isEmpty()) {
            parts.add(Rex.text(text));
        }
    }

    private RexNode value(Matcher place, List<RexNode> values, SqlCall call) {
        String kind = place.group(5);
        if (kind == null) {
            throw Errors.error(SqlState.INVALID_PARAMETER_VALUE, "unterminated format() type specifier", call);
        }
        RexNode width = Rex.literal(new Literal(0L, DataType.INTEGER));
        boolean padded = place.group(3) != null;
        if (padded && place.group(3).startsWith("*")) {
            RexNode given = argument(place.group(4), values, call);
            RexNode number = context.coercions().convert(given, DataType.INTEGER, Coercions.Strength.ASSIGNMENT, call);
            width = function("coalesce", List.of(number, width), call);
        } else if (padded) {
            width = Rex.literal(new Literal(Long.parseLong(place.group(3)), DataType.INTEGER));
        }
        RexNode value = context.coercions().convert(argument(place.group(1), values, call), DataType.TEXT);
        RexNode text = switch (kind) {
            case "s" -> function("coalesce", List.of(value, Rex.text("")), call);
            case "I" -> {
                RexNode yes = Rex.literal(new Literal(true, DataType.BOOLEAN));
                RexNode none = context.functions().operator("null_name", List.of(yes), call);
                yield function("quote_ident", List.of(function("coalesce", List.of(value, none), call)), call);
            }
            case "L" ->
                function(
                        "coalesce",
                        List.of(context.functions().operator("quote_text", List.of(value), call), Rex.text("NULL")),
                        call);
            default ->
                throw Errors.error(
                                SqlState.INVALID_PARAMETER_VALUE,
                                "unrecognized format() type specifier \"" + kind + "\"",
                                call)
                        .withHint("%s, %I and %L are known; %% is a percent sign");
        };
        if (!padded) {
            return text;
        }
        RexNode signed = place.group(2) == null
                ? width
                : context.functions().operator("negate", List.of(function("abs", List.of(width), call)), call);
        return context.functions().operator("pad_text", List.of(text, signed), call);
    }

    private RexNode argument(String number, List<RexNode> values, SqlCall call) {
        next = number == null ? next + 1 : Integer.parseInt(number);
        if (next < 1 || next > values.size()) {
            throw Errors.error(SqlState.INVALID_PARAMETER_VALUE, "too few arguments for format()", call);
        }
        return values.get(next - 1);
    }

    private RexNode function(String name, List<RexNode> arguments, SqlCall call) {
        return context.functions().function(name, name, arguments, call);
    }
}
