package dev.millrace.sketch.query;

import java.math.BigDecimal;
import java.math.BigInteger;

/** An exact sum of whole numbers, however large. Not thread-safe. */
final class WholeSum {
    private long small; // what is not yet in large
    private BigInteger large = BigInteger.ZERO;

    void add(long value, long weight) {
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

    void add(WholeSum other) {
        large = large.add(other.total());
    }

    BigInteger total() {
        return large.add(BigInteger.valueOf(small));
    }

    double value() {
        return total().doubleValue();
    }

    /** The largest double that is not above the sum. */
    double atLeast() {
        double near = value();
        return new BigDecimal(near).compareTo(new BigDecimal(total())) > 0 ? Math.nextDown(near) : near;
    }

    /** The smallest double that is not below the sum. */
    double atMost() {
        double near = value();
        return new BigDecimal(near).compareTo(new BigDecimal(total())) < 0 ? Math.nextUp(near) : near;
    }
}
