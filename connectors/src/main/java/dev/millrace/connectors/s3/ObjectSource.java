package dev.millrace.connectors.s3;

import dev.millrace.batch.Closing;
import dev.millrace.connector.ScanRequest;
import dev.millrace.connector.Source;
import dev.millrace.connector.SourceContext;
import dev.millrace.connector.SourcePosition;
import dev.millrace.connector.SourceReader;
import dev.millrace.connectors.input.FileFormat;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Objects of a store as files of one format, from the first row for every reader.
 *
 * @param guessed what was found in an object together with the columns; empty where these were declared
 * @param everyMicros how often to look for new ones; none ends with those that are there when reading begins
 */
public record ObjectSource(
        Schema schema,
        StoreOptions store,
        ObjectPaths paths,
        FileFormat format,
        OptionalLong everyMicros,
        Optional<Source.Assumptions> guessed)
        implements Source {
    @Override
    public boolean isInferred() {
        return guessed.isPresent();
    }

    @Override
    public Source.Assumptions assumptions() {
        return guessed.orElse(Source.Assumptions.NONE);
    }

    @Override
    public boolean bounded() {
        return everyMicros.isEmpty();
    }

    @Override
    public boolean replayable() {
        return true;
    }

    @Override
    public void check() {
        try (ObjectStore asked = new ObjectStore(store)) {
            paths.check(asked);
        }
    }

    @Override
    public List<SourceReader> open(ScanRequest request, SourceContext context) {
        if (everyMicros.isPresent()) { // in the order in which they come
            return List.of(reader(request, context));
        }
        List<StoredObject> all;
        try (ObjectStore asked = new ObjectStore(store)) {
            all = paths.list(asked);
        }
        return FileFormat.shares(all, request.parallelism()).stream()
                .<SourceReader>map(share -> reader(request, context).add(share))
                .toList();
    }

    @Override
    public List<SourceReader> reopen(ScanRequest request, List<SourcePosition> positions, SourceContext context) {
        List<SourceReader> readers = new ArrayList<>();
        try {
            for (SourcePosition position : positions) {
                ObjectReader reader = reader(request, context);
                readers.add(reader);
                reader.goOn(position);
            }
            return readers;
        } catch (RuntimeException | Error e) {
            Closing.all(readers);
            throw e;
        }
    }

    private ObjectReader reader(ScanRequest request, SourceContext context) {
        Optional<NewObjects> news =
                everyMicros.isPresent() ? Optional.of(new NewObjects(everyMicros.getAsLong())) : Optional.empty();
        return new ObjectReader(format, store, paths, news, request, context);
    }
}
