package dev.millrace.edge.stream;

import dev.millrace.edge.config.EdgeConfig.StreamConfig;
import dev.millrace.edge.config.SketchSettings;
import dev.millrace.sketch.schema.Binning;
import dev.millrace.sketch.schema.Feature;
import dev.millrace.sketch.schema.SketchSchema;
import dev.millrace.sketch.stream.EncoderOptions;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import java.util.ArrayList;
import java.util.List;

/** What an encoder is told of a stream and its settings. Stateless. */
final class SketchSchemas {
    private static final String ARRIVAL = "time";

    private SketchSchemas() {}

    static SketchSchema schema(StreamConfig stream, SketchSettings settings) {
        List<Feature> features = new ArrayList<>();
        for (int column = 0; column < stream.columns().size(); column++) {
            if (stream.time().isPresent() && stream.time().get() == column) {
                continue;
            }
            Field field = stream.columns().field(column);
            boolean fraction =
                    field.type().equals(DataType.DOUBLE) || field.type().equals(DataType.REAL);
            features.add(
                    new Feature(field.name(), field.type(), settings.bound(field.name(), fraction), Binning.SMALLEST));
        }
        String time = stream.time()
                .map(column -> stream.columns().field(column).name())
                .orElse(ARRIVAL);
        return new SketchSchema(time, SketchSchema.MICROS_PER_SECOND, settings.timeErrorMicros(), features);
    }

    static EncoderOptions options(SketchSettings settings) {
        return EncoderOptions.defaults()
                .withSegmentRows(settings.segmentRows())
                .withSegmentTicks(settings.segmentMicros());
    }
}
