package dev.millrace.connectors.random;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.connector.SourceContext;
import dev.millrace.connector.SourcePosition;
import dev.millrace.connector.SourceReader;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.arrow.vector.FieldVector;

/**
 * A reader's share of rows that are made by their number: chunks of one batch each, every {@code stride}-th of them, at once or at a
 * pace.
 */
final class ChunkReader implements SourceReader {
    private static final long NOT_STARTED = Long.MIN_VALUE;

    private final NumberedRows rows;
    private final List<NumberedRows.Column> columns;
    private final Schema schema;
    private final SourceContext context;
    private final NumberedRows.Pace pace;
    private final int chunkRows;
    private final int stride;
    private final long before;
    private long chunk;
    private long position;
    private long startNanos = NOT_STARTED;

    /** @param before rows that were given before, and cost no time */
    ChunkReader(
            NumberedRows rows,
            List<NumberedRows.Column> columns,
            SourceContext context,
            ChunkPlace place,
            long before) {
        this.rows = rows;
        this.columns = columns;
        this.schema =
                new Schema(columns.stream().map(NumberedRows.Column::field).toList());
        this.context = context;
        this.pace = rows.pace();
        this.chunkRows = place.chunkRows();
        this.stride = place.stride();
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
        long end = Math.min(Math.min((chunk + 1) * chunkRows, rows.total()), due());
        if (position >= end) {
            return Optional.empty();
        }
        Batch batch = batch(position, (int) (end - position));
        position = end;
        return Optional.of(batch);
    }

    /** How many of all rows may be out by now. */
    private long due() {
        if (pace == NumberedRows.Pace.NONE) {
            return Long.MAX_VALUE;
        }
        long now = context.clock().nanoTime();
        if (startNanos == NOT_STARTED) {
            startNanos = now - (before == 0 ? 0 : (long) pace.dueNanos(before - 1));
        }
        return pace.rowsAfter(now - startNanos);
    }

    private Batch batch(long first, int count) {
        List<FieldVector> vectors = new ArrayList<>(columns.size());
        try {
            for (NumberedRows.Column column : columns) {
                vectors.add(column.generate(first, count, context.allocator()));
            }
        } catch (RuntimeException | Error e) {
            Closing.all(vectors);
            throw e;
        }
        return Batch.of(schema, vectors.toArray(FieldVector[]::new), count);
    }

    @Override
    public boolean isFinished() {
        return position >= rows.total();
    }

    @Override
    public long retryAfterMicros() {
        if (pace == NumberedRows.Pace.NONE) {
            return 0;
        }
        long waitNanos = (long) pace.dueNanos(position) - (context.clock().nanoTime() - startNanos);
        return Math.max(1, waitNanos / 1_000);
    }

    @Override
    public double progress() {
        return rows.bounded() ? (double) Math.min(position, rows.total()) / Math.max(1, rows.total()) : -1;
    }

    @Override
    public Optional<SourcePosition> position() {
        return Optional.of(new ChunkPlace(chunkRows, stride, chunk, position).position(rows.form()));
    }

    @Override
    public void close() {}
}
