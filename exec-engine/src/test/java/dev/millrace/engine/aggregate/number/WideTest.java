package dev.millrace.engine.aggregate.number;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.memory.Memory;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Sums of many words against BigInteger. */
class WideTest {
    private static final BigInteger MOST = BigInteger.ONE.shiftLeft(127).subtract(BigInteger.ONE);
    private static final BigInteger LEAST = BigInteger.ONE.shiftLeft(127).negate();

    private final long sum = Memory.allocate(8 * Wide.SQUARES_WORDS);

    @AfterEach
    void free() {
        Memory.free(sum);
    }

    private void set(BigInteger value) {
        Memory.putLong(sum, value.longValue());
        Memory.putLong(sum + 8, value.shiftRight(64).longValue());
    }

    private BigInteger get() {
        return Wide.toBigInteger(Memory.getLong(sum), Memory.getLong(sum + 8));
    }

    private static long low(BigInteger value) {
        return value.longValue();
    }

    private static long high(BigInteger value) {
        return value.shiftRight(64).longValue();
    }

    /** What lies about the ends of words, and some between. */
    private static List<BigInteger> values() {
        List<BigInteger> values = new ArrayList<>();
        for (int bits : new int[] {0, 1, 31, 32, 62, 63, 64, 65, 100, 126, 127}) {
            for (long more = -1; more <= 1; more++) {
                BigInteger value = BigInteger.ONE.shiftLeft(bits).add(BigInteger.valueOf(more));
                values.add(value);
                values.add(value.negate());
            }
        }
        values.removeIf(value -> value.bitLength() > 127);
        return values;
    }

    private void check(BigInteger expected, Runnable adding) {
        BigInteger before = get();
        if (expected.compareTo(LEAST) < 0 || expected.compareTo(MOST) > 0) {
            MillraceException failure = assertThrows(MillraceException.class, adding::run);
            assertEquals(SqlState.NUMERIC_VALUE_OUT_OF_RANGE, failure.sqlState());
            assertEquals(before, get(), "a sum that failed is as before");
        } else {
            adding.run();
            assertEquals(expected, get());
        }
    }

    @Test
    void numbersOf128BitsAdd() {
        for (BigInteger a : values()) {
            for (BigInteger b : values()) {
                set(a);
                check(a.add(b), () -> Wide.add128(sum, low(b), high(b)));
                for (long weight : new long[] {1, -1, 2, -3, 1L << 40}) {
                    set(a);
                    BigInteger product = b.multiply(BigInteger.valueOf(weight));
                    if (product.bitLength() > 127) {
                        assertThrows(MillraceException.class, () -> Wide.add128(sum, low(b), high(b), weight));
                    } else {
                        check(a.add(product), () -> Wide.add128(sum, low(b), high(b), weight));
                    }
                }
            }
        }
    }

    @Test
    void numbersOf64BitsAdd() {
        for (BigInteger a : values()) {
            for (BigInteger b : values()) {
                if (a.bitLength() < 126 && b.bitLength() < 64) {
                    set(a);
                    Wide.add(sum, b.longValue());
                    assertEquals(a.add(b), get());
                    for (long weight : new long[] {1, -1, 7, Long.MAX_VALUE, Long.MIN_VALUE}) {
                        set(a);
                        check(
                                a.add(b.multiply(BigInteger.valueOf(weight))),
                                () -> Wide.add(sum, b.longValue(), weight));
                    }
                }
            }
        }
    }

    @Test
    void squaresAdd() {
        SplittableRandom random = new SplittableRandom(1);
        for (long weight : new long[] {1, -1, 5, -1_000_000}) {
            Memory.fill(sum, 8 * Wide.SQUARES_WORDS, (byte) 0);
            BigInteger expected = BigInteger.ZERO;
            for (BigInteger value : values()) {
                long factor = random.nextInt(3) == 0 ? 1 : weight;
                Wide.addSquare128(sum, low(value), high(value), factor);
                expected = expected.add(value.multiply(value).multiply(BigInteger.valueOf(factor)));
                assertEquals(expected, Wide.squares(sum));
                if (value.bitLength() < 64) {
                    Wide.addSquare(sum, value.longValue(), factor);
                    expected = expected.add(value.multiply(value).multiply(BigInteger.valueOf(factor)));
                    assertEquals(expected, Wide.squares(sum));
                }
            }
        }
    }

