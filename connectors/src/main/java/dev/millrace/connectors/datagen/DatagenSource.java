package dev.millrace.connectors.datagen;

import dev.millrace.connector.ScanRequest;
import dev.millrace.connector.Source;
import dev.millrace.connector.SourceContext;
import dev.millrace.connector.SourcePosition;
import dev.millrace.connector.SourceReader;
import dev.millrace.connectors.random.ChunkPlace;
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
    static final String FORM = "datagen";

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
                .<SourceReader>mapToObj(index -> new DatagenReader(
                        this, wanted, context, ChunkPlace.first(context.batchRows(), readers, index), 0))
                .toList();
    }

    @Override
    public List<SourceReader> reopen(ScanRequest request, List<SourcePosition> positions, SourceContext context) {
        List<GenerationRule> wanted = request.columns().stream().map(rules::get).toList();
        return positions.stream()
                .map(position -> ChunkPlace.of(FORM, position))
                .<SourceReader>map(place -> new DatagenReader(this, wanted, context, place, place.row()))
                .toList();
    }
}
