package dev.millrace.sql.bind.expression;

import dev.millrace.error.SqlState;
import dev.millrace.plan.expression.Expression.Literal;
import dev.millrace.plan.expression.Frame;
import dev.millrace.plan.expression.Frame.Bound;
import dev.millrace.plan.expression.Frame.Exclusion;
import dev.millrace.plan.expression.Frame.Kind;
import dev.millrace.plan.expression.Frame.Unit;
import dev.millrace.plan.expression.IntervalValue;
import dev.millrace.sql.algebra.ExpressionTranslator;
import dev.millrace.sql.algebra.Rex;
import dev.millrace.sql.bind.expression.WindowBinder.WindowSyntax;
import dev.millrace.sql.bind.scope.AggregateCalls.SortKey;
import dev.millrace.sql.bind.scope.QueryContext;
import dev.millrace.sql.bind.type.Coercions;
import dev.millrace.sql.bind.type.Coercions.Strength;
import dev.millrace.sql.bind.type.Errors;
import dev.millrace.type.DataType;
import java.math.BigDecimal;
import java.util.List;
import java.util.Optional;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.SqlWindow;
import org.apache.calcite.sql.fun.SqlStdOperatorTable;

/** Binds the frame of a window: ROWS, RANGE and GROUPS with their bounds, and what is excluded. */
final class FrameBinder {
    private final QueryContext context;
    private final ExpressionBinder expressions;

    FrameBinder(QueryContext context, ExpressionBinder expressions) {
        this.context = context;
        this.expressions = expressions;
    }

    /**
     * @param ordering the window's keys; the one of a RANGE with offsets is converted to the type of its bounds
     * @param bounds receives the key's value at which a RANGE with offsets begins, and ends, for a row
     */
    Frame bind(WindowSyntax window, List<SortKey> ordering, List<RexNode> bounds) {
        SqlWindow syntax = window.frame();
        if (syntax.getLowerBound() == null) {
            return ordering.isEmpty() ? Frame.ALL : Frame.TO_CURRENT;
        }
        Unit unit = window.groups() ? Unit.GROUPS : syntax.isRows() ? Unit.ROWS : Unit.RANGE;
        SqlNode lower = syntax.getLowerBound();
        Optional<SqlNode> upper = Optional.ofNullable(syntax.getUpperBound());
        Kind start = kind(lower);
        Kind end = upper.map(FrameBinder::kind).orElse(Kind.CURRENT_ROW);
        checkOrder(start, end, syntax);
        if (unit == Unit.GROUPS && ordering.isEmpty()) {
            throw Errors.error(SqlState.WINDOWING_ERROR, "GROUPS mode requires an ORDER BY clause", syntax);
        }
        boolean byValue = unit == Unit.RANGE && (hasOffset(start) || hasOffset(end));
        if (byValue && ordering.size() != 1) {
            throw Errors.error(
                    SqlState.WINDOWING_ERROR,
                    "RANGE with offset PRECEDING/FOLLOWING requires exactly one ORDER BY column",
                    syntax);
        }
        if (byValue) {
            widen(ordering, lower, upper);
        }
        Bound first = bound(unit, start, lower, "starting", ordering, bounds);
        Bound last = upper.isEmpty() ? Bound.of(end) : bound(unit, end, upper.get(), "ending", ordering, bounds);
        return new Frame(unit, first, last, exclusion(syntax));
    }

    private static boolean hasOffset(Kind kind) {
        return kind == Kind.PRECEDING || kind == Kind.FOLLOWING;
    }

    private static Kind kind(SqlNode node) {
        if (SqlWindow.isCurrentRow(node)) {
            return Kind.CURRENT_ROW;
        } else if (SqlWindow.isUnboundedPreceding(node)) {
            return Kind.UNBOUNDED_PRECEDING;
        } else if (SqlWindow.isUnboundedFollowing(node)) {
            return Kind.UNBOUNDED_FOLLOWING;
        }
        return node.getKind() == SqlKind.PRECEDING ? Kind.PRECEDING : Kind.FOLLOWING;
    }

    private static void checkOrder(Kind start, Kind end, SqlNode where) {
        if (start == Kind.UNBOUNDED_FOLLOWING) {
            throw Errors.error(SqlState.WINDOWING_ERROR, "frame start cannot be UNBOUNDED FOLLOWING", where);
        }
        if (end == Kind.UNBOUNDED_PRECEDING) {
            throw Errors.error(SqlState.WINDOWING_ERROR, "frame end cannot be UNBOUNDED PRECEDING", where);
        }
        boolean follows = start == Kind.FOLLOWING && (end == Kind.CURRENT_ROW || end == Kind.PRECEDING);
        if (follows || start == Kind.CURRENT_ROW && end == Kind.PRECEDING) {
            throw Errors.error(
                    SqlState.WINDOWING_ERROR,
                    follows
                            ? "frame starting from following row cannot have preceding rows"
                            : "frame starting from current row cannot have preceding rows",
                    where);
        }
    }

    private static Exclusion exclusion(SqlWindow window) {
        if (SqlWindow.isExcludeCurrentRow(window.getExclude())) {
            return Exclusion.CURRENT_ROW;
        } else if (SqlWindow.isExcludeGroup(window.getExclude())) {
            return Exclusion.GROUP;
        }
        return SqlWindow.isExcludeTies(window.getExclude()) ? Exclusion.TIES : Exclusion.NO_OTHERS;
    }

    private static SqlNode offsetOf(SqlNode bound) {
        return ((SqlCall) bound).operand(0);
    }

