package dev.millrace.storage.retention;

import java.util.OptionalLong;

/**
 * How long rows are kept. Whole segments go: rows are kept at least as long as this says, and longer by what a segment spans.
 *
 * @param ageMicros rows older than this may go; empty for any age
 * @param byEventTime whether the age is that of the event time; else of the arrival
 * @param bytes on disk, beyond which the oldest rows go; empty for any number
 */
public record RetentionPolicy(OptionalLong ageMicros, boolean byEventTime, OptionalLong bytes) {
    /** Everything. */
    public static final RetentionPolicy FOREVER =
            new RetentionPolicy(OptionalLong.empty(), false, OptionalLong.empty());

    private static final int SPANS = 16; // that a merged segment has of the age, so that little is kept longer

    public RetentionPolicy {
        if (ageMicros.isPresent() && ageMicros.getAsLong() <= 0 || bytes.isPresent() && bytes.getAsLong() <= 0) {
            throw new IllegalArgumentException("rows are kept for more than nothing");
        }
    }

    /** How far the arrivals of rows of one merged segment may be apart, in microseconds. */
    long mostSpanMicros() {
        return ageMicros.isPresent() ? Math.max(1, ageMicros.getAsLong() / SPANS) : Long.MAX_VALUE;
    }

    /** Whether all rows of a segment are too old at a time. */
    boolean isOver(KeptSegment segment, long nowMicros) {
        if (ageMicros.isEmpty()) {
            return false;
        }
        long last = byEventTime
                ? segment.eventTimes().map(KeptSegment.Span::last).orElse(segment.lastArrival())
                : segment.lastArrival();
        long oldest = nowMicros - ageMicros.getAsLong();
        return oldest < nowMicros && last < oldest; // no time is old before the beginning of numbers
    }
}
