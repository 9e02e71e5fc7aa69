package dev.millrace.connectors.datagen;

import dev.millrace.connector.ScanRequest;
import dev.millrace.connector.Source;
import dev.millrace.connector.SourceContext;
import dev.millrace.connector.SourceReader;
import dev.millrace.type.Schema;
import java.util.List;
import java.util.stream.IntStream;

/**
 * A made-up relation.
 *
 * @param rows how many there are
 * @param rate rows per second of real time, 0 for as fast as possible
 */
record DatagenSource(List<GenerationRule> rules, long rows, boolean bounded, long rate) implements Source {
    @Override
    public Schema schema() {
        return new Schema(rules.stream().map(GenerationRule::field).toList());
    }

    @Override
    public boolean replayable() {
        return true;
    }

    /** Reader i of p makes every p-th batch from the i-th on, so that all advance together in event time. */
    @Override
    public List<SourceReader> open(ScanRequest request, SourceContext context) {
        List<GenerationRule> wanted = request.columns().stream().map(rules::get).toList();
        int readers = Math.max(1, request.parallelism());
        return IntStream.range(0, readers)
                .<SourceReader>mapToObj(index -> new DatagenReader(this, wanted, context, index, readers))
                .toList();
    }
}
