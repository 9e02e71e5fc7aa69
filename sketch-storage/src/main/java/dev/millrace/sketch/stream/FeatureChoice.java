package dev.millrace.sketch.stream;

import dev.millrace.sketch.bins.AdaptiveDiscretiser;
import dev.millrace.sketch.bins.BinSet;
import dev.millrace.sketch.bins.Binned;
import dev.millrace.sketch.bins.GridBins;
import dev.millrace.sketch.form.ColumnPlan;
import dev.millrace.sketch.form.JointCodec;
import dev.millrace.sketch.form.Keep;
import dev.millrace.sketch.form.NumberColumnCodec;
import dev.millrace.sketch.form.TextColumnCodec;
import dev.millrace.sketch.schema.Binning;
import dev.millrace.sketch.schema.Feature;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** One feature of a segment that is being closed: its values in the bins that make it smallest. */
final class FeatureChoice {
    private static final double[] NONE = {};
    private static final long LARGEST_WHOLE = 1L << 61;

    private final Observations.Column column;
    private final int rows;
    private final int count;
    private final boolean[] nulls;
    private final double[] numbers;
    private final long[] wholes;
    private @Nullable Binned binned; // null for text
    private BinSet bins;
    private @Nullable ColumnPlan plan; // null until one is chosen

    private FeatureChoice(Observations.Column column, int rows, BinSet bins) {
        this.bins = bins;
        this.column = column;
        this.rows = rows;
        this.nulls = column.nulls;
        int values = 0;
        for (int i = 0; i < rows; i++) {
            values += nulls[i] ? 0 : 1;
        }
        count = values;
        boolean number = column.kind == Feature.Kind.NUMBER;
        numbers = number ? new double[count] : NONE;
        wholes = number ? new long[0] : new long[count];
        int at = 0;
        for (int i = 0; i < rows; i++) {
            if (!nulls[i]) {
                if (number) {
                    numbers[at++] = column.numbers[i];
                } else {
                    wholes[at++] = column.wholes[i];
                }
            }
        }
    }

    /** Chooses among the bins that the feature allows; {@code adaptive} holds equally likely bins where it asks for them. */
    static FeatureChoice of(
            Observations.Column column,
            int rows,
            Feature feature,
            BinSet bins,
            Optional<AdaptiveDiscretiser> adaptive,
            Keep keep) {
        FeatureChoice choice = new FeatureChoice(column, rows, bins);
        if (column.kind == Feature.Kind.TEXT) {
            choice.plan = TextColumnCodec.plan(choice.nulls, rows, choice.wholes, choice.count, column.texts, keep);
            return choice;
        }
        for (Binned candidate : choice.candidates(feature, adaptive)) {
            if (adaptive.isPresent()) {
                choice.bins =
                        new BinSet(bins.bound(), bins.step(), adaptive.get().centres()); // injected ones too
            }
            ColumnPlan offered = NumberColumnCodec.plan(
                    choice.nulls, rows, candidate, choice.numbers, choice.count, choice.bins, keep);
            if (choice.plan == null || offered.bits() < choice.plan.bits()) {
                choice.plan = offered;
                choice.binned = candidate;
            }
        }
        return choice;
    }

    private List<Binned> candidates(Feature feature, Optional<AdaptiveDiscretiser> adaptive) {
        if (column.kind != Feature.Kind.NUMBER) {
            return wholeCandidates(feature);
        }
        if (adaptive.isPresent()) {
            return List.of(adaptive.get().discretise(numbers, count));
        }
        List<Binned> all = new ArrayList<>();
        if (bins.bound() == 0 || bins.step() == 0) {
            all.add(exact());
            return all;
        }
        if (feature.binning() != Binning.OVERLAPPING) {
            all.add(GridBins.nearest(numbers, count, bins.bound(), bins.step(), feature.isReal()));
        }
        if (feature.binning() != Binning.EQUAL_WIDTH) {
            all.add(GridBins.overlapping(numbers, count, bins.bound(), bins.step(), feature.isReal()));
        }
        return all;
    }

    private Binned exact() {
        int digits = GridBins.decimals(numbers, count);
        return GridBins.decimal(numbers, count, Math.max(0, digits));
    }

    private List<Binned> wholeCandidates(Feature feature) {
        long step = (long) bins.step();
        List<Binned> all = new ArrayList<>();
        boolean large = Arrays.stream(wholes).anyMatch(v -> v > LARGEST_WHOLE || v < -LARGEST_WHOLE);
        if (step > 1 && !large) {
            if (feature.binning() != Binning.OVERLAPPING) {
                all.add(GridBins.nearest(wholes, count, step));
            }
            if (feature.binning() != Binning.EQUAL_WIDTH) {
                all.add(GridBins.overlapping(wholes, count, step));
            }
        } else {
            all.add(GridBins.nearest(wholes, count, 1));
        }
        return all;
    }

    /** The bins that the values are in: those given, and injected ones. */
    BinSet bins() {
        return bins;
    }

    ColumnPlan plan() {
        return Objects.requireNonNull(plan);
    }

    /** The same rows, to be stored together with other features. */
    JointCodec.Part joint() {
        return column.kind == Feature.Kind.TEXT
                ? TextColumnCodec.joint(nulls, rows, wholes, count, column.texts)
                : NumberColumnCodec.joint(nulls, rows, Objects.requireNonNull(binned), numbers, count, bins);
    }
}
