package dev.millrace.sql.bind.scope;

import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.Expression.Literal;
import dev.millrace.sql.algebra.Rex;
import dev.millrace.sql.catalog.UserFunction;
import dev.millrace.type.DataType;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.apache.calcite.rex.RexCall;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexShuttle;
import org.apache.calcite.sql.SqlCall;

/**
 * Random values, and the time as a row is computed. Each call in the text draws for itself, and has a number that tells it from others; wherever the text of one
 * is bound, it is the same value of the row. Two that are written alike are one where an expression is looked for among the keys
 * of GROUP BY.
 */
public final class DrawNumbers {
    private static final Map<String, DataType> FUNCTIONS =
            Map.of("random", DataType.DOUBLE, "random_uuid", DataType.UUID, "clock_timestamp", DataType.TIMESTAMPTZ);

    private DrawNumbers() {}

    public static RexNode of(QueryContext context, String name, SqlCall call) {
        String function = FUNCTIONS.containsKey(name) ? name : "random_uuid";
        return Rex.call(
                function,
                List.of(Rex.bigint(context.numberOf(call))),
                Objects.requireNonNull(FUNCTIONS.get(function)),
                false);
    }

    /** The code of a user's function; that of a VOLATILE one says which call this is. */
    public static String code(QueryContext context, UserFunction function, SqlCall call) {
        return function.code().endsWith(Expression.EACH_TIME)
                ? function.code() + context.numberOf(call)
                : function.code();
    }

    static boolean isIn(RexNode expression) {
        boolean[] found = {false};
        expression.accept(new RexShuttle() {
            @Override
            public RexNode visitCall(RexCall call) {
                found[0] |= FUNCTIONS.containsKey(call.getOperator().getName());
                return super.visitCall(call);
            }
        });
        return found[0];
    }

    /** The expression without the numbers. */
    static RexNode alike(RexNode expression) {
        return expression.accept(new RexShuttle() {
            @Override
            public RexNode visitCall(RexCall call) {
                return FUNCTIONS.containsKey(call.getOperator().getName())
                        ? call.clone(call.getType(), List.of(Rex.literal(new Literal(0L, DataType.BIGINT))))
                        : super.visitCall(call);
            }
        });
    }

    /**
     * Expressions of one row, their calls numbered in the order in which they come: rows that draw in the same way are alike then.
     * Calls of users' VOLATILE functions keep the numbers of the text, by which rows that hold them are no two alike: each has a plan of
     * its own, which takes longer and gives the same.
     */
    public static List<RexNode> renumbered(List<RexNode> row) {
        Map<RexNode, RexNode> numbers = new HashMap<>();
        RexShuttle renumbering = new RexShuttle() {
            @Override
            public RexNode visitCall(RexCall call) {
                if (!FUNCTIONS.containsKey(call.getOperator().getName())) {
                    return super.visitCall(call);
                }
                RexNode number = numbers.computeIfAbsent(
                        call.getOperands().get(0),
                        known -> Rex.literal(new Literal((long) numbers.size(), DataType.BIGINT)));
                return call.clone(call.getType(), List.of(number));
            }
        };
        return row.stream().map(expression -> expression.accept(renumbering)).toList();
    }
}
