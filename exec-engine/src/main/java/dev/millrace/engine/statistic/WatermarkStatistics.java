package dev.millrace.engine.statistic;

/**
 * Where event time stands on one partition of one input of a query.
 *
 * @param relation the stream
 * @param partition the reader, from 0
 * @param watermarkMicros its watermark; {@code Operator.NO_WATERMARK} before the first row
 * @param sinceEpochMicros when it last advanced, by the engine's clock
 * @param idle whether the query does not wait for it at present
 * @param holdsBack whether it is the one (the lowest that is not idle) for which windows stay open
 * @param estimates how often it was said when the watermark would come that completes a window, and it has
 * @param hits how often it then came in time
 */
public record WatermarkStatistics(
        String relation,
        int partition,
        long watermarkMicros,
        long sinceEpochMicros,
        boolean idle,
        boolean holdsBack,
        long estimates,
        long hits) {}
