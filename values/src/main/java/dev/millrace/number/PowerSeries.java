package dev.millrace.number;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.MathContext;
import java.math.RoundingMode;

/**
 * Square roots, exponentials and logarithms of decimal numbers to any number of digits after the point, the last one
 * rounded. Arguments are such that results have some thousand digits at most.
 */
final class PowerSeries {
    private static final int GUARD = 12; // digits that are computed beyond those that are asked for
    private static final double LOG_2_OF_10 = 3.321928094887362;
    private static final double LOG_10_OF_2 = 0.301029995663981;
    private static final BigDecimal TWO = BigDecimal.valueOf(2);

    private static volatile BigDecimal ln10 =
            new BigDecimal("2.302585092994045684017991454684364207601"); // as far as anybody asked

    private PowerSeries() {}

    /** Of a number that is not negative. */
    static BigDecimal sqrt(BigDecimal number, int scale) {
        int places = scale + 1; // one more: a root that goes on after it is no tie
        BigInteger square = number.setScale(2 * places, RoundingMode.DOWN).unscaledValue();
        return new BigDecimal(square.sqrt(), places).setScale(scale, RoundingMode.HALF_UP);
    }

    /** e to the power of a number, by its series for what is left when it is halved often enough (R. P. Brent, Fast multiple-precision evaluation of elementary functions, 1976, section 6). */
    static BigDecimal exp(BigDecimal exponent, int scale) {
        int weight = (int) Math.ceil(exponent.doubleValue() * Math.log10(Math.E)) + 1;
        int digits = Math.max(0, weight + scale) + GUARD;
        int least = (int) Math.sqrt(digits);
        int size =
                exponent.signum() == 0 ? 0 : (int) Math.ceil((exponent.precision() - exponent.scale()) * LOG_2_OF_10);
        int halvings = Math.max(0, size + least);
        MathContext context = new MathContext(digits + (int) (halvings * LOG_10_OF_2) + 2, RoundingMode.HALF_EVEN);
        BigDecimal small = exponent.divide(new BigDecimal(BigInteger.ONE.shiftLeft(halvings)), context);
        BigDecimal end = BigDecimal.ONE.movePointLeft(context.getPrecision());
        BigDecimal sum = BigDecimal.ONE;
        BigDecimal term = BigDecimal.ONE;
        for (int i = 1; term.abs().compareTo(end) > 0; i++) {
            term = term.multiply(small, context).divide(BigDecimal.valueOf(i), context);
            sum = sum.add(term, context);
        }
        for (int i = 0; i < halvings; i++) {
            sum = sum.multiply(sum, context);
        }
        return sum.setScale(scale, RoundingMode.HALF_UP);
    }

    /** The logarithm to the base e of a number greater than zero. */
    static BigDecimal ln(BigDecimal number, int scale) {
        int places = scale + GUARD;
        int weight = number.precision() - number.scale() - 1;
        if (number.movePointLeft(weight).compareTo(BigDecimal.valueOf(3)) > 0) {
            weight++;
        }
        if (weight == 0 || weight == -1) { // what is near to one stays exact
            return near(number, places).setScale(scale, RoundingMode.HALF_UP);
        }
        BigDecimal near = number.movePointLeft(weight).round(new MathContext(places + 2, RoundingMode.HALF_EVEN));
        return near(near, places)
                .add(BigDecimal.valueOf(weight).multiply(ln10(places + 7)))
                .setScale(scale, RoundingMode.HALF_UP);
    }

    private static BigDecimal ln10(int places) {
        BigDecimal known = ln10;
        if (known.scale() < places + GUARD / 2) {
            known = near(BigDecimal.TEN, places + GUARD);
            ln10 = known;
        }
        return known;
    }

    /** Of a number that is not far from one, by Halley's iteration: each step has three times as many digits. */
    private static BigDecimal near(BigDecimal number, int places) {
        BigDecimal logarithm = new BigDecimal(Math.log(number.doubleValue()));
        BigDecimal enough = BigDecimal.ONE.movePointLeft(places / 3 + 1);
        MathContext context = new MathContext(places + GUARD, RoundingMode.HALF_EVEN);
        BigDecimal step;
        do {
            BigDecimal power = exp(logarithm, places + 2);
            step = number.subtract(power).multiply(TWO).divide(number.add(power), context);
            logarithm = logarithm.add(step).setScale(places + 2, RoundingMode.HALF_EVEN);
        } while (step.abs().compareTo(enough) > 0);
        return logarithm;
    }
}
