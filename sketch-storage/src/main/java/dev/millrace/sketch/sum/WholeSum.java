package dev.millrace.sketch.sum;

import java.math.BigDecimal;
import java.math.BigInteger;

/** An exact sum of whole numbers, however large. Not thread-safe. */
public final class WholeSum {
    private long small; // what is not yet in large
    private BigInteger large = BigInteger.ZERO;

    public void add(long value, long weight) {
        long product = value * weight;
        if (Math.multiplyHigh(value, weight) != product >> 63) {
            large = large.add(BigInteger.valueOf(value).multiply(BigInteger.valueOf(weight)));
            return;
        }
        long sum = small + product;
        if (((small ^ sum) & (product ^ sum)) < 0) {
            large = large.add(BigInteger.valueOf(small));
            sum = product;
        }
        small = sum;
    }

    public void add(WholeSum other) {
        large = large.add(other.total());
    }

    public BigInteger total() {
        return large.add(BigInteger.valueOf(small));
    }

    public double value() {
        return total().doubleValue();
    }

    /** The largest double that is not above the sum. */
    public double atLeast() {
        double near = value();
        return new BigDecimal(near).compareTo(new BigDecimal(total())) > 0 ? Math.nextDown(near) : near;
    }

    /** The smallest double that is not below the sum. */
    public double atMost() {
        double near = value();
        return new BigDecimal(near).compareTo(new BigDecimal(total())) < 0 ? Math.nextUp(near) : near;
    }
}
