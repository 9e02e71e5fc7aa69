package dev.millrace.storage.log;

/**
 * A record in memory, or a part of a long one.
 *
 * @param number of the record
 * @param bytes the record's from here to the next piece; owned by the log
 * @param isFirst whether the record begins with it
 * @param isLast whether the record ends with it
 */
record Piece(long number, LogMode mode, byte[] bytes, boolean isFirst, boolean isLast) {
    private static final int OVERHEAD = 64;

    /** What it counts for in memory. */
    long heldBytes() {
        return heldBytes(bytes.length);
    }

    /** What a piece of so many bytes counts for. */
    static long heldBytes(int bytes) {
        return bytes + OVERHEAD;
    }

    /** What it takes on disk, where it is not cut. */
    long diskBytes() {
        return Fragment.bytes(bytes.length);
    }
}
