package dev.millrace.engine.statistic;

/**
 * How far a flush is.
 *
 * @param fraction done of the bounded sources, 0 to 1, or -1 if none of them can tell
 * @param rows read from sources since the flush began
 * @param rowsPerSecond since the last report
 */
public record FlushProgress(double fraction, long rows, double rowsPerSecond) {}
