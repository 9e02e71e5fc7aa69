package dev.millrace.server.query;

import dev.millrace.batch.Batch;
import dev.millrace.engine.runtime.Result;
import dev.millrace.engine.statistic.QueryStatistics;
import dev.millrace.error.MillraceException;
import dev.millrace.server.cancellation.Cancellation;
import dev.millrace.server.cancellation.Failures;
import dev.millrace.server.result.StatementResult;
import dev.millrace.server.rows.Repetitions;
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
    private volatile Optional<MillraceException> stopped =
            Optional.empty(); // why; written by who stops it, read by who reads
    private Optional<Repetitions> repeated = Optional.empty(); // of the batch that was read last
    private boolean closed;

    /** @param schema the columns under the user's names */
    ResultRows(Schema schema, Result result, Cancellation cancellation, BufferAllocator allocator, Runnable onClose) {
        this.schema = schema;
        this.result = result;
        this.cancellation = cancellation;
        this.allocator = allocator;
        this.onClose = onClose;
        cancellation.open(why -> {
            stopped = Optional.of(why);
            result.cancel();
        });
    }

    @Override
    public Schema schema() {
        return schema;
    }

    @Override
    public Optional<Batch> next() {
        return Failures.translate(() -> cancellation.run(this::nextShown));
    }

    private Optional<Batch> nextShown() {
        while (true) {
            if (repeated.isPresent()) {
                stopped.ifPresent(why -> {
                    throw why;
                });
                Optional<Batch> more = repeated.get().next();
                if (more.isPresent()) {
                    return more;
                }
                closeRepeated();
            }
            Optional<Batch> batch = result.next();
            if (batch.isEmpty() || isEachOnce(batch.get())) {
                return batch.map(this::named);
            }
            repeated = Optional.of(new Repetitions(batch.get(), schema, allocator));
        }
    }

    /** What the query's operators did so far. */
    QueryStatistics statistics() {
        return result.statistics();
    }

    private void closeRepeated() {
        repeated.ifPresent(Repetitions::close);
        repeated = Optional.empty();
    }

    private Batch named(Batch batch) {
        FieldVector[] columns =
                IntStream.range(0, batch.columnCount()).mapToObj(batch::column).toArray(FieldVector[]::new);
        return Batch.view(schema, columns, batch.rowCount(), Optional.empty(), List.of(batch));
    }

    private static boolean isEachOnce(Batch batch) {
        Optional<BigIntVector> weights = batch.weights();
        for (int row = 0; weights.isPresent() && row < batch.rowCount(); row++) {
            if (weights.get().get(row) != 1) {
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
            closeRepeated();
            result.close();
            onClose.run();
        }
    }
}
