package dev.millrace.scheduler;

/** The standard normal distribution. */
final class Normal {
    private static final double ROOT_OF_TWO_PI = Math.sqrt(2 * Math.PI);
    private static final double[] COEFFICIENTS = {.319381530, -.356563782, 1.781477937, -1.821255978, 1.330274429};

    private Normal() {}

    static double density(double x) {
        return Math.exp(-x * x / 2) / ROOT_OF_TWO_PI;
    }

    /** The probability of less than x, within 7.5e-8 (Abramowitz and Stegun, 26.2.17). */
    static double below(double x) {
        double t = 1 / (1 + .2316419 * Math.abs(x));
        double polynomial = 0;
        for (int i = COEFFICIENTS.length - 1; i >= 0; i--) {
            polynomial = (polynomial + COEFFICIENTS[i]) * t;
        }
        double above = density(x) * polynomial;
        return x >= 0 ? 1 - above : above;
    }
}
