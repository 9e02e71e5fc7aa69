package dev.millrace.connectors.nexmark;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.connector.SourceContext;
import dev.millrace.connector.SourcePosition;
import dev.millrace.connector.SourceReader;
import dev.millrace.connectors.random.ChunkPlace;
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
    private final long before;
    private final long total;
    private long chunk;
    private long position;
    private long startNanos = NOT_STARTED;

    /** @param before rows that were given before, and cost no time */
    NexmarkReader(
            NexmarkSource source, List<GeneratedColumn> columns, SourceContext context, ChunkPlace place, long before) {
        this.source = source;
        this.columns = columns;
        this.schema = new Schema(columns.stream().map(GeneratedColumn::field).toList());
        this.context = context;
        this.chunkRows = place.chunkRows();
        this.stride = place.stride();
        this.total = source.kind().countOf(source.events());
        this.chunk = place.chunk();
        this.position = place.row();
        this.before = before;
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
            startNanos = now - (before == 0 ? 0 : (long) dueNanos(before));
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
        long waitNanos = (long) dueNanos(position) - (context.clock().nanoTime() - startNanos);
        return Math.max(1, waitNanos / 1_000);
    }

    /** When a row is due after the start, at a pace. */
    private double dueNanos(long row) {
        long eventMicros = source.timeline().micros(source.kind().event(row)) - Timeline.START_MICROS;
        return eventMicros * 1e3 / source.pace().getAsDouble();
    }

    @Override
    public double progress() {
        return source.bounded() ? (double) Math.min(position, total) / Math.max(1, total) : -1;
    }

    @Override
    public Optional<SourcePosition> position() {
        return Optional.of(new ChunkPlace(chunkRows, stride, chunk, position).position(NexmarkSource.FORM));
    }

    @Override
    public void close() {}
}
