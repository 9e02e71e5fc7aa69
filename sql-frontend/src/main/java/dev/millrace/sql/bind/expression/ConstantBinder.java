package dev.millrace.sql.bind.expression;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.plan.expression.Expression.Literal;
import dev.millrace.sql.algebra.Literals;
import dev.millrace.sql.algebra.Rex;
import dev.millrace.sql.bind.type.Errors;
import dev.millrace.type.DataType;
import dev.millrace.type.PlainNumeric;
import java.math.BigDecimal;
import org.apache.calcite.avatica.util.ByteString;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.sql.SqlLiteral;
import org.apache.calcite.sql.type.SqlTypeName;
import org.apache.calcite.util.NlsString;

/** Binds constants as the grammar reads them: a text's type is still unknown, a number has the smallest that holds it. */
final class ConstantBinder {
    private ConstantBinder() {}

    static RexNode bind(SqlLiteral literal) {
        if (literal.getTypeName() == SqlTypeName.NULL || literal.getValue() == null) {
            return literal.getTypeName() == SqlTypeName.BOOLEAN
                    ? Rex.nullOf(DataType.BOOLEAN)
                    : Rex.nullOf(DataType.NULL);
        }
        return switch (literal.getTypeName()) {
            case BOOLEAN -> Rex.literal(new Literal(literal.booleanValue(), DataType.BOOLEAN));
            case CHAR -> Rex.unknown(literal.getValueAs(NlsString.class).getValue());
            case DECIMAL, DOUBLE -> number(literal);
            case BINARY -> Rex.literal(Literals.parse(DataType.BYTEA, "\\x" + toHex(literal.getValueAs(byte[].class))));
            default -> throw Errors.error(SqlState.SYNTAX_ERROR, "syntax error in a constant", literal);
        };
    }

    private static String toHex(byte[] bytes) {
        return new ByteString(bytes).toString(16);
    }

    private static RexNode number(SqlLiteral literal) {
        BigDecimal value = literal.bigDecimalValue();
        try {
            boolean whole = literal.getTypeName() == SqlTypeName.DECIMAL
                    && value.scale() <= 0
                    && literal.toValue().indexOf('.') < 0;
            if (whole && fits(value, Integer.MIN_VALUE, Integer.MAX_VALUE)) {
                return Rex.literal(new Literal(value.longValue(), DataType.INTEGER));
            }
            if (whole && fits(value, Long.MIN_VALUE, Long.MAX_VALUE)) {
                return Rex.literal(new Literal(value.longValue(), DataType.BIGINT));
            }
            boolean tooLong = value.precision() - value.scale() > DataType.MAX_NUMERIC_PRECISION;
            return tooLong && !whole && !PlainNumeric.isUnlimited() && Double.isFinite(value.doubleValue())
                    ? Rex.cast(Rex.literal(new Literal(value.doubleValue(), DataType.DOUBLE)), DataType.DOUBLE)
                    : Rex.literal(Literals.number(value));
        } catch (MillraceException e) {
            throw Errors.at(e, literal);
        }
    }

    private static boolean fits(BigDecimal value, long least, long most) {
        return value.compareTo(BigDecimal.valueOf(least)) >= 0 && value.compareTo(BigDecimal.valueOf(most)) <= 0;
    }
}
