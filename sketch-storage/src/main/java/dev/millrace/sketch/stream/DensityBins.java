package dev.millrace.sketch.stream;

import dev.millrace.sketch.bins.AdaptiveDiscretiser;
import dev.millrace.sketch.bins.ProbabilityBins;
import dev.millrace.sketch.density.KernelDensity;
import dev.millrace.sketch.sample.BiasedReservoir;
import dev.millrace.sketch.sample.Reservoir;
import dev.millrace.sketch.sample.VariableRateReservoir;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/**
 * The equally likely bins of one feature over time (dissertation §6.2.1): a density and a sample that favour what is recent,
 * a review at each segment's end of the bins' error on that sample, without the injected ones, and a new fit when the error
 * has passed the threshold or too many bins were injected. A review's work is bounded by the sample's size; it sees copies,
 * so it may run on another thread ({@link EncoderOptions.Refit}) while segments go on being closed with the bins there are.
 * What a segment's bins are never changes while it fills.
 */
public final class DensityBins {
    private static final int KERNELS = 48;
    private static final int SAMPLE = 512;
    private static final double FORGETTING = .9995;
    private static final int MOST_INJECTED = 256;
    private static final double TOLERANCE = 1.2;
    /** The paper's threshold: root mean square error as a share of the range. */
    public static final double THRESHOLD = .025;

    private final EncoderOptions.Refit refit;
    private final KernelDensity density = new KernelDensity(KERNELS, FORGETTING);
    private final Reservoir sample;
    private final boolean real;
    private Optional<AdaptiveDiscretiser> discretiser = Optional.empty();
    private double bound;
    private double range;
    private int fits;
    private Optional<CompletableFuture<Optional<ProbabilityBins>>> review = Optional.empty(); // the one that runs
    private boolean updating = true;
    private OptionalLong reviewed = OptionalLong.empty(); // event time of the last review
    private Optional<ProbabilityBins> byHand = Optional.empty();

    DensityBins(EncoderOptions.Refit refit, long seed, boolean real) {
        this.real = real;
        this.refit = refit;
        sample = refit.halfLifeTicks() == 0
                ? new BiasedReservoir(SAMPLE, seed)
                : new VariableRateReservoir(SAMPLE, refit.halfLifeTicks(), seed);
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
    public List<Double> edges() {
        return discretiser.map(bins -> bins.base().edges()).orElse(List.of());
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
            if (!column.nulls[i] && Double.isFinite(value)) {
                density.add(value);
                sample.offer(value, ticks[i]);
            }
        }
        boolean boundChanged = newBound != bound;
        bound = newBound;
        range = newRange;
        if (byHand.isPresent()) {
            use(byHand.get());
            byHand = Optional.empty();
            review = Optional.empty(); // what a running one finds is of no use now
            return;
        }
        if (discretiser.isEmpty()) {
            double[] values = sample.sample();
            if (values.length > 0) {
                fitted(ProbabilityBins.fewest(density, values, range, threshold()));
            }
            return;
        }
        if (boundChanged) {
            use(discretiser.get().base());
        }
        adoptReviewed(); // what another thread has found meanwhile
        if (updating && review.isEmpty() && isDue(ticks[rows - 1])) {
            reviewed = OptionalLong.of(ticks[rows - 1]);
            review = Optional.of(CompletableFuture.supplyAsync(review(), refit.executor()));
            adoptReviewed(); // at once, where this thread has done it
        }
    }

    /** Whether a review is due; times that went back by more than a period begin one, too. */
    private boolean isDue(long now) {
        if (refit.reviewTicks().isEmpty()) {
            return false;
        }
        long since = now - reviewed.orElse(now);
        return reviewed.isEmpty() || Math.abs(since) >= refit.reviewTicks().getAsLong();
    }

    private void adoptReviewed() {
        if (review.isPresent() && review.get().isDone()) {
            Optional<ProbabilityBins> bins = review.get().join();
            review = Optional.empty();
            bins.ifPresent(this::fitted);
        }
    }

    private void use(ProbabilityBins bins) {
        discretiser = Optional.of(new AdaptiveDiscretiser(bins, bound, real));
    }

    private void fitted(ProbabilityBins bins) {
        use(bins);
        fits++;
    }

    private double threshold() {
        return Math.min(THRESHOLD, bound / range);
    }

    /** New bins if those in use have become bad, computed from what is known now. */
    private Supplier<Optional<ProbabilityBins>> review() {
        ProbabilityBins current = discretiser.get().base();
        boolean tooMany = discretiser.get().injected() > MOST_INJECTED;
        KernelDensity densityNow = density.copy();
        double[] values = sample.sample();
        double rangeNow = range;
        double threshold = threshold();
        return () -> tooMany || current.error(values, rangeNow) > threshold * TOLERANCE
                ? Optional.of(ProbabilityBins.fewest(densityNow, values, rangeNow, threshold))
                : Optional.empty();
    }
}
