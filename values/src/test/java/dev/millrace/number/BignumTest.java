package dev.millrace.number;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.memory.Memory;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Numbers as bytes against BigDecimal: they come back as they were, and their keys order and equal as they do. */
class BignumTest {
    private static final long SEED = 125;
    private static final int NUMBERS = 20_000;
    private static final int LARGE = 3_000; // that may have as many digits as there can be

    private final Random random = new Random(SEED);

    private BigDecimal decimal() {
        int bits = switch (random.nextInt(4)) {
            case 0 -> random.nextInt(12);
            case 1 -> random.nextInt(64);
            case 2 -> random.nextInt(140);
            default -> random.nextInt(700);
        };
        BigInteger unscaled = new BigInteger(bits, random);
        if (random.nextInt(3) == 0) {
            unscaled = unscaled.multiply(BigInteger.TEN.pow(random.nextInt(30))); // zeros at the end
        }
        int scale = random.nextInt(3) == 0 ? 0 : random.nextInt(random.nextInt(60) + 1);
        return new BigDecimal(random.nextBoolean() ? unscaled : unscaled.negate(), scale);
    }

    private Bignum number() {
        return switch (random.nextInt(60)) {
            case 0 -> Bignum.NAN;
            case 1 -> Bignum.INFINITY;
            case 2 -> Bignum.NEGATIVE_INFINITY;
            default -> Bignum.of(decimal());
        };
    }

    private static byte[] key(byte[] bytes) {
        return Arrays.copyOf(bytes, BignumBytes.keyLength(bytes.length));
    }

    @Test
    void aNumberComesBackWithItsDigits() {
        long address = Memory.allocate(4096);
        try {
            for (int i = 0; i < NUMBERS; i++) {
                Bignum number = number();
                int length = number.write(address);
                assertTrue(length <= number.mostBytes(), number.toString());
                assertEquals(number, Bignum.at(address, length), number.toString());
                assertEquals(number.scale(), BignumBytes.scale(address, length), number.toString());
                assertEquals(number.signum(), BignumBytes.sign(address), number.toString());
                assertEquals(number.trimmed(), Bignum.at(address, BignumBytes.keyLength(length)), number.toString());
                if (number.isFinite()) {
                    assertEquals(number.leastScale(), BignumBytes.leastScale(address, length), number.toString());
                }
            }
        } finally {
            Memory.free(address);
        }
    }

    @Test
    void whatFitsIsWrittenAndReadWithoutAnObjectAsWithOne() {
        long address = Memory.allocate(256);
        try {
            for (int i = 0; i < NUMBERS; i++) {
                long low = random.nextLong() >> random.nextInt(64);
                int scale = random.nextInt(random.nextInt(30) + 1);
                long high = random.nextBoolean() ? low >> 63 : random.nextLong() >> (2 + random.nextInt(62));
                BigInteger unscaled =
                        BigInteger.valueOf(high).shiftLeft(64).or(new BigInteger(Long.toUnsignedString(low)));
                Bignum number = Bignum.of(new BigDecimal(unscaled, scale));
                int length = BignumBytes.write(address, high, low, scale);
                byte[] bytes = new byte[length];
                Memory.copyOut(address, bytes, 0, length);
                assertEquals(Arrays.toString(number.toBytes()), Arrays.toString(bytes), number.toString());
                long mantissa = BignumBytes.mantissa(address, length);
                if (mantissa == BignumBytes.UNFIT) {
                    assertTrue(unscaled.bitLength() > 60, number + " does not fit");
                } else {
                    assertEquals(unscaled, BigInteger.valueOf(mantissa), number.toString());
                }
            }
        } finally {
            Memory.free(address);
        }
    }

    @Test
    void theOrderOfKeysIsThatOfNumbers() {
        List<Bignum> numbers = new ArrayList<>();
        for (int i = 0; i < 250; i++) {
            Bignum number = number();
            numbers.add(number);
            numbers.add(number.isFinite() ? number.withScale(number.scale() + random.nextInt(12)) : number);
        }
        for (Bignum a : numbers) {
            for (Bignum b : numbers) {
                int order = Arrays.compareUnsigned(key(a.toBytes()), key(b.toBytes()));
                assertEquals(a.compareTo(b), Integer.signum(order), a + " and " + b);
                int whole = Arrays.compareUnsigned(a.toBytes(), b.toBytes());
                assertTrue(a.compareTo(b) == 0 || Integer.signum(whole) == a.compareTo(b), a + " and " + b);
            }
        }
    }

