package dev.millrace.expressions.function;

import java.security.SecureRandom;
import java.util.SplittableRandom;

/** Random values for generated code: nobody who has seen some knows the next UUID. One thread at a time. */
public final class RandomValues {
    private static final SecureRandom SECURE = new SecureRandom();
    private static final long VERSION_4 = 0x4000L;
    private static final long VARIANT_2 = 0x8000_0000_0000_0000L;

    private final SplittableRandom numbers = new SplittableRandom(SECURE.nextLong());

    /** From 0 on, less than 1. */
    public double number() {
        return numbers.nextDouble();
    }

    /** The first half of a UUID of version 4. */
    public long uuidHigh() {
        return SECURE.nextLong() & ~0xF000L | VERSION_4;
    }

    /** Its second half. */
    public long uuidLow() {
        return SECURE.nextLong() & 0x3FFF_FFFF_FFFF_FFFFL | VARIANT_2;
    }
}
