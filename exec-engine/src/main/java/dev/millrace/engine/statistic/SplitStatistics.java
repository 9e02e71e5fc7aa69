package dev.millrace.engine.statistic;

import dev.millrace.connector.SplitStatus;

/**
 * How a query is with one split of a source that it reads.
 *
 * @param operator the scan
 */
public record SplitStatistics(int operator, String relation, SplitStatus split) {}
