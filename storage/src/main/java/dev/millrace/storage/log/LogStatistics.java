package dev.millrace.storage.log;

/**
 * What a log did since it was opened.
 *
 * @param records appended
 * @param bytes of them
 * @param groups how often the disk was forced for them
 * @param segments how many there are now
 * @param pendingBytes in memory that are not durable
 * @param failures how often the disk began to fail
 */
public record LogStatistics(long records, long bytes, long groups, int segments, long pendingBytes, long failures) {}
