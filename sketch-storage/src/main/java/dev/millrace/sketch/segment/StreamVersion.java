package dev.millrace.sketch.segment;

import dev.millrace.sketch.bins.BinSet;
import dev.millrace.sketch.schema.SketchSchema;
import dev.millrace.sketch.time.TimeCodec;
import java.util.List;

/**
 * What the segments of a stream have in common from one version on, so that they need not repeat it (dissertation §6.2.1:
 * the bin configuration and its version). Immutable.
 *
 * @param incarnation the life of the encoder that uses it, drawn at random: numbers mean nothing beyond it. 0 for what is
 *     announced by each segment that uses it
 * @param number rises by one with every change
 * @param schemaVersion rises by one with every change of the schema, its bounds included
 * @param schema the features, with the bounds that were asked for; which ones hold is said by the bins
 * @param bins one set per feature
 * @param clockwork where times begin and how far apart they usually are
 * @param segmentRows how many rows a segment usually has
 */
public record StreamVersion(
        long incarnation,
        int number,
        int schemaVersion,
        SketchSchema schema,
        List<BinSet> bins,
        TimeCodec.Clockwork clockwork,
        int segmentRows) {
    public StreamVersion {
        bins = List.copyOf(bins);
        assert bins.size() == schema.size();
    }

    /** A later one of the same schema. */
    public StreamVersion changed(int newNumber, List<BinSet> newBins, TimeCodec.Clockwork newClockwork) {
        return new StreamVersion(incarnation, newNumber, schemaVersion, schema, newBins, newClockwork, segmentRows);
    }
}
