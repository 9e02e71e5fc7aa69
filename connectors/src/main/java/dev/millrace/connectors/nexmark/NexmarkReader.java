package dev.millrace.connectors.nexmark;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.connector.SourceContext;
import dev.millrace.connector.SourceReader;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.arrow.vector.FieldVector;

/** Makes its share of a table: chunks of one batch each, every {@code stride}-th of them. */
final class NexmarkReader implements SourceReader {
    private static final long NOT_STARTED = Long.MIN_VALUE;

    private final NexmarkSource source;
    private final List<GeneratedColumn> columns;
    private final Schema schema;
    private final SourceContext context;
    private final int chunkRows;
    private final int stride;
    private final long total;
    private long chunk;
    private long position;
    private long startNanos = NOT_STARTED;

    NexmarkReader(NexmarkSource source, List<GeneratedColumn> columns, SourceContext context, int index, int stride) {
        this.source = source;
        this.columns = columns;
        this.schema = new Schema(columns.stream().map(GeneratedColumn::field).toList());
        this.context = context;
        this.chunkRows = context.batchRows();
        this.stride = stride;
        this.total = source.kind().countOf(source.events());
        this.chunk = index;
        this.position = chunk * chunkRows;
    }

    @Override
    public Optional<Batch> poll() {
        if (position == (chunk + 1) * chunkRows) {
            chunk += stride;
            position = chunk * chunkRows;
        }
        long end = Math.min(Math.min((chunk + 1) * chunkRows, total), due());
        if (position >= end) {
            return Optional.empty();
        }
        Batch batch = batch(position, (int) (end - position));
        position = end;
        return Optional.of(batch);
    }

    /** How many rows of the table may be out by now. */
    private long due() {
        if (source.pace().isEmpty()) {
            return Long.MAX_VALUE;
        }
        long now = context.clock().nanoTime();
        if (startNanos == NOT_STARTED) {
            startNanos = now;
        }
        double events = (now - startNanos)
                * 1e-9
                * source.pace().getAsDouble()
                * source.timeline().rate();
        return source.kind().countOf((long) events);
    }

    private Batch batch(long first, int rows) {
        List<FieldVector> vectors = new ArrayList<>(columns.size());
        try {
            for (GeneratedColumn column : columns) {
                vectors.add(column.generator().generate(column.field(), first, rows, context.allocator()));
            }
        } catch (RuntimeException | Error e) {
            Closing.all(vectors);
            throw e;
        }
        return Batch.of(schema, vectors.toArray(FieldVector[]::new), rows);
    }

    @Override
    public boolean isFinished() {
        return position >= total;
    }

    @Override
    public long retryAfterMicros() {
        if (source.pace().isEmpty()) {
            return 0;
        }
        long eventMicros = source.timeline().micros(source.kind().event(position)) - Timeline.START_MICROS;
        double dueNanos = eventMicros * 1e3 / source.pace().getAsDouble();
        long waitNanos = (long) dueNanos - (context.clock().nanoTime() - startNanos);
        return Math.max(1, waitNanos / 1_000);
    }

    @Override
    public double progress() {
        return source.bounded() ? (double) Math.min(position, total) / Math.max(1, total) : -1;
    }

    @Override
    public void close() {}
}
