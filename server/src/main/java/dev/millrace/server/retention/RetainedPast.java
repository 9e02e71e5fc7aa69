package dev.millrace.server.retention;

import dev.millrace.batch.Batch;
import dev.millrace.condense.ErrorColumns;
import dev.millrace.connector.ColumnPredicate;
import dev.millrace.connector.ScanCounts;
import dev.millrace.connector.ScanRequest;
import dev.millrace.connector.Source;
import dev.millrace.connector.SourceContext;
import dev.millrace.connector.SourceReader;
import dev.millrace.server.sketched.BoundedReader;
import dev.millrace.server.sketched.CondensedReader;
import dev.millrace.server.sketched.SketchedForm;
import dev.millrace.storage.column.SortKey;
import dev.millrace.storage.retention.SegmentStore;
import dev.millrace.storage.retention.StoreScan;
import dev.millrace.storage.segment.ColumnRange;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.LongSupplier;

/**
 * The rows that a stream kept, up to the moment in which a query opens it. Of what was accepted it gives what is on disk, as everybody
 * is shown no other rows.
 *
 * @param schema of the stream
 * @param form of its old rows; empty where all are exact
 * @param durable the last entry of the log that is on disk
 */
record RetainedPast(SegmentStore store, Schema schema, Optional<SketchedForm> form, LongSupplier durable)
        implements Source {
    @Override
    public boolean bounded() {
        return true;
    }

    @Override
    public boolean replayable() {
        return true;
    }

    @Override
    public List<SourceReader> open(ScanRequest request, SourceContext context) {
        if (form.isPresent() && request.condensation().isPresent()) {
            return List.of(CondensedReader.open(
                    store,
                    form.get(),
                    request,
                    ranges(request, schema),
                    durable.getAsLong(),
                    context.batchRows(),
                    context.allocator()));
        }
        if (request.columns().stream().anyMatch(column -> ErrorColumns.isOne(schema, column))) {
            return List.of(BoundedReader.open(
                    store,
                    form.orElseThrow(),
                    request,
                    ranges(request, schema),
                    durable.getAsLong(),
                    context.allocator()));
        }
        int readers =
                request.eventTime().isPresent() ? 1 : Math.max(1, request.parallelism()); // one keeps the order of rows
        List<SourceReader> opened = new ArrayList<>();
        store.scans(request.columns(), ranges(request, schema), durable.getAsLong(), readers, context.allocator())
                .forEach(scan -> opened.add(new Reader(scan)));
        return opened;
    }

    /** What of a query's conditions blocks can be skipped by. */
    static List<ColumnRange> ranges(ScanRequest request, Schema schema) {
        List<ColumnRange> ranges = new ArrayList<>();
        for (ColumnPredicate predicate : request.predicates()) {
            int column = predicate.column();
            Optional<byte[]> key = predicate
                    .value()
                    .filter(value -> SortKey.isKnown(schema.type(column)))
                    .flatMap(value -> SortKey.of(value, schema.type(column)));
            if (key.isPresent()) {
                switch (predicate.comparison()) {
                    case EQ -> ranges.add(new ColumnRange(column, key, key));
                    case LT, LE -> ranges.add(new ColumnRange(column, Optional.empty(), key));
                    case GT, GE -> ranges.add(new ColumnRange(column, key, Optional.empty()));
                    case NE, IS_NULL, IS_NOT_NULL -> {} // most blocks have such values
                }
            }
        }
        return ranges;
    }

    private static final class Reader implements SourceReader {
        private final StoreScan scan;
        private boolean finished;

        Reader(StoreScan scan) {
            this.scan = scan;
        }

        @Override
        public Optional<Batch> poll() {
            Optional<Batch> next = finished ? Optional.empty() : scan.next();
            finished = next.isEmpty();
            return next;
        }

        @Override
        public Optional<ScanCounts> counts() {
            return Optional.of(new ScanCounts(
                    scan.segmentsRead(), scan.segmentsSkipped(), scan.blocksRead(), scan.blocksSkipped()));
        }

        @Override
        public boolean isFinished() {
            return finished;
        }

        @Override
        public long retryAfterMicros() {
            return 0;
        }

        @Override
        public void close() {
            scan.close();
        }
    }
}
