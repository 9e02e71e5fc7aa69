package dev.millrace.expressions.function.number;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.error.MillraceException;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** The gamma function against factorials, known values and its own equations; errors are those of PostgreSQL 18. */
class GammaFunctionTest {
    private static void assertClose(double expected, double actual) {
        assertEquals(expected, actual, Math.abs(expected) * 1e-14 + 1e-14);
    }

    private static void assertFails(String how, Runnable call) {
        assertTrue(
                assertThrows(MillraceException.class, call::run).getMessage().contains("value out of range: " + how));
    }

    @Test
    void ofWholeNumbersItIsTheFactorialBefore() {
        double factorial = 1;
        for (int n = 1; n <= 171; n++) {
            assertEquals(factorial, GammaFunction.gamma(n));
            assertClose(Math.log(factorial), GammaFunction.lgamma(n));
            factorial *= n;
        }
    }

    @Test
    void halvesAreRootsOfPi() {
        assertClose(Math.sqrt(Math.PI), GammaFunction.gamma(0.5));
        assertClose(-2 * Math.sqrt(Math.PI), GammaFunction.gamma(-0.5));
        assertClose(4 * Math.sqrt(Math.PI) / 3, GammaFunction.gamma(-1.5));
        assertClose(Math.log(Math.PI) / 2, GammaFunction.lgamma(0.5));
        assertEquals(-5914.437701116853, GammaFunction.lgamma(-1000.5), 1e-11);
    }

    @Test
    void eachValueIsTheOneBeforeTimesItsArgument() {
        Random random = new Random(3);
        for (int i = 0; i < 100_000; i++) {
            double x = random.nextDouble() * 330 - 165;
            if (x < 1 && Math.abs(x - Math.rint(x)) < 0.01) { // near a pole the last digit of x + 1 makes a difference
                continue;
            }
            double next = GammaFunction.gamma(x + 1);
            assertEquals(next, x * GammaFunction.gamma(x), Math.abs(next) * 1e-11, () -> "of " + x);
            assertEquals(
                    Math.log(Math.abs(next)),
                    GammaFunction.lgamma(x + 1),
                    1e-10 + 1e-12 * Math.abs(Math.log(Math.abs(next))));
        }
    }

    @Test
    void whatIsNoNumberIsAnError() {
        assertEquals(Double.POSITIVE_INFINITY, GammaFunction.gamma(Double.POSITIVE_INFINITY));
        assertEquals(Double.NaN, GammaFunction.gamma(Double.NaN));
        assertEquals(Double.POSITIVE_INFINITY, GammaFunction.lgamma(Double.NEGATIVE_INFINITY));
        for (double pole : new double[] {0, -1, Double.NEGATIVE_INFINITY, 172, 171.7, 1000}) {
            assertFails("overflow", () -> GammaFunction.gamma(pole));
        }
        assertFails("underflow", () -> GammaFunction.gamma(-1000.5));
        for (double pole : new double[] {0, -1, 1e308}) {
            assertFails("overflow", () -> GammaFunction.lgamma(pole));
        }
    }
}
