package dev.millrace.sql.algebra;

import dev.millrace.error.MillraceException;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.Expression.Literal;
import dev.millrace.plan.expression.IntervalValue;
import dev.millrace.plan.expression.ParameterPlace;
import dev.millrace.type.DataType;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import org.apache.calcite.avatica.util.ByteString;
import org.apache.calcite.rex.RexCall;
import org.apache.calcite.rex.RexDynamicParam;
import org.apache.calcite.rex.RexInputRef;
import org.apache.calcite.rex.RexLiteral;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexOver;
import org.apache.calcite.rex.RexSubQuery;
import org.apache.calcite.rex.RexUtil;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.fun.SqlStdOperatorTable;
import org.apache.calcite.util.DateString;
import org.apache.calcite.util.NlsString;
import org.apache.calcite.util.TimeString;
import org.apache.calcite.util.TimestampString;

/** Row expressions of the algebra as expressions of a plan. Stateless. */
public final class ExpressionTranslator {
    private static final long MICROS_PER_MILLI = 1000;

    private ExpressionTranslator() {}

    /** Input references keep their index. Fails with 0A000 for what plans cannot hold: sub-queries, OVER, parameters. */
    public static Expression translate(RexNode node) {
        Interrupt.checkCurrent();
        if (node instanceof RexInputRef reference) {
            return new Expression.Column(
                    reference.getIndex(),
                    TypeMapper.dataType(reference.getType()),
                    reference.getType().isNullable());
        }
        if (node instanceof RexLiteral literal) {
            return literal(literal);
        }
        if (node instanceof RexSubQuery) {
            throw MillraceException.notAvailableYet("this kind of sub-query")
                    .withHint("write a join with a grouped sub-query");
        }
        if (node instanceof RexOver) {
            throw MillraceException.notAvailableYet("a window function (OVER) in this place")
                    .withHint("compute it in a sub-query in FROM");
        }
        if (node instanceof RexDynamicParam parameter) {
            return ParameterPlace.of(parameter.getIndex(), TypeMapper.dataType(parameter.getType()));
        }
        if (node instanceof RexCall call) {
            return call(call);
        }
        throw MillraceException.notAvailableYet("a reference to a row of an outer query in this place")
                .withHint("write a join with a grouped sub-query");
    }

    /** All of a list. */
    public static List<Expression> translate(List<? extends RexNode> nodes) {
        List<Expression> expressions = new ArrayList<>(nodes.size());
        for (RexNode node : nodes) {
            expressions.add(translate(node));
        }
        return expressions;
    }

    private static Expression call(RexCall call) {
        DataType type = TypeMapper.dataType(call.getType());
        boolean nullable = call.getType().isNullable();
        switch (call.getKind()) {
            case CAST, SAFE_CAST -> {
                return cast(call.getOperands().get(0), type);
            }
            case CASE -> {
                return caseOf(call, type, nullable);
            }
            case SEARCH -> {
                return translate(RexUtil.expandSearch(Rex.builder(), null, call));
            }
            case ARRAY_VALUE_CONSTRUCTOR -> {
                return array(call, type);
            }
            default -> {
                if (call.getOperator() == SqlStdOperatorTable.COALESCE) {
                    return new Expression.Call("coalesce", translate(call.getOperands()), type, nullable);
                }
            }
        }
        if (call.getOperator().getName().equals(Rex.INTERVAL_CONSTANT)) {
            return new Literal(
                    new IntervalValue(Math.toIntExact(whole(call, 0)), Math.toIntExact(whole(call, 1)), whole(call, 2)),
                    DataType.INTERVAL);
        }
        return new Expression.Call(Rex.name(call.getOperator()), translate(call.getOperands()), type, nullable);
    }

    private static long whole(RexCall call, int operand) {
        return ((RexLiteral) call.getOperands().get(operand)).getValueAs(Long.class);
    }

    private static Expression cast(RexNode operand, DataType type) {
        Expression input = translate(operand);
        if (input.type().equals(type)) {
            return input;
        }
        if (input instanceof Expression.Null) {
            return new Expression.Null(type);
        }
        // Constants without a literal of Calcite's own arrive as casts of their text.
        if (input instanceof Literal literal
                && literal.type().kind() != DataType.Kind.JSONB
                && literal.value() instanceof String text
                && isConstantText(type)) {
            return Literals.parse(type, text);
        }
        return new Expression.Cast(input, type);
    }

