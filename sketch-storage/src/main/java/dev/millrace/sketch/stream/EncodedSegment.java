package dev.millrace.sketch.stream;

/**
 * A segment that was closed.
 *
 * @param bytes to be kept or sent; the receiver's own
 * @param version the number of the stream's version that it is of
 * @param announces whether it announces that version, so that segments behind it can only be read after it
 * @param rows how many
 * @param firstTicks the time of its first row
 * @param lastTicks the time of its last row
 */
public record EncodedSegment(byte[] bytes, int version, boolean announces, int rows, long firstTicks, long lastTicks) {}
