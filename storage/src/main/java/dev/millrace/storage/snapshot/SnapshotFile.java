package dev.millrace.storage.snapshot;

/**
 * A snapshot that is whole.
 *
 * @param name of the file
 * @param bytes its length
 * @param checksum of its trailer, by which it is told from another of its name and length
 */
public record SnapshotFile(String name, long bytes, int checksum) {}
