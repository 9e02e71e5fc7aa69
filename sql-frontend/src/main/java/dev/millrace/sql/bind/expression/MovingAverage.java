package dev.millrace.sql.bind.expression;

import dev.millrace.error.SqlState;
import dev.millrace.plan.expression.Expression.Literal;
import dev.millrace.plan.expression.IntervalValue;
import dev.millrace.sql.algebra.ExpressionTranslator;
import dev.millrace.sql.bind.scope.QueryContext;
import dev.millrace.sql.bind.type.Coercions;
import dev.millrace.sql.bind.type.Coercions.Strength;
import dev.millrace.sql.bind.type.Errors;
import dev.millrace.type.DataType;
import java.util.ArrayList;
import java.util.List;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.sql.SqlNode;

/** Binds the arguments of {@code ema(value, share)} and {@code ema(value, time, half_life)}. */
final class MovingAverage {
    private final QueryContext context;
    private final List<RexNode> values = new ArrayList<>();
    private final long parameter;

    /** @param arguments two or three */
    MovingAverage(QueryContext context, AggregateSyntax syntax, List<RexNode> arguments) {
        this.context = context;
        List<SqlNode> written = syntax.arguments();
        SqlNode last = written.get(written.size() - 1);
        values.add(context.coercions().convert(arguments.get(0), DataType.DOUBLE, Strength.IMPLICIT, written.get(0)));
        if (arguments.size() == 2) {
            parameter = share(arguments.get(1), last);
            return;
        }
        RexNode time = context.coercions().decided(arguments.get(1));
        if (!Coercions.type(time).isTimestamp()) {
            throw Errors.error(
                            SqlState.DATATYPE_MISMATCH,
                            "the time of ema must be of type timestamp or timestamptz, not "
                                    + Coercions.name(Coercions.type(time)),
                            written.get(1))
                    .withHint("ema(value, time, half_life)");
        }
        values.add(time);
        parameter = halfLife(arguments.get(2), last);
    }

    /** The value, and its time if there is one. */
    List<RexNode> values() {
        return values;
    }

    /** As the plan has it: the bits of the share, or microseconds. */
    long parameter() {
        return parameter;
    }

    private long share(RexNode node, SqlNode where) {
        double share = (Double) constant(node, DataType.DOUBLE, "share of the newest value in ema", where);
        if (!(share > 0 && share <= 1)) {
            throw Errors.error(
                    SqlState.INVALID_PARAMETER_VALUE,
                    "the share of the newest value in ema must be greater than 0 and at most 1",
                    where);
        }
        return Double.doubleToLongBits(share);
    }

    private long halfLife(RexNode node, SqlNode where) {
        IntervalValue life = (IntervalValue) constant(node, DataType.INTERVAL, "half-life in ema", where);
        if (life.months() != 0 || life.comparableMicros() <= 0) {
            throw Errors.error(
                    SqlState.INVALID_PARAMETER_VALUE,
                    "the half-life in ema must be of days or less, and longer than nothing",
                    where);
        }
        return life.comparableMicros();
    }

    private Object constant(RexNode node, DataType type, String what, SqlNode where) {
        RexNode value = context.coercions().convert(node, type, Strength.IMPLICIT, where);
        if (ExpressionTranslator.translate(value) instanceof Literal literal) {
            return literal.value();
        }
        throw Errors.error(SqlState.FEATURE_NOT_SUPPORTED, "the " + what + " must be a constant", where)
                .withHint("write it as a literal");
    }
}
