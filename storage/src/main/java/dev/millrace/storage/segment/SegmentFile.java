package dev.millrace.storage.segment;

/**
 * A segment that is whole.
 *
 * @param name of the file
 * @param bytes its length
 * @param checksum of its trailer, by which it is told from another of its name and length
 * @param rows how many it has
 */
public record SegmentFile(String name, long bytes, int checksum, long rows) {}
