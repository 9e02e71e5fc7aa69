package dev.millrace.sketch.stream;

import dev.millrace.sketch.segment.SketchHeader.Announcement;

/**
 * A segment that was closed.
 *
 * @param bytes to be kept or sent; the receiver's own
 * @param incarnation of its encoder
 * @param sequence its place among the segments of the incarnation, from 0, without gaps
 * @param version the number of the stream's version that it is of
 * @param announcement how it tells that version: after a change or a complete one, segments behind it may refer to it
 * @param rows how many
 * @param firstTicks the time of its first row
 * @param lastTicks the time of its last row
 */
public record EncodedSegment(
        byte[] bytes,
        long incarnation,
        long sequence,
        int version,
        Announcement announcement,
        int rows,
        long firstTicks,
        long lastTicks) {
    /** Whether segments behind this one can only be read after it, or after another announcement. */
    public boolean announces() {
        return announcement != Announcement.REFERENCE;
    }
}
