package dev.millrace.engine.runtime;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.engine.statistic.LatencyHistogram;
import dev.millrace.engine.statistic.QueryState;
import dev.millrace.engine.statistic.QueryStatistics;
import dev.millrace.engine.statistic.SubscriberStatistics;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.type.Schema;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Optional;
import java.util.Queue;

/** A query whose rows are known: no task has to run for it. */
final class ConstantResult implements Result {
    private final Schema schema;
    private final Queue<Batch> batches;
    private final long rows;
    private volatile boolean cancelled; // written by any thread, read by the reader

    /** @param batches taken over */
    ConstantResult(Schema schema, List<Batch> batches) {
        this.schema = schema;
        this.batches = new ArrayDeque<>(batches);
        this.rows = batches.stream().mapToLong(Batch::rowCount).sum();
    }

    @Override
    public Schema schema() {
        return schema;
    }

    @Override
    public Optional<Batch> next() {
        if (cancelled) {
            throw MillraceException.user(SqlState.QUERY_CANCELED, "canceling statement due to user request");
        }
        return Optional.ofNullable(batches.poll());
    }

    @Override
    public double progress() {
        return 1;
    }

    @Override
    public long rowsRead() {
        return 0;
    }

    @Override
    public void cancel() {
        cancelled = true;
    }

    @Override
    public QueryStatistics statistics() {
        return new QueryStatistics(
                "select",
                QueryState.FINISHED,
                0,
                rows,
                0,
                0,
                0,
                0,
                0,
                0,
                LatencyHistogram.EMPTY,
                SubscriberStatistics.NONE,
                List.of(),
                List.of(),
                List.of(),
                List.of());
    }

    @Override
    public void close() {
        Closing.all(batches);
        batches.clear();
    }
}
