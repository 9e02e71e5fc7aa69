package dev.millrace.server.copy;

import dev.millrace.batch.Memory;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;
import java.util.Optional;

/** Reads NUMERIC's binary form: base-10000 digits, the weight of the first of them, a sign, and a scale. */
final class BinaryNumeric {
    private static final int HEADER_BYTES = 8;
    private static final int BASE_DIGITS = 4;
    private static final int NEGATIVE = 0x4000;
    private static final BigInteger BASE = BigInteger.valueOf(10_000);

    private BinaryNumeric() {}

    /** The number as text; empty when the bytes are no finite number. */
    static Optional<String> text(long address, int length) {
        if (length < HEADER_BYTES || length != HEADER_BYTES + 2 * unsigned(address)) {
            return Optional.empty();
        }
        int digits = unsigned(address);
        int weight = (short) unsigned(address + 2);
        int sign = unsigned(address + 4);
        int scale = unsigned(address + 6);
        if (sign != 0 && sign != NEGATIVE) {
            return Optional.empty();
        }
        BigInteger unscaled = BigInteger.ZERO;
        for (int i = 0; i < digits; i++) {
            unscaled = unscaled.multiply(BASE).add(BigInteger.valueOf(unsigned(address + HEADER_BYTES + 2L * i)));
        }
        BigDecimal value =
                new BigDecimal(sign == NEGATIVE ? unscaled.negate() : unscaled, (digits - 1 - weight) * BASE_DIGITS);
        return Optional.of(value.setScale(scale, RoundingMode.HALF_UP).toPlainString());
    }

    private static int unsigned(long address) {
        return Short.reverseBytes(Memory.getShort(address)) & 0xffff;
    }
}
