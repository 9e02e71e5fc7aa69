package dev.millrace.engine.aggregate.number;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.memory.Memory;
import java.math.BigDecimal;
import java.math.MathContext;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class DoublesTest {
    private final long sum = Memory.allocate(40);

    @BeforeEach
    void clear() {
        Memory.fill(sum, 40, (byte) 0);
    }

    @AfterEach
    void free() {
        Memory.free(sum);
    }

    private BigDecimal exactly() {
        return new BigDecimal(Memory.getDouble(sum)).add(new BigDecimal(Memory.getDouble(sum + 8)));
    }

    private void assertNear(BigDecimal expected) {
        BigDecimal error = expected.subtract(exactly()).abs();
        BigDecimal allowed = expected.abs().multiply(BigDecimal.valueOf(1e-29)).add(BigDecimal.valueOf(1e-280));
        assertTrue(error.compareTo(allowed) <= 0, () -> expected.round(MathContext.DECIMAL128) + " off by " + error);
    }

    @Test
    void sumsHave106Bits() {
        double[] values = {1e16, 1, 1e-3, .1, -3e15, 7.25, 1.0 / 3, -1e16, 1e-9};
        BigDecimal expected = BigDecimal.ZERO;
        for (double value : values) {
            Doubles.add(sum, value);
            expected = expected.add(new BigDecimal(value));
            assertNear(expected);
            assertEquals(Memory.getDouble(sum), Doubles.value(sum));
        }
        for (double value : values) {
            Doubles.add(sum, value, -1);
        }
        assertEquals(0, Memory.getDouble(sum), 1e-15);
    }

    @Test
    void productsWithWeightsHave106Bits() {
        BigDecimal expected = BigDecimal.ZERO;
        for (double value : new double[] {.1, 1.0 / 3, 1e10 / 7}) {
            for (long weight : new long[] {1, 3, 1_000_003, 7}) {
                Doubles.add(sum, value, weight);
                expected = expected.add(new BigDecimal(value).multiply(BigDecimal.valueOf(weight)));
                assertNear(expected);
            }
        }
    }

    @Test
    void squaresHave106Bits() {
        BigDecimal expected = BigDecimal.ZERO;
        for (double value : new double[] {.1, -1.0 / 3, 1e7 / 7}) {
            for (long weight : new long[] {1, 3, 7}) {
                Doubles.addSquare(sum, value, weight);
                expected = expected.add(new BigDecimal(value).pow(2).multiply(BigDecimal.valueOf(weight)));
                assertNear(expected);
            }
        }
        for (double infinite : new double[] {Double.NaN, Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY}) {
            Doubles.addSquare(sum, infinite, 1);
            assertNear(expected);
        }
        Doubles.addSquare(sum, 1e200, 1);
        assertEquals(Double.POSITIVE_INFINITY, Doubles.value(sum));
    }

    @Test
    void sumsOfSumsHave106Bits() {
        Doubles.addSum(sum, 1e16, 1);
        Doubles.addSum(sum, .1, 1e-18);
        assertNear(
                new BigDecimal(1e16).add(BigDecimal.ONE).add(new BigDecimal(.1)).add(new BigDecimal(1e-18)));
        Doubles.addSum(sum, Double.NEGATIVE_INFINITY, Double.NaN);
        assertEquals(Double.NEGATIVE_INFINITY, Doubles.value(sum));
    }

    @Test
    void whatIsNotFiniteStays() {
        for (double infinite : new double[] {Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY}) {
            clear();
            Doubles.add(sum, 1);
            Doubles.add(sum, infinite);
            Doubles.add(sum, 2);
            assertEquals(infinite, Doubles.value(sum));
            Doubles.add(sum, -infinite);
            assertEquals(Double.NaN, Doubles.value(sum));
            Doubles.add(sum, 1);
            assertEquals(Double.NaN, Doubles.value(sum));
        }
        clear();
        Doubles.add(sum, Double.MAX_VALUE);
        assertEquals(Double.MAX_VALUE, Doubles.value(sum));
        Doubles.add(sum, 1e308, 3);
        assertEquals(Double.POSITIVE_INFINITY, Doubles.value(sum));
    }

    @Test
    void whatIsNotFiniteIsCountedWhereItMayGo() {
        Doubles.addRetractable(sum, 2, 3);
        assertEquals(6, Doubles.retractableValue(sum));
        Doubles.addRetractable(sum, Double.POSITIVE_INFINITY, 2);
        assertEquals(Double.POSITIVE_INFINITY, Doubles.retractableValue(sum));
        Doubles.addRetractable(sum, Double.NEGATIVE_INFINITY, 1);
        assertEquals(Double.NaN, Doubles.retractableValue(sum));
        Doubles.addRetractable(sum, Double.POSITIVE_INFINITY, -2);
        assertEquals(Double.NEGATIVE_INFINITY, Doubles.retractableValue(sum));
        Doubles.addRetractable(sum, Double.NaN, 1);
        assertEquals(Double.NaN, Doubles.retractableValue(sum));
        Doubles.addRetractable(sum, Double.NEGATIVE_INFINITY, -1);
        assertEquals(Double.NaN, Doubles.retractableValue(sum));
        Doubles.addRetractable(sum, Double.NaN, -1);
        assertEquals(6, Doubles.retractableValue(sum));
    }

    @Test
    void orderedIntegersOrderAsDoublesDo() {
        List<Double> values = new ArrayList<>(
                List.of(Double.NEGATIVE_INFINITY, -1e300, -1.5, -Double.MIN_VALUE, 0.0, Double.MIN_VALUE, 1.5, 1e300));
        values.add(Double.POSITIVE_INFINITY);
        values.add(Double.NaN);
        for (int i = 0; i < values.size(); i++) {
            assertEquals(values.get(i), Doubles.fromOrdered(Doubles.ordered(values.get(i))));
            assertTrue(i == 0 || Doubles.ordered(values.get(i - 1)) < Doubles.ordered(values.get(i)));
        }
        assertEquals(Doubles.ordered(0.0), Doubles.ordered(-0.0));
        SplittableRandom random = new SplittableRandom(2);
        for (int i = 0; i < 1_000; i++) {
            double a = Double.longBitsToDouble(random.nextLong());
            double b = Double.longBitsToDouble(random.nextLong());
            assertEquals(Double.compare(a, b), Long.compare(Doubles.ordered(a), Doubles.ordered(b)));
        }
    }
}
