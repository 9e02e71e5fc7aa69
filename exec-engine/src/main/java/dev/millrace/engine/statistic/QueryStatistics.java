package dev.millrace.engine.statistic;

import dev.millrace.connector.SinkStatus;
import java.util.List;

/**
 * Counters of a query, taken at one moment, each at most one batch old.
 *
 * @param rowsIn read from relations
 * @param rowsOut sent to views, sinks and subscribers; retractions count too
 * @param lateRows dropped because they came too late
 * @param cpuNanos time of workers spent in its tasks
 * @param memoryBytes batches and state it holds in memory
 * @param spilledBytes state it holds on disk
 * @param viewRows rows of its materialized answer, 0 if it has none
 * @param lastEpoch the last epoch visible outside, 0 before the first
 * @param latencies of its epochs, those in which nothing came left out
 * @param subscribers those of the query itself, not those of queries that read it
 */
public record QueryStatistics(
        String query,
        QueryState state,
        long rowsIn,
        long rowsOut,
        long lateRows,
        long cpuNanos,
        long memoryBytes,
        long spilledBytes,
        long viewRows,
        long lastEpoch,
        LatencyHistogram latencies,
        SubscriberStatistics subscribers,
        List<OperatorStatistics> operators,
        List<WatermarkStatistics> watermarks,
        List<SplitStatistics> splits,
        List<SinkStatus> sinks) {
    public QueryStatistics {
        operators = List.copyOf(operators);
        watermarks = List.copyOf(watermarks);
        splits = List.copyOf(splits);
        sinks = List.copyOf(sinks);
    }
}
