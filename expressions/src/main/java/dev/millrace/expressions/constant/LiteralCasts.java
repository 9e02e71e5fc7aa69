package dev.millrace.expressions.constant;

import dev.millrace.memory.Memory;
import dev.millrace.plan.expression.Expression.Literal;
import dev.millrace.plan.expression.IntervalValue;
import dev.millrace.text.ValueParser;
import dev.millrace.type.DataType;
import dev.millrace.type.DataType.Kind;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.memory.BufferAllocator;

/**
 * The casts of literals that queries are full of ({@code 5} as BIGINT, {@code '2024-01-01'} as DATE), without generating
 * code for them. Only where the result is exact and certain; the rest is left to the generated code.
 */
final class LiteralCasts {
    private LiteralCasts() {}

    static Optional<Literal> cast(Literal literal, DataType type, BufferAllocator allocator) {
        DataType from = literal.type();
        if (from.isInteger() && type.isInteger() && from.kind().compareTo(type.kind()) <= 0) {
            return Optional.of(new Literal(literal.value(), type));
        }
        if (from.isInteger() && type.kind() == Kind.DOUBLE) {
            return Optional.of(new Literal(((Long) literal.value()).doubleValue(), type));
        }
        if (from.isInteger() && type.kind() == Kind.NUMERIC) {
            return exact(BigDecimal.valueOf((Long) literal.value()), type);
        }
        if (from.kind() == Kind.NUMERIC && type.kind() == Kind.NUMERIC && type.scale() >= from.scale()) {
            return exact((BigDecimal) literal.value(), type);
        }
        if (from.kind() == Kind.NUMERIC && type.kind() == Kind.DOUBLE) {
            return Optional.of(new Literal(((BigDecimal) literal.value()).doubleValue(), type));
        }
        if (literal.value() instanceof String text && (type.kind() == Kind.TEXT && from.kind() != Kind.JSONB)) {
            return Optional.of(new Literal(text, type));
        }
        return literal.value() instanceof String text ? parsed(text, type, allocator) : Optional.empty();
    }

    private static Optional<Literal> exact(BigDecimal value, DataType type) {
        BigDecimal scaled = value.setScale(type.scale(), RoundingMode.UNNECESSARY);
        boolean fits = scaled.precision() <= type.precision() || scaled.signum() == 0;
        return fits ? Optional.of(new Literal(scaled, type)) : Optional.empty();
    }

    /** What a text says; nothing when it is no such value, so that the generated code explains it. */
    private static Optional<Literal> parsed(String text, DataType type, BufferAllocator allocator) {
        switch (type.kind()) {
            case BOOLEAN, SMALLINT, INTEGER, BIGINT, DOUBLE, DATE, TIME, TIMESTAMP, TIMESTAMPTZ, INTERVAL -> {}
            default -> {
                return Optional.empty();
            }
        }
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        ValueParser parser = new ValueParser();
        try (ArrowBuf memory = allocator.buffer(Math.max(1, bytes.length))) {
            Memory.copyIn(bytes, 0, memory.memoryAddress(), bytes.length);
            if (!parser.tryParse(type, memory.memoryAddress(), bytes.length)) {
                return Optional.empty();
            }
        }
        Object value = switch (type.kind()) {
            case BOOLEAN -> parser.value() != 0;
            case DOUBLE -> parser.doubleValue();
            case INTERVAL -> new IntervalValue(parser.months(), parser.days(), parser.value());
            default -> parser.value();
        };
        return Optional.of(new Literal(value, type));
    }
}
