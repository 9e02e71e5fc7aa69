package dev.millrace.planner.simplify;

import dev.millrace.number.Bignum;
import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.Expression.Call;
import dev.millrace.plan.expression.Expression.Literal;
import dev.millrace.plan.expression.IntervalValue;
import dev.millrace.type.DataType;
import java.math.BigDecimal;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/**
 * Keys of which NULL equals NULL, by two of which NULL equals nothing: whether the value is NULL, and the value or, in place
 * of NULL, any.
 *
 * <pre>
 * a IS NOT DISTINCT FROM b    is    (a IS NULL) = (b IS NULL) AND coalesce(a, 0) = coalesce(b, 0)
 * </pre>
 */
final class NullSafeKey {
    private NullSafeKey() {}

    /** Some value of a type, which stands for NULL; empty for a type that gives no such keys. */
    static Optional<Literal> any(DataType type) {
        return switch (type.kind()) {
            case BOOLEAN -> Optional.of(new Literal(false, type));
            case SMALLINT, INTEGER, BIGINT, DATE, TIME, TIMESTAMP, TIMESTAMPTZ -> Optional.of(new Literal(0L, type));
            case REAL, DOUBLE -> Optional.of(new Literal(0.0, type));
            case NUMERIC -> Optional.of(new Literal(BigDecimal.ZERO.setScale(type.scale()), type));
            case BIGNUM -> Optional.of(new Literal(Bignum.ZERO, type));
            case TEXT, VARCHAR, CHAR -> Optional.of(new Literal("", type));
            case BYTEA -> Optional.of(new Literal(List.of(), type));
            case INTERVAL -> Optional.of(new Literal(new IntervalValue(0, 0, 0), type));
            case UUID -> Optional.of(new Literal(new UUID(0, 0), type));
            case JSONB, ARRAY, ROW, NULL -> Optional.empty();
        };
    }

    static Expression isNull(Expression value) {
        return new Call("is_null", List.of(value), DataType.BOOLEAN, false);
    }

    static Expression present(Expression value, Literal any) {
        return new Call("coalesce", List.of(value, any), value.type(), false);
    }
}
