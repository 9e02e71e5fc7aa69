package dev.millrace.server.rows;

import dev.millrace.batch.Batch;
import dev.millrace.type.Schema;
import java.util.Optional;
import java.util.stream.IntStream;
import org.apache.arrow.memory.BufferAllocator;

/**
 * The rows of a weighted batch as often as they are there: a row of weight three as three rows. Some thousand at a time, as one row may
 * be there a billion times, and whoever asks may want to stop. For one thread at a time.
 */
public final class Repetitions implements AutoCloseable {
    private static final int TOGETHER = 4096;

    private final Batch batch;
    private final Schema schema;
    private final BufferAllocator allocator;
    private final int[] places;
    private int row;
    private long left; // of that row

    /**
     * @param batch taken over
     * @param schema its columns, under any names
     */
    public Repetitions(Batch batch, Schema schema, BufferAllocator allocator) {
        this.batch = batch;
        this.schema = schema;
        this.allocator = allocator;
        this.places = IntStream.range(0, batch.columnCount()).toArray();
        this.left = times();
    }

    /** How often the row at hand is there. */
    private long times() {
        if (row == batch.rowCount()) {
            return 0;
        }
        return batch.weights().map(weights -> Math.max(0, weights.get(row))).orElse(1L);
    }

    /** The next rows, in a batch that is the caller's; empty at the end. */
    public Optional<Batch> next() {
        try (RowCopier copier = new RowCopier(schema, allocator)) {
            while (row < batch.rowCount() && copier.rowCount() < TOGETHER) {
                for (; left > 0 && copier.rowCount() < TOGETHER; left--) {
                    copier.copy(batch, places, row, 1);
                }
                if (left == 0) {
                    row++;
                    left = times();
                }
            }
            return copier.rowCount() == 0 ? Optional.empty() : Optional.of(copier.build());
        }
    }

    @Override
    public void close() {
        batch.close();
    }
}
