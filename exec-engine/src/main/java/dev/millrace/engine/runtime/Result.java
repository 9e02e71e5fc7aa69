package dev.millrace.engine.runtime;

import dev.millrace.batch.Batch;
import dev.millrace.engine.statistic.QueryStatistics;
import dev.millrace.type.Schema;
import java.util.Optional;

/** The rows of a pull query. Used by one thread at a time; {@link #cancel} by any. */
public interface Result extends AutoCloseable {
    Schema schema();

    /**
     * The next rows, none of them empty; the caller closes them. Waits for them. Weights, where there are, are positive:
     * how often the row occurs. Empty at the end.
     *
     * @throws dev.millrace.error.MillraceException if the query failed or was cancelled (57014)
     */
    Optional<Batch> next();

    /** Part of the bounded sources read, 0 to 1, or -1 when they cannot tell. */
    double progress();

    /** Rows read from relations so far. */
    long rowsRead();

    /** Stops the query: a waiting {@link #next} throws. */
    void cancel();

    QueryStatistics statistics();

    /** Stops the query and frees everything. */
    @Override
    void close();
}
