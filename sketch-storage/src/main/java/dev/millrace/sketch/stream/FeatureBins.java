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

    private final Feature feature;
    private final Optional<DensityBins> density;
    private double low = Double.POSITIVE_INFINITY;
    private double high = Double.NEGATIVE_INFINITY;
    private BinSet bins;
    private Optional<Feature> overridden = Optional.empty();

    FeatureBins(Feature feature, EncoderOptions.Refit refit, long seed) {
        this.feature = feature;
        this.bins = exactBins();
        this.density = feature.binning() == Binning.EQUAL_PROBABILITY
                        && feature.bound().kind() != Bound.Kind.EXACT
                ? Optional.of(new DensityBins(refit, seed))
                : Optional.empty();
    }

    private BinSet exactBins() {
        return feature.kind() == Feature.Kind.NUMBER ? BinSet.exact() : new BinSet(0, 1, List.of());
    }

    BinSet bins() {
        return bins;
    }

    Optional<DensityBins> density() {
        return density;
    }

    /** A bound set by hand from the next segment on. */
    void override(Feature withBound) {
        overridden = Optional.of(withBound);
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
        Feature current = overridden.orElse(feature);
        double bound = current.bound().absolute(low, high);
        boolean wider = bound > bins.bound() * WORTH_CHANGING;
        if (wider || bound < bins.bound() || bound == 0 && bins.bound() != 0) {
            bins = bound == 0 ? exactBins() : new BinSet(bound, step(bound), bins.centres());
        }
        if (density.isPresent() && bins.bound() > 0) {
            density.get().observe(column, ticks, rows, bins.bound(), high - low);
        }
    }

    private double step(double bound) {
        return feature.kind() == Feature.Kind.NUMBER ? GridBins.step(bound) : GridBins.wholeStep(bound);
    }

    Optional<AdaptiveDiscretiser> discretiser() {
        return bins.bound() > 0 ? density.flatMap(DensityBins::discretiser) : Optional.empty();
    }

    /** The bins that a closed segment was written with. */
    void used(BinSet used) {
        bins = used;
    }
}