    /** A carry that goes through all words. */
    @Test
    void carriesGoOnThroughWords() {
        long other = Memory.allocate(8 * Wide.SQUARES_WORDS);
        Memory.fill(sum, 8 * Wide.SQUARES_WORDS, (byte) -1);
        assertEquals(BigInteger.ONE.negate(), Wide.squares(sum));
        Wide.addWords(sum, 1, 0, 0, 0, 0);
        assertEquals(BigInteger.ZERO, Wide.squares(sum));
        Wide.addWords(sum, -1, -1, 0, 0, 0);
        Wide.addWords(sum, 1, -1, 5, 7, 9); // a carry into a word that is all ones, where one comes of the word itself
        BigInteger expected = BigInteger.ONE.shiftLeft(128).subtract(BigInteger.ONE);
        expected = expected.add(BigInteger.ONE)
                .add(new BigInteger("-1").shiftLeft(64).add(BigInteger.ONE.shiftLeft(128)))
                .add(BigInteger.valueOf(5).shiftLeft(128))
                .add(BigInteger.valueOf(7).shiftLeft(192))
                .add(BigInteger.valueOf(9).shiftLeft(256));
        assertEquals(expected, Wide.squares(sum));
        Memory.free(other);
    }

    @Test
    void intervalsAddByTheirParts() {
        Memory.fill(sum, 32, (byte) 0);
        Wide.addInterval(sum, (5L << 32) | 3, 7_000, 2);
        Wide.addInterval(sum, (-1L << 32) | (-2 & 0xFFFFFFFFL), -3_000, 1);
        assertEquals(4, Memory.getLong(sum));
        assertEquals(9, Memory.getLong(sum + 8));
        assertEquals(11, Memory.getLong(sum + 16));
        Wide.addParts(sum, 1, 2, 3, 0);
        assertEquals(5, Memory.getLong(sum));
        assertEquals(11, Memory.getLong(sum + 8));
        assertEquals(14, Memory.getLong(sum + 16));
        assertThrows(ArithmeticException.class, () -> Wide.addParts(sum, Long.MAX_VALUE, 0, 0, 0));
        assertThrows(ArithmeticException.class, () -> Wide.addParts(sum, 0, Long.MAX_VALUE, 0, 0));
        Wide.addParts(sum, 0, 0, Long.MAX_VALUE, 0);
        Wide.addInterval(sum, 0, Long.MAX_VALUE, Long.MAX_VALUE);
        BigInteger most = BigInteger.valueOf(Long.MAX_VALUE);
        assertEquals(
                most.multiply(BigInteger.valueOf(Long.MAX_VALUE / 1_000))
                        .add(most)
                        .add(BigInteger.valueOf(14)),
                Wide.toBigInteger(Memory.getLong(sum + 16), Memory.getLong(sum + 24)));
    }

    @Test
    void whatOverflowsIsCarriedAndComesBack() {
        SplittableRandom random = new SplittableRandom(11);
        Memory.fill(sum, 24, (byte) 0);
        BigInteger expected = BigInteger.ZERO;
        BigInteger most = BigInteger.TEN.pow(38).subtract(BigInteger.ONE);
        for (int step = 0; step < 20_000; step++) {
            BigInteger value = random.nextInt(4) == 0
                    ? BigInteger.valueOf(random.nextLong())
                    : most.subtract(BigInteger.valueOf(random.nextInt(3)));
            value = random.nextBoolean() ? value : value.negate();
            long weight = random.nextInt(3) == 0 ? random.nextLong(-1_000_000, 1_000_000) : random.nextInt(-1, 2);
            Wide.addCarried(sum, low(value), high(value), weight);
            expected = expected.add(value.multiply(BigInteger.valueOf(weight)));
            assertEquals(expected, Wide.carried(sum));
            Wide.addCarried(sum, low(value), high(value));
            expected = expected.add(value);
            assertEquals(expected, Wide.carried(sum));
        }
        Wide.addCarried(sum, low(MOST), high(MOST));
        Wide.addCarried(sum, low(LEAST), high(LEAST));
        assertEquals(expected.subtract(BigInteger.ONE), Wide.carried(sum));
    }

    @Test
    void theLesserAndTheGreaterAreKept() {
        for (BigInteger a : values()) {
            for (BigInteger b : values()) {
                assertEquals(a.compareTo(b) < 0, Wide.less(low(a), high(a), low(b), high(b)));
                set(a);
                Wide.min(sum, low(b), high(b));
                assertEquals(a.min(b), get());
                set(a);
                Wide.max(sum, low(b), high(b));
                assertEquals(a.max(b), get());
            }
        }
    }
}
