package dev.millrace.sketch.stream;

import dev.millrace.sketch.bins.AdaptiveDiscretiser;
import dev.millrace.sketch.bins.ProbabilityBins;
import dev.millrace.sketch.density.KernelDensity;
import dev.millrace.sketch.sample.BiasedReservoir;
import dev.millrace.sketch.sample.Reservoir;
import java.util.Optional;

/**
 * The equally likely bins of one feature over time (dissertation §6.2.1): a density and a sample that favour what is recent,
 * the bins' error on that sample evaluated at each segment's end without the injected ones, and a new fit when the error
 * has passed the threshold or too many bins were injected. The work is bounded by the sample's size; it is done between two
 * segments, so what a segment's bins are never changes while it fills.
 */
public final class DensityBins {
    private static final int KERNELS = 48;
    private static final int SAMPLE = 512;
    private static final double FORGETTING = .9995;
    private static final int MOST_INJECTED = 256;
    /** The paper's threshold: root mean square error as a share of the range. */
    public static final double THRESHOLD = .025;

    private final KernelDensity density = new KernelDensity(KERNELS, FORGETTING);
    private final Reservoir sample;
    private Optional<AdaptiveDiscretiser> discretiser = Optional.empty();
    private double bound;
    private double range;
    private int fits;
    private boolean updating = true;
    private Optional<ProbabilityBins> byHand = Optional.empty();

    DensityBins(long seed) {
        sample = new BiasedReservoir(SAMPLE, seed);
    }

    Optional<AdaptiveDiscretiser> discretiser() {
        return discretiser;
    }

    /** How often bins were fitted. */
    public int fits() {
        return fits;
    }

    /** How many bins there are, injected ones included. */
    public int size() {
        return discretiser.map(bins -> bins.centres().size()).orElse(0);
    }

    /** The edges of the bins that were fitted; empty before the first segment closed. */
    public java.util.List<Double> edges() {
        return discretiser.map(bins -> bins.base().edges()).orElse(java.util.List.of());
    }

    /** The density as it is now; not to be changed. */
    public KernelDensity density() {
        return density;
    }

    /** Switches the fitting of new bins on or off. */
    public void updating(boolean on) {
        updating = on;
    }

    /** Sets the bins by hand, from the next segment on and until the sample's error or the injected bins call for others. */
    public void override(ProbabilityBins bins) {
        byHand = Optional.of(bins);
    }

    void observe(Observations.Column column, long[] ticks, int rows, double newBound, double newRange) {
        for (int i = 0; i < rows; i++) {
            double value = column.numbers[i];
            if (!column.nulls[i] && value - value == 0) {
                density.add(value);
                sample.offer(value, ticks[i]);
            }
        }
        boolean boundChanged = newBound != bound;
        bound = newBound;
        range = newRange;
        if (byHand.isPresent()) {
            discretiser = Optional.of(new AdaptiveDiscretiser(byHand.get(), bound));
            byHand = Optional.empty();
        } else if (discretiser.isEmpty() || updating && needsFit()) {
            fit();
        } else if (boundChanged) {
            discretiser = Optional.of(new AdaptiveDiscretiser(discretiser.get().base(), bound));
        }
    }

    private double threshold() {
        return Math.min(THRESHOLD, bound / range);
    }

    private boolean needsFit() {
        AdaptiveDiscretiser current = discretiser.get();
        return current.injected() > MOST_INJECTED || current.base().error(sample.sample(), range) > threshold() * 1.2;
    }

    private void fit() {
        double[] values = sample.sample();
        if (values.length == 0) {
            return;
        }
        ProbabilityBins bins = ProbabilityBins.fewest(density, values, range, threshold());
        discretiser = Optional.of(new AdaptiveDiscretiser(bins, bound));
        fits++;
    }
}
