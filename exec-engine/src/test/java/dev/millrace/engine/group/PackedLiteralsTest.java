package dev.millrace.engine.group;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.millrace.plan.expression.Expression.Literal;
import dev.millrace.type.DataType;
import java.math.BigDecimal;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class PackedLiteralsTest {
    @Test
    void whatIsUnpackedIsWhatWasPacked() {
        List<Literal> literals = List.of(
                new Literal(-7L, DataType.SMALLINT),
                new Literal(Long.MIN_VALUE, DataType.BIGINT),
                new Literal(1.5, DataType.REAL),
                new Literal(-0.0, DataType.DOUBLE),
                new Literal(Double.NaN, DataType.DOUBLE),
                new Literal(new BigDecimal("-12345678901234567890.50"), DataType.numeric(30, 2)),
                new Literal("", DataType.TEXT),
                new Literal("gr\u00fc\u00df \uD83D\uDE00 'x'", DataType.TEXT),
                new Literal("x".repeat(254), DataType.TEXT),
                new Literal("x".repeat(255), DataType.TEXT),
                new Literal("\u00fc".repeat(100_000), DataType.TEXT),
                new Literal(1_000_000L, DataType.TIMESTAMPTZ),
                new Literal(20_000L, DataType.DATE),
                new Literal(UUID.fromString("00000000-0000-4000-8000-00000000000f"), DataType.UUID));
        assertEquals(
                literals,
                PackedLiterals.unpack(
                        PackedLiterals.pack(literals),
                        literals.stream().map(Literal::type).toList()));
    }

    @Test
    void whatIsNoLiteralOfAFormIsRefused() {
        assertThrows(
                IllegalArgumentException.class,
                () -> PackedLiterals.pack(List.of(new Literal(true, DataType.BOOLEAN))));
    }
}
