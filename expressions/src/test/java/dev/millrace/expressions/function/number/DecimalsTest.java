package dev.millrace.expressions.function.number;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.millrace.error.MillraceException;
import dev.millrace.expressions.function.Int128;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** 128-bit arithmetic against BigDecimal, with operands of all lengths. */
class DecimalsTest {
    private static final int RUNS = 100_000;
    private static final long SEED = 11;
    private static final BigInteger LIMIT = BigInteger.TEN.pow(38);

    private interface Operation {
        void compute(long aHigh, long aLow, long bHigh, long bLow, Int128 out);
    }

    private interface Expected {
        BigInteger compute(BigInteger a, BigInteger b);
    }

    private static BigInteger random(Random random) {
        BigInteger value = new BigInteger(1 + random.nextInt(126), random);
        BigInteger near = random.nextInt(4) == 0
                ? BigInteger.ONE.shiftLeft(random.nextInt(126)).subtract(BigInteger.valueOf(random.nextInt(3)))
                : value;
        BigInteger fitting = near.mod(LIMIT);
        return random.nextBoolean() ? fitting : fitting.negate();
    }

    private static void check(String name, Operation operation, Expected expected) {
        Random random = new Random(SEED);
        Int128 out = new Int128();
        for (int run = 0; run < RUNS; run++) {
            BigInteger a = random(random);
            BigInteger b = random(random);
            if (b.signum() == 0) {
                continue;
            }
            BigInteger exact = expected.compute(a, b);
            String wanted = exact.abs().compareTo(LIMIT) >= 0 ? "overflow" : exact.toString();
            String found;
            try {
                operation.compute(high(a), a.longValue(), high(b), b.longValue(), out);
                found = Decimals.big(out.high, out.low).toString();
            } catch (MillraceException e) {
                found = "overflow";
            }
            assertEquals(wanted, found, name + " of " + a + " and " + b);
        }
    }

    private static long high(BigInteger value) {
        return value.shiftRight(64).longValue();
    }

    private static BigInteger rounded(BigDecimal value, RoundingMode rounding) {
        return value.setScale(0, rounding).unscaledValue();
    }

    @Test
    void sumsProductsAndRemaindersAreExact() {
        check("sum", Decimals::add, BigInteger::add);
        check("difference", Decimals::subtract, BigInteger::subtract);
        check("product", (ah, al, bh, bl, out) -> Decimals.multiply(ah, al, bh, bl, 0, out), BigInteger::multiply);
        check("remainder", (ah, al, bh, bl, out) -> Decimals.mod(ah, al, bh, bl, 3, 3, out), BigInteger::remainder);
    }

    @Test
    void productsAreRoundedToTheirScale() {
        check(
                "product",
                (ah, al, bh, bl, out) -> Decimals.multiply(ah, al, bh, bl, 7, out),
                (a, b) -> rounded(new BigDecimal(a.multiply(b), 7), RoundingMode.HALF_UP));
    }

    @Test
    void quotientsAreRoundedAwayFromZero() {
        for (int moreDigits : new int[] {0, 5, 16, 18, 25}) {
            check(
                    "quotient of " + moreDigits,
                    (ah, al, bh, bl, out) -> Decimals.divide(ah, al, bh, bl, moreDigits, out),
                    (a, b) -> new BigDecimal(a)
                            .movePointRight(moreDigits)
                            .setScale(0, RoundingMode.UNNECESSARY)
                            .divide(new BigDecimal(b), 0, RoundingMode.HALF_UP)
                            .unscaledValue());
        }
    }

    @Test
    void roundingTakesTheWayAsked() {
        check(
                "round",
                (ah, al, bh, bl, out) -> Decimals.round(ah, al, 6, out),
                (a, b) -> rounded(new BigDecimal(a, 6), RoundingMode.HALF_UP));
        check(
                "floor",
                (ah, al, bh, bl, out) -> Decimals.floor(ah, al, 6, out),
                (a, b) -> rounded(new BigDecimal(a, 6), RoundingMode.FLOOR));
        check(
                "ceil",
                (ah, al, bh, bl, out) -> Decimals.ceil(ah, al, 6, out),
                (a, b) -> rounded(new BigDecimal(a, 6), RoundingMode.CEILING));
        check(
                "trunc",
                (ah, al, bh, bl, out) -> Decimals.trunc(ah, al, 20, out),
                (a, b) -> rounded(new BigDecimal(a, 20), RoundingMode.DOWN));
    }

    @Test
    void theNearestDoubleIsFound() {
        Random random = new Random(SEED);
        for (int run = 0; run < RUNS; run++) {
            BigInteger value = random(random);
            int scale = random.nextInt(38);
            assertEquals(
                    new BigDecimal(value, scale).doubleValue(),
                    Decimals.toDouble(high(value), value.longValue(), scale),
                    () -> value + " of scale " + scale);
        }
    }
}