    private static boolean isConstantText(DataType type) {
        return switch (type.kind()) {
            case REAL, DOUBLE, BIGNUM, JSONB -> true;
            default -> false;
        };
    }

    private static Expression caseOf(RexCall call, DataType type, boolean nullable) {
        List<RexNode> operands = call.getOperands();
        List<Expression.Case.Branch> branches = new ArrayList<>(operands.size() / 2);
        for (int i = 0; i + 1 < operands.size(); i += 2) {
            branches.add(new Expression.Case.Branch(translate(operands.get(i)), cast(operands.get(i + 1), type)));
        }
        return new Expression.Case(branches, cast(operands.get(operands.size() - 1), type), type, nullable);
    }

    /** A literal if all elements are constant. */
    private static Expression array(RexCall call, DataType type) {
        List<Expression> elements = new ArrayList<>();
        List<Object> values = new ArrayList<>();
        for (RexNode operand : call.getOperands()) {
            Expression element = translate(operand);
            elements.add(element);
            if (element instanceof Literal literal) {
                values.add(literal.value());
            } else if (element instanceof Expression.Null) {
                values.add(Optional.empty());
            }
        }
        return values.size() == elements.size()
                ? new Literal(values, type)
                : new Expression.Call("make_array", elements, type, false);
    }

    // ---- constants -------------------------------------------------------------------------------------------------

    private static Expression literal(RexLiteral literal) {
        DataType type = TypeMapper.dataType(literal.getType());
        if (literal.isNull()) {
            return new Expression.Null(type);
        }
        if (type.kind()
                == DataType.Kind
                        .BIGNUM) { // Calcite takes its type for bytes, and a cast of a constant text for the text's
            ByteString text = Objects.requireNonNull(literal.getValueAs(ByteString.class));
            return Literals.parse(type, new String(text.getBytes(), StandardCharsets.UTF_8));
        }
        return new Literal(value(literal, type), type);
    }

    private static Object value(RexLiteral literal, DataType type) {
        Comparable<?> value = literal.getValueAs(Comparable.class);
        return switch (type.kind()) {
            case BOOLEAN -> (Boolean) value;
            case SMALLINT, INTEGER, BIGINT -> ((BigDecimal) value).longValueExact();
            case NUMERIC -> ((BigDecimal) value).setScale(type.scale(), RoundingMode.HALF_UP);
            case REAL, DOUBLE -> ((Number) value).doubleValue();
            case TEXT, VARCHAR, CHAR, JSONB -> ((NlsString) value).getValue();
            case BYTEA -> bytes((ByteString) value);
            case DATE -> (long) ((DateString) value).getDaysSinceEpoch();
            case TIME -> micros(((TimeString) value).getMillisOfDay(), value.toString());
            case TIMESTAMP, TIMESTAMPTZ -> micros(((TimestampString) value).getMillisSinceEpoch(), value.toString());
            case UUID -> (UUID) value;
            case BIGNUM, INTERVAL, ARRAY, ROW, NULL ->
                throw new IllegalArgumentException(
                        "no literal of type " + type + " is made by the front end: " + literal);
        };
    }

    /** Milliseconds with the digits beyond them, which Calcite keeps in the text only. */
    private static long micros(long millis, String text) {
        int point = text.indexOf('.');
        String fraction = point < 0 ? "" : text.substring(point + 1);
        String padded = (fraction + "000000").substring(0, 6);
        return millis * MICROS_PER_MILLI + Integer.parseInt(padded.substring(3));
    }

    private static List<Byte> bytes(ByteString value) {
        List<Byte> list = new ArrayList<>(value.length());
        for (byte b : value.getBytes()) {
            list.add(b);
        }
        return list;
    }

    /** Whether a node is a constant that {@link #translate} makes a literal of. */
    static boolean isConstant(RexNode node) {
        return node instanceof RexLiteral
                || node instanceof RexCall call
                        && (call.getOperator().getName().equals(Rex.INTERVAL_CONSTANT)
                                || call.getKind() == SqlKind.CAST
                                        && call.getOperands().get(0) instanceof RexLiteral);
    }
}
