package dev.millrace.sketch.source;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.condense.ErrorColumns;
import dev.millrace.connector.ScanCounts;
import dev.millrace.connector.ScanRequest;
import dev.millrace.connector.SourceContext;
import dev.millrace.connector.SourceReader;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.sketch.Sketch;
import dev.millrace.sketch.condense.CondensedRows;
import dev.millrace.sketch.condense.SketchBounds;
import dev.millrace.sketch.file.SketchFileReader;
import dev.millrace.sketch.form.SymbolFilter;
import dev.millrace.sketch.materialise.ArrowOutput;
import dev.millrace.sketch.materialise.SketchErrors;
import dev.millrace.sketch.schema.SketchSchema;
import dev.millrace.sketch.segment.SegmentFilter;
import dev.millrace.sketch.time.Times;
import dev.millrace.sketch.transform.SketchTransform;
import dev.millrace.type.Schema;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;
import org.jspecify.annotations.Nullable;

/** Reads blocks of files of sketches, those that no other reader has taken. A block is read in one step, some hundred sketches. */
final class SketchReader implements SourceReader {
    private static final Schema NO_KEYS = new Schema(List.of());

    private final SketchSource source;
    private final ScanRequest request;
    private final AtomicInteger next; // block of all files, which readers share
    private final BufferAllocator allocator;
    private final List<SketchFileReader> files = new ArrayList<>();
    private final SketchBounds bounds;
    private final SegmentFilter wanted;
    private final boolean asksErrors;
    private final Optional<CondensedRows> condensed;
    private final Batch noKeys = Batch.of(NO_KEYS, new FieldVector[0], 1);
    private final Deque<Batch> ready = new ArrayDeque<>();
    private volatile ScanCounts counts = new ScanCounts(0, 0, 0, 0); // written by the reader's thread, read by any
    private volatile int begun; // blocks; written by the reader's thread, read by any
    private @Nullable SketchSchema known; // the last one that was the source's
    private long answered;
    private long materialised;
    private boolean finished;

    SketchReader(SketchSource source, ScanRequest request, AtomicInteger next, SourceContext context) {
        this.source = source;
        this.request = request;
        this.next = next;
        this.allocator = context.allocator();
        this.bounds = new SketchBounds(request.predicates(), source.schema(), 0);
        Schema all = source.schema();
        this.asksErrors = request.columns().stream().anyMatch(column -> ErrorColumns.isOne(all, column));
        this.wanted = asksErrors ? SegmentFilter.ANY : new OfSource(); // errors are asked of each sketch
        this.condensed = request.condensation()
                .map(how -> new CondensedRows(
                        ErrorColumns.select(all, request.columns()),
                        request.columns().stream()
                                .map(column -> condensedColumn(all, column))
                                .toList(),
                        how,
                        context.batchRows(),
                        allocator));
        try {
            source.paths().forEach(path -> files.add(SketchFileReader.open(path)));
        } catch (RuntimeException | Error e) {
            close();
            throw e;
        }
    }

    private static CondensedRows.Column condensedColumn(Schema all, int column) {
        if (ErrorColumns.isOne(all, column)) {
            int subject = ErrorColumns.subject(all, column);
            return subject == 0
                    ? new CondensedRows.Column.OfTimeError()
                    : new CondensedRows.Column.OfError(all.field(subject).name());
        }
        return column == 0
                ? new CondensedRows.Column.OfTime()
                : new CondensedRows.Column.OfFeature(all.field(column).name());
    }

    @Override
    public Optional<Batch> poll() {
        while (ready.isEmpty() && !finished) {
            int block = next.getAndIncrement();
            begun = block;
            int file = 0;
            while (file < files.size() && block >= files.get(file).blocks()) {
                block -= files.get(file++).blocks();
            }
            if (file == files.size()) {
                finished = true;
                condensed.flatMap(CondensedRows::take).ifPresent(ready::add);
            } else {
                read(files.get(file), block);
            }
        }
        return Optional.ofNullable(ready.poll());
    }

    private void read(SketchFileReader file, int block) {
        long low = bounds.lowMicros();
        long high = bounds.highMicros();
        boolean perMicro = source.features().ticksPerSecond() == SketchSchema.MICROS_PER_SECOND;
        if (perMicro && !file.mayMeet(block, low, high)) {
            counts = counts.plus(new ScanCounts(0, 0, 0, 1));
            return;
        }
        answered = 0;
        materialised = 0;
        file.forEachOf(block, wanted, this::read);
        long skipped = file.segments(block) - answered - materialised;
        counts = counts.plus(new ScanCounts(block == 0 ? 1 : 0, 0, 1, 0, answered, materialised, skipped));
    }

    private final class OfSource implements SegmentFilter {
        @Override
        public boolean mayMeet(SketchSchema schema, Times times) {
            return !isSources(schema) || bounds.mayMeet(schema, times);
        }

        @Override
        public SymbolFilter ofFeature(SketchSchema schema, int feature) {
            return isSources(schema) ? bounds.ofFeature(schema, feature) : SymbolFilter.ANY;
        }
    }

    /** Of segments of other features than the source's it is only known what they show when they are the source's. */
    private boolean isSources(SketchSchema schema) {
        if (known != schema && schema.equals(source.features())) {
            known = schema;
        }
        return known == schema;
    }

    private void read(Sketch written) {
        Sketch sketch = isSources(written.schema()) ? written : SketchTransform.conform(written, source.features());
        if (asksErrors) {
            requireExact(sketch);
        }
        if (!bounds.mayMeet(sketch)) {
            return;
        }
        if (condensed.isPresent()) {
            answered++;
            CondensedRows rows = condensed.get();
            rows.add(sketch, noKeys, 0);
            while (rows.isFull()) {
                rows.take().ifPresent(ready::add);
            }
        } else {
            materialised++;
            ready.add(ArrowOutput.columns(sketch, request.columns(), allocator));
        }
    }

    /** What all sketches had exactly when the source was made is taken for exact when bounds are asked for. */
    private void requireExact(Sketch sketch) {
        SketchSchema features = source.features();
        String off = SketchErrors.of(sketch, -1) > 0 && !source.inexact().contains(0) ? features.timeName() : "";
        for (int f = 0; f < features.size(); f++) {
            if (!source.inexact().contains(f + 1) && SketchErrors.of(sketch, f) > 0) {
                off = features.feature(f).name();
            }
        }
        if (!off.isEmpty()) {
            throw MillraceException.user(
                            SqlState.OBJECT_NOT_IN_PREREQUISITE_STATE,
                            "column \"" + off
                                    + "\" was exact in the files when the stream was made, and is not any more")
                    .withHint("DROP the stream and CREATE it again: it reads then which columns may be off");
        }
    }

    @Override
    public boolean isFinished() {
        return finished && ready.isEmpty();
    }

    @Override
    public long retryAfterMicros() {
        return 0;
    }

    @Override
    public double progress() {
        int blocks = files.stream().mapToInt(SketchFileReader::blocks).sum();
        return blocks == 0 ? 1 : Math.min(1, begun / (double) blocks);
    }

    @Override
    public Optional<ScanCounts> counts() {
        return Optional.of(counts);
    }

    @Override
    public void close() {
        List<AutoCloseable> all = new ArrayList<>(files);
        all.addAll(ready);
        condensed.ifPresent(all::add);
        all.add(noKeys);
        files.clear();
        ready.clear();
        Closing.all(all);
    }
}
