package dev.millrace.storage.log;

/**
 * A place in the log.
 *
 * @param segment number of the segment, 0 before the first
 * @param offset in it, in bytes
 */
public record LogPlace(long segment, long offset) {
    static final LogPlace BEGINNING = new LogPlace(0, 0);

    /** The name of the segment's file. */
    public String file() {
        return SegmentHeader.name(segment);
    }
}
