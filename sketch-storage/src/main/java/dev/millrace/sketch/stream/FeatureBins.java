package dev.millrace.sketch.stream;

import dev.millrace.sketch.bins.AdaptiveDiscretiser;
import dev.millrace.sketch.bins.BinSet;
import dev.millrace.sketch.bins.GridBins;
import dev.millrace.sketch.schema.Binning;
import dev.millrace.sketch.schema.Bound;
import dev.millrace.sketch.schema.Feature;
import java.util.List;
import java.util.Optional;

/** The bins of one feature of a stream as they stand, adapted as its range grows and, where it has them, its density moves. */
final class FeatureBins {
    /** A bound that follows the range changes when it could be this much wider. */
    private static final double WORTH_CHANGING = 1.1;

    private final Optional<DensityBins> density;
    private Feature feature;
    private double low;
    private double high;
    private BinSet bins;

    /**
     * Which finite values were seen.
     *
     * @param low the smallest; beyond {@code high} when there was none
     */
    record Range(double low, double high) {
        static final Range NONE = new Range(Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY);
    }

    FeatureBins(Feature feature, EncoderOptions.Refit refit, long seed) {
        this(feature, refit, seed, exact(feature), Range.NONE);
    }

    /** Goes on with the bins and the range that another one had; a density is estimated anew. */
    FeatureBins(Feature feature, EncoderOptions.Refit refit, long seed, BinSet bins, Range seen) {
        this.feature = feature;
        this.bins = bins.centres().isEmpty() ? bins : new BinSet(bins.bound(), bins.step(), List.of());
        this.low = seen.low();
        this.high = seen.high();
        this.density = feature.binning() == Binning.EQUAL_PROBABILITY
                        && feature.bound().kind() != Bound.Kind.EXACT
                ? Optional.of(new DensityBins(refit, seed, feature.isReal()))
                : Optional.empty();
    }

    /** Bins that change nothing. */
    static BinSet exact(Feature feature) {
        return feature.kind() == Feature.Kind.NUMBER ? BinSet.exact() : new BinSet(0, 1, List.of());
    }

    BinSet bins() {
        return bins;
    }

    Range range() {
        return new Range(low, high);
    }

    Optional<DensityBins> density() {
        return density;
    }

    /** A bound set by hand from the next segment on. */
    void override(Feature withBound) {
        feature = withBound;
    }

    /** Takes in a segment's values before they are put into bins. */
    void prepare(Observations.Column column, long[] ticks, int rows) {
        for (int i = 0; i < rows; i++) {
            if (!column.nulls[i]) {
                double value = column.kind == Feature.Kind.NUMBER
                        ? column.numbers[i]
                        : column.kind == Feature.Kind.WHOLE ? column.wholes[i] : 0;
                if (Double.isFinite(value)) {
                    low = Math.min(low, value);
                    high = Math.max(high, value);
                }
            }
        }
        double wanted = feature.bound().absolute(low, high);
        boolean wider = wanted > bins.bound() * WORTH_CHANGING;
        double bound = wider || wanted < bins.bound() ? wanted : bins.bound();
        double step = bound == 0 ? 0 : step(bound);
        if (bound == 0 || feature.isReal() && step == 0) {
            bins = bins.bound() == 0 ? bins : exact(feature);
        } else if (bound != bins.bound() || step < bins.step()) {
            bins = new BinSet(bound, step, bins.centres());
        }
        if (density.isPresent() && bins.bound() > 0) {
            density.get().observe(column, ticks, rows, bins.bound(), high - low);
        }
    }

    private double step(double bound) {
        return feature.kind() != Feature.Kind.NUMBER
                ? GridBins.wholeStep(bound)
                : feature.isReal()
                        ? GridBins.realStep(bound, Math.max(Math.abs(low), Math.abs(high)))
                        : GridBins.step(bound);
    }

    Optional<AdaptiveDiscretiser> discretiser() {
        return bins.bound() > 0 ? density.flatMap(DensityBins::discretiser) : Optional.empty();
    }

    /** The bins that a closed segment was written with. */
    void used(BinSet used) {
        bins = used;
    }
}
