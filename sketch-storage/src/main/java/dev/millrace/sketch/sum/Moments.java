package dev.millrace.sketch.sum;

import java.math.BigDecimal;
import java.math.MathContext;

/**
 * How many values there are, the sum of their distances from an anchor, and that of the squares: from which what their variance
 * is follows in whatever precision is asked for, as long as the anchor is not far away. Not thread-safe.
 */
public final class Moments {
    private static final MathContext DIGITS = new MathContext(60);

    private final Sum first = new Sum();
    private final Sum second = new Sum();
    private long rows;

    /** Adds {@code weight} values at a distance, which is a double and a small rest that it left. */
    public void add(double distance, double rest, long weight) {
        rows += weight;
        first.add(distance, weight);
        addProduct(distance, distance, weight);
        if (rest != 0) { // of a whole number it may be all there is
            first.add(rest, weight);
            addProduct(2 * distance, rest, weight);
            addProduct(rest, rest, weight);
        }
    }

    private void addProduct(double a, double b, long weight) {
        double product = a * b;
        second.add(product, weight);
        second.add(Math.fma(a, b, -product), weight);
    }

    /** Adds what another one has, whose anchor lies at a distance from this one's. */
    public void add(Moments other, BigDecimal distance) {
        if (other.rows == 0) {
            return;
        }
        if (isTooLarge() || other.isTooLarge()) {
            rows += other.rows;
            second.becomeTooLarge();
            return;
        }
        BigDecimal count = BigDecimal.valueOf(other.rows);
        BigDecimal ones = other.first.exactly().add(distance.multiply(count));
        BigDecimal twos = other.second
                .exactly()
                .add(distance.multiply(other.first.exactly()).multiply(BigDecimal.valueOf(2)))
                .add(distance.multiply(distance).multiply(count));
        rows += other.rows;
        first.add(other.first, ones.round(DIGITS));
        second.add(other.second, twos.round(DIGITS));
    }

    public boolean isTooLarge() {
        return first.isTooLarge() || second.isTooLarge();
    }

    /** Where the middle is, as a distance from the anchor. */
    public BigDecimal mean() {
        return rows == 0 || isTooLarge() ? BigDecimal.ZERO : first.exactly().divide(BigDecimal.valueOf(rows), DIGITS);
    }

    /** The sum of squared distances from a point, which is given as a distance from the anchor; not negative. */
    public double around(BigDecimal point) {
        BigDecimal cross = point.multiply(first.exactly()).multiply(BigDecimal.valueOf(2));
        BigDecimal squares =
                second.exactly().subtract(cross).add(point.multiply(point).multiply(BigDecimal.valueOf(rows)));
        return Math.max(0, squares.doubleValue());
    }

    /** How far {@link #around} may be off for a point among the values. */
    public double slack(double around) {
        double mean = Math.abs(mean().doubleValue());
        return second.error() + 4 * mean * first.error() + around * 0x1p-50;
    }
}
