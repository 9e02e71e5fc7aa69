package dev.millrace.storage.retention;

import java.util.Optional;

/**
 * How a stream is kept.
 *
 * @param eventTime the column, a TIMESTAMP or TIMESTAMPTZ, that is the stream's event time
 * @param policy how long
 * @param mergedBytes how large segments may become by merging
 * @param form that segments take when there are enough rows; empty where they stay exact
 */
public record RetentionOptions(
        Optional<Integer> eventTime, RetentionPolicy policy, long mergedBytes, Optional<SegmentForm> form) {
    private static final long MERGED_BYTES = 256L << 20;

    public RetentionOptions {
        if (mergedBytes <= 0) {
            throw new IllegalArgumentException("segments have more than " + mergedBytes + " bytes");
        }
    }

    /** Exact segments. */
    public RetentionOptions(Optional<Integer> eventTime, RetentionPolicy policy, long mergedBytes) {
        this(eventTime, policy, mergedBytes, Optional.empty());
    }

    /** The same with segments that take a form. */
    public RetentionOptions withForm(Optional<SegmentForm> newForm) {
        return new RetentionOptions(eventTime, policy, mergedBytes, newForm);
    }

    /** Exact segments of up to 256 MB. */
    public static RetentionOptions of(Optional<Integer> eventTime, RetentionPolicy policy) {
        return new RetentionOptions(eventTime, policy, MERGED_BYTES);
    }
}
