package dev.millrace.expressions.function.number;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Random;
import org.junit.jupiter.api.Test;

/** Whatever lies in intervals, what is computed of it lies in the interval that is computed of these. */
class BoundsTest {
    private static final double[] SPECIAL = {
        0,
        -0.0,
        1,
        -1,
        Double.MIN_VALUE,
        Double.MAX_VALUE,
        -Double.MAX_VALUE,
        Double.POSITIVE_INFINITY,
        Double.NEGATIVE_INFINITY,
        Double.NaN,
        0x1p53,
        0.1
    };
    private static final int TRIALS = 200_000;

    private final Random random = new Random(42);

    private double any() {
        return random.nextInt(4) == 0
                ? SPECIAL[random.nextInt(SPECIAL.length)]
                : random.nextGaussian() * Math.pow(10, random.nextInt(7) - 3);
    }

    /** Low, high, and something between. */
    private double[] interval() {
        double[] three = {any(), any(), any()};
        for (int i = 0; i < 2; i++) {
            for (int j = 0; j < 2; j++) {
                if (above(three[j], three[j + 1])) {
                    double lower = three[j + 1];
                    three[j + 1] = three[j];
                    three[j] = lower;
                }
            }
        }
        return new double[] {three[0], three[2], three[1]};
    }

    /** In SQL's order, which has one zero, and NaN above all. */
    private static boolean above(double a, double b) {
        return Double.compare(a + 0.0, b + 0.0) > 0;
    }

    private static void contains(double low, double high, double value, String of) {
        assertTrue(
                !above(low, value) && !above(value, high),
                () -> of + " is " + value + ", not in [" + low + ", " + high + "]");
    }

    @Test
    void resultsLieWithinTheResultsOfEnds() {
        for (int i = 0; i < TRIALS; i++) {
            double[] a = interval();
            double[] b = interval();
            String of = a[2] + " and " + b[2];
            contains(Bounds.addLow(a[0], b[0]), Bounds.addHigh(a[1], b[1]), a[2] + b[2], "the sum of " + of);
            contains(Bounds.negateLow(a[1]), Bounds.negateHigh(a[0], a[1]), -a[2], "less " + of);
            contains(Bounds.absLow(a[0], a[1]), Bounds.absHigh(a[0], a[1]), Math.abs(a[2]), "the amount of " + of);
            contains(
                    Bounds.multiplyLow(a[0], a[1], b[0], b[1]),
                    Bounds.multiplyHigh(a[0], a[1], b[0], b[1]),
                    a[2] * b[2],
                    "the product of " + of);
            if (b[2] != 0) { // else there is no answer
                contains(
                        Bounds.divideLow(a[0], a[1], b[0], b[1]),
                        Bounds.divideHigh(a[0], a[1], b[0], b[1]),
                        a[2] / b[2],
                        "the quotient of " + of);
            }
            contains(Bounds.real(a[0]), Bounds.real(a[1]), (float) a[2], "the REAL of " + of);
        }
    }

    @Test
    void aValueIsOffByNoMoreThanItsErrorAndItsDistance() {
        for (int i = 0; i < TRIALS; i++) {
            double shown = any();
            double error = random.nextInt(3) == 0 ? 0 : Math.abs(random.nextGaussian());
            double truth = Double.isFinite(shown) ? shown + error * (2 * random.nextDouble() - 1) : shown;
            double low = Bounds.low(shown, error);
            double high = Bounds.high(shown, error);
            contains(low, high, truth, shown + " that is " + truth);
            double distance = Bounds.distance(shown, low, high);
            if (Double.isFinite(shown)) {
                assertTrue(Math.abs(truth - shown) <= distance, truth + " is not " + distance + " from " + shown);
            }
            assertTrue(
                    distance <= error + 4 * Math.ulp(shown) + 4 * Math.ulp(error) || !(Math.abs(shown) < 1e300),
                    "distance " + distance);
            float real = (float) shown;
            if (Float.isFinite(real)) {
                contains(Bounds.realLow(real, error), Bounds.realHigh(real, error), (float) truth, "the REAL " + real);
            }
        }
    }

    @Test
    void wholeNumbersBeyondTheDigitsOfADoubleLieBetweenTwo() {
        for (int i = 0; i < TRIALS; i++) {
            long whole = random.nextLong() >> random.nextInt(63);
            contains(Bounds.wholeLow(whole), Bounds.wholeHigh(whole), whole, "a whole number");
            assertTrue(
                    Math.abs(whole) >= 1L << 53 || Bounds.wholeLow(whole) == whole && Bounds.wholeHigh(whole) == whole,
                    "a small one is exact");
            assertTrue((long) Bounds.wholeLow(whole) <= whole, whole + " is below its low end");
            assertTrue((long) Bounds.wholeHigh(whole) >= whole, whole + " is above its high end");
        }
    }

    @Test
    void whereInfinitiesMeetNothingIsKnown() {
        assertEquals(Double.NEGATIVE_INFINITY, Bounds.totalLow(Double.NaN, 1));
        assertEquals(Double.NaN, Bounds.totalHigh(Double.POSITIVE_INFINITY, 1));
        assertEquals(Double.NaN, Bounds.totalHigh(Double.NaN, 1));
        assertEquals(Double.POSITIVE_INFINITY, Bounds.distance(1, Double.NEGATIVE_INFINITY, Double.NaN));
        assertEquals(Double.POSITIVE_INFINITY, Bounds.distance(Double.NaN, 1, Double.NaN));
        assertEquals(0, Bounds.distance(Double.NaN, Double.NaN, Double.NaN));
        assertEquals(Double.POSITIVE_INFINITY, Bounds.top(1, Double.NaN));
        assertEquals(Double.NaN, Bounds.top(Double.NaN, Double.NaN));
        assertEquals(5, Bounds.top(1, 5));
        assertEquals(0, Bounds.root(-1));
        assertEquals(Double.POSITIVE_INFINITY, Bounds.scaled(Double.NaN, 1, 0));
        assertEquals(3.5, Bounds.scaled(-5, .5, 1));
    }
}
