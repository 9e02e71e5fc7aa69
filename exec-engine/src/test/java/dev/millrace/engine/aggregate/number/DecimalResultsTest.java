package dev.millrace.engine.aggregate.number;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.millrace.error.MillraceException;
import dev.millrace.memory.Memory;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class DecimalResultsTest {
    private static final BigInteger LIMIT = BigInteger.TEN.pow(38);

    private final long at = Memory.allocate(16);

    @AfterEach
    void free() {
        Memory.free(at);
    }

    private BigInteger quotient(BigInteger sum, long count, int digits) {
        DecimalResults.divide(sum.longValue(), sum.shiftRight(64).longValue(), count, digits, at);
        return Wide.toBigInteger(Memory.getLong(at), Memory.getLong(at + 8));
    }

    /** Quotients by words and by BigDecimal, about their borders, rounded half away from zero. */
    @Test
    void quotientsAreRoundedHalfAwayFromZero() {
        long[] sums = {0, 1, 2, 3, 7, 10, 99_999_999, 1L << 32, Long.MAX_VALUE, 1L << 62, 123_456_789_012_345L};
        long[] counts = {1, 2, 3, 7, 10, 99_999_999, (1L << 36) - 1, 1L << 36, 1L << 40};
        for (long sum : sums) {
            for (long count : counts) {
                for (int sign = -1; sign <= 1; sign += 2) {
                    for (int digits : new int[] {0, 3, 15, 16, 17}) {
                        check(BigInteger.valueOf(sum * sign), count, digits);
                    }
                }
            }
        }
        for (long count : counts) {
            check(BigInteger.valueOf(Long.MIN_VALUE), count, 16);
            check(BigInteger.valueOf(Long.MAX_VALUE).add(BigInteger.ONE), count, 16);
            check(BigInteger.ONE.shiftLeft(70), count, 16);
            check(BigInteger.ONE.shiftLeft(70).negate(), count, 16);
        }
    }

    private void check(BigInteger sum, long count, int digits) {
        BigInteger expected = new BigDecimal(sum)
                .divide(BigDecimal.valueOf(count), digits, RoundingMode.HALF_UP)
                .unscaledValue();
        if (expected.abs().compareTo(LIMIT) >= 0) {
            assertThrows(MillraceException.class, () -> quotient(sum, count, digits));
        } else {
            assertEquals(expected, quotient(sum, count, digits), () -> sum + " / " + count + " to " + digits);
        }
    }

    @Test
    void aValueHasAtMost38Digits() {
        BigInteger most = LIMIT.subtract(BigInteger.ONE);
        for (BigInteger value : new BigInteger[] {most, most.negate()}) {
            DecimalResults.check(value.longValue(), value.shiftRight(64).longValue());
            DecimalResults.write(value, at);
            assertEquals(value, Wide.toBigInteger(Memory.getLong(at), Memory.getLong(at + 8)));
        }
        for (BigInteger value : new BigInteger[] {LIMIT, LIMIT.negate()}) {
            assertThrows(
                    MillraceException.class,
                    () -> DecimalResults.check(
                            value.longValue(), value.shiftRight(64).longValue()));
            assertThrows(MillraceException.class, () -> DecimalResults.write(value, at));
        }
    }
}
