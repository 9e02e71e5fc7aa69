package dev.millrace.storage.snapshot;

/**
 * A section of a snapshot, as its table has it.
 *
 * @param index from 0, in the order in which they were written
 * @param name as its writer gave it; no two of a file are equal
 * @param offset of its first block in the file
 * @param bytes of contents
 * @param checksum of the checksums of its blocks
 */
public record SnapshotSection(int index, String name, long offset, long bytes, int checksum) {
    long blocks() {
        return (bytes + SnapshotBlock.MOST - 1) / SnapshotBlock.MOST;
    }

    /** Offset behind its last block. */
    long end() {
        return offset + bytes + blocks() * SnapshotBlock.HEADER;
    }
}
