package dev.millrace.sql.bind.gap;

import dev.millrace.error.SqlState;
import dev.millrace.sql.bind.expression.FunctionNames;
import dev.millrace.sql.bind.type.Errors;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlDynamicParam;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.SqlLiteral;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.fun.SqlBetweenOperator;
import org.apache.calcite.util.Litmus;

/**
 * From where to where {@code time_bucket_gapfill(width, time [, start, finish])} fills: what is given, else what conditions of WHERE
 * compare the time with, if those are constants, as TimescaleDB has it. Bounds by {@code now()} are only taken where they are given.
 *
 * @param afterStart whether the start itself is left out
 * @param atFinish whether the finish itself is in
 */
public record GapBounds(Optional<SqlNode> start, boolean afterStart, Optional<SqlNode> finish, boolean atFinish) {
    /** Of a call, and the condition of WHERE around it. */
    public static GapBounds of(SqlCall bucket, Optional<SqlNode> where) {
        List<SqlNode> places = new ArrayList<>();
        Optional<SqlNode> start = Optional.empty();
        Optional<SqlNode> finish = Optional.empty();
        for (SqlNode operand : bucket.getOperandList()) {
            if (operand.getKind() != SqlKind.ARGUMENT_ASSIGNMENT) {
                places.add(operand);
                continue;
            }
            SqlIdentifier name = ((SqlCall) operand).operand(1);
            switch (name.getSimple()) {
                case "start" -> start = given(((SqlCall) operand).operand(0));
                case "finish" -> finish = given(((SqlCall) operand).operand(0));
                default -> throw wrongArguments(bucket);
            }
        }
        if (places.size() < 2
                || places.size() > 4
                || places.get(0) != bucket.operand(0)
                || places.get(1) != bucket.operand(1)) {
            throw wrongArguments(bucket);
        }
        start = places.size() > 2 ? given(places.get(2)) : start;
        finish = places.size() > 3 ? given(places.get(3)) : finish;
        GapBounds said = new GapBounds(start, false, finish, false);
        return where.map(condition -> said.by(condition, bucket.operand(1))).orElse(said);
    }

    private static RuntimeException wrongArguments(SqlCall bucket) {
        return Errors.error(
                        SqlState.UNDEFINED_FUNCTION, "time_bucket_gapfill with these arguments does not exist", bucket)
                .withHint("time_bucket_gapfill(width, time [, start, finish])");
    }

    private static Optional<SqlNode> given(SqlNode node) {
        boolean isNull = node instanceof SqlLiteral literal && literal.getValue() == null;
        return isNull ? Optional.empty() : Optional.of(node);
    }

    /** With what is not given, of conditions joined by AND. */
    private GapBounds by(SqlNode condition, SqlNode time) {
        if (!(condition instanceof SqlCall call)) {
            return this;
        }
        if (call.getKind() == SqlKind.AND) {
            GapBounds all = this;
            for (SqlNode operand : call.getOperandList()) {
                all = all.by(operand, time);
            }
            return all;
        }
        if (call.getKind() == SqlKind.BETWEEN
                && call.getOperator() instanceof SqlBetweenOperator between
                && !between.isNegated()
                && is(call.operand(0), time)) {
            return from(call.operand(1), false).to(call.operand(2), true);
        }
        return switch (call.getKind()) {
            case GREATER_THAN, GREATER_THAN_OR_EQUAL -> {
                boolean strict = call.getKind() == SqlKind.GREATER_THAN;
                yield is(call.operand(0), time)
                        ? from(call.operand(1), strict)
                        : is(call.operand(1), time) ? to(call.operand(0), !strict) : this;
            }
            case LESS_THAN, LESS_THAN_OR_EQUAL -> {
                boolean strict = call.getKind() == SqlKind.LESS_THAN;
                yield is(call.operand(0), time)
                        ? to(call.operand(1), !strict)
                        : is(call.operand(1), time) ? from(call.operand(0), strict) : this;
            }
            default -> this;
        };
    }

    private static boolean is(SqlNode node, SqlNode time) {
        return node.equalsDeep(time, Litmus.IGNORE);
    }

    private GapBounds from(SqlNode bound, boolean strict) {
        return start.isEmpty() && isConstant(bound)
                ? new GapBounds(Optional.of(bound), strict, finish, atFinish)
                : this;
    }

    private GapBounds to(SqlNode bound, boolean inclusive) {
        return finish.isEmpty() && isConstant(bound)
                ? new GapBounds(start, afterStart, Optional.of(bound), inclusive)
                : this;
    }

    /** Literals and parameters, cast, added and subtracted. */
    private static boolean isConstant(SqlNode node) {
        if (node instanceof SqlLiteral literal) {
            return literal.getValue() != null;
        }
        if (node instanceof SqlDynamicParam) {
            return true;
        }
        return switch (node.getKind()) {
            case CAST -> isConstant(((SqlCall) node).operand(0));
            case PLUS, MINUS ->
                FunctionNames.of((SqlCall) node).isEmpty()
                        && ((SqlCall) node).getOperandList().stream().allMatch(GapBounds::isConstant);
            default -> false;
        };
    }

    /** The first instant that counts. */
    public String firstInstant(String bound) {
        return afterStart ? "(" + bound + ") + INTERVAL '1 microsecond'" : bound;
    }

    /** The last instant that counts. */
    public String lastInstant(String bound) {
        return atFinish ? bound : "(" + bound + ") - INTERVAL '1 microsecond'";
    }
}
