package dev.millrace.sketch.source;

import dev.millrace.condense.Condensing;
import dev.millrace.connector.ScanRequest;
import dev.millrace.connector.Source;
import dev.millrace.connector.SourceContext;
import dev.millrace.connector.SourceReader;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.sketch.Sketch;
import dev.millrace.sketch.file.SketchFileReader;
import dev.millrace.sketch.materialise.ArrowOutput;
import dev.millrace.sketch.schema.Bound;
import dev.millrace.sketch.schema.SketchSchema;
import dev.millrace.sketch.segment.SegmentFilter;
import dev.millrace.type.Schema;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The rows of some files of sketches, which several readers share by their blocks.
 *
 * @param features what the first file has: older sketches answer under it
 */
record SketchSource(List<Path> paths, SketchSchema features) implements Source {
    SketchSource {
        paths = List.copyOf(paths);
    }

    /** @throws MillraceException if a file is missing, is something else, is damaged, or the first has no rows */
    static SketchSource of(List<Path> paths) {
        List<SketchSchema> found = new ArrayList<>();
        for (Path path : paths) {
            try (SketchFileReader file = SketchFileReader.open(path)) {
                if (file.blocks() > 0 && found.isEmpty()) {
                    file.forEachOf(file.blocks() - 1, SegmentFilter.ANY, (Sketch sketch) -> found.add(sketch.schema()));
                }
            }
        }
        if (found.isEmpty()) {
            throw MillraceException.user(
                    SqlState.OBJECT_NOT_IN_PREREQUISITE_STATE,
                    paths.get(0) + " has no rows, which would say what its columns are");
        }
        return new SketchSource(paths, found.get(found.size() - 1));
    }

    @Override
    public Schema schema() {
        return ArrowOutput.schema(features);
    }

    @Override
    public boolean isInferred() {
        return true;
    }

    @Override
    public boolean bounded() {
        return true;
    }

    @Override
    public boolean replayable() {
        return true;
    }

    @Override
    public Optional<Condensing> condensing() {
        Set<Integer> inexact = new HashSet<>();
        for (int feature = 0; feature < features.size(); feature++) {
            if (features.feature(feature).bound().kind() != Bound.Kind.EXACT) {
                inexact.add(feature + 1);
            }
        }
        if (features.timeBoundTicks() > 0) {
            inexact.add(0);
        }
        return Optional.of(new Condensing(OptionalInt.of(0), inexact));
    }

    @Override
    public List<SourceReader> open(ScanRequest request, SourceContext context) {
        // With one reader the order of rows is that of the files.
        boolean ordered = request.eventTime().isPresent();
        int count = ordered ? 1 : Math.max(1, request.parallelism());
        AtomicInteger next = new AtomicInteger();
        List<SourceReader> readers = new ArrayList<>();
        try {
            for (int i = 0; i < count; i++) {
                readers.add(new SketchReader(this, request, next, context));
            }
            return readers;
        } catch (RuntimeException | Error e) {
            readers.forEach(SourceReader::close);
            throw e;
        }
    }
}
