package dev.millrace.sql.bind.expression;

import dev.millrace.error.SqlState;
import dev.millrace.sql.bind.expression.AggregateBinder.SortSyntax;
import dev.millrace.sql.bind.expression.WindowBinder.WindowSyntax;
import dev.millrace.sql.bind.scope.Clause;
import dev.millrace.sql.bind.scope.QueryContext;
import dev.millrace.sql.bind.type.Coercions;
import dev.millrace.sql.bind.type.Errors;
import dev.millrace.sql.parser.StatementParser;
import dev.millrace.type.DataType;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.util.SqlShuttle;

/**
 * What stands in the place of a NULL, by the rows around it in a window's order:
 *
 * <pre>
 * locf(x) OVER w          last_value(x) IGNORE NULLS OVER w
 * interpolate(x) OVER w   x, or the value at the row's order key on the line between the last x before it and the first behind it
 * </pre>
 */
final class WindowFills {
    static final Set<String> NAMES = Set.of("locf", "interpolate");

    private final QueryContext context;
    private final ExpressionBinder expressions;
    private final Clause clause;

    WindowFills(QueryContext context, ExpressionBinder expressions, Clause clause) {
        this.context = context;
        this.expressions = expressions;
        this.clause = clause;
    }

    /** What a call with OVER is short for; nothing if it is of another function. */
    Optional<SqlNode> expand(SqlCall over) {
        Optional<String> name = over.operand(0) instanceof SqlCall call
                ? FunctionNames.of(call)
                        .filter(NAMES::contains)
                        .filter(each -> context.catalog().userFunction(each).isEmpty())
                : Optional.empty();
        if (name.isEmpty()) {
            return Optional.empty();
        }
        SqlCall call = over.operand(0);
        if (call.operandCount() != 1) {
            throw Errors.error(SqlState.UNDEFINED_FUNCTION, name.get() + " with these arguments does not exist", call)
                    .withHint(name.get() + "(value) OVER (PARTITION BY .. ORDER BY time)");
        }
        Map<String, SqlNode> places = new HashMap<>(Map.of("x", call.operand(0), "w", over.operand(1)));
        return Optional.of(
                name.get().equals("locf")
                        ? placed("last_value(x) IGNORE NULLS OVER w", places)
                        : interpolation(over, places));
    }

    private SqlNode interpolation(SqlCall over, Map<String, SqlNode> places) {
        WindowSyntax window = WindowSyntax.of(over.operand(1), clause.namedWindows());
        if (window.order().size() != 1) {
            throw Errors.error(SqlState.WINDOWING_ERROR, "interpolate is along one ORDER BY column", over);
        }
        SqlNode key = SortSyntax.of(window.order().get(0)).value();
        places.put("o", window.order().get(0));
        places.put("k", key);
        List<String> partition = new ArrayList<>();
        for (SqlNode each : window.partition()) {
            String place = "p" + partition.size();
            places.put(place, each);
            partition.add(place);
        }
        ExpressionBinder inner =
                expressions.within(new Clause("a window function", clause.aggregates(), false, clause.columns()));
        DataType type = Coercions.type(context.coercions().decided(inner.bind(key)));
        String distance = type.isNumber()
                ? "CAST(%s - %s AS double precision)"
                : "CAST(extract(epoch FROM (%s - %s)) AS double precision)";
        String of = (partition.isEmpty() ? "" : "PARTITION BY " + String.join(", ", partition))
                + " ORDER BY o ROWS BETWEEN ";
        String before = "last_value(%s) IGNORE NULLS OVER (" + of + "UNBOUNDED PRECEDING AND CURRENT ROW)";
        String behind = "first_value(%s) IGNORE NULLS OVER (" + of + "CURRENT ROW AND UNBOUNDED FOLLOWING)";
        String value = "CAST(x AS double precision)";
        String at = "CASE WHEN x IS NOT NULL THEN k END";
        String from = before.formatted(value);
        return placed(
                "CASE WHEN x IS NOT NULL THEN " + value + " ELSE " + from + " + (" + behind.formatted(value) + " - "
                        + from
                        + ") * " + distance.formatted("k", before.formatted(at)) + " / nullif("
                        + distance.formatted(behind.formatted(at), before.formatted(at)) + ", 0) END",
                places);
    }

    private static SqlNode placed(String text, Map<String, SqlNode> places) {
        return StatementParser.parseExpression(text).accept(new SqlShuttle() {
            @Override
            public SqlNode visit(SqlIdentifier name) {
                return name.isSimple() ? places.getOrDefault(name.getSimple(), name) : name;
            }

            @Override
            public SqlNode visit(SqlCall call) {
                return call.isA(SqlKind.QUERY) ? call : super.visit(call);
            }
        });
    }
}