    @Test
    void theLargestAndTheLeastComeBack() {
        for (String text : List.of(
                "9".repeat(Bignum.MOST_WHOLE_DIGITS) + "." + "9".repeat(Bignum.MOST_SCALE),
                "0." + "0".repeat(Bignum.MOST_SCALE - 1) + "1",
                "-1" + "0".repeat(Bignum.MOST_WHOLE_DIGITS - 1),
                "-0." + "0".repeat(Bignum.MOST_SCALE - 1) + "1")) {
            Bignum number = Bignum.of(new BigDecimal(text));
            long address = Memory.allocate(number.mostBytes());
            try {
                assertEquals(number, Bignum.at(address, number.write(address)));
            } finally {
                Memory.free(address);
            }
        }
    }

    @Test
    void arithmeticIsThatOfBigDecimal() {
        for (int i = 0; i < NUMBERS; i++) {
            BigDecimal a = decimal();
            BigDecimal b = decimal();
            assertEquals(a.add(b), Bignum.of(a).add(Bignum.of(b)).value());
            assertEquals(a.subtract(b), Bignum.of(a).subtract(Bignum.of(b)).value());
            assertEquals(a.multiply(b), Bignum.of(a).multiply(Bignum.of(b)).value());
            if (b.signum() != 0) {
                Bignum quotient = Bignum.of(a).quotient(Bignum.of(b));
                Bignum rest = Bignum.of(a).mod(Bignum.of(b));
                assertEquals(0, a.compareTo(quotient.value().multiply(b).add(rest.value())), a + " and " + b);
            }
        }
    }

    @Test
    void quotientsInRegistersAreThoseOfAnySize() {
        long address = Memory.allocate(BignumBytes.MOST_FIXED_BYTES);
        int made = 0;
        try {
            for (int i = 0; i < NUMBERS; i++) {
                long x = random.nextLong() >> random.nextInt(64);
                long y = random.nextLong() >> 27 + random.nextInt(37);
                int xScale = random.nextInt(20);
                int yScale = random.nextInt(10);
                int length = Quotient.write(address, x, xScale, y, yScale);
                if (length > 0) {
                    made++;
                    Bignum quotient =
                            Bignum.of(BigDecimal.valueOf(x, xScale)).divide(Bignum.of(BigDecimal.valueOf(y, yScale)));
                    assertEquals(quotient, Bignum.at(address, length), x + "e-" + xScale + " / " + y + "e-" + yScale);
                }
            }
        } finally {
            Memory.free(address);
        }
        assertTrue(made > NUMBERS / 2, () -> "few were made in registers");
    }

    @Test
    void zerosAtTheEndOfAFractionAreFound() {
        for (int i = 0; i < LARGE; i++) {
            BigDecimal few = decimal();
            int zeros = random.nextInt(random.nextInt(600) + 1);
            BigDecimal shown = random.nextBoolean() ? few.setScale(few.scale() + zeros) : few.movePointRight(zeros);
            assertEquals(Math.max(0, shown.stripTrailingZeros().scale()), Bignum.leastScale(shown), shown.toString());
        }
        BigDecimal largest = new BigDecimal(BigInteger.TEN.pow(Bignum.MOST_WHOLE_DIGITS - 1));
        assertEquals(0, Bignum.leastScale(largest.setScale(Bignum.MOST_SCALE)));
        assertEquals(
                Bignum.MOST_SCALE, Bignum.leastScale(largest.add(BigDecimal.ONE.movePointLeft(Bignum.MOST_SCALE))));
    }

    @Test
    void bytesThatNobodyWroteAreNoNumber() {
        long address = Memory.allocate(4096);
        try {
            for (int i = 0; i < LARGE; i++) {
                byte[] bytes = number().toBytes();
                Memory.copyIn(bytes, 0, address, bytes.length);
                assertTrue(BignumBytes.isNumber(address, bytes.length));
                int at = random.nextInt(bytes.length);
                bytes[at] ^= (byte) (1 << random.nextInt(8));
                int length = random.nextInt(4) == 0 ? random.nextInt(bytes.length + 1) : bytes.length;
                Memory.copyIn(bytes, 0, address, bytes.length);
                if (BignumBytes.isNumber(address, length)) { // another number, that is written so
                    assertArrayEquals(
                            Arrays.copyOf(bytes, length),
                            Bignum.at(address, length).toBytes());
                }
            }
        } finally {
            Memory.free(address);
        }
    }

    /** A NULL's place in a column has no bytes, and whoever reads it all the same must not go before it. */
    @Test
    void ofNoBytesNothingIsTheKey() {
        assertEquals(0, BignumBytes.keyLength(0));
    }
}
