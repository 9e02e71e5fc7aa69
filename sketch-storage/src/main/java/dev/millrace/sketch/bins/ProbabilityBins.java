package dev.millrace.sketch.bins;

import dev.millrace.sketch.density.KernelDensity;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Bins that are equally likely under an estimated density (dissertation §6.2.1): high densities get narrow ones. Immutable.
 *
 * @param edges rising; bin i lies between edges i and i + 1, and the outer ones also take what lies beyond
 */
public record ProbabilityBins(List<Double> edges) {
    private static final int MOST = 512; // what it takes beyond that, rare values far away, injected bins do with fewer
    private static final int POINTS = 1024; // at which the density is looked at

    public ProbabilityBins {
        edges = List.copyOf(edges);
    }

    public int size() {
        return edges.size() - 1;
    }

    /** The middles of all bins. */
    public List<Double> centres() {
        List<Double> centres = new ArrayList<>();
        for (int i = 0; i < size(); i++) {
            centres.add(edges.get(i) + (edges.get(i + 1) - edges.get(i)) / 2);
        }
        return centres;
    }

    /** The bin of a finite value, from 0. */
    public int bin(double value) {
        int low = 0;
        int high = size() - 1;
        while (low < high) {
            int middle = low + high + 1 >>> 1;
            if (edges.get(middle) <= value) {
                low = middle;
            } else {
                high = middle - 1;
            }
        }
        return low;
    }

    /** Root mean square error of a sample put into these bins, as a share of a range. */
    public double error(double[] sample, double range) {
        double sum = 0;
        for (double value : sample) {
            int bin = bin(value);
            double miss = value - (edges.get(bin) + (edges.get(bin + 1) - edges.get(bin)) / 2);
            sum += miss * miss;
        }
        return sample.length == 0 || range <= 0 ? 0 : Math.sqrt(sum / sample.length) / range;
    }

    /**
     * The fewest equally likely bins whose error on a sample is at most a threshold.
     *
     * @param sample finite values, at least one
     * @param range what the threshold is a share of
     */
    public static ProbabilityBins fewest(KernelDensity density, double[] sample, double range, double threshold) {
        double low = Arrays.stream(sample).min().orElse(0);
        double high = Arrays.stream(sample).max().orElse(0);
        double[] cumulative = new double[POINTS + 1];
        for (int i = 0; i <= POINTS; i++) {
            cumulative[i] = density.cumulative(low + (high - low) * ((double) i / POINTS));
        }
        int few = 0;
        int many = 1;
        while (many < MOST && of(cumulative, low, high, many).error(sample, range) > threshold) {
            few = many;
            many *= 2;
        }
        while (many - few > 1) {
            int middle = few + many >>> 1;
            if (of(cumulative, low, high, middle).error(sample, range) > threshold) {
                few = middle;
            } else {
                many = middle;
            }
        }
        return of(cumulative, low, high, many);
    }

    private static ProbabilityBins of(double[] cumulative, double low, double high, int bins) {
        List<Double> edges = new ArrayList<>(bins + 1);
        double from = cumulative[0];
        double to = cumulative[POINTS];
        edges.add(low);
        int at = 0;
        for (int i = 1; i < bins; i++) {
            double goal = from + (to - from) * i / bins;
            while (at < POINTS - 1 && cumulative[at + 1] < goal) {
                at++;
            }
            double rise = cumulative[at + 1] - cumulative[at];
            double share = rise > 0 ? Math.min(1, Math.max(0, (goal - cumulative[at]) / rise)) : 0;
            double edge = low + (high - low) * ((at + share) / POINTS);
            edges.add(Math.min(high, Math.max(edges.get(i - 1), edge)));
        }
        edges.add(Math.max(edges.get(bins - 1), high));
        return new ProbabilityBins(edges);
    }
}
