package dev.millrace.server.result;

/**
 * How far the statement under way is.
 *
 * @param fraction done, 0 to 1, or -1 when unknown
 * @param rows read so far
 * @param rowsPerSecond of late, or since the statement began
 */
public record Progress(double fraction, long rows, double rowsPerSecond) {}
