package dev.millrace.edge.stream;

import dev.millrace.edge.config.BinSettings;
import dev.millrace.edge.config.EdgeConfig.StreamConfig;
import dev.millrace.edge.config.SketchSettings;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.sketch.bins.ProbabilityBins;
import dev.millrace.sketch.schema.Binning;
import dev.millrace.sketch.schema.Bound;
import dev.millrace.sketch.schema.Feature;
import dev.millrace.sketch.schema.SketchSchema;
import dev.millrace.sketch.stream.EncoderOptions;
import dev.millrace.sketch.stream.StreamEncoder;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** What an encoder is told of a stream and its settings. Stateless. */
final class SketchSchemas {
    /** The name of the time where it is that of arrival. */
    static final String ARRIVAL = "time";

    /** Columns times keys that have bins of a density, or of one's own: each takes some 25 kB of a heap of 16 MB. */
    private static final int MOST_BINNED = 100;

    private SketchSchemas() {}

    /**
     * What is encoded.
     *
     * @throws MillraceException 22023, 0A000 or 54000 if settings are not for these columns, or take more memory than a device has
     */
    static SketchSchema schema(StreamConfig stream, SketchSettings settings) {
        int keys = stream.key().isPresent() ? stream.mostKeys() : 1;
        long binned = (long) keys
                * settings.bins().own().keySet().stream()
                        .filter(column -> stream.columns().indexOf(column) >= 0)
                        .count();
        if (binned > MOST_BINNED) {
            throw MillraceException.user(
                            SqlState.PROGRAM_LIMIT_EXCEEDED,
                            "bins for columns of keys are at most " + MOST_BINNED + ", and would be " + binned)
                    .withHint("\"keys\" of edge.conf says how many keys are open at once");
        }
        List<Feature> features = new ArrayList<>();
        for (int column = 0; column < stream.columns().size(); column++) {
            if (stream.time().isPresent() && stream.time().get() == column) {
                continue;
            }
            Field field = stream.columns().field(column);
            boolean fraction =
                    field.type().equals(DataType.DOUBLE) || field.type().equals(DataType.REAL);
            features.add(feature(field, settings.bound(field.name(), fraction), settings.bins()));
        }
        if (!settings.rows().made().isEmpty()) {
            features.add(new Feature(EdgeWindows.MARK, DataType.TEXT, Bound.exact(), Binning.SMALLEST));
        }
        String time = stream.time()
                .map(column -> stream.columns().field(column).name())
                .orElse(ARRIVAL);
        return new SketchSchema(time, SketchSchema.MICROS_PER_SECOND, settings.timeErrorMicros(), features);
    }

    private static Feature feature(Field field, Bound bound, BinSettings bins) {
        if (!bins.own().containsKey(field.name())) {
            return new Feature(field.name(), field.type(), bound, Binning.SMALLEST);
        }
        if (bound.kind() == Bound.Kind.EXACT) {
            throw MillraceException.user(
                            SqlState.INVALID_PARAMETER_VALUE,
                            "column \"" + field.name() + "\" is exact, and has no bins")
                    .withHint("sketch.error." + field.name() + " says how far its values may be off");
        }
        return new Feature(field.name(), field.type(), bound, Binning.EQUAL_PROBABILITY);
    }

    /** Has an encoder that was just made, or changed, begin with the bins that were set. */
    static void useBins(StreamEncoder encoder, BinSettings bins) {
        for (int f = 0; f < encoder.schema().size(); f++) {
            Optional<ProbabilityBins> own =
                    bins.own().getOrDefault(encoder.schema().feature(f).name(), Optional.empty());
            if (own.isPresent()) {
                encoder.density(f).ifPresent(density -> density.override(own.get()));
            }
        }
    }

    static EncoderOptions options(SketchSettings settings) {
        return EncoderOptions.defaults()
                .withRefit(EncoderOptions.Refit.BETWEEN_SEGMENTS.withReviews(
                        settings.bins().evaluationMicros()))
                .withSegmentRows(settings.segmentRows())
                .withSegmentTicks(settings.segmentMicros());
    }
}