    private Bound bound(
            Unit unit, Kind kind, SqlNode node, String which, List<SortKey> ordering, List<RexNode> bounds) {
        if (!hasOffset(kind)) {
            return Bound.of(kind);
        }
        SqlNode syntax = offsetOf(node);
        RexNode offset = expressions.bind(syntax);
        if (unit == Unit.RANGE) {
            bounds.add(boundary(ordering.get(0), kind, offset, which, syntax));
            return Bound.of(kind);
        }
        RexNode count = context.coercions().convert(offset, DataType.BIGINT, Strength.IMPLICIT, syntax);
        Optional<BigDecimal> number = WindowBinder.Constants.number(count);
        if (number.isEmpty()) {
            throw Errors.error(
                            SqlState.FEATURE_NOT_SUPPORTED,
                            "the frame's " + which + " offset must be a constant",
                            syntax)
                    .withHint("write it as a number");
        }
        checkSign(number.get().signum(), which, syntax);
        return new Bound(kind, number.get().longValueExact());
    }

    private static void checkSign(int sign, String which, SqlNode where) {
        if (sign < 0) {
            throw Errors.error(
                    SqlState.INVALID_PRECEDING_OR_FOLLOWING_SIZE,
                    "frame " + which + " offset must not be negative",
                    where);
        }
    }

    /** Makes the order key of a type that holds the sum of it and an offset: whole numbers BIGINT, a DATE a TIMESTAMP. */
    private void widen(List<SortKey> ordering, SqlNode lower, Optional<SqlNode> upper) {
        SortKey key = ordering.get(0);
        DataType type = Coercions.type(key.value());
        DataType wide = switch (type.kind()) {
            case SMALLINT, INTEGER -> DataType.BIGINT;
            case DATE -> DataType.TIMESTAMP;
            default -> type;
        };
        for (SqlNode bound : upper.isPresent() ? List.of(lower, upper.get()) : List.of(lower)) {
            if (hasOffset(kind(bound)) && wide.isNumber()) {
                DataType offset = Coercions.type(expressions.bind(offsetOf(bound)));
                boolean inexact = offset.kind() == DataType.Kind.DOUBLE || wide.kind() == DataType.Kind.DOUBLE;
                if (offset.isExact() || inexact) {
                    wide = Coercions.common(List.of(Rex.nullOf(wide), Rex.nullOf(offset)))
                            .orElse(wide);
                }
            }
        }
        if (!wide.equals(type)) {
            ordering.set(
                    0, new SortKey(context.coercions().convert(key.value(), wide), key.descending(), key.nullsFirst()));
        }
    }

    /** The key's value at which a row's frame begins or ends. */
    private RexNode boundary(SortKey key, Kind kind, RexNode offset, String which, SqlNode where) {
        DataType keyType = Coercions.type(key.value());
        RexNode typed = offset;
        if (Coercions.isUnknown(offset)) {
            typed = context.coercions()
                    .convert(offset, keyType.isNumber() ? keyType : DataType.INTERVAL, Strength.IMPLICIT, where);
        }
        checkSign(sign(typed), which, where);
        boolean backward = (kind == Kind.PRECEDING) != key.descending();
        RexNode boundary;
        try {
            boundary = context.functions().operator(backward ? "subtract" : "add", List.of(key.value(), typed), where);
        } catch (dev.millrace.error.MillraceException e) {
            throw notInRange(keyType, Coercions.type(typed), where);
        }
        if (Coercions.type(boundary).equals(keyType)) {
            return within(key.value(), typed, boundary, backward);
        }
        if (Coercions.type(boundary).isNumber() != keyType.isNumber()) {
            throw notInRange(keyType, Coercions.type(typed), where);
        }
        return context.coercions().convert(boundary, keyType);
    }

    /** A boundary past the ends of BIGINT is as good as the last number. */
    private RexNode within(RexNode key, RexNode offset, RexNode boundary, boolean backward) {
        Optional<BigDecimal> number = WindowBinder.Constants.number(offset);
        if (Coercions.type(key).kind() != DataType.Kind.BIGINT || number.isEmpty()) {
            return boundary;
        }
        long distance = number.get().longValueExact();
        long end = backward ? Long.MIN_VALUE : Long.MAX_VALUE;
        RexNode last = Rex.bigint(backward ? end + distance : end - distance);
        RexNode beyond = Rex.call(
                backward ? "lt" : "gt",
                List.of(key, last),
                DataType.BOOLEAN,
                key.getType().isNullable());
        return Rex.builder()
                .makeCall(boundary.getType(), SqlStdOperatorTable.CASE, List.of(beyond, Rex.bigint(end), boundary));
    }

    private static dev.millrace.error.MillraceException notInRange(DataType key, DataType offset, SqlNode where) {
        return Errors.error(
                SqlState.FEATURE_NOT_SUPPORTED,
                "RANGE with offset PRECEDING/FOLLOWING is not supported for column type " + Coercions.name(key)
                        + " and offset type " + Coercions.name(offset),
                where);
    }

    private static int sign(RexNode offset) {
        Optional<BigDecimal> number = WindowBinder.Constants.number(offset);
        if (number.isPresent()) {
            return number.get().signum();
        }
        boolean constant = Coercions.type(offset).kind() == DataType.Kind.INTERVAL
                && ExpressionTranslator.translate(offset) instanceof Literal;
        return constant
                ? Long.signum(
                        ((IntervalValue) ((Literal) ExpressionTranslator.translate(offset)).value()).comparableMicros())
                : 1;
    }
}
