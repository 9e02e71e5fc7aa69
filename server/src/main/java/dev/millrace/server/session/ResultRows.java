package dev.millrace.server.session;

import dev.millrace.batch.Batch;
import dev.millrace.engine.runtime.Result;
import dev.millrace.server.rows.RowCopier;
import dev.millrace.type.Schema;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.FieldVector;

/** The rows of a pull query as the user sees them: a row of weight three is three rows. */
final class ResultRows implements StatementResult.Rows {
    private final Schema schema;
    private final Result result;
    private final Cancellation cancellation;
    private final BufferAllocator allocator;
    private final Runnable onClose;
    private boolean closed;

    /** @param schema the columns under the user's names */
    ResultRows(Schema schema, Result result, Cancellation cancellation, BufferAllocator allocator, Runnable onClose) {
        this.schema = schema;
        this.result = result;
        this.cancellation = cancellation;
        this.allocator = allocator;
        this.onClose = onClose;
        cancellation.open(why -> result.cancel());
    }

    @Override
    public Schema schema() {
        return schema;
    }

    @Override
    public Optional<Batch> next() {
        return Failures.translate(() -> cancellation.run(result::next).map(this::shown));
    }

    private Batch shown(Batch batch) {
        FieldVector[] columns =
                IntStream.range(0, batch.columnCount()).mapToObj(batch::column).toArray(FieldVector[]::new);
        Optional<BigIntVector> weights = batch.weights();
        if (weights.isEmpty() || allOne(weights.get(), batch.rowCount())) {
            return Batch.view(schema, columns, batch.rowCount(), Optional.empty(), List.of(batch));
        }
        int[] places = IntStream.range(0, batch.columnCount()).toArray();
        try (batch;
                RowCopier copier = new RowCopier(schema, allocator)) {
            for (int row = 0; row < batch.rowCount(); row++) {
                for (long copy = weights.get().get(row); copy > 0; copy--) {
                    copier.copy(batch, places, row, 1);
                }
            }
            return copier.build();
        }
    }

    private static boolean allOne(BigIntVector weights, int rows) {
        for (int row = 0; row < rows; row++) {
            if (weights.get(row) != 1) {
                return false;
            }
        }
        return true;
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            cancellation.closed();
            result.close();
            onClose.run();
        }
    }
}
