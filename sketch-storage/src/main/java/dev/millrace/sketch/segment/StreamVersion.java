package dev.millrace.sketch.segment;

import dev.millrace.sketch.bins.BinSet;
import dev.millrace.sketch.schema.SketchSchema;
import dev.millrace.sketch.time.TimeCodec;
import java.util.List;

/**
 * What the segments of a stream have in common from one version on, so that they need not repeat it (dissertation §6.2.1:
 * the bin configuration and its version). Immutable.
 *
 * @param number rises by one with every change
 * @param schema the features
 * @param bins one set per feature
 * @param clockwork where times begin and how far apart they usually are
 * @param segmentRows how many rows a segment usually has
 */
public record StreamVersion(
        int number, SketchSchema schema, List<BinSet> bins, TimeCodec.Clockwork clockwork, int segmentRows) {
    public StreamVersion {
        bins = List.copyOf(bins);
        assert bins.size() == schema.size();
    }
}
