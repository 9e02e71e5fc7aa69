package dev.millrace.connectors.datagen;

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

/** Makes its share of the rows: chunks of one batch each, every {@code stride}-th of them. */
final class DatagenReader implements SourceReader {
    private static final long NOT_STARTED = Long.MIN_VALUE;

    private final DatagenSource source;
    private final List<GenerationRule> rules;
    private final Schema schema;
    private final SourceContext context;
    private final int chunkRows;
    private final int stride;
    private final long before;
    private long chunk;
    private long position;
    private long startNanos = NOT_STARTED;

    /** @param before rows that were given before, and cost no time */
    DatagenReader(
            DatagenSource source, List<GenerationRule> rules, SourceContext context, ChunkPlace place, long before) {
        this.source = source;
        this.rules = rules;
        this.schema = new Schema(rules.stream().map(GenerationRule::field).toList());
        this.context = context;
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
        long end = Math.min(Math.min((chunk + 1) * chunkRows, source.rows()), due());
        if (position >= end) {
            return Optional.empty();
        }
        Batch batch = batch(position, (int) (end - position));
        position = end;
        return Optional.of(batch);
    }

    /** How many rows may be out by now. */
    private long due() {
        if (source.rate() == 0) {
            return Long.MAX_VALUE;
        }
        long now = context.clock().nanoTime();
        if (startNanos == NOT_STARTED) {
            startNanos = now - (long) (before * 1e9 / source.rate());
        }
        return (long) ((now - startNanos) * 1e-9 * source.rate());
    }

    private Batch batch(long first, int rows) {
        List<FieldVector> vectors = new ArrayList<>(rules.size());
        try {
            for (GenerationRule rule : rules) {
                vectors.add(rule.generate(first, rows, context.allocator()));
            }
        } catch (RuntimeException | Error e) {
            Closing.all(vectors);
            throw e;
        }
        return Batch.of(schema, vectors.toArray(FieldVector[]::new), rows);
    }

    @Override
    public boolean isFinished() {
        return position >= source.rows();
    }

    @Override
    public long retryAfterMicros() {
        if (source.rate() == 0) {
            return 0;
        }
        double dueNanos = (position + 1) * 1e9 / source.rate();
        return Math.max(1, ((long) dueNanos - (context.clock().nanoTime() - startNanos)) / 1_000);
    }

    @Override
    public double progress() {
        return source.bounded() ? (double) Math.min(position, source.rows()) / Math.max(1, source.rows()) : -1;
    }

    @Override
    public Optional<SourcePosition> position() {
        return Optional.of(new ChunkPlace(chunkRows, stride, chunk, position).position(DatagenSource.FORM));
    }

    @Override
    public void close() {}
}
