package dev.millrace.storage.retention;

import java.util.Optional;
import java.util.OptionalLong;

/**
 * How long rows are kept. Whole segments go: rows are kept at least as long as this says, and longer by what a segment spans.
 *
 * @param age rows older than this may go; empty for any age
 * @param byEventTime whether the age is that of the event time; else of the arrival
 * @param bytes on disk, beyond which the oldest rows go; empty for any number
 */
public record RetentionPolicy(Optional<RetentionAge> age, boolean byEventTime, OptionalLong bytes) {
    /** Everything. */
    public static final RetentionPolicy FOREVER = new RetentionPolicy(Optional.empty(), false, OptionalLong.empty());

    private static final int SPANS = 16; // that a merged segment has of the age, so that little is kept longer

    public RetentionPolicy {
        if (bytes.isPresent() && bytes.getAsLong() <= 0) {
            throw new IllegalArgumentException("rows are kept for more than nothing");
        }
    }

    /** One of an age in microseconds. */
    public RetentionPolicy(OptionalLong ageMicros, boolean byEventTime, OptionalLong bytes) {
        this(
                ageMicros.isPresent() ? Optional.of(new RetentionAge(0, ageMicros.getAsLong())) : Optional.empty(),
                byEventTime,
                bytes);
    }

    /** How far the arrivals of rows of one merged segment may be apart, in microseconds. */
    long mostSpanMicros() {
        return age.map(of -> Math.max(1, of.aboutMicros() / SPANS)).orElse(Long.MAX_VALUE);
    }

    /** Whether all rows of a segment are too old at a time. */
    boolean isOver(KeptSegment segment, long nowMicros) {
        if (age.isEmpty()) {
            return false;
        }
        long last = byEventTime
                ? segment.eventTimes().map(KeptSegment.Span::last).orElse(segment.lastArrival())
                : segment.lastArrival();
        return last < age.get().before(nowMicros);
    }
}
