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
import dev.millrace.sketch.form.SymbolFilter;
import dev.millrace.sketch.materialise.ArrowOutput;
import dev.millrace.sketch.schema.Bound;
import dev.millrace.sketch.schema.Feature;
import dev.millrace.sketch.schema.SketchSchema;
import dev.millrace.sketch.segment.SegmentFilter;
import dev.millrace.sketch.time.Times;
import dev.millrace.type.Schema;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The rows of some files of sketches, which several readers share by their blocks.
 *
 * @param features what the first file has: older sketches answer under it
 * @param inexact columns of which a sketch of any of the files has values that may be off; 0 is the time
 */
record SketchSource(List<Path> paths, SketchSchema features, Set<Integer> inexact) implements Source {
    SketchSource {
        paths = List.copyOf(paths);
        inexact = Set.copyOf(inexact);
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
        SketchSchema newest = found.get(found.size() - 1);
        Set<Integer> inexact = new HashSet<>();
        for (Path path : paths) {
            try (SketchFileReader file = SketchFileReader.open(path)) {
                SchemasOnly schemas = new SchemasOnly(newest, inexact);
                for (int block = 0; block < file.blocks(); block++) {
                    file.forEachOf(block, schemas, (Sketch sketch) -> schemas.look(sketch.schema()));
                }
            }
        }
        return new SketchSource(paths, newest, inexact);
    }

    /** Finds the columns that may be off, and wants nothing but the schemas of segments. */
    private static final class SchemasOnly implements SegmentFilter {
        private final SketchSchema newest;
        private final Set<Integer> inexact;
        private final Set<SketchSchema> seen = Collections.newSetFromMap(new IdentityHashMap<>());

        SchemasOnly(SketchSchema newest, Set<Integer> inexact) {
            this.newest = newest;
            this.inexact = inexact;
        }

        @Override
        public boolean mayMeet(SketchSchema schema, Times times) {
            look(schema);
            return false;
        }

        private void look(SketchSchema schema) {
            if (!seen.add(schema)) {
                return;
            }
            if (schema.timeBoundTicks() > 0) {
                inexact.add(0);
            }
            Set<String> off = new HashSet<>();
            for (Feature feature : schema.features()) {
                if (feature.bound().kind() != Bound.Kind.EXACT) {
                    off.add(feature.name());
                }
            }
            for (int feature = 0; feature < newest.size(); feature++) {
                if (off.contains(newest.feature(feature).name())) {
                    inexact.add(feature + 1);
                }
            }
        }

        @Override
        public SymbolFilter ofFeature(SketchSchema schema, int feature) {
            return SymbolFilter.ANY;
        }
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
