package dev.millrace.connectors.nexmark;

import dev.millrace.connector.ScanRequest;
import dev.millrace.connector.Source;
import dev.millrace.connector.SourceContext;
import dev.millrace.connector.SourcePosition;
import dev.millrace.connector.SourceReader;
import dev.millrace.connectors.random.ChunkPlace;
import dev.millrace.type.Schema;
import java.util.List;
import java.util.OptionalDouble;
import java.util.stream.IntStream;

/**
 * One table of the stream.
 *
 * @param events of all kinds together
 * @param pace a multiple of event time, or empty for as fast as possible
 */
record NexmarkSource(
        Kind kind, List<GeneratedColumn> columns, Timeline timeline, long events, boolean bounded, OptionalDouble pace)
        implements Source {
    static final String FORM = "nexmark";

    @Override
    public Schema schema() {
        return new Schema(columns.stream().map(GeneratedColumn::field).toList());
    }

    @Override
    public boolean replayable() {
        return true;
    }

    /** Reader i of p makes every p-th batch from the i-th on, so that all advance together in event time. */
    @Override
    public List<SourceReader> open(ScanRequest request, SourceContext context) {
        List<GeneratedColumn> wanted =
                request.columns().stream().map(columns::get).toList();
        int readers = Math.max(1, request.parallelism());
        return IntStream.range(0, readers)
                .<SourceReader>mapToObj(index -> new NexmarkReader(
                        this, wanted, context, ChunkPlace.first(context.batchRows(), readers, index), 0))
                .toList();
    }

    @Override
    public List<SourceReader> reopen(ScanRequest request, List<SourcePosition> positions, SourceContext context) {
        List<GeneratedColumn> wanted =
                request.columns().stream().map(columns::get).toList();
        return positions.stream()
                .map(position -> ChunkPlace.of(FORM, position))
                .<SourceReader>map(place -> new NexmarkReader(this, wanted, context, place, place.row()))
                .toList();
    }
}
