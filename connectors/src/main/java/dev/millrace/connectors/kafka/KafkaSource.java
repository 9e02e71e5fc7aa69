package dev.millrace.connectors.kafka;

import dev.millrace.batch.Closing;
import dev.millrace.connector.ScanRequest;
import dev.millrace.connector.Source;
import dev.millrace.connector.SourceContext;
import dev.millrace.connector.SourcePosition;
import dev.millrace.connector.SourceReader;
import dev.millrace.connectors.split.SplitTimes;
import dev.millrace.format.RecordFormat;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Topics of a cluster, from where the option {@code start} says for each query that begins.
 *
 * @param isInferred whether the columns were guessed
 * @param bounded whether reading ends with the records that are there when it begins
 * @param idleMicros after which a silent partition holds no window open; 0 for never
 * @param lookNanos between two looks for new partitions
 */
record KafkaSource(
        KafkaCluster cluster,
        TopicChoice topics,
        RecordFormat format,
        RecordColumns columns,
        Schema schema,
        StartingPoint start,
        boolean isInferred,
        boolean bounded,
        boolean readCommitted,
        Expired expired,
        long idleMicros,
        long lookNanos)
        implements Source {

    /** Where to go on when the records that were to be read next are gone. */
    enum Expired {
        EARLIEST,
        LATEST,
        WAIT
    }

    @Override
    public boolean replayable() {
        return true;
    }

    @Override
    public void check() {
        cluster.requireTopics(topics.names());
    }

    @Override
    public List<SourceReader> open(ScanRequest request, SourceContext context) {
        return open(request, context, Math.max(1, request.parallelism()), Optional.empty());
    }

    @Override
    public List<SourceReader> reopen(ScanRequest request, List<SourcePosition> positions, SourceContext context) {
        boolean isFound = false;
        List<KafkaPosition.Place> places = new ArrayList<>();
        for (SourcePosition position : positions) {
            KafkaPosition read = KafkaPosition.read(position);
            isFound |= read.isFound();
            read.places().stream()
                    .filter(place -> topics.matches(place.partition().topic()))
                    .forEach(places::add);
        }
        return open(request, context, positions.size(), Optional.of(new KafkaPosition(isFound, places)));
    }

    private List<SourceReader> open(
            ScanRequest request, SourceContext context, int count, Optional<KafkaPosition> from) {
        SplitTimes times = new SplitTimes(idleMicros);
        KafkaFetcher fetcher = new KafkaFetcher(this, context, times);
        List<KafkaReader> readers = new ArrayList<>();
        try {
            for (int i = 0; i < count; i++) {
                readers.add(new KafkaReader(this, fetcher, request, context, times));
            }
            fetcher.start(readers, from);
            return List.copyOf(readers);
        } catch (RuntimeException | Error e) {
            Closing.all(readers);
            throw e;
        }
    }
}
