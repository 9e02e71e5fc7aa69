package dev.millrace.sketch.density;

/**
 * Online kernel density estimation: a mixture of normal kernels of which the closest two are merged when there are too
 * many, each older one weighing less (after M. Kristan et al., "Online Kernel Density Estimation for Interactive Learning",
 * 2010). Memory is bounded by the number of kernels. Not thread-safe.
 */
public final class KernelDensity {
    private static final double SILVERMAN = 1.06;
    private static final double[] PART = {.254829592, -.284496736, 1.421413741, -1.453152027, 1.061405429
    }; // Abramowitz and Stegun 7.1.26
    private static final double DIVISOR = .3275911;

    private final int most;
    private final double forgetting;
    private final double[] weights;
    private final double[] means;
    private final double[] variances; // within a merged kernel
    private int kernels;
    private double total;
    private double mean;
    private double squares;

    /**
     * A density of nothing yet.
     *
     * @param kernels the most that are kept, at least 2
     * @param forgetting by what all weights are multiplied at each value; 1 for never
     */
    public KernelDensity(int kernels, double forgetting) {
        this.most = kernels;
        this.forgetting = forgetting;
        weights = new double[kernels + 1];
        means = new double[kernels + 1];
        variances = new double[kernels + 1];
    }

    /** The density as it is now, which later values do not change. */
    public KernelDensity copy() {
        KernelDensity copy = new KernelDensity(most, forgetting);
        System.arraycopy(weights, 0, copy.weights, 0, kernels);
        System.arraycopy(means, 0, copy.means, 0, kernels);
        System.arraycopy(variances, 0, copy.variances, 0, kernels);
        copy.kernels = kernels;
        copy.total = total;
        copy.mean = mean;
        copy.squares = squares;
        return copy;
    }

    /** Adds a finite value. */
    public void add(double value) {
        for (int i = 0; forgetting < 1 && i < kernels; i++) {
            weights[i] *= forgetting;
        }
        total = total * forgetting + 1;
        squares *= forgetting;
        double change = value - mean;
        mean += change / total;
        squares += change * (value - mean);
        int at = kernels;
        while (at > 0 && means[at - 1] > value) {
            weights[at] = weights[at - 1];
            means[at] = means[at - 1];
            variances[at] = variances[at - 1];
            at--;
        }
        weights[at] = 1;
        means[at] = value;
        variances[at] = 0;
        kernels++;
        if (kernels > most) {
            mergeClosest();
        }
    }

    private void mergeClosest() {
        int best = 0;
        double least = Double.POSITIVE_INFINITY;
        for (int i = 0; i + 1 < kernels; i++) {
            double distance = means[i + 1] - means[i];
            double cost = distance * distance * weights[i] * weights[i + 1] / (weights[i] + weights[i + 1]);
            if (cost < least) {
                least = cost;
                best = i;
            }
        }
        double weight = weights[best] + weights[best + 1];
        double share = weights[best + 1] / weight;
        double distance = means[best + 1] - means[best];
        variances[best] =
                variances[best] * (1 - share) + variances[best + 1] * share + distance * distance * share * (1 - share);
        means[best] += distance * share;
        weights[best] = weight;
        for (int i = best + 1; i + 1 < kernels; i++) {
            weights[i] = weights[i + 1];
            means[i] = means[i + 1];
            variances[i] = variances[i + 1];
        }
        kernels--;
    }

    /** How many kernels there are. */
    public int kernels() {
        return kernels;
    }

    private double bandwidth() {
        double deviation = Math.sqrt(squares / Math.max(1, total));
        double width = SILVERMAN * deviation * Math.pow(Math.max(1, total), -.2);
        return width > 0 ? width : Double.MIN_NORMAL;
    }

    /** The density at a point; it integrates to 1. */
    public double density(double x) {
        double bandwidth = bandwidth();
        double sum = 0;
        for (int i = 0; i < kernels; i++) {
            double deviation = Math.sqrt(bandwidth * bandwidth + variances[i]);
            double z = (x - means[i]) / deviation;
            sum += weights[i] * Math.exp(-z * z / 2) / deviation;
        }
        return sum / (total * Math.sqrt(2 * Math.PI));
    }

    /** How likely a value is below a point. */
    public double cumulative(double x) {
        double bandwidth = bandwidth();
        double sum = 0;
        for (int i = 0; i < kernels; i++) {
            double deviation = Math.sqrt(bandwidth * bandwidth + variances[i]);
            sum += weights[i] * normal((x - means[i]) / deviation);
        }
        return total == 0 ? 0 : sum / total;
    }

    private static double normal(double z) {
        double x = Math.abs(z) / Math.sqrt(2);
        double t = 1 / (1 + DIVISOR * x);
        double polynomial = 0;
        for (int i = PART.length - 1; i >= 0; i--) {
            polynomial = (polynomial + PART[i]) * t;
        }
        double error = 1 - polynomial * Math.exp(-x * x);
        return z >= 0 ? (1 + error) / 2 : (1 - error) / 2;
    }
}
